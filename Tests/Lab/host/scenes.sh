#!/bin/bash
# The scene generator makes the same pictures everywhere, and they survive coding; the rate measurement is correct.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

makes() { # SHA256 OPTIONS...
    local found
    found=$(scenes "${@:2}" | sha256sum | cut -d ' ' -f 1)
    [ "$found" = "$1" ] || { echo "the pictures' digest is $found"; return 1; }
}
# For numpy 1.24 to 2.4. After changing the scenes, replace the digests and measure the rates again.
check "scenes: changing, the same bytes everywhere" makes \
    f3023fbef1dc03eb062ae5fccb9b64196aba8a3549dc26bb7bf64aa09661fce6 --seed 1 --seconds 10
check "scenes: switch, the same bytes everywhere" makes \
    c521c42ca0f1ad62e3f307c43f25713d991e89a67ae2abb8b22417b8537f9360 --seed 1 --seconds 4 --kind switch --size 160x120 --format yuyv
check "scenes: another seed, other bytes" test "$(scenes --seed 1 --frames 2 | sha256sum)" != "$(scenes --seed 2 --frames 2 | sha256sum)"

for kind in changing switch; do
    scenes --seed 3 --seconds 10 --kind $kind -o scene.y4m
    for codec in h264 h265; do
        records "scenes: $kind as $codec at 300 kbit/s" --device scene.y4m --no-pace --encoder software --latency realtime --bitrate 300k --overwrite out.$codec &&
            check "scenes: $kind as $codec at 300 kbit/s: every picture's number can be read" pictures numbers out.$codec --block 16
    done
done

# Delay in pictures, not in time: the next one is not available until the previous one has come out.
scenes --seed 4 --seconds 3 --kind changing -o scene.y4m
for codec in h264 hevc; do
    check "scenes: $codec, no picture is held back" stepwise scene.y4m $codec 0 "$CAMREC" --device {} --no-pace --encoder software --codec $codec -
    check "scenes: $codec in slices, no more is held back than --max-frame-delay allows" stepwise scene.y4m $codec 1 "$CAMREC" --device {} --no-pace \
        --encoder software --slices 2 --max-frame-delay 1 --codec $codec -
done

paced() { # a second and a half of pictures takes that long
    local start=${EPOCHREALTIME/./}
    scenes --seed 1 --frames 46 --pace --show-time >/dev/null
    [ $((${EPOCHREALTIME/./} - start)) -ge 1500000 ]
}
check "scenes: --pace keeps the time" paced

check "rate.py: sizes, windows and limits" rate --self-test
finish
