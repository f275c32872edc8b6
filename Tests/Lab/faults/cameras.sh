#!/bin/bash
# In the guest: faults of cameras, clocks and recorders, and what they cost.
# usage: ../guest/run --limit 7200 cameras.sh [--short]
# The short form covers what ../guest/cameras.sh, which runs it, webcam.sh and outages.sh do not check themselves.
set -euo pipefail
# shellcheck source=../guest/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest/guest.sh"
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
# shellcheck source=recordings.sh
. "$LAB/faults/recordings.sh"
# shellcheck source=vivid.sh
. "$LAB/faults/vivid.sh"
part="Cameras, clocks and recorders"
in_guest
mkdir -p "$work/$kept"
cd "$work/$kept"

# --- vivid
options=(--size 320x180 --format YUYV --fps 10 --encoder software --qp 20) rate=10
begin_vivid
vivid_stream_faults vivid

back() { date -s '-1 hour' >/dev/null; }
ahead() { date -s '+1 hour' >/dev/null; }
for way in $(times "back ahead" back); do
    strikes clock-$way "the clock is set $way an hour" "$(times 5 1)" $way --so 'source.restarts == 0'
done
strikes halt "camrec is stopped for up to 4 s (SIGSTOP, SIGCONT)" "$(times 5 1)" halt --so 'source.restarts == 0'
[ -z "$short" ] || exit 0

vivid_picture_faults vivid
vivid_call_faults vivid

# Both wrap 16 s, or 128 pictures, after the stream began.
begins() { v4l2-ctl -d "$node" --stream-mmap=4 --stream-count=1 --verbose 2>&1 | grep -aE -- "$1"; }
for bits in 1 2; do
    control wrap_timestamp=$bits
    check "vivid: times of capture begin ahead of their wrap ($bits)" begins 'ts: *(9223372[0-9]{3}|2147483[0-9]{3})\.'
    lasts timestamp-$bits "vivid: times of capture wrap (wrap_timestamp=$bits)" 200 --so 'source.restarts == 0'
done
control wrap_timestamp=0
control wrap_sequence_number=1
check "vivid: sequence numbers begin ahead of their wrap" begins 'seq: *42949[0-9]{5}'
lasts sequence "vivid: sequence numbers wrap (wrap_sequence_number)" 160 --so 'frames.droppedByDriver < 50'
control wrap_sequence_number=0

# Segments that are named by the clock.
fault="the clock is set back and ahead an hour, with segments that are named by it"
segments_beyond() { [ "$(find segments -name '*.h264' | wc -l)" -gt "$1" ]; }
folder=segments
mkdir $folder
"$CAMREC" "${camera[@]}" --segment 1s --keep 7d --report $folder/report.json $folder/%H%M%S.h264 2>$folder/stderr &
recorder=$!
count=1
for way in back back ahead ahead ahead back; do
    await 60 segments_beyond $count || fail "$fault" "no segment $count"
    for_a_while 0 1000
    $way
    count=$((count + 3))
done
await 60 segments_beyond $count || fail "$fault" "no segment $count"
finished
on_host eval "trial ${fault@Q} --status $status --block 0 --report $kept/$folder/report.json --so 'source.restarts == 0' --so 'outputs[0].segments.removed == 0' \
    --so 'outputs[0].segments.count > $count' --so 'frames.written == frames.encoded' $kept/$folder/*.h264"
on_host settle "$fault"

# One camera, two recorders.
fault="two recorders on one camera: the second is turned away, and harms nothing"
recording first
for number in 1 2 3 4 5; do
    for_a_while 0 1000
    status=0
    camrec "${camera[@]}" --frames 1 second.h264 || status=$?
    check "$fault: $number. time" test $status = 75
done
second=$status
goes_on
finished
on_host measured $kept/first "$fault" --status "$second" --wanted 75 --rate $rate --so 'source.restarts == 0'
on_host settle "$fault"

fault="two recorders on one camera: the second waits (--wait) until the first is killed"
for number in 1 2 3; do
    recording killed-$number
    first=$recorder
    folder=waiting-$number
    mkdir $folder
    "$CAMREC" "${camera[@]}" --wait 60s --verbose --report $folder/report.json --timestamps $folder/times.txt $folder/out.h264 2>$folder/stderr &
    recorder=$!
    await 30 grep -q '^waiting for .*in use by camrec' $folder/stderr || fail "$fault" "nobody waits: $(tail -n 2 $folder/stderr)"
    for_a_while 0 1000
    before=$(now)
    kill -KILL "$first"
    wait "$first" || true
    await 60 pictures_beyond 0 || fail "$fault" "no second recording: $(tail -n 2 $folder/stderr)"
    took=$(since "$before")
    finished
    on_host measured "$kept/$folder" "$fault" --status $status --rate $rate --took "$took"
done
on_host settle "$fault"
modprobe -r vivid

# An HDMI input: 1280x720 at 24 Hz, which vivid scales.
modprobe vivid n_devs=1 node_types=0x1 input_types=0x3
options=(--size 320x180 --format YUYV --encoder software --qp 20) rate=24
find_vivid
control dv_timings_signal_mode=4 && control dv_timings=5
lose_signal() {
    control dv_timings_signal_mode=$((1 + number % 3)) # none, no lock, out of range
    for_a_while 500 3000
    control dv_timings_signal_mode=4
}
strikes signal "vivid: HDMI has no signal, or one that cannot be used, for up to 3 s (dv_timings_signal_mode)" 9 lose_signal --so 'source.restarts >= 9'
modprobe -r vivid

# --- the USB webcam
usb=$LAB_CACHE/webcam
link=/dev/v4l/by-id/usb-Emulated_Emulated_Webcam_EMU0001-video-index0
cam() { "$usb/uvccam" "$@" >/dev/null; }
camera=(--device "$link" --fps 15 --encoder software) rate=15
# The hardware encoder if there is one: its recordings are lossless, so the camera's numbers can be read.
numbers=(--late)
if has_gpu "USB webcam: by hardware" iHD; then
    launcher=("$LAB/gpu/run" iHD) camera=(--device "$link" --fps 15 --encoder vaapi) numbers+=(--block 1 --renumbered)
fi
modprobe -a vhci-hcd uvcvideo
"$usb/uvccam" -f "$usb/frames" >"$RESULTS/$kept/uvccam.log" 2>&1 &
await 30 test -e $link
udevadm settle

cable() { # out for up to a second after its node has gone
    cam unplug
    await 15 sh -c "! [ -e $link ]"
    for_a_while 0 1000
    cam plug
    await 30 test -e $link
}
recorded=(--size 320x240 --format YUYV)
strikes cable "USB webcam: unplugged, and plugged in again within a second" 50 cable "${numbers[@]}" --so 'source.restarts >= 50'

# With other formats the recording continues in another file, whose times begin at 0.
fault="USB webcam: unplugged, and plugged in again with other formats, in a new file"
each=()
recording other --size 640x480
for ((number = 1; number <= 10; number++)); do
    for_a_while 0 1000
    if [ $((number % 2)) = 1 ]; then cam format B; else cam format A; fi
    before=$(now)
    cable
    await 90 test -s "other/out-$number.h264" || fail "$fault" "no file $number: $(tail -n 2 other/stderr)"
    each+=(--took "$(since "$before")")
done
finished
on_host measured $kept/other "$fault" --status $status --rate $rate --made 10 "${each[@]}" --so 'source.restarts >= 10'
on_host settle "$fault"
cable
udevadm settle

freeze() {
    cam freeze
    for_a_while 3000 8000
    cam thaw
}
strikes freeze "USB webcam: freezes for 3 to 8 s" 10 freeze "${numbers[@]}" --so 'source.restarts >= 10'
stall() { cam stall; }
strikes stall "USB webcam: its endpoint stalls" 10 stall "${numbers[@]}" --so 'source.restarts >= 10'
bad() { cam "$bad"; }
for bad in error short; do
    strikes $bad "USB webcam: a frame of YUYV comes with $bad, and uvcvideo drops it" 20 bad "${numbers[@]}" --so 'frames.droppedByDriver >= 20' --so 'source.restarts == 0'
done
strikes halt-usb "USB webcam: camrec is stopped for up to 4 s (SIGSTOP, SIGCONT)" 5 halt "${numbers[@]}" --so 'source.restarts == 0'

echo 1 >/sys/module/uvcvideo/parameters/nodrop # is read when the camera is plugged in
cable
udevadm settle
for bad in error short; do
    strikes $bad-flagged "USB webcam: a frame of YUYV comes with $bad, and uvcvideo delivers it (nodrop)" 20 bad "${numbers[@]}" --so 'frames.corrupt >= 20' --so 'source.restarts == 0'
done
echo 0 >/sys/module/uvcvideo/parameters/nodrop
cam format B
cable
udevadm settle
recorded=(--size 320x240 --format MJPG)
for bad in short corrupt; do
    strikes $bad-jpeg "USB webcam: a frame of MJPEG is $bad" 20 bad --late --so 'source.restarts == 0'
done
cam quit
