#!/bin/bash
# camweb's crowd: fifty viewers of four cameras miss no picture, alone and beside a camera that floods it.
#
# usage: web-crowd.sh [SECONDS]     how long beside the flood; ten without a number
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=web-lib.sh
. "$LAB/host/web-lib.sh"
seconds=${1:-10}

processor() { awk -v hertz="$(getconf CLK_TCK)" '{print ($14 + $15) / hertz}' "/proc/$1/stat"; } # PID: seconds
watched() { # NAME SECONDS MEMORY: fifty viewers for so long, in which camweb takes at most MEMORY kilobytes
    local before begun
    before=$(processor "$server") begun=$(date +%s.%N)
    check "$1: each of fifty viewers gets $2 seconds of pictures in a row" clients crowd "$web_port" 50 $(($2 * 30)) {c1=crowd1,c2=crowd2,c3=crowd3,c4=crowd4}.h264
    awk -v before="$before" -v after="$(processor "$server")" -v begun="$begun" -v ended="$(date +%s.%N)" -v memory="$(most_memory "$server")" \
        'BEGIN {printf "      camweb: %.1f %% of a processor, %d MB at most\n", (after - before) / (ended - begun) * 100, memory / 1000}'
    check "$1: memory is bounded" test "$(most_memory "$server")" -lt "$3"
}

cameras=() crowd=()
for camera in 1 2 3 4; do
    records_live "crowd$camera.log" "crowd$camera.json" "unix:$work/crowd$camera" --device test --size 320x180 "crowd$camera.h264"
    crowd+=("$recorder") cameras+=("c$camera=unix:$work/crowd$camera")
done
serves "${cameras[@]}"
watched "alone" 10 65536
stops "alone: camweb ends" "$server"

# Python is started directly, because `kill` would end only the shell of a function.
# A recorder that changes its parameter sets with each picture, as fast as it can, and six who watch it.
for size in 320x240 640x360; do "$CAMREC" --encoder software --device test --size $size --frames 1 --quiet $size.h264; done
"$PYTHON" "$LAB/verify/webclients.py" storm "$work/storm" 320x240.h264 640x360.h264 >storm.log 2>&1 &
storm=$!
background+=("$storm")
await 20 grep -q listening storm.log
serves "${cameras[@]}" "storm=unix:$work/storm"
drains=()
for _ in 1 2 3 4 5 6; do
    "$PYTHON" "$LAB/verify/webclients.py" drains "$web_port" storm >drains.log 2>&1 &
    drains+=("$!")
done
background+=("${drains[@]}")
answers() { # until the crowd has left: the page answers each time
    local slowest=0 took
    while [ ! -e crowd-left ]; do
        took=$(curl -s --max-time 20 -o /dev/null -w '%{time_total}' "${page}cameras.json") || { echo "no answer within 20 s"; return 1; }
        slowest=$(awk -v a="$slowest" -v b="$took" 'BEGIN {print (a > b ? a : b)}')
        sleep 0.1
    done
    echo "      the page answers within $slowest s"
}
answers >answers.log 2>&1 &
answering=$!
watched "beside a flood" "$seconds" 131072
touch crowd-left
if wait $answering; then pass "beside a flood: the page answers"; else fail "beside a flood: the page answers" "$(cat answers.log)"; fi
cat answers.log
for viewer in "${drains[@]}"; do check "beside a flood: its viewers are still there" kill "$viewer"; done
stops "beside a flood: camweb ends" "$server"
kill "$storm"
# Each camweb had one connection.
for camera in 1 2 3 4; do
    stops "recorder $camera ends" "${crowd[camera - 1]}"
    check "recorder $camera loses no frame" report "crowd$camera.json" 'frames.written == frames.encoded' 'len([r for r in receivers if r.dropped > 0]) == 0' 'len(receivers) == 2'
done
finish
