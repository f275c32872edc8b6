#!/bin/bash
# camplay's sound: when tones are heard at a real sound server, beside the flashes on a display, while the viewer pauses,
# seeks and mutes; and what happens without a loudspeaker.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
for tool in Xvfb openbox xdotool pulseaudio parec; do
    command -v $tool >/dev/null || {
        skip "play sound" "no $tool; install xvfb, openbox, xdotool, pulseaudio and pulseaudio-utils"
        finish
        exit
    }
done
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER SDL_AUDIODRIVER
export XDG_RUNTIME_DIR=$work/run HOME=$work
mkdir -m 700 run

Xvfb -displayfd 3 -screen 0 640x480x24 -nolisten tcp 3>display 2>/dev/null &
screen=$!
until [ -s display ]; do kill -0 $screen; done
DISPLAY=:$(cat display)
cat >openbox.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<theme><keepBorder>no</keepBorder></theme>
<applications><application name="*"><decor>no</decor><focus>yes</focus></application></applications>
</openbox_config>
END
export DISPLAY PULSE_SERVER=unix:$work/pulse
openbox --config-file "$work/openbox.xml" >/dev/null 2>&1 &
manager=$!
pulseaudio -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no -L 'module-null-sink sink_name=out rate=48000' \
    -L "module-native-protocol-unix socket=$work/pulse auth-anonymous=1" >pulse.log 2>&1 &
server=$!
await 20 pactl info
# A loudspeaker that nobody uses takes two seconds to wake up.
parec --raw --latency-msec=5 --device=out.monitor >/dev/null 2>&1 &
waker=$!
trap 'kill $waker $server $manager $screen 2>/dev/null; clean' EXIT

# A flash and a tone of a tenth of a second each, half a second after each second.
ffmpeg -nostdin -v error -f lavfi -i "color=black:s=320x240:r=30:d=30,geq=lum='if(lt(mod(T+0.5\,1)\,0.099)\,235\,16)':cb=128:cr=128" \
    -f lavfi -i "aevalsrc='if(lt(mod(t+0.5,1),0.1),0.5*sin(2*PI*1000*t),0)':s=48000:d=30" -c:v libx264 -pix_fmt yuv420p -preset ultrafast -g 30 -c:a aac flash.mkv
ffmpeg -nostdin -v error -i flash.mkv -c copy flash.ts
ffmpeg -nostdin -v error -i flash.mkv -c:v copy -c:a libopus opus.mp4
ffmpeg -nostdin -v error -i flash.mkv -c:v copy -c:a flac -ar 44100 flac.mkv

together() { # SECONDS LEAST FILE OPTIONS...: what is seen and heard meanwhile
    local seconds=$1 least=$2 watcher status=0
    shift 2
    "$PYTHON" "$LAB/verify/lipsync.py" "$seconds" --least "$least" >lipsync.log 2>&1 &
    watcher=$!
    timeout 60 "$CAMPLAY" --report play.json --overwrite "$@" 2>play.err || status=$?
    wait $watcher || { cat lipsync.log play.err; return 1; }
    [ $status = 0 ] || { cat play.err; return 1; }
}
heard() { report play.json "$@" || { "$PYTHON" -c "import json; print(json.load(open(\"play.json\"))[\"sound\"])"; return 1; }; }
for file in flash.mkv flash.ts opus.mp4 flac.mkv; do
    check "play sound: $file: tones come with their flashes" together 9 5 $file --frames 220
    check "play sound: $file: none is missing" heard 'sound.secondsPlayed > 6.8' 'sound.secondsLeftOut < 0.1' 'sound.secondsOfSilence < 0.2' 'abs(sound.earlyBy) < 0.03'
done

# Ten joins of recordings whose sound lasts 1.280 s and whose pictures last 1.267 s, each with one tone and its flash.
joined() {
    ffmpeg -nostdin -v error -y -i flash.mkv -t 1.27 -c copy part.ts
    for _ in {0..10}; do cat part.ts; done >joined.ts
    together 17 9 joined.ts
}
check "play sound: ten joined transport streams: tones come with their flashes" joined

# The viewer: a pause of two seconds, ten seconds ahead, and back, and a moment without sound.
press() { xdotool search --sync --onlyvisible --name '^camplay ' windowfocus key "$1"; }
views() {
    local watcher player
    "$PYTHON" "$LAB/verify/lipsync.py" 16 --least 8 >lipsync.log 2>&1 &
    watcher=$!
    timeout 60 "$CAMPLAY" --report play.json --overwrite flash.mkv 2>play.err &
    player=$!
    sleep 4
    press space && sleep 2 && press space && sleep 3 && press Right && sleep 3 && press Left && sleep 2 && press q || return 1
    wait $player || { cat play.err; return 1; }
    wait $watcher || { cat lipsync.log play.err; return 1; }
}
check "play sound: paused and somewhere else, tones come with their flashes" views
check "play sound: little is left out" heard 'sound.secondsLeftOut < 1.5' 'pictures.late < 60'
silent() {
    local player
    timeout 60 "$CAMPLAY" --report play.json --overwrite --frames 240 flash.mkv 2>play.err &
    player=$!
    press m && sleep 0.5
    timeout 5 parec --raw --format=s16le --rate=48000 --channels=1 --device=out.monitor >muted.raw || [ $? = 124 ]
    wait $player && "$PYTHON" -c 'import array; samples = array.array("h", open("muted.raw", "rb").read()); assert len(samples) > 100000 and not any(samples), max(map(abs, samples))'
}
check "play sound: M mutes it" silent

# Live: pictures wait for their sound. camrec's beeps come at each second of the machine's clock.
live() { # FORMAT OPTIONS
    local sender
    "$PYTHON" "$LAB/verify/lipsync.py" 9 --least 5 >lipsync.log 2>&1 &
    local watcher=$!
    timeout 60 "$CAMPLAY" --once --report play.json --overwrite --frames 200 listen://9571 2>play.err &
    local player=$!
    await 20 grep -q '' /proc/$player/status && sleep 0.5
    timeout 30 ffmpeg -nostdin -v error -re -i flash.mkv -c copy -f "$1" -flush_packets 1 $2 tcp://127.0.0.1:9571 >sender.log 2>&1 &
    sender=$!
    wait $player || { cat play.err; return 1; }
    wait $watcher || { cat lipsync.log play.err; return 1; }
    kill $sender 2>/dev/null || true
}
check "play sound: a live transport stream: tones come with their flashes" live mpegts '-pes_payload_size 0'
for format in mkv ts; do
    "$CAMREC" --device test --size 320x240 --fps 30 --pace --encoder software --audio-device test --listen 9572 --stream-format $format --duration 12s 2>recorder.log &
    recorder=$!
    await 20 "$PYTHON" -c 'import socket; socket.create_connection(("127.0.0.1", 9572))'
    check "play sound: camrec's $format, live" timeout 60 "$CAMPLAY" --once --report play.json --overwrite --frames 200 tcp://127.0.0.1:9572
    check "play sound: camrec's $format, live: nothing is missing" heard 'pictures.decoded == 200' 'sound.secondsPlayed > 6' 'sound.secondsLeftOut < 0.3' 'sound.secondsOfSilence < 0.3'
    "$CAMPLAY" --no-window --once --report play.json --overwrite --frames 20 --save $format.h264 tcp://127.0.0.1:9572 2>play.err || cat play.err
    check "play sound: camrec's $format: the pictures without a window" decodes_silently $format.h264
    kill $recorder
    wait $recorder || true
done

# What there is none for.
plain() { # TEXT OPTIONS...: the pictures are shown, without sound, and camplay says so; '' if it should not
    local text=$1
    shift
    timeout 60 "$CAMPLAY" --report play.json --overwrite --frames 30 "$@" 2>play.err || { cat play.err; return 1; }
    if [ -n "$text" ]; then grep -qE "$text" play.err; else [ ! -s play.err ]; fi || { cat play.err; return 1; }
    report play.json 'pictures.decoded == 30'
}
check "play sound: no loudspeaker" env PULSE_SERVER=unix:/nowhere SDL_AUDIODRIVER=pulseaudio bash -c "$(declare -f plain report); plain 'no loudspeaker \(SDL: .*\); --no-sound plays without one' flash.mkv"
check "play sound: --no-sound" plain '' --no-sound flash.mkv
check "play sound: at another speed it is left out, and camplay says so" plain 'left out: sound' --speed 2 flash.mkv
kill -STOP $server
check "play sound: a server that hangs holds up neither pictures nor the end" plain '' flash.mkv
kill -CONT $server
finish
