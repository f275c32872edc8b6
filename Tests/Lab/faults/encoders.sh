#!/bin/bash
# Encoders that fail, hang, or are slow: in software, and on the emulated GPU under both drivers.
# usage: encoders.sh [--short]
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
part="Encoders"
test90=(--device test --size 320x240 --fps 60 --frames 90 --keyframe-interval 30)

pictures() { # MOST: the pictures, counted from 0, that the fault strikes: the first, the second, the 30th and random ones
    local i
    struck=()
    if [ -z "$short" ]; then struck=(0 1 29); fi
    for ((i = 0; i < $(times 5 1); i++)); do
        draw 2 "$1"
        struck+=("$drawn")
    done
}

recorded() { # FAULT CODE TRIAL-OPTIONS... -- ARGUMENTS...: 90 frames of the test source, while the fault is there
    local fault=$1 code=$2 options=()
    shift 2
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    start "${test90[@]}" "${@:2}" a.h264
    ended
    mapfile -t files < <(compgen -G a.h264 || true)
    trial "$fault" --rate 60 --status "$status" --wanted "$code" "${options[@]}" "${files[@]}"
}

is_over_after_another_signal() { is_over "$recorder" || { kill -TERM "$recorder" && false; }; }

# In software: libavcodec's own function fails.
if built encoder -shared -fPIC; then
    launcher=(env "LD_PRELOAD=$built")
    pictures 80
    for picture in "${struck[@]}"; do
        # With nothing recorded yet, no second encoder is tried.
        [ "$picture" != 0 ] || continue
        ENCODER_FAULT="error $picture" recorded "libx264: an error at picture N" 0 --report report.json \
            --so 'outputs[0].written == 90' --so 'frames.droppedByEncoder == 1' --so 'encoder.restarts == 1' -- --encoder software
    done
    settle "libx264: an error at picture N"
    if [ -z "$short" ]; then
        ENCODER_FAULT="error 0" start "${test90[@]}" --encoder software a.h264
        ended
        trial "libx264: an error at the first picture" --status "$status" --wanted 69 --no-file
        settle "libx264: an error at the first picture"
        # Software may take any time, so nothing replaces it; a second signal ends it.
        draw 40 80
        ENCODER_FAULT="hang $drawn" start "${test90[@]}" --encoder software a.h264
        await 30 grep -q 'encoder: hang' stderr && await 30 is_over_after_another_signal || fail "libx264 hangs, two SIGTERM" "it does not end"
        ended
        trial "libx264 hangs, two SIGTERM" --rate 60 --status "$status" --wanted 143 --died-at "$drawn" --most-lost 30 a.h264
        settle "libx264 hangs, two SIGTERM"
    fi
    launcher=()
else
    skip "libx264: an error at picture N" "no gcc"
fi

on_gpu() { # GPU-FAULT FAULT CODE TRIAL-OPTIONS... -- ARGUMENTS...
    FAKEGPU_FAULTS=$1 recorded "$driver: $2" "${@:3}"
}
in_software=(--report report.json --so 'outputs[0].written == 90' --so 'encoder.implementation == "libx264"')
on_hardware=(--report report.json --so 'outputs[0].written == 90' --so 'encoder.implementation == "h264_vaapi"')

gpu_faults() {
    local picture
    pictures 80
    for picture in "${struck[@]}"; do
        case $driver/$picture in
            iHD/0) on_gpu "fail I915_GEM_EXECBUFFER2 EIO 1 1" "the first submission fails" 69 --no-file -- --encoder vaapi ;;
            iHD/*)
                on_gpu "fail I915_GEM_EXECBUFFER2 EIO $((picture + 1)) 1" "a submission fails at picture N" 0 "${on_hardware[@]}" --so 'frames.droppedByEncoder == 1' -- --encoder vaapi
                [ -z "$short" ] || continue
                on_gpu "lost $picture" "the device is lost at picture N" 0 "${in_software[@]}" --most-took 6 -- --encoder auto
                on_gpu "hang $picture 300" "the GPU hangs and is reset at picture N" 0 "${in_software[@]}" --most-took 6 -- --encoder auto
                ;;
            # Mesa 22.3 ends the process by itself when the kernel refuses a submission; systemd starts it again.
            radeonsi/[01]) ;; # nothing is recorded then
            radeonsi/*)
                on_gpu "lost $picture" "the device is lost at picture N, Mesa ends the process" 1 --died-at "$picture" --most-lost 30 -- --encoder auto
                [ -z "$short" ] || continue
                on_gpu "hang $picture 300" "the GPU hangs and is reset at picture N, Mesa ends the process" 1 --died-at "$picture" --most-lost 30 -- --encoder auto
                on_gpu "fail AMDGPU_CS ENOMEM $((picture + 1)) 1" "no memory for a submission" 0 "${on_hardware[@]}" -- --encoder vaapi
                ;;
        esac
    done
    on_gpu "coded 30" "the coded buffer is too small" 0 "${in_software[@]}" --most-took 6 -- --encoder auto
    [ -z "$short" ] || return 0
    on_gpu "memory 2M" "no memory on the GPU" 0 "${in_software[@]}" --most-took 6 -- --encoder auto
    on_gpu "slow 60" "60 ms a picture at 60 frames a second" 0 "${on_hardware[@]}" --so 'frames.droppedByUs > 20' -- --encoder vaapi
    if [ "$driver" = iHD ]; then
        on_gpu "lost 40" "the device is lost, and no other encoder allowed" 69 --report report.json -- --encoder vaapi
    fi
    hang "the driver hangs, and recovers" "${on_hardware[@]}" --encoder vaapi
    hang "the driver hangs for good" "${in_software[@]}" --encoder auto
}

# A fence that never signals: its thread is abandoned. With `recovers` the fault ends once it has been noticed.
hang() { # FAULT TRIAL-OPTIONS... --encoder ENCODER
    local fault=$1 options=("${@:2:$#-3}")
    echo "hang 40" >"$work/control"
    FAKEGPU_CONTROL=$work/control start "${test90[@]}" "${@: -2}" a.h264
    if [[ $fault = *recovers ]]; then
        await 60 grep -q 'hangs' stderr || fail "$driver: $fault" "it is not noticed"
        : >"$work/control"
    fi
    ended
    trial "$driver: $fault" --rate 60 --status "$status" "${options[@]}" --so 'encoder.restarts >= 1' --most-took 45 a.h264
}

for driver in radeonsi iHD; do
    has_gpu "$driver" "$driver" || continue
    launcher=("$LAB/gpu/run" "$driver")
    gpu_faults
    mapfile -t faults < <("$PYTHON" "$LAB/verify/faults.py" names --part "$part" "$LAB_FAULTS" | grep "^$driver: ")
    [ ${#faults[@]} != 0 ] || fail "$driver" "no fault was made"
    for fault in "${faults[@]}"; do settle "$fault"; done
done
finish
