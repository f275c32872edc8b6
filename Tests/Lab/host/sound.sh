#!/bin/bash
# Sound of the test microphone, which beeps at each second of the monotonic clock: in each container and codec, in
# segments, in a ring, published and sent, and what is said where it cannot be.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
sound() { "$PYTHON" "$LAB/verify/sound.py" "$@"; }
small=(--device test --size 320x240 --fps 30 --pace --encoder software --audio-device test)

for codec in aac opus flac; do
    outputs=("$codec.mkv" "$codec.mp4")
    [ $codec = flac ] || outputs+=("$codec.ts")
    records "sound: $codec" "${small[@]}" --audio-codec $codec --frames 130 --report $codec.json "${outputs[@]}" || continue
    for output in "${outputs[@]}"; do
        check "sound: $output is whole" sound whole $output --codec $codec
        check "sound: $output is on time" sound beeps $output $codec.json
        check "sound: $output decodes" decodes_container $output
    done
    check "sound: $codec: the report" report $codec.json "sound.codec == '$codec'" 'sound.samplesPerSecond == 48000' 'sound.channels == 1' \
        'sound.periods > 150' 'sound.overruns == 0' 'sound.secondsOfSilence < 0.01' 'sound.lost == 0'
done

# B frames come in another order than they are shown in; frame threads hold pictures back for a second.
records "sound: B frames and a lookahead" "${small[@]}" --bframes 2 --frames 130 --report late.json late.mkv &&
    check "sound: B frames and a lookahead: whole" sound whole late.mkv &&
    check "sound: B frames and a lookahead: on time" sound beeps late.mkv late.json

# Cut with the pictures: nothing is missing between two files, and nothing is doubled.
records "sound: segments" "${small[@]}" --frames 190 --segment 2s --keyframe-interval 30 --report cut.json cut.mkv || true
check "sound: segments are whole" sound whole cut.mkv cut-1.mkv cut-2.mkv
joined() { # the packets of all files are those of the recording: each starts where the one before ended
    "$PYTHON" - "$@" <<'END'
import json, subprocess, sys
def packets(file, stream):
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time,duration_time", "-of", "json", file], check=True, stdout=subprocess.PIPE).stdout
    return [(float(p["pts_time"]), float(p.get("duration_time", 0))) for p in json.loads(text)["packets"]]
start = end = None
offset = 0
for file in sys.argv[1:]:
    pictures, sound = packets(file, "v"), packets(file, "a")
    if end is not None and abs(offset + sound[0][0] - end) > 0.003:
        sys.exit(f"{file}: its sound begins {(offset + sound[0][0] - end) * 1e3:.1f} ms after the last file's")
    end = offset + sum(sound[-1])
    offset += 2.0
END
}
check "sound: nothing is lost between segments" joined cut.mkv cut-1.mkv cut-2.mkv

# Transport streams of one recording continue its times: joined by cat they are one recording.
records "sound: segments of a transport stream" "${small[@]}" --frames 150 --segment 1s --keyframe-interval 30 --bframes 2 --latency throughput part.ts &&
    cat part.ts part-[1-4].ts >all.ts
lasts() { # FILE STREAM: 5 s, in packets that follow each other
    "$PYTHON" - "$@" <<'END'
import json, subprocess, sys
text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", sys.argv[2], "-show_entries", "packet=pts_time", "-of", "json", sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout
times = sorted(float(p["pts_time"]) for p in json.loads(text)["packets"])
steps = [b - a for a, b in zip(times, times[1:])]
if not 4.8 < times[-1] - times[0] < 5.2: sys.exit(f"from {times[0]} to {times[-1]} s")
if max(steps) > 0.08 or min(steps) < 0.01: sys.exit(f"steps from {min(steps)} to {max(steps)} s")
END
}
silently_copies() { ffmpeg -nostdin -v warning -y -i all.ts -c copy -f mp4 copied.mp4 2>said && [ ! -s said ] || { cat said; return 1; }; }
plays_five_seconds() { # at once 5 s would be a second's worth of pictures and several of waiting
    local begin=$SECONDS
    "$CAMPLAY" --no-window --report played.json all.ts && ((SECONDS - begin <= 7)) && report played.json 'pictures.decoded == 150'
}
for stream in v a; do
    check "sound: joined segments: $stream: five seconds" lasts all.ts $stream
done
check "sound: joined segments: ffmpeg copies them without a word" silently_copies
check "sound: joined segments: copied" lasts copied.mp4 v
records "sound: joined segments: remux" remux all.ts remuxed.mkv && check "sound: joined segments: remuxed" sound whole remuxed.mkv &&
    check "sound: joined segments: remuxed in time" lasts remuxed.mkv a
check "sound: joined segments: played in time" plays_five_seconds

# A ring keeps the sound of its pictures.
"$CAMREC" "${small[@]}" --ring 2s --post 1s --keyframe-interval 15 --control-socket ring --report ring.json --duration 12s ring.mkv 2>ring.log &
recorder=$!
await 20 test -S ring
sleep 4
check "sound: a ring: triggered" "$CAMREC" ctl ring trigger
sleep 3
"$CAMREC" ctl ring stop >/dev/null
wait $recorder || true
check "sound: a ring's file is whole" sound whole ring.mkv

# Nobody is to blame when nothing ran.
"$CAMREC" "${small[@]}" --report stopped.json --duration 12s stopped.mkv 2>stopped.log &
recorder=$!
await 20 test -s stopped.mkv
sleep 2
begin_of_stop=$EPOCHREALTIME
kill -STOP $recorder
sleep 4
kill -CONT $recorder
stopped=$("$PYTHON" -c "print($EPOCHREALTIME - $begin_of_stop)")
wait $recorder || true
check "sound: stopped for four seconds: that is said" grep -qE '^camrec: warning: camrec was stopped for [3-9]\.[0-9] s; recording continues$' stopped.log
blames_nobody() { ! grep -E 'too busy|microphone' stopped.log; }
check "sound: stopped for four seconds: neither the machine nor the microphone is blamed" blames_nobody
check "sound: stopped for four seconds: one outage" report stopped.json 'source.outages == 1' 'source.standstills == 1' "3.8 < source.secondsStopped < $stopped + 0.4" \
    'sound.outages == 0' 'frames.captured == frames.encoded + frames.droppedByUs + frames.unused'

# Published, sent, and over TCP in a container.
for codec in aac opus; do
    "$PYTHON" "$LAB/verify/sound.py" serve 9554 rtsp-$codec.mkv $codec >server.log 2>&1 &
    server=$!
    await 20 grep -q ready server.log || true
    records "sound: $codec over RTSP" "${small[@]}" --audio-codec $codec --frames 150 --report rtsp-$codec.json rtsp://127.0.0.1:9554/cam || true
    sleep 1
    kill $server 2>/dev/null || true
    wait $server 2>/dev/null || true
    check "sound: $codec over RTSP arrives whole" sound whole rtsp-$codec.mkv --codec $codec --gap 3
    check "sound: $codec over RTSP is on time" sound beeps rtsp-$codec.mkv rtsp-$codec.json --within 40
done
timeout 30 ffmpeg -nostdin -v error -f mpegts -i 'udp://127.0.0.1:9555?timeout=3000000' -c copy -y udp.mkv 2>udp.log &
receiver=$!
sleep 1
records "sound: over UDP" "${small[@]}" --frames 150 udp://127.0.0.1:9555 || true
wait $receiver || true
check "sound: over UDP arrives whole" sound whole udp.mkv --codec aac --gap 100 --lead 200
"$CAMREC" "${small[@]}" --listen 9556 --stream-format mkv --frames 200 2>/dev/null &
recorder=$!
await 10 timeout 5 ffmpeg -nostdin -v error -i tcp://127.0.0.1:9556 -t 3 -c copy -y tcp.mkv
wait $recorder || true
check "sound: over TCP in Matroska arrives whole" sound whole tcp.mkv --codec aac --gap 3 --lead 200

# What is captured in a pause is in neither; nothing is lost of what is not.
"$CAMREC" "${small[@]}" --control-socket paused --keyframe-interval 15 --duration 10s paused.mkv 2>paused.log &
recorder=$!
await 20 test -S paused
sleep 3
"$CAMREC" ctl paused pause >/dev/null
sleep 0.5
check "sound: a pause: what came before it is in the file meanwhile" test "$(ffprobe -v error -select_streams v -count_packets -show_entries stream=nb_read_packets -of csv=p=0 paused.mkv | tr -d ,)" -gt 45
sleep 2
"$CAMREC" ctl paused resume >/dev/null
wait $recorder || true
pauses_together() { # FILE: sound and pictures have one gap, at the same place
    "$PYTHON" - "$1" <<'END'
import json, subprocess, sys
def gap(stream):
    text = subprocess.run(["ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "packet=pts_time", "-of", "json", sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout
    times = sorted(float(p["pts_time"]) for p in json.loads(text)["packets"])
    return max((b - a, a, b) for a, b in zip(times, times[1:]))
pictures, sound = gap("v"), gap("a")
if not 1.5 < sound[0] or abs(pictures[1] - sound[1]) > 0.15 or abs(pictures[2] - sound[2]) > 0.15:
    sys.exit(f"pictures pause from {pictures[1]:.3f} to {pictures[2]:.3f} s, sound from {sound[1]:.3f} to {sound[2]:.3f} s")
END
}
check "sound: a pause is one for both" pauses_together paused.mkv
# Live, what no receiver got is counted in pictures.
timeout 20 ffmpeg -nostdin -v error -f mpegts -i 'srt://127.0.0.1:9557?mode=listener&timeout=8000000' -c copy -y srt.mkv 2>srt.log &
receiver=$!
sleep 1
"$CAMREC" "${small[@]}" --control-socket counted --keyframe-interval 15 --duration 7s srt://127.0.0.1:9557 2>/dev/null &
recorder=$!
await 20 test -S counted
sleep 5
"$CAMREC" ctl counted stats >stats.json || true
wait $recorder || true
wait $receiver || true
check "sound: over SRT: no more is lost than the pictures until it is connected" "$PYTHON" -c 'import json; lost = json.load(open("stats.json"))["stats"]["outputs"][0]["lost"]; raise SystemExit(lost > 45 and f"{lost} lost")'
check "sound: over SRT arrives whole" sound whole srt.mkv --codec aac --gap 100 --lead 200

# No microphone: pictures and silence, and one warning.
records "sound: no microphone" "${small[@]:0:7}" --encoder software --audio-device hw:77 --frames 90 --report none.json none.mkv || true
check "sound: no microphone: one warning" test "$(grep -c 'hw:77' stderr)" = 1
check "sound: no microphone: silence" sound whole none.mkv
check "sound: no microphone: the report" report none.json 'not sound.heard' 'frames.written == 90' 'sound.secondsOfSilence > 2.5'

# Without --audio, ALSA's library is not there at all.
loads_alsa() { # COUNT ARGUMENTS...: whether it is mapped while recording
    rm -f mapped.mkv
    "$CAMREC" --device test --size 320x240 --fps 30 --pace --encoder software --frames 60 "${@:2}" --overwrite mapped.mkv 2>/dev/null &
    local recorder=$! found
    await 5 test -s mapped.mkv
    found=$(grep -c libasound "/proc/$recorder/maps" || true)
    wait $recorder || true
    if [ "$1" = 0 ]; then [ "$found" = 0 ]; else [ "$found" -gt 0 ]; fi
}
check "sound: without --audio, no library is loaded" loads_alsa 0
check "sound: with it, it is" loads_alsa 1 --audio-device hw:77
finish
