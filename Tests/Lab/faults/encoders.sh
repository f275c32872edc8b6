#!/bin/bash
# Encoders that fail, hang, or are slow: in software, and on the emulated GPU under both drivers.
# usage: encoders.sh [--short]
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
# shellcheck source=gpu.sh
. "$LAB/faults/gpu.sh"
part="Encoders"
source=(--device test --size 320x240 --fps 60 --frames 90 --keyframe-interval 30)

is_over_after_another_signal() { is_over "$recorder" || { kill -TERM "$recorder" && false; }; }

# In software: libavcodec's own function fails.
if built encoder -shared -fPIC; then
    launcher=(env "LD_PRELOAD=$built")
    choose_pictures
    for picture in "${struck[@]}"; do
        # With nothing recorded yet, no second encoder is tried.
        [ "$picture" != 0 ] || continue
        ENCODER_FAULT="error $picture" recorded "libx264: an error at picture N" 0 --report report.json \
            --so 'outputs[0].written == 90' --so 'frames.droppedByEncoder == 1' --so 'encoder.restarts == 1' -- --encoder software
    done
    settle "libx264: an error at picture N"
    if [ -z "$short" ]; then
        ENCODER_FAULT="error 0" start "${source[@]}" --encoder software a.h264
        ended
        trial "libx264: an error at the first picture" --status "$status" --wanted 69 --no-file
        settle "libx264: an error at the first picture"
        # Software may take any time, so nothing replaces it; a second signal ends it.
        draw 40 80
        ENCODER_FAULT="hang $drawn" start "${source[@]}" --encoder software a.h264
        await 30 grep -q 'encoder: hang' stderr && await 30 is_over_after_another_signal || fail "libx264 hangs, two SIGTERM" "it does not end"
        ended
        trial "libx264 hangs, two SIGTERM" --rate 60 --status "$status" --wanted 143 --died-at "$drawn" --most-lost 30 a.h264
        settle "libx264 hangs, two SIGTERM"
    fi
    launcher=()
else
    skip "libx264: an error at picture N" "no gcc"
fi

for driver in radeonsi iHD; do
    has_gpu "$driver" "$driver" || continue
    launcher=("$LAB/gpu/run" "$driver")
    gpu_faults
    settle_gpu_faults
done
finish
