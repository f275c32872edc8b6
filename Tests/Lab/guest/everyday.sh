#!/bin/bash
# In the guest: the everyday options with real drivers' cameras: a day's files that are upright and have the right time,
# framing on both GPUs, snapshots, time lapses, motion, an unplugged webcam, and a full disk.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
export TZ=UTC
keep() { mv "$@" "$RESULTS/"; }
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
modprobe vgem
udevadm settle
vivid=$(vivid_node)
launcher=()

is_upright() { [ "$(ffprobe -v error -select_streams v -show_entries stream=width,height -of csv=p=0 "$1")" = 480,640 ]; } # FILE
declare -f is_upright >>"$RESULTS/on-host"

# A camera on its side, with a new file every ten minutes: over ten o'clock and ten minutes.
date -s '2026-11-26 10:09:48' >/dev/null
mkdir day
if records "everyday: upright and dated, in files of ten minutes" --device "$vivid" --size 640x480 --fps 10 --encoder software --keyframe-interval 10 \
    --overlay '%F %T.%f' --utc --rotate 90 --bitrate 6M --segment 10m --align --duration 24s 'day/%H%M.mkv'; then
    check "everyday: a file of each ten minutes" test "$(echo day/*)" = "day/1009.mkv day/1010.mkv"
    keep day
    start=$(date -d '2026-11-26 10:09:48' +%s)
    for file in 1009 1010; do
        on_host check "everyday: $file.mkv is upright" is_upright day/$file.mkv
        on_host check "everyday: $file.mkv plays" decodes_container day/$file.mkv
        on_host check "everyday: $file.mkv has the time of capture in its pictures" "$PYTHON" "$LAB/verify/overlay.py" times day/$file.mkv --since "$start" --until $((start + 90))
    done
    on_host check "everyday: the second file begins at ten minutes past" "$PYTHON" "$LAB/verify/overlay.py" times day/1010.mkv --since $((start + 12)) --until $((start + 90))
    on_host check "everyday: the first file ends there" "$PYTHON" "$LAB/verify/overlay.py" times day/1009.mkv --since "$start" --until $((start + 12))
fi

# The picture is a still one, so that what each driver codes is what another program turns and cuts.
still_picture "$vivid" 1
records "everyday: a plain picture" snapshot --device "$vivid" --size 640x480 --format YUYV plain.png && keep plain.png
similar() { # FILE FILTER: each picture is the plain one after ffmpeg's filter, but for what 4:2:0 loses
    local said
    said=$(ffmpeg -nostdin -i "$1" -i plain.png -lavfi "[0:v]format=gbrp[a];[1:v]$2,loop=-1:1:0,format=gbrp[b];[a][b]psnr=shortest=1" -f null - 2>&1) || return
    "$PYTHON" -c 'import re, sys; value = re.search(r"min:([\d.]+|inf)", sys.argv[1])[1]; sys.exit(f"{value} dB" if float(value) < 24 else 0)' "$said"
}
declare -f similar >>"$RESULTS/on-host"
for driver in radeonsi iHD; do
    has_gpu "everyday, $driver" $driver || continue
    launcher=("$LAB/gpu/run" "$driver")
    while read -r name filter options; do
        # shellcheck disable=SC2086 # options are words
        records "everyday, $driver: $name" --device "$vivid" --size 640x480 --fps 10 --format YUYV --encoder vaapi --keyframe-interval 10 --frames 20 $options $driver-$name.h264 || continue
        keep $driver-$name.h264
        on_host check "everyday, $driver: $name is sound" is_sound $driver-$name.h264 --frames 20 --keyframe-interval 10
        on_host check "everyday, $driver: $name is as another program turns it" similar $driver-$name.h264 "$filter"
    done <<'END'
rotate transpose=clock --rotate 90
crop crop=320:240:100:60,setsar=1 --crop 320x240+100+60
flip hflip --flip h
END
    launcher=()
done

# A picture of a running recording costs it none; a time lapse has its frames.
"$CAMREC" --device "$vivid" --size 640x480 --fps 10 --encoder software --control-socket ctl --duration 12s --report running.json running.mkv 2>running.log &
recorder=$!
await 30 test -s running.mkv
check "everyday: a picture of a running recording" timeout 60 "$CAMREC" ctl ctl snapshot now.jpg
wait $recorder || true
keep now.jpg running.json
on_host check "everyday: that picture is one" "$PYTHON" "$LAB/verify/image.py" now.jpg --size 640x480
on_host check "everyday: and cost no frame" report running.json 'frames.droppedByUs == 0' 'frames.written > 50'
records "everyday: a time lapse" --device "$vivid" --size 640x480 --fps 10 --encoder software --every 1s --duration 8s --report lapse.json lapse.mkv && keep lapse.json &&
    on_host check "everyday: a frame each second" report lapse.json '7 <= frames.written <= 9' 'frames.notWanted > 40'

# What moves triggers; a still pattern does not.
records "everyday: nothing moves" --device "$vivid" --size 640x480 --fps 10 --encoder software --ring 2s --on-motion --duration 15s --report still.json still.mkv && keep still.json
on_host check "everyday: nothing moves: no trigger" report still.json 'motion.count == 0' 'frames.written == 0'
v4l2-ctl -d "$vivid" -c horizontal_movement=5
records "everyday: a pattern moves" --device "$vivid" --size 640x480 --fps 10 --encoder software --ring 2s --on-motion --duration 15s --report moving.json moving.mkv && keep moving.json
on_host check "everyday: a pattern moves: a trigger" report moving.json 'motion.count >= 1' 'frames.written > 20'
modprobe -r vivid

# A webcam that is unplugged in the middle, and a full disk.
# shellcheck source=usb-webcam.sh
. "$LAB/guest/usb-webcam.sh"
modprobe vhci-hcd
modprobe uvcvideo
"$camera/uvccam" -f "$camera/frames" >"$RESULTS/uvccam.log" 2>&1 &
await 30 test -e $link
udevadm settle
records "everyday: a webcam's own JPEG" snapshot --device $link --size 640x480 --format MJPG own.jpg
keep own.jpg
on_host check "everyday: a webcam's own JPEG is a picture" "$PYTHON" "$LAB/verify/image.py" own.jpg --size 640x480 --tables
for options in "--overlay %T --rotate 90" "--crop 200x160+20+20 --scale 320x240" "--ring 5s --on-motion --control-socket motion"; do
    name=${options//[^a-z0-9]/}
    # shellcheck disable=SC2086 # options are words
    "$CAMREC" --device $link --size 320x240 --format MJPG --fps 15 --encoder software --keyframe-interval 15 --duration 20s --report "$name.json" $options "$name.mkv" 2>"$name.log" &
    recorder=$!
    await 60 test -e "$name.json"
    sleep 3
    cam unplug
    sleep 2
    cam plug
    status=0
    wait $recorder || status=$?
    check "everyday: unplugged with $options: it goes on" test $status = 0
    keep "$name.json"
    on_host check "everyday: unplugged with $options: the report" report "$name.json" 'source.restarts >= 1' 'frames.encoded > 50'
    await 15 test -e $link
done
cam quit
mkdir -p full && mount -t tmpfs -o size=60k none full
status=0
timeout 120 "$CAMREC" --device test --size 640x480 --fps 30 --encoder software --bitrate 4M --overlay '%T' --rotate 90 --frames 300 full/full.mkv 2>full.log || status=$?
check "everyday: a full disk ends the file with an error" test $status = 74
check "everyday: a full disk is named" grep -q 'full' full.log
cp full/full.mkv "$RESULTS/"
on_host check "everyday: what fitted plays" decodes_container full.mkv
