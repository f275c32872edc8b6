#!/bin/bash
# In the guest: a USB webcam with a microphone of its own (../webcam), through the real uvcvideo and snd-usb-audio. It
# flashes and clicks once a second, and its cable carries both.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
# shellcheck source=usb-webcam.sh
. "$LAB/guest/usb-webcam.sh"
listens() { [ -e /proc/asound/Webcam/pcm0c ]; }
# Another sound card is the first one, as on most machines.
if ! modprobe vhci-hcd || ! modprobe uvcvideo || ! modprobe snd-aloop pcm_substreams=1 || ! modprobe snd-usb-audio; then
    skip "microphone: of a camera" "no snd-usb-audio or snd-aloop for this kernel"
    exit
fi
"$camera/uvccam" -m -f "$camera/frames" >"$RESULTS/uvccam.log" 2>&1 &
await 30 test -e $link
await 30 listens
udevadm settle
keep() { mv "$@" "$RESULTS/"; }
# A picture is stamped when the emulated processor has received it. Sound and pictures of different moments are a second apart.
within=150
# Dark between the flashes.
scene=(--device "$link" --size 320x240 --format YUYV --fps 15 --control brightness=-64 --encoder software --latency realtime --audio)

"$CAMREC" devices >"$RESULTS/devices"
check "microphone: devices lists it, with rate and channels" grep -qE 'plughw:CARD=Webcam,DEV=0 USB Audio 48000 Hz, 1 channel' <(tr -s '\n ' ' ' <"$RESULTS/devices")
if records "microphone: the camera's own is chosen" "${scene[@]}" --duration 20s --report own.json own.mkv; then
    keep own.json own.mkv
    on_host check "microphone: flashes and clicks together" "$PYTHON" "$LAB/verify/sound.py" claps own.mkv --within $within --least 8
    on_host check "microphone: no gap" "$PYTHON" "$LAB/verify/sound.py" whole own.mkv
    on_host check "microphone: the report" report own.json "'Webcam' in sound.microphone" 'sound.outages == 0' 'sound.heard' 'sound.lost == 0'
fi

# The cable carries both, so both are away and come back.
"$CAMREC" "${scene[@]}" --duration 40s --report cable.json cable.mkv 2>cable.log &
recorder=$!
await 30 test -s cable.mkv
sleep 8
cam unplug
sleep 4
cam plug
status=0
wait $recorder || status=$?
keep cable.json cable.mkv cable.log
check "microphone: an unplugged cable: the recording ends well" test $status = 0
on_host check "microphone: an unplugged cable: together before and after" "$PYTHON" "$LAB/verify/sound.py" claps cable.mkv --within $within --least 8
on_host check "microphone: an unplugged cable: no gap in the sound" "$PYTHON" "$LAB/verify/sound.py" whole cable.mkv
on_host check "microphone: an unplugged cable: the report" report cable.json 'sound.outages == 1' 'sound.secondsOfSilence > 2' 'source.restarts >= 1'
cam quit
