#!/bin/bash
# The recorder is killed, stopped, crashed and run twice: what its files then contain.
# usage: processes.sh [--short]
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
part="The recorder's process"
small=(--device test --size 320x240 --fps 30 --encoder software --keyframe-interval 15)

# Killed at a random moment: the written part plays, and only data in flight is missing; for a container that is its
# last second. An encoder that nobody waits for holds frames back, which are lost as well.
kinds=('in one file' 'in segments' 'in one file, --latency realtime')
for ((i = 0; i < $(times 150 3); i++)); do
    kind=${kinds[i % 3]} options=()
    case $kind in
        *segments) options=(--segment 20f --sync 1s) ;;
        *realtime) options=(--latency realtime) ;;
    esac
    draw 2 "$(times 25 5)"
    start "${small[@]}" "${options[@]}" a.h264 b.h265 c.mkv d.mp4 e.ts
    # A container may hold nothing before its first keyframe's group of pictures has ended.
    await 30 holds 1 'd*.mp4' && await 30 holds 2000 'c*.mkv' && await 30 holds $((drawn * 1000)) 'a*.h264' || fail "SIGKILL" "nothing is recorded"
    moment=$("$PYTHON" -c 'import os, sys, time; os.kill(int(sys.argv[1]), 9); print(time.monotonic())' "$recorder")
    ended
    for file in a.h264 b.h265 c.mkv d.mp4 e.ts; do
        mapfile -t files < <(ls -v "${file%.*}"*."${file#*.}")
        trial "SIGKILL, .${file#*.} $kind" --rate 30 --killed "$moment" --status "$status" --wanted 137 --most-took 4 "${files[@]}"
    done
done
for kind in "${kinds[@]}"; do
    for format in h264 h265 mkv mp4 ts; do settle "SIGKILL, .$format $kind"; done
done
# Stopped at a random moment, for a random time, and continued: the frames in between are counted.
for ((i = 0; i < $(times 20 1); i++)); do
    draw 2 "$(times 10 3)"
    start "${small[@]}" --timestamps t.txt a.h264
    await 30 holds $((drawn * 1000)) a.h264 || fail "SIGSTOP" "nothing is recorded"
    kill -STOP "$recorder"
    draw 100 6000
    if [ -n "$short" ]; then drawn=500; fi
    sleep "$(printf '%d.%03d' $((drawn / 1000)) $((drawn % 1000)))" # this is the fault
    kill -CONT "$recorder"
    grows a.h264 || fail "SIGSTOP" "nothing is recorded after it"
    ended TERM
    trial "SIGSTOP for up to 6 s, SIGCONT" --rate 30 --status "$status" --report report.json --times t.txt --most-took $((drawn / 1000 + 2)) a.h264
done
settle "SIGSTOP for up to 6 s, SIGCONT"

# The encoder's library crashes the process: everything before is intact.
if built encoder -shared -fPIC; then
    launcher=(env "LD_PRELOAD=$built")
    for ((i = 0; i < $(times 20 1); i++)); do
        draw 45 "$(times 150 60)"
        ENCODER_FAULT="crash $drawn" start "${small[@]}" a.h264 c.mkv
        ended
        for file in a.h264 c.mkv; do
            trial "SIGSEGV in the encoder, .${file#*.}" --status "$status" --wanted 139 --died-at "$drawn" --rate 30 --most-lost 65 "$file"
        done
    done
    launcher=()
    settle "SIGSEGV in the encoder, .h264"
    settle "SIGSEGV in the encoder, .mkv"
else
    skip "SIGSEGV in the encoder" "no gcc"
fi

# Two recorders and one file, or one pattern: the second one does not harm the first.
two() { # FAULT CODE FILES ARGUMENTS...: of both
    local other=0
    start "${small[@]}" "${@:4}"
    await 30 holds 3000 "$3" || fail "$1" "nothing is recorded"
    camrec "${small[@]}" --frames 30 "${@:4}" || other=$?
    grows "$3" || fail "$1" "the first does not go on"
    ended TERM
    [ "$other" = "$2" ] || status="$status, the other's $other"
    mapfile -t files < <(compgen -G "$3" | sort -V)
    trial "$1" --rate 30 --status "$status" --report report.json "${files[@]}"
}
two "two recorders on one file" 73 a.h264 --overwrite a.h264
two "two recorders on one pattern of segments" 73 'a*.h264' --overwrite --segment 20f --keep 50 a.h264
for fault in 'file' 'pattern of segments'; do settle "two recorders on one $fault"; done
finish
