#!/bin/bash
# The promises on bit rate and keyframes, on content that an encoder cannot get right by luck, with an independent
# measurement.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

seed=${1:-12}
for kind in switch changing noise; do scenes --seed "$seed" --seconds 20 --kind $kind -o $kind.y4m; done

records_scenes() { # NAME KIND CODEC OPTIONS...
    local name=$1 kind=$2 codec=$3
    shift 3
    rm -f out.*
    records "$name" --device "$kind.y4m" --encoder software --no-pace --overwrite --report report.json "$@" "out.$codec"
}
# The report has the same numbers as a measurement that is independent of camrec.
agrees() { # FILE WINDOW
    local found
    found=$(rate "$1" --fps 30 --window "$2" --json) || return 1
    "$PYTHON" - "$found" <<'END'
import json, sys
found, said = json.loads(sys.argv[1]), json.load(open("report.json"))["encoder"]
for ours, theirs in ((found["average"], said["measuredBitRate"]), (found["worstWindow"], said["measuredPeakBitRate"])):
    if abs(ours / theirs - 1) > 1e-3: sys.exit(f"measured {found}, and the report has {said}")
END
}
# No message: an encoder that exceeds its rate is reported at the end.
is_silent() { [ ! -s stderr ] || { cat stderr; return 1; }; }

for codec in h264 h265; do
    while read -r kind window maximum options; do
        name="rates: $codec, $kind, $options"
        # shellcheck disable=SC2086 # words
        records_scenes "$name" "$kind" "$codec" $options || continue
        check "$name: every window" rate out.$codec --fps 30 --window "$window" --max "$maximum"
        check "$name: nothing to warn of" is_silent
        # A raw stream is in coding order, which with B frames is not capture order.
        [[ $options != *realtime* ]] || check "$name: the report's numbers" agrees out.$codec "$window"
    done <<'END'
switch 1s 3M --bitrate 2M --max-bitrate 3M
changing 1s 3M --bitrate 2M --max-bitrate 3M
switch 2s 3M --bitrate 2M --max-bitrate 3M --rate-window 2s
switch 1s 2.2M --rate-control cbr --bitrate 2M
switch 1s 3M --quality 20 --max-bitrate 3M
switch 1s 450k --bitrate 300k --max-bitrate 450k
switch 1s 3M --bitrate 2M --max-bitrate 3M --latency quality --bframes 2
switch 1s 3M --bitrate 2M --max-bitrate 3M --latency realtime
switch 2s 3M --bitrate 2M --max-bitrate 3M --rate-window 2s --latency realtime
changing 1s 2.2M --rate-control cbr --bitrate 2M --latency realtime
switch 1s 450k --bitrate 300k --max-bitrate 450k --latency realtime
switch 500ms 3M --bitrate 1M --max-bitrate 3M --rate-window 500ms --keyframe-interval 7
END
    for kind in switch changing; do
        records_scenes "rates: $codec, $kind, average" $kind $codec --bitrate 1M &&
            check "rates: $codec, $kind, average: at most five per cent more" rate out.$codec --fps 30 --window 1s --average 1M --at-most 0.05
    done
    records_scenes "rates: $codec, noise, average" noise $codec --bitrate 2M --max-bitrate 4M &&
        check "rates: $codec, noise, average: within five per cent" rate out.$codec --fps 30 --window 1s --average 2M --within 0.05
done

# A maximum that noise can exceed is reported at the start, with one that it cannot, and that one holds.
for codec in h264 h265; do
    records_scenes "rates: $codec, a maximum too near" switch $codec --bitrate 150k --max-bitrate 160k || continue
    enough=$(grep -oE 'use --max-bitrate [0-9.]+[kM] or more' stderr | grep -oE '[0-9.]+[kM]' || true)
    check "rates: $codec, a maximum too near: told, with what would hold" test -n "$enough"
    records_scenes "rates: $codec, the maximum that was named" switch $codec --bitrate 150k --max-bitrate "${enough:-1M}" &&
        check "rates: $codec, the maximum that was named: nothing to warn of" is_silent &&
        check "rates: $codec, the maximum that was named: every window" rate out.$codec --fps 30 --window 1s --max "${enough:-1M}"
done

# Keyframes: frames, time, or both.
records_scenes "keyframes: 50" changing h264 --keyframe-interval 50 && check "keyframes: 0, 50, 100 …" is_sound out.h264 --frames 600 --keyframe-interval 50
records_scenes "keyframes: 2s" changing h265 --keyframe-interval 2s --timestamps out.txt &&
    check "keyframes: each two seconds" stream out.h265 --frames 600 --keyframe-interval 60 --keyframe-time 2 --times out.txt
records_scenes "keyframes: 50,1s" changing h264 --frames 120 --keyframe-interval 50,1s && idrs() {
    local found
    found=$("$CAMREC" inspect --json out.h264 | "$PYTHON" -c 'import json, sys; print([n for n, f in enumerate(json.load(sys.stdin)["frames"]) if f["idr"]])')
    [ "$found" = "[0, 30, 50, 80, 100]" ] || { echo "keyframes at $found"; return 1; }
} && check "keyframes: 50,1s: whichever ends first" idrs
for wrong in 0 '50,60' '1s,2s' '50,1s,2s' ',' '50,' x; do
    refuses "keyframes: no interval is $wrong" 64 'keyframe-interval' --device test --frames 1 --keyframe-interval "$wrong" out.h264
done
refuses "rates: a window shorter than any frame" 64 '1ms to 60s' --device test --frames 1 --max-bitrate 1M --rate-window 0.0001ms out.h264
finish
