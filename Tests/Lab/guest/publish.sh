#!/bin/bash
# In the guest: a camera published on a real RTSP server, which is killed and restarted, and which is then far away: behind
# a link with delay and loss, which is cut and mended.
# usage: publish.sh [--full]      --full kills the server ten times
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
# What the shell says of jobs that are killed is kept apart from the guest's console.
exec 2>"$RESULTS/messages"
if [ "${1-}" = --full ]; then rounds=10; else rounds=2; fi

modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle
camera=$(vivid_node)
recording=(--device "$camera" --size 320x240 --fps 10 --keyframe-interval 10 --encoder software)
server=
serves() { # FOLDER ADDRESS [COMMAND...]: GStreamer's server there, as $server, begun by COMMAND
    mkdir -p "$1" && : >"$1/log"
    "${@:3}" "$PYTHON" "$LAB/verify/rtsp.py" serve "$2" "$1" h264 >"$1/log" 2>&1 &
    server=$!
    await 60 grep -q ready "$1/log" || { cat "$1/log"; return 1; }
}
in_place() { # NAME COMMAND...: like check, in this shell, whose jobs they are
    if "${@:2}" >said 2>&1; then pass "$1"; else fail "$1" "$(tail -n 4 said)"; fi
}
grows() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt "${2:-2000}" ]; } # FILE [SIZE]
kill_server() { { kill -KILL $server; wait $server; } 2>/dev/null || true; }
begins() { # NAME ARGUMENTS...: a recording in the background, as $recorder
    (limit=700 camrec "${recording[@]}" --report "$1.json" --verbose "${@:2}"; echo $? >"$1.status"; mv stderr "$1.stderr") &
    recorder=$!
}
ends() { # NAME: stopped by a signal
    pkill -TERM -x camrec || true
    wait $recorder
    check "$1: the recording ends" grep -qx 0 "$1.status"
    mv "$1.json" "$1.stderr" "$RESULTS/"
}

# As in the README, while the server comes and goes
in_place "killed: a server" serves killed 8554
begins killed rtsp://127.0.0.1:8554/cam killed.mkv
for ((round = 1; round <= rounds; round++)); do
    check "killed: round $round arrives" await 60 grows killed/$round.h264
    kill_server
    in_place "killed: the server is back" serves killed 8554
done
check "killed: the last session arrives" await 60 grows killed/$((rounds + 1)).h264
ends killed
kill_server
mv killed.mkv killed/*.h264 "$RESULTS/"
on_host check "killed: the file loses nothing" report killed.json 'outputs[1].written == frames.encoded' 'outputs[1].lost == 0'
on_host check "killed: the file decodes" decodes_container killed.mkv
on_host check "killed: every connection is in the report, with its end" report killed.json "outputs[0].receivers == $((rounds + 1))" \
    "len([r for r in receivers if 'connection' in r.left]) == $rounds" 'outputs[0].written + outputs[0].lost == frames.encoded'
on_host check "killed: the last session decodes" session_decodes $((rounds + 1)).h264

# The times on the wire are the kernel's
gcc -O2 -fPIC -shared -o driver.so "$LAB/guest/driver.c" -ldl
in_place "times: a server" serves times 8554
mkdir tap && : >tap/log
"$PYTHON" "$LAB/verify/rtsp.py" tap 8556 8554 tap >tap/log 2>&1 &
check "times: what passes is seen" await 60 grep -q ready tap/log
DRIVER_TIMES=$work/kernel.log LD_PRELOAD=$work/driver.so records "times: a recording" "${recording[@]}" --frames 60 rtsp://127.0.0.1:8556/cam
check "times: those of the kernel" "$PYTHON" "$LAB/verify/rtsp.py" kernel tap/1.times kernel.log
kill_server

# Far away
make_distance
modprobe sch_netem
ip netns exec $far ip link set lo up
ip netns exec $far tc qdisc add dev far root netem delay 100ms 10ms loss 2%
tc qdisc add dev $near_link root netem delay 100ms 10ms loss 2%
in_place "far: a server" serves far "$far_address:8554" ip netns exec $far
begins far --client-timeout 5s "rtsp://$far_address:8554/cam" far.mkv
check "far: it arrives, through delay and loss" await 90 grows far/1.h264 8000
ip link set $near_link down
check "far: a cut link is noticed" await 60 grep -qE 'it stalled for 5 s|connection lost: (Connection timed out|No route to host|Network is)' stderr
ip link set $near_link up
check "far: mended, it arrives again" await 90 grows far/2.h264
ends far
kill_server
mkdir "$RESULTS/far"
mv far.mkv far/*.h264 "$RESULTS/far/"
on_host check "far: the file loses nothing" report far.json 'outputs[1].written == frames.encoded' 'outputs[1].lost == 0'
on_host check "far: two connections" report far.json 'outputs[0].receivers == 2'
on_host check "far: the last session decodes" session_decodes far/2.h264

# The same with ffmpeg's server, which takes one connection
hears_far() { ip netns exec $far ss -ltn | grep -q ":8555 "; }
takes() { # FILE
    ip netns exec $far ffmpeg -nostdin -v error -rtsp_flags listen -i "rtsp://$far_address:8555/cam" -c copy -flush_packets 1 -f h264 "$1" 2>ffmpeg.log &
    server=$!
    await 60 hears_far || { cat ffmpeg.log; return 1; }
}
in_place "far, ffmpeg: a server" takes ffmpeg-1.h264
begins far-ffmpeg --client-timeout 5s "rtsp://$far_address:8555/cam" far-ffmpeg.mkv
check "far, ffmpeg: it arrives, through delay and loss" await 90 grows ffmpeg-1.h264 8000
ip link set $near_link down
check "far, ffmpeg: a cut link is noticed" await 60 grep -qE 'it stalled for 5 s|connection lost: (Connection timed out|No route to host|Network is)' stderr
kill_server
ip link set $near_link up
in_place "far, ffmpeg: another server" takes ffmpeg-2.h264
check "far, ffmpeg: mended, it arrives again" await 90 grows ffmpeg-2.h264 8000
ends far-ffmpeg
{ wait $server; } 2>/dev/null || true
mv far-ffmpeg.mkv ffmpeg-2.h264 "$RESULTS/"
on_host check "far, ffmpeg: the file loses nothing" report far-ffmpeg.json 'outputs[1].written == frames.encoded' 'outputs[1].lost == 0'
on_host check "far, ffmpeg: two connections" report far-ffmpeg.json 'outputs[0].receivers == 2'
on_host check "far, ffmpeg: the last session begins with a keyframe, and decodes" decodes_silently ffmpeg-2.h264

# Over SRT, which sends lost packets again, to a receiver as far away, whose link is cut and mended
receives() { # FILE
    ip netns exec $far srt-live-transmit -a no -q "srt://:8890?mode=listener&latency=1500" file://con >"$1" 2>srt.log &
    server=$!
}
receives srt-1.ts
sleep 2
begins srt "srt://$far_address:8890?latency=1500000" srt.mkv
check "far, SRT: it arrives, through delay and loss" await 90 grows srt-1.ts 40000
ip link set $near_link down
check "far, SRT: a cut link is noticed, and what may not have arrived" await 60 grep -qE 'connection lost: .*; the last [0-9]+ bytes may not have arrived' stderr
kill_server
ip link set $near_link up
receives srt-2.ts
check "far, SRT: mended, it arrives again" await 90 grows srt-2.ts 40000
ends srt
{ wait $server; } 2>/dev/null || true
mkdir "$RESULTS/srt"
mv srt.mkv srt-2.ts "$RESULTS/srt/"
on_host check "far, SRT: the file loses nothing" report srt.json 'outputs[1].written == frames.encoded' 'outputs[1].lost == 0'
on_host check "far, SRT: two connections" report srt.json 'outputs[0].receivers == 2'
on_host check "far, SRT: what arrives decodes" decodes_ts srt/srt-2.ts
