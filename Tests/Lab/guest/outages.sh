# Sourced by webcam.sh: the webcam disappears or freezes during a recording, and comes back.
# shellcheck shell=bash disable=SC2154
came_back() { # NAME CHECK...: the report says so and adds up
    local name=$1
    shift
    on_host check "$name: the report tells it, and adds up" report "$name/report.json" "$@" \
        'frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.droppedByEncoder + frames.unused'
}
all_sound() { # FOLDER FRAMES: its streams are sound, and have this many frames together
    local file count=0
    for file in "$1"/*.h264; do
        decodes_silently "$file" || return 1
        count=$((count + $(stream "$file" | grep -oE '^[0-9]+')))
    done
    [ "$count" = "$2" ] || { echo "$count frames in place of $2"; return 1; }
}
on_host eval "$(declare -f all_sound)"

# With keyframes this far apart, the one after an outage is the only one other than the first.
printf '#!/bin/sh\necho "$1" >>%s/heard\n' "$work" >hears && chmod +x hears
others=(replugged/small.mkv,size=160x120,fps=5)
recording replugged --on-event ./hears,camera,outage --size 640x480 --format MJPG --frames 60 --keyframe-interval 1000
cam unplug
await 15 gone
cam plug
others=()
ended replugged 0
came_back replugged 'frames.written == 60' 'source.restarts == 1' 'source.secondsLost > 0.1' 'frames.keyframes == 2'
on_host check "replugged: the same file continues with an IDR" is_sound replugged/out.h264 --frames 60 --keyframe-interval 1000 --extra-keyframes
on_host check "replugged: two warnings report it" grep -q 'the camera was disconnected; recording continues .*after .* s without a picture$' replugged/stderr
on_host check "replugged: a small rendition goes on, too" report replugged/report.json 'encoders[1].width == 160' '10 <= outputs[1].written <= 60' 'outputs[1].keyframes >= 2'
on_host check "replugged: the small rendition can be decoded" decodes_container replugged/small.mkv
check "replugged: a program hears of it" test "$(sort heard | tr '\n' ' ')" = "camera-back camera-lost outage-over "

# The endpoint halts until the stream is started again.
recording stalled --size 320x240 --format YUYV --frames 60 --keyframe-interval 1000
cam stall
ended stalled 0
came_back stalled 'frames.written == 60' 'source.restarts == 1' '2 < source.secondsLost < 15' 'frames.keyframes == 2'
on_host check "stalled: the same file continues with an IDR" is_sound stalled/out.h264 --frames 60 --keyframe-interval 1000 --extra-keyframes

recording changed --size 640x480 --frames 60
cam format B
cam unplug
await 15 gone
cam plug
ended changed 0
came_back changed 'frames.written == 60' 'source.restarts == 1' 'format.width != 640'
on_host check "changed: all of it can be decoded" all_sound changed 60
cam format A
replug

# Ended by a signal while the camera is missing.
recording awaited --size 320x240 --format YUYV
cam unplug
await 15 gone
await 15 grep -q 'waiting for it for 30 s' awaited/stderr
kill -TERM $recorder
ended awaited 0
came_back awaited 'source.restarts == 0' 'source.outages == 1' '0 < source.secondsAwayAtEnd <= source.secondsLost'
on_host check "awaited: it is not said to have come back" grep -q 'the camera was away for [0-9.]* s until the end' awaited/stderr
on_host check "awaited: what came before is sound" is_sound awaited/out.h264 --keyframe-interval 15
cam plug
await 15 test -e $link
udevadm settle
