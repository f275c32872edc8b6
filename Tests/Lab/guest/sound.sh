#!/bin/bash
# In the guest: flashes in a loopback camera and clicks in a loopback sound card, made together, are together in recordings,
# whatever the card's clock does; cards that are away, busy, or not read in time.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
if ! modprobe v4l2loopback video_nr=9 exclusive_caps=1 card_label=Clapper || ! modprobe snd-aloop pcm_substreams=1; then
    skip "sound: in a guest" "no v4l2loopback or snd-aloop for this kernel"
    exit
fi
udevadm settle
gcc -O2 -o clapper "$LAB/guest/clapper.c" -lasound -lm -lpthread
microphone=plughw:CARD=Loopback,DEV=1
playback=plughw:CARD=Loopback,DEV=0
clap() { # [SHIFT]: in place of the clapper so far
    if [ -n "${clapper-}" ]; then kill "$clapper" && wait "$clapper" || true; fi
    ./clapper /dev/video9 "$playback" "$@" 2>>clapper.log &
    clapper=$!
    await 30 v4l2-ctl -d /dev/video9 --get-fmt-video
    sleep 1
}
keep() { mv "$@" "$RESULTS/"; }
scene=(--device /dev/video9 --encoder software --latency realtime --audio-device "$microphone")

clap
if records "sound: segments and a stream" "${scene[@]}" --duration 16s --segment 5s --keyframe-interval 15 --report together.json together.mkv together.ts; then
    keep together*
    for file in together together-1 together-2; do
        on_host check "sound: $file.mkv: flashes and clicks together" "$PYTHON" "$LAB/verify/sound.py" claps $file.mkv --least 3
    done
    on_host check "sound: segments are whole" "$PYTHON" "$LAB/verify/sound.py" whole together.mkv together-1.mkv together-2.mkv
    on_host check "sound: a transport stream: flashes and clicks together" "$PYTHON" "$LAB/verify/sound.py" claps together.ts --least 3
    on_host check "sound: the report" report together.json 'sound.outages == 0' 'sound.secondsOfSilence < 1' 'sound.lost == 0'
fi

# 1500 millionths in 40 seconds are what 200 make in five minutes. A slow clock is tried by the unit tests.
clap 100150
if records "sound: a fast clock" "${scene[@]}" --duration 40s --report fast.json fast.mkv; then
    keep fast.json fast.mkv
    on_host check "sound: a fast clock is followed" "$PYTHON" "$LAB/verify/sound.py" claps fast.mkv --least 15
    on_host check "sound: a fast clock: silence is none, and the drift is known" report fast.json \
        'sound.secondsOfSilence < 1' 'abs(abs(sound.driftPPM) - 1500) < 150'
fi

# The card goes and comes back.
clap
driver=/sys/bus/platform/drivers/snd_aloop
"$CAMREC" "${scene[@]}" --duration 20s --report away.json away.mkv 2>away.log &
recorder=$!
await 30 test -s away.mkv
sleep 6
echo snd_aloop.0 >$driver/unbind
sleep 4
echo snd_aloop.0 >$driver/bind
status=0
wait $recorder || status=$?
check "sound: a card that is away costs no picture: the recording ends well" test $status = 0
check "sound: a card that is away: one warning, and a note" test "$(grep -c 'the microphone is gone' away.log)" = 1
keep away.json away.mkv
on_host check "sound: a card that is away: silence, and together again" "$PYTHON" "$LAB/verify/sound.py" claps away.mkv --least 8
on_host check "sound: a card that is away: no gap" "$PYTHON" "$LAB/verify/sound.py" whole away.mkv
on_host check "sound: a card that is away: the report" report away.json 'sound.outages == 1' '3 < sound.secondsOfSilence < 12'

# A card that has no 16 bits: what plays into a loopback decides what its other end has.
for format in S32_LE S24_3LE FLOAT_LE; do
    cat >~/.asoundrc <<END
pcm.$format { type plug slave { pcm "hw:CARD=Loopback,DEV=0" format $format } }
END
    playback=$format clap
    if records "sound: $format" "${scene[@]::6}" --audio-device hw:CARD=Loopback,DEV=1 --duration 8s --report $format.json $format.mkv; then
        keep $format.json $format.mkv
        on_host check "sound: $format: flashes and clicks together" "$PYTHON" "$LAB/verify/sound.py" claps $format.mkv --least 3
        on_host check "sound: $format: the report" report $format.json 'sound.heard' 'sound.outages == 0' 'sound.secondsOfSilence < 1'
    fi
done
rm ~/.asoundrc
clap

# Two recordings want one microphone.
"$CAMREC" "${scene[@]}" --duration 9s first.mkv 2>first.log &
recorder=$!
await 30 test -s first.mkv
records "sound: a busy microphone: pictures and silence" --device test --size 320x240 --fps 10 --pace --encoder software --audio-device hw:CARD=Loopback,DEV=1 --frames 20 --report busy.json busy.mkv &&
    says "sound: a busy microphone: it is said" 'another program uses this microphone'
check "sound: a busy microphone: the report" report busy.json 'sound.secondsOfSilence > 1' 'frames.written == 20'
wait $recorder || true

# A recorder that stands still loses samples, and is together again afterwards.
"$CAMREC" "${scene[@]}" --duration 18s --report still.json still.mkv 2>still.log &
recorder=$!
await 30 test -s still.mkv
sleep 5
kill -STOP $recorder
sleep 4
kill -CONT $recorder
wait $recorder || true
keep still.json still.mkv
on_host check "sound: a recorder that stood still: together again" "$PYTHON" "$LAB/verify/sound.py" claps still.mkv --least 8
check "sound: a recorder that stood still: the microphone is not blamed" test "$(grep -c microphone still.log)" = 0
check "sound: a recorder that stood still: that is said once" test "$(grep -cE 'camrec was stopped for [34].*recording continues$' still.log)" = 1
on_host check "sound: a recorder that stood still: overruns are silence" report still.json 'sound.overruns >= 1' '1 < sound.secondsOfSilence < 8'
kill "$clapper" || true
