#!/bin/bash
# The recorder is killed, stopped, crashed and doubled: what is in its files then.
# usage: processes.sh [--short]
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
part="The recorder's process"
small=(--device test --size 320x240 --fps 30 --encoder software --keyframe-interval 15)

# Killed at a random moment: what was written plays, and what is missing is what was on its way: for a container that
# is its last second.
for ((i = 0; i < $(times 100 3); i++)); do
    kind='in one file' segments=()
    if ((i % 2)); then kind='in segments' segments=(--segment 20f --sync 1s); fi
    draw 2 25
    start "${small[@]}" "${segments[@]}" --qp 16 a.h264 b.h265 c.mkv d.mp4 e.ts
    # A container may hold nothing before its first keyframe's group of pictures has ended.
    await 30 holds 1 'd*.mp4' && await 30 holds $((drawn * 1000)) 'a*.h264' || fail "SIGKILL" "nothing is recorded"
    moment=$(monotonic)
    ended KILL
    for file in a.h264 b.h265 c.mkv d.mp4 e.ts; do
        mapfile -t files < <(ls -v "${file%.*}"*."${file#*.}")
        trial "SIGKILL, .${file#*.} $kind" --rate 30 --killed "$moment" --status "$status" --wanted 137 --most-lost 75 "${files[@]}"
    done
done
for kind in 'in one file' 'in segments'; do
    for format in h264 h265 mkv mp4 ts; do settle "SIGKILL, .$format $kind"; done
done
finish
