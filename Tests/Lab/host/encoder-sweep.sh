#!/bin/bash
# Sizes, levels, profiles, presets, slices and B frames of both software encoders, each in a process of its own: every
# combination is encoded or refused, and none crashes or hangs. A crash would take every output of a recording along.
# With parts of it as arguments, such as "hevc main 8 3" (codec, profile, slices, B frames), only those.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

# Around the sides of blocks of 16, 32 and 64, and shapes with only a row or a column of them.
sizes=(16x16 18x18 30x30 34x16 48x30 30x48 48x48 32x32 34x34 46x46 48x48 62x62 64x64 66x66 94x94 96x96 98x98 126x126 128x128 130x130
    16x130 130x16 30x130 130x30 32x64 64x32 62x130 130x62 16x1280 1280x16 30x1280 1280x30 128x1280 1280x64)
levels=(4.1 5 5.2 6.2)
latencies=(realtime throughput quality)
if [ "${1:-}" = --short ]; then
    sizes=(16x16 48x30 30x130 32x32 130x64) latencies=(realtime quality)
    shift
fi
parts=("$@")
is_wanted() { # PART
    local part
    for part in "${parts[@]}"; do [ "$part" = "$1" ] && return; done
    [ ${#parts[@]} = 0 ]
}

# Waits no longer for a frame than for the slowest combination, many times over.
encodes() { # CODEC SIZE OPTIONS...
    local status=0
    timeout 30 "$CAMREC" --device test --no-pace --quiet --encoder software --frames 12 --codec "$1" --size "${@:2}" /dev/null 2>said || status=$?
    case $status in
        0) encoded=yes ;;
        69) ;;
        *) echo "exit $status: --codec $1 --size ${*:2}: $(tail -n 1 said)"; return 1 ;;
    esac
}
sweep() { # CODEC PROFILE SLICES BFRAMES
    local size level latency failed=0 encoded=
    for size in "${sizes[@]}"; do
        for latency in "${latencies[@]}"; do
            for level in "" "${levels[@]}"; do
                encodes "$1" "$size" --profile "$2" --slices "$3" --bframes "$4" --latency "$latency" ${level:+--level "$level"} || failed=1
            done
        done
    done
    [ -n "$encoded" ] || { echo "nothing was encoded: $(tail -n 1 said)"; return 1; }
    return $failed
}
profiles() { if [ "$1" = h264 ]; then echo constrained-baseline main high; else echo main; fi; }

for codec in h264 hevc; do
    for profile in $(profiles $codec); do
        for slices in 1 2 8; do
            for frames in 0 1 3; do
                if [ "$profile" = constrained-baseline ] && [ $frames != 0 ]; then continue; fi
                is_wanted "$codec $profile $slices $frames" || continue
                check "sweep: $codec, $profile, slices: $slices, B frames: $frames" sweep $codec "$profile" $slices $frames
            done
        done
    done
done
finish
