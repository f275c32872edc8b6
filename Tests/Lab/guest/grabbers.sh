#!/bin/bash
# In the guest: grabbers simulated by vivid (HDMI, TV, S-Video), and two webcams that differ only in their ports.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
repository=$(cd "$LAB/../.." && pwd)
gcc -O2 -fPIC -shared -o driver.so "$LAB/guest/driver.c" -ldl

modprobe vivid n_devs=1 node_types=0x1 num_inputs=3 input_types=0x27
udevadm settle
grabber=$(vivid_node 000-vid-cap)

# Inputs and television standards.
is_shown_as_pal() { # FILE: pixels of 59:54, as near as Matroska's whole numbers and ffprobe's fractions come
    local found
    found=$(ffprobe -v error -show_entries stream=sample_aspect_ratio -of csv=p=0 "$1")
    awk -F : '{exit !(NF == 2 && $1 * 54 > $2 * 58.9 && $1 * 54 < $2 * 59.1)}' <<<"$found" || { echo "'$found' in place of about 59:54"; return 1; }
}
on_host eval "$(declare -f is_shown_as_pal)"
"$CAMREC" devices >devices
check "devices: lists the inputs" grep -qE 'input 2: S-Video' devices
check "devices: says which is in use" grep -qE 'input [0-2]: .*, in use' devices
refuses "an input that does not exist" 64 "no input 'Scart', only 0 \(.*2 \(S-Video" --device "$grabber" --input Scart --frames 1 out.h264
refuses "a standard where there is none" 64 'no television standards' --device "$grabber" --input 0 --standard PAL --frames 1 out.h264
name=$(sed -nE 's/^ *input 2: ([^,]*).*/\1/p' devices | sed -n 1p)
small=(--format YUYV --frames 3 --encoder software --overwrite)
if records "PAL at the S-Video input, by its name" --device "$grabber" --input "$name" --standard pal "${small[@]}" "$RESULTS/pal.h264" "$RESULTS/pal.mkv"; then
    on_host check "PAL: size, rate and the shape of its pixels" has_properties pal.h264 width=720 height=576 r_frame_rate=25/1 sample_aspect_ratio=59:54
    on_host check "PAL: the container has it too" is_shown_as_pal pal.mkv
fi
check "devices: lists the standards of the input in use" bash -c "'$CAMREC' devices | grep -qE 'standards: .*PAL[^,]* \(in use\)'"
refuses "a standard that does not exist" 64 "no standard 'HD', only .*NTSC" --device "$grabber" --input 2 --standard HD --frames 1 out.h264
records "NTSC" --device "$grabber" --input 2 --standard NTSC "${small[@]}" "$RESULTS/ntsc.h264" &&
    on_host check "NTSC: size and the shape of its pixels" has_properties ntsc.h264 width=720 height=480 sample_aspect_ratio=10:11

# Fields one after another in a buffer: the pictures are those of a driver that interleaves them.
if has_gpu "fields" iHD; then
    still_picture "$grabber" 4
    v4l2-ctl -d "$grabber" --set-fmt-video=width=720,height=480,pixelformat=YUYV,field=interlaced --stream-mmap=4 --stream-count=1 \
        --stream-to="$RESULTS/woven.raw" >/dev/null 2>&1
    launcher=("$LAB/gpu/run" iHD)
    for field in 4:interlaced 5:seq-tb 6:seq-bt; do
        DRIVER_FIELD=${field%:*} LD_PRELOAD=$work/driver.so records "fields: ${field#*:}" --device "$grabber" --format YUYV --frames 2 --encoder vaapi "$work/fields.h264" || continue
        mv fields.h264 "$RESULTS/${field#*:}.h264"
        on_host check "fields: ${field#*:} is the interleaved picture" pictures equal "${field#*:}.h264" woven.raw --format YUYV --size 720x480 --still
    done
    launcher=()
fi
DRIVER_FIELD=7 LD_PRELOAD=$work/driver.so refuses "fields: one by one" 64 'fields of a picture separately' --device "$grabber" --format YUYV --frames 2 --encoder software out.h264

# A bridge without its own rate: 1280x720 at 24 Hz, then at 25, with the same size.
v4l2-ctl -d "$grabber" --set-input 0
v4l2-ctl -d "$grabber" -c dv_timings_signal_mode=4 -c dv_timings=5
rm -rf signal && mkdir signal
DRIVER_NO_PARM=1 LD_PRELOAD=$work/driver.so timeout 200 "$CAMREC" --device "$grabber" --size 320x180 --format YUYV --encoder software \
    --report signal/report.json signal/out.h264 2>signal/stderr &
recorder=$!
await 60 sh -c '[ -n "$(find signal -name "*h264*" -size +8k)" ]' || fail "a signal of another rate" "nothing is recorded: $(tail -n 2 signal/stderr)"
v4l2-ctl -d "$grabber" -c dv_timings=6 # on a busy machine, seconds later
await 60 sh -c '[ -n "$(find signal -name out-1.h264 -size +8k)" ]' || fail "a signal of another rate" "is not noticed: $(tail -n 2 signal/stderr)"
kill -TERM "$(pgrep -P $recorder)"
status=0
wait $recorder || status=$?
check "a signal of another rate: exit code 0" test $status = 0
cp -r signal "$RESULTS/"
on_host check "a signal of another rate: is noticed" report signal/report.json 'source.restarts == 1' 'format.framesPerSecond == 25' 'outputs[0].lost == 0'
on_host check "a signal of another rate: the rate before" has_properties signal/out.h264 r_frame_rate=24/1
on_host check "a signal of another rate: the rate after" has_properties signal/out-1.h264 r_frame_rate=25/1
DRIVER_NO_PARM=1 DRIVER_NO_TIMINGS=1 LD_PRELOAD=$work/driver.so records "neither rate nor timings" --device "$grabber" --size 320x180 --format YUYV --encoder software --frames 5 --report measured.json --overwrite out.h264 &&
    check "neither rate nor timings: measured" report measured.json '20 <= format.framesPerSecond <= 26'
modprobe -r vivid

# Two webcams of one model with one serial number.
# shellcheck source=usb-webcam.sh
. "$LAB/guest/usb-webcam.sh"
cp "$repository/udev/70-camrec.rules" /etc/udev/rules.d/
udevadm control --reload
modprobe -a vhci-hcd uvcvideo
links() { find /dev/camrec -name 'p*' 2>/dev/null | wc -l; }
has_links() { [ "$(links)" = "$1" ]; }
"$camera/uvccam" -f "$camera/frames" -p 0 -s TWIN -c /run/one.sock >"$RESULTS/one.log" 2>&1 &
check "twins: a link by the first one's place" await 30 has_links 1
first=$(find /dev/camrec -name 'p*')
"$camera/uvccam" -f "$camera/frames" -p 1 -s TWIN -c /run/two.sock >"$RESULTS/two.log" 2>&1 &
check "twins: and one by the second one's" await 30 has_links 2
udevadm settle
check "twins: each leads to its own camera" test "$(find /dev/camrec -name 'p*' -exec readlink -f {} + | sort -u | wc -l)" = 2
mkdir twins
timeout 200 "$CAMREC" --device "$(readlink -f "$first")" --size 320x240 --format YUYV --fps 15 --encoder software --report twins/report.json twins/out.h264 2>twins/stderr &
recorder=$!
check "twins: one is recorded" await 60 sh -c '[ -n "$(find twins -name "*h264*" -size +8k)" ]'
cam -c /run/one.sock unplug
check "twins: it is missed" await 30 grep -q 'waiting for it' twins/stderr
# Longer than any pause between attempts to find it.
sleep 6
check "twins: the other is not taken for it" bash -c '! grep -q "recording continues" twins/stderr'
cam -c /run/one.sock plug
check "twins: it is taken again" await 60 grep -q 'recording continues' twins/stderr
kill -TERM "$(pgrep -P $recorder)"
status=0
wait $recorder || status=$?
check "twins: exit code 0" test $status = 0
cp -r twins "$RESULTS/"
on_host check "twins: the report" report twins/report.json 'source.restarts == 1' 'outputs[0].lost == 0'
