#!/bin/bash
# In the guest: sound and pictures of a long recording in segments and to an RTSP server, from a card whose clock is 200
# millionths fast, through twenty faults; then a card that goes and comes back fifty times.
# usage: sound-long.sh [MINUTES]      60 unless given: too long for CI
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
minutes=${1:-60}
cd "$work"
exec 2>"$RESULTS/messages"
modprobe v4l2loopback video_nr=9 exclusive_caps=1 card_label=Clapper
modprobe snd-aloop pcm_substreams=1
udevadm settle
gcc -O2 -o clapper "$LAB/guest/clapper.c" -lasound -lm -lpthread
microphone=plughw:CARD=Loopback,DEV=1
driver=/sys/bus/platform/drivers/snd_aloop
clap() {
    if [ -n "${clapper-}" ]; then kill "$clapper" && wait "$clapper" || true; fi
    ./clapper /dev/video9 plughw:CARD=Loopback,DEV=0 100020 2>>clapper.log &
    clapper=$!
    await 60 v4l2-ctl -d /dev/video9 --get-fmt-video || echo "clap: no camera in time" >&2
    sleep 1
}
scene=(--device /dev/video9 --encoder software --latency realtime --audio-device "$microphone")

# As an issue has it: camrec --audio --segment 10m '%H%M.mkv' rtsp://127.0.0.1:8554/cam
clap
"$PYTHON" "$LAB/verify/sound.py" serve 8554 stream.mkv aac >server.log 2>&1 &
server=$!
await 60 grep -q ready server.log
"$CAMREC" "${scene[@]}" --keyframe-interval 30 --segment 10m --duration "${minutes}m" --report long.json 'long-%H%M.mkv' rtsp://127.0.0.1:8554/cam 2>long.log &
recorder=$!
begun() { compgen -G 'long-*.mkv'; }
await 60 begun
away() { # the card, for so many seconds
    echo snd_aloop.0 >$driver/unbind
    sleep "$1"
    echo snd_aloop.0 >$driver/bind
}
still() { # the recorder
    kill -STOP $recorder
    sleep "$1"
    kill -CONT $recorder
}
step() { date -s "$1 seconds" >/dev/null; } # the wall clock
pause=$((minutes * 60 / 20 - 6)) # the faults take 5 s, on average
for fault in 'away 4' 'step +90' 'still 2' 'away 1' clap 'step -40' 'away 10' 'still 4' clap 'away 2' \
    'step +3600' 'still 1' 'away 3' clap 'away 5' 'step -3600' 'still 3' 'away 2' clap 'away 8'; do
    sleep $pause
    kill -0 $recorder || break
    $fault
done
status=0
wait $recorder || status=$?
check "sound for long: the recording ends well" test $status = 0
sleep 2
kill $server || true
mv long* stream.mkv "$RESULTS/"
# Where the camera itself is away, a flash may be cut.
each_file() {
    local file
    for file in long-*.mkv; do
        "$PYTHON" "$LAB/verify/sound.py" claps "$file" --least 5 || return 1
        "$PYTHON" "$LAB/verify/sound.py" whole "$file" || return 1
    done
}
declare -f each_file >>"$RESULTS/on-host"
on_host check "sound for long: every segment: flashes and clicks together, no gap" each_file
on_host check "sound for long: the stream: flashes and clicks together" "$PYTHON" "$LAB/verify/sound.py" claps stream.mkv --least $((minutes * 40))
on_host check "sound for long: the report" report long.json 'sound.outages >= 8' 'abs(sound.driftPPM - -200) < 60 or abs(sound.driftPPM - 200) < 60' 'sound.lost == 0'

# Unplugged, again and again.
clap
"$CAMREC" "${scene[@]}" --duration 190s --report often.json often.mkv 2>often.log &
recorder=$!
await 30 test -s often.mkv
for ((round = 0; round < 50; round++)); do
    away 1
    sleep 2
done
status=0
wait $recorder || status=$?
check "sound: fifty times unplugged: the recording ends well" test $status = 0
mv often* "$RESULTS/"
on_host check "sound: fifty times unplugged: flashes and clicks together" "$PYTHON" "$LAB/verify/sound.py" claps often.mkv --least 40
on_host check "sound: fifty times unplugged: no gap" "$PYTHON" "$LAB/verify/sound.py" whole often.mkv
on_host check "sound: fifty times unplugged: the report" report often.json 'sound.outages >= 40' 'frames.droppedByUs < 5'
kill "$clapper" || true
