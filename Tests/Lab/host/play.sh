#!/bin/bash
# camplay: pictures compared with ffmpeg's, the stream byte for byte, the network, damage, and the window on its own display.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
if [ ! -x "$CAMPLAY" ]; then
    fail "playing" "there is no $CAMPLAY"
    finish
    exit
fi
recorder=$CAMREC
CAMREC=$CAMPLAY # what `records` and `refuses` run from here on
limit=20
unset DISPLAY WAYLAND_DISPLAY SDL_VIDEODRIVER

port() { # a port that nobody listens on
    "$PYTHON" -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

hashes() { # FILE [FORMAT]: one a picture
    ffmpeg -nostdin -v error ${2:+-f "$2"} -i "$1" -fps_mode passthrough -f framemd5 - | awk -F, '!/^#/ {print $NF}'
}

same_hashes() { # Y4M RAW
    local one other
    one=$(hashes "$1") other=$(hashes "$2" "$(demuxer "$2")")
    [ -n "$one" ] && [ "$one" = "$other" ] || { echo "$(wc -l <<<"$one") pictures differ from $(wc -l <<<"$other")"; return 1; }
}

has_only_pictures_of() { # Y4M RAW: each of its pictures is one of the stream's
    local shown all strange
    shown=$(hashes "$1") all=$(hashes "$2" "$(demuxer "$2")")
    strange=$(comm -23 <(sort -u <<<"$shown") <(sort -u <<<"$all"))
    [ -n "$shown" ] && [ -n "$all" ] && [ -z "$strange" ] || { echo "of $(wc -l <<<"$shown") pictures, these are strange: $strange"; return 1; }
}

reports() { # FILE KEY VALUE...: keys of the object or of its pictures
    "$PYTHON" - "$@" <<'END'
import json, sys
report = json.load(open(sys.argv[1]))
found = {**report, **report["pictures"]}
for key, value in zip(sys.argv[2::2], sys.argv[3::2]):
    assert str(found[key]) == value, f"{key} is {found[key]} in place of {value}"
END
}

cut() { # FILE N: without its picture N, from 0, of one NAL unit each
    "$PYTHON" - "$1" "$2" <<'END'
import re, sys
data = open(sys.argv[1], "rb").read()
starts = [m.start() for m in re.finditer(b"\0\0\0\1|(?<!\0)\0\0\1", data)] + [len(data)]
units, hevc, count = [data[a:b] for a, b in zip(starts, starts[1:])], ".h265" in sys.argv[1], -1
for unit in units:
    byte = unit[unit.index(1) + 1]
    count += byte >> 1 & 63 < 32 if hevc else 1 <= byte & 31 <= 5
    if count != int(sys.argv[2]) or not (byte >> 1 & 63 < 32 if hevc else 1 <= byte & 31 <= 5):
        sys.stdout.buffer.write(unit)
END
}

# Films of each codec, whose sizes are not multiples of a macroblock.
make() { # FILE SIZE FRAMES ENCODER OPTIONS...
    local file=$1 size=$2 frames=$3
    shift 3
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=$size:r=30" -frames:v "$frames" -pix_fmt yuv420p -c:v "$@" -f "$(demuxer "$file")" "$file"
}
x265=log-level=none:open-gop=0:repeat-headers=1:keyint=15:min-keyint=15:scenecut=0
make plain.h264 322x242 60 libx264 -bf 0 -g 15
make reordered.h264 320x240 60 libx264 -bf 3 -g 15
make sliced.h264 320x240 60 libx264 -bf 0 -g 15 -slices 4
make plain.h265 322x242 60 libx265 -x265-params $x265:bframes=0
make reordered.h265 320x240 60 libx265 -x265-params $x265:bframes=4
"$recorder" --device test --no-pace --frames 40 --size 318x202 own.h264 own.h265 2>recorder.log || fail "playing: a stream of our own" "$(cat recorder.log)"

# A sender that disappears silently: its link is cut, and restored once camplay has noticed. That
# takes some seconds, in which everything else is tested.
becomes() { # COMMAND...: within 25 s
    local tries=250
    until "$@" 2>/dev/null; do
        [ $((tries--)) -gt 0 ] || return 1
        sleep 0.1
    done
}
grows() { [ "$(stat -c %s "$1")" -gt "$2" ]; }
cut_off() {
    local player sender at size
    timeout 60 "$recorder" --device test --size 160x120 --listen 0.0.0.0:0 --verbose 2>sender.err &
    sender=$!
    becomes grep -q '^listening on' sender.err
    at=$(sed -nE 's/^listening on .*:([0-9]+)$/\1/p' sender.err)
    timeout 60 ip netns exec $far "$CAMPLAY" --no-window --verbose --save cut.h264 --report cut.json "tcp://$near_address:$at" 2>cut.err &
    player=$!
    becomes grows cut.h264 1000 || return
    ip link set $near_link down
    becomes grep -q 'connection lost: Connection timed out' cut.err || return
    size=$(stat -c %s cut.h264)
    ip link set $near_link up
    becomes grows cut.h264 $((size + 10000)) || return
    kill -INT "$(pgrep -P $player)"
    wait $player || return
    kill -INT "$(pgrep -P $sender)"
    wait $sender && reports cut.json connections 2 && decodes_silently cut.h264
}
if make_distance 2>distance.log; then is_far=yes; else is_far=; fi
if [ -n "$is_far" ]; then
    (cut_off) >cut.log 2>&1 &
    cutting=$!
fi

# What a receiver encounters over days: silent senders, data that is not a stream, and streams.
printf 'GET / HTTP/1.1\r\n\r\n' >request
endures() {
    local at player
    at=$(port)
    timeout 40 "$CAMPLAY" --no-window --frames 120 --report endures.json "listen://$at" 2>endures.err &
    player=$!
    until { exec 3<>"/dev/tcp/127.0.0.1/$at"; } 2>/dev/null; do kill -0 $player || return; done
    "$PYTHON" "$LAB/verify/sender.py" --to "$at" plain.h264 # not before the silent one makes way
    exec 3>&-
    "$PYTHON" "$LAB/verify/sender.py" --to "$at" request
    "$PYTHON" "$LAB/verify/sender.py" --to "$at" reordered.h264
    wait $player && reports endures.json decoded 120 losses 0 &&
        [ "$(grep -c 'the sender was silent for 5 s' endures.err)" = 1 ] &&
        [ "$(grep -c 'warning:.*not a raw H.264' endures.err)" = 1 ] || { cat endures.err; return 1; }
}
(endures) >endures.log 2>&1 &
enduring=$!

# A stream that begins in the middle, and has no keyframe
headless() {
    local at status=0
    at=$(port)
    "$PYTHON" - "$at" <<'END' &
import socket, sys, time
with socket.create_server(("127.0.0.1", int(sys.argv[1]))) as server:
    server.settimeout(20)
    connection, _ = server.accept()
    for _ in range(35):
        connection.sendall(b"\0\0\0\1\x41\x9a\x24\x6c" + bytes(range(1, 200)) * 12)
        time.sleep(0.2)
END
    timeout 30 "$CAMPLAY" --no-window --once --codec h264 "tcp://127.0.0.1:$at" 2>headless.err || status=$?
    [ $status = 65 ] && [ "$(grep -c 'nothing to play for 5 s: no keyframe' headless.err)" = 1 ] || { echo "exit code $status: $(cat headless.err)"; return 1; }
}
(headless) >headless.log 2>&1 &
heading=$!

for file in *.h264 *.h265; do
    name="play: $file"
    records "$name" --no-window "$file" --output pictures.y4m --save "saved.${file##*.}" --snapshot last.png --report report.json --overwrite || continue
    check "$name: the pictures that ffmpeg decodes" same_hashes pictures.y4m "$file"
    check "$name: saved byte for byte" cmp "saved.${file##*.}" "$file"
    count=$(hashes "$file" "$(demuxer "$file")" | wc -l)
    check "$name: the report" reports report.json decoded "$count" received "$count" losses 0 bytes "$(stat -c %s "$file")"
    ffmpeg -nostdin -v error -y -i pictures.y4m -vf "select=eq(n\,$((count - 1)))" -frames:v 1 wanted.png
    check "$name: the snapshot" "$PYTHON" "$LAB/verify/screen.py" last.png wanted.png
done

# Formats and sizes
records "play: NV12" --no-window plain.h264 --output nv12.yuv --pixel-format nv12 &&
    check "play: NV12's samples" cmp nv12.yuv <(ffmpeg -nostdin -v error -i plain.h264 -fps_mode passthrough -pix_fmt nv12 -f rawvideo -)
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=176x144:r=30 -frames:v 5 -c:v libx264 -pix_fmt yuv422p10le fine.h264
records "play: more than 8 bits" --no-window fine.h264 --output fine.y4m && says "play: tells what is written of them" 'fine\.y4m: the pictures are yuv422p10le and are written as yuv420p'
records "play: scaled" --no-window plain.h265 --output scaled.y4m --scale 101x77 --frames 7 &&
    check "play: the requested number of pictures, at that size" test "$(ffprobe -v error -count_frames -show_entries stream=width,height,nb_read_frames -of csv=p=0 scaled.y4m)" = 101,77,7
records "play: BGRA" --no-window plain.h264 --output bgra.yuv --pixel-format bgra --frames 2 &&
    check "play: BGRA's size" test "$(stat -c %s bgra.yuv)" = $((322 * 242 * 4 * 2))

# A file has one codec, the one that its name implies
records "play: saved under the other codec's name" --no-window plain.h265 --save misnamed.h264 &&
    says "play: with a warning" 'misnamed\.h264 receives H\.265, which does not match its name'
changes() { # a sender of one codec, then a sender of the other
    local at sender
    at=$(port)
    "$PYTHON" "$LAB/verify/sender.py" "$at" plain.h264 1 &
    sender=$!
    timeout 20 "$CAMPLAY" --no-window --frames 120 --save changed.h264 "tcp://127.0.0.1:$at" 2>changed.err &
    wait $sender && "$PYTHON" "$LAB/verify/sender.py" "$at" plain.h265 1 && wait $! &&
        cmp changed.h264 plain.h264 && grep -q 'changed.h264: the stream is now H.265' changed.err || { cat changed.err; return 1; }
}
check "play: a sender that comes back with another codec" changes

# From a keyframe on
is_tail() { # FILE WHOLE: the end of it, from a keyframe on
    cmp "$1" <(tail -c "$(stat -c %s "$1")" "$2") &&
        [ "$(ffprobe -v error -f "$(demuxer "$1")" -show_entries frame=key_frame -of csv=p=0 "$1" | sed -n 1p | tr -d ,)" = 1 ]
}
tail -c +$(($(stat -c %s plain.h264) / 10)) plain.h264 >middle.h264
records "play: from the middle" --no-window middle.h264 --save tail.h264 --output tail.y4m --report middle.json &&
    check "play: saved from a keyframe on" is_tail tail.h264 plain.h264 &&
    check "play: decoded from a keyframe on" same_hashes tail.y4m tail.h264 &&
    check "play: told apart from a loss" reports middle.json decoded 45 losses 0 &&
    says "play: and reported" 'middle\.h264: [0-9]+ pictures? before the first keyframe left out'

# Losses and damage
for codec in h264 h265; do
    cut plain.$codec 20 >lost.$codec
    records "play: a lost picture, $codec" --no-window lost.$codec --output frozen.y4m --report lost.json --overwrite &&
        check "play: frozen until the next keyframe, $codec" reports lost.json decoded 50 frozen 9 losses 1 &&
        says "play: says so, $codec" 'loss: .*frozen until the next keyframe' &&
        check "play: no picture that the intact stream lacks, $codec" has_only_pictures_of frozen.y4m plain.$codec
    records "play: a lost picture is shown on request, $codec" --no-window lost.$codec --on-loss show --report lost.json --overwrite &&
        check "play: all that there are, $codec" reports lost.json decoded 59 frozen 0
done
# Small ones, because the number matters.
make small.h264 176x144 20 libx264 -bf 3 -g 8 -slices 2
make small-plain.h264 176x144 20 libx264 -bf 0 -g 8
make small.h265 176x144 20 libx265 -x265-params $x265:keyint=8:min-keyint=8
check "play: 200 damaged streams" "$PYTHON" "$LAB/verify/damage.py" "$CAMPLAY" 200 small.h264 small.h265 small-plain.h264

check "play: damage in a stream with checksums is noticed" "$PYTHON" "$LAB/../Benchmark/damage.py" "$CAMPLAY" . 20 "H.265, with hashes" 100
check "play: and most of it in H.264 without" "$PYTHON" "$LAB/../Benchmark/damage.py" "$CAMPLAY" . 40 "H.264, CABAC" 85

# Standard input and the network
live() { # a recording that is played while it is made
    "$recorder" --device test --frames 60 --size 320x240 - 2>recorder.log | timeout 20 "$CAMPLAY" --no-window --report live.json --output live.y4m --save live.h264 - &&
        reports live.json decoded 60 losses 0 && same_hashes live.y4m live.h264
}
check "play: standard input, as it is recorded" live

connects() { # waits for the sender, of which only the second connection is whole
    local at
    at=$(port)
    "$PYTHON" "$LAB/verify/sender.py" "$at" plain.h264 0.62 1 &
    timeout 20 "$CAMPLAY" --no-window --frames 90 --report tcp.json --output tcp.y4m --save tcp.h264 "tcp://127.0.0.1:$at" || return
    wait $!
    reports tcp.json decoded 90 connections 2
}
check "play: tcp, and again after the sender ended" connects
check "play: no picture that was not sent" has_only_pictures_of tcp.y4m plain.h264

follows() { # a recording that is sent while it is written
    local at
    at=$(port)
    timeout 20 "$CAMPLAY" --no-window --once --report follow.json --save followed.h264 --output followed.y4m "tcp://127.0.0.1:$at" &
    timeout 20 "$recorder" --device test --size 640x480 --frames 90 --stamp --listen "$at" sent.h264 || return
    # The delay from capture is more than nothing, and less than the whole run.
    wait $! && reports follow.json losses 0 && report follow.json 'delay.pictures == pictures.decoded' '0 < delay.mean <= delay.largest < 20' && is_tail followed.h264 sent.h264 && same_hashes followed.y4m followed.h264
}
check "play: what camrec sends, as it is recorded" follows

listens() {
    local at
    at=$(port)
    timeout 20 "$CAMPLAY" --no-window --once --report listen.json --save listened.h265 "listen://0.0.0.0:$at" 2>listen.err &
    until "$PYTHON" "$LAB/verify/sender.py" --to "$at" plain.h265 2>/dev/null; do kill -0 $! || return; done
    wait $! && cmp listened.h265 plain.h265
}
check "play: waits for a sender" listens
check "play: warns if anybody can be one" grep -q 'warning: listen://0.0.0.0:[0-9]*: anyone who can reach this port can send' listen.err

make groups.h264 322x242 90 libx264 -g 15 -bf 2

# On a GPU, and without one: each stream picture for picture, through the drivers that users have. The emulated iHD decodes
# no H.265, so that it has to be chosen there, and only the number and the size of its pictures are checked.
counts() { # FILE SIZE
    [ "$(ffprobe -v error -count_frames -show_entries stream=width,height,nb_read_frames -of csv=p=0 "$1")" = "$2" ]
}
does_not_say() { # PATTERN
    ! grep "$1" "$work/stderr"
}
frozen_as_in_software() { # software decodes from the next keyframe on, and nothing is shown that is not in the stream
    has_only_pictures_of gpu.y4m groups.h264 &&
        play_report gpu.json 'pictures.received == 90' 'pictures.decoded >= 90 - 15 - 4' 'decoder == "software"'
}
for driver in iHD radeonsi; do
    has_gpu "play: on $driver" $driver || continue
    launcher=("$LAB/gpu/run" "$driver")
    for file in plain.h264 reordered.h264 sliced.h264 own.h264 groups.h264 small.h264 plain.h265 reordered.h265 own.h265; do
        chosen=()
        if [[ $driver = iHD && $file = *.h265 ]]; then
            chosen=(--decoder /dev/dri/renderD128)
            records "play: $file on $driver, unless chosen" --no-window --verbose $file --output software.y4m --overwrite &&
                says "play: $file on $driver, unless chosen: why software decodes" 'H.265 has not been tried with its driver .*; --decoder /dev/dri/renderD128 uses it' &&
                check "play: $file on $driver, unless chosen: no other reason" does_not_say 'does not decode' &&
                check "play: $file on $driver, unless chosen: the pictures" same_hashes software.y4m $file
        fi
        records "play: $file on $driver" --no-window --verbose "${chosen[@]}" $file --output gpu.y4m --report gpu.json --overwrite || continue
        count=$(hashes $file "$(demuxer $file)" | wc -l)
        check "play: $file decoded by $driver" reports gpu.json decoder /dev/dri/renderD128 decoded "$count" losses 0
        if [[ $driver = iHD && $file = *.h265 ]]; then
            check "play: $file on $driver, its number and size" counts gpu.y4m "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 $file),$count"
        else
            check "play: $file on $driver, the pictures that software decodes" same_hashes gpu.y4m $file
        fi
    done
    records "play: a lost picture on $driver" --no-window lost.h264 --output gpu.y4m --report gpu.json --overwrite &&
        check "play: a lost picture on $driver: frozen until the next keyframe" reports gpu.json decoder /dev/dri/renderD128 decoded 50 frozen 9 losses 1 &&
        check "play: a lost picture on $driver: no picture that the intact stream lacks" has_only_pictures_of gpu.y4m plain.h264
    # Mesa ends the program itself where a device is lost; what it survives is that there is no memory.
    faults=("lost 20" "hang 20 300")
    if [ $driver = radeonsi ]; then faults=("fail AMDGPU_CS ENOMEM 60"); fi
    for fault in "${faults[@]}"; do
        FAKEGPU_FAULTS=$fault records "play: $driver, $fault" --no-window --verbose groups.h264 --output gpu.y4m --report gpu.json --overwrite &&
            check "play: $driver, $fault: software from the next keyframe on" frozen_as_in_software
    done
    launcher+=(env LIBVA_DRIVER_NAME=none)
    records "play: without a driver" --no-window --verbose plain.h264 --output gpu.y4m --overwrite &&
        says "play: says why software decodes" 'software \(because: /dev/dri/renderD128: no VA-API driver' &&
        check "play: software's pictures" same_hashes gpu.y4m plain.h264
    launcher=()
    # A driver that never answers, from any call on: software continues, and every picture is accounted for. In
    # parallel, because each waits for ten seconds.
    calls=(3 80 140 200 230) playing=()
    for call in "${calls[@]}"; do
        mkdir "stuck-$driver-$call"
        (
            cd "stuck-$driver-$call"
            status=0
            FAKEGPU_FAULTS="stuck * $call 1" timeout --kill-after=5 90 "$LAB/gpu/run" $driver "$CAMPLAY" --no-window --verbose ../groups.h264 \
                --output out.y4m --report report.json >stdout 2>stderr </dev/null || status=$?
            echo "$status" >status
        ) &
        playing+=($!)
    done
    wait "${playing[@]}"
    goes_on() {
        [ "$(cat status)" = 0 ] || { echo "exit code $(cat status): $(cat stderr)"; return 1; }
        grep -q 'renderD128: its driver is not responding\|the GPU.s driver is not responding' stdout stderr || { cat stdout stderr; return 1; }
        play_report report.json 'pictures.received == 90' 'pictures.decoded >= 90 - 15 - 4' '(losses == 0) == (pictures.decoded == 90)' 'decoder == "software"' &&
            has_only_pictures_of out.y4m ../groups.h264 &&
            [ "$(ffprobe -v error -count_frames -show_entries stream=nb_read_frames -of csv=p=0 out.y4m)" = "$("$PYTHON" -c 'import json; print(json.load(open("report.json"))["pictures"]["decoded"])')" ]
    }
    for call in "${calls[@]}"; do
        (cd "stuck-$driver-$call" && check "play: $driver never answers call $call" goes_on)
    done
done

# Errors
refuses "play: no such file" 66 'none\.h264: no such file' --no-window none.h264
refuses "play: a folder" 66 'is a folder' --no-window .
printf nothing >nothing.h264
refuses "play: no stream" 65 'not a raw H.264' --no-window nothing.h264
refuses "play: a container" 65 'YUV4MPEG2' --no-window tail.y4m
refuses "play: an output that exists" 73 'tail\.y4m: already exists' --no-window plain.h264 --output tail.y4m
refuses "play: the input as an output" 73 'it is also the input' --no-window plain.h264 --save plain.h264 --overwrite
check "play: which is complete" same_hashes tail.y4m tail.h264
ln -s /dev/full full.yuv
refuses "play: a full disk" 74 'disk is full' --no-window plain.h264 --output full.yuv
: >same.h264 && ln same.h264 same.y4m
refuses "play: two files in one" 73 'same\.y4m: already being written' --no-window plain.h264 --output same.y4m --save same.h264 --overwrite
refuses "play: no JPEG" 64 'must be named .png' --no-window plain.h264 --snapshot out.jpg
refuses "play: no container" 64 'camrec remux' --no-window plain.h264 --save out.mp4
refuses "play: a size that nobody has" 64 "scale <WxH>': expected a size as in 640x480, to 16000x16000" --no-window plain.h264 --output out.y4m --scale 16384x16384
refuses "play: a rate of none" 64 "fps <F>': expected 0.01 to 1000" --fps 0 plain.h264
refuses "play: a decoder that nobody has" 64 "decoder <MODE>': expected auto, software, or a render node" --decoder fast plain.h264
refuses "play: another player's option" 64 "unknown option '-ss'; use --start 90s$" -ss 90 --no-window plain.h264
refuses "play: a server's option" 64 "unknown option '--host'; name the SOURCE tcp://10.0.0.2:9000$" --no-window --host 10.0.0.2 --port 9000
refuses "play: a mistyped option" 64 "unknown option '--snapshto'; use --snapshot$" --no-window --snapshto a.png plain.h264
refuses "play: an option that only begins like -h" 64 "unknown option '-hide'; 'camplay --help' lists them$" -hide plain.h264
for address in tcp:// tcp://host:0 listen://:9982; do
    refuses "play: $address" 64 "SOURCE>': expected tcp://HOST:PORT, listen://" --no-window $address
done
closed() { # DESCRIPTOR ARGUMENTS...: without it, an error says so
    local number=$1 status=0
    shift
    (eval "exec $number>&-" && exec timeout 20 "$CAMPLAY" --no-window "$@") 2>closed.err || status=$?
    [ $status -gt 64 ] && grep -q 'standard .*put: closed' closed.err || { echo "$status: $(cat closed.err)"; return 1; }
}
check "play: standard input is closed" closed 0 -
check "play: standard output is closed" closed 1 --output - plain.h264
refuses "play: an unknown output" 64 'y4m or .yuv' --no-window plain.h264 --output out.avi
refuses "play: no host" 66 'no such host' --no-window tcp://host.invalid:1
# If the name service is not available yet, camplay does not give up, and Ctrl-C does not wait for it.
unresolved() {
    timeout 20 ip netns exec $far "$CAMPLAY" --no-window tcp://camera.example:9982 2>unresolved.err &
    becomes grep -q 'name resolution.*retrying' unresolved.err || { cat unresolved.err; return 1; }
    kill -INT "$(pgrep -P $!)"
    wait $!
}
if [ -n "$is_far" ]; then check "play: without a name service it keeps trying" unresolved; else skip "play: without a name service it keeps trying" "no network namespace: $(tail -n 1 distance.log)"; fi
refuses "play: a live stream's speed" 64 'for files' --speed 2 tcp://localhost
refuses "play: without a display" 69 'no display .*--no-window' plain.h264 --output never.y4m
check "play: nothing is left of it" test ! -e never.y4m

if [ -n "$is_far" ]; then
    if wait $cutting; then pass "play: a sender whose link was cut is noticed, and found again"; else fail "play: a sender whose link was cut is noticed, and found again" "$(tail -n 4 cut.log cut.err)"; fi
else
    skip "play: a sender whose link was cut" "no network namespace: $(tail -n 1 distance.log)"
fi
if wait $enduring; then pass "play: silence and nonsense do not end it"; else fail "play: silence and nonsense do not end it" "$(cat endures.log)"; fi
if wait $heading; then pass "play: a live stream without a keyframe is reported"; else fail "play: a live stream without a keyframe is reported" "$(cat headless.log)"; fi

# The window
if ! command -v Xvfb >/dev/null || ! command -v openbox >/dev/null || ! command -v xdotool >/dev/null; then
    skip "play: the window" "no Xvfb, openbox or xdotool; install xvfb, openbox and xdotool"
    finish
    exit
fi
Xvfb -displayfd 3 -screen 0 640x480x24 -nolisten tcp 3>display 2>/dev/null &
screen=$!
until [ -s display ]; do kill -0 $screen; done
DISPLAY=:$(cat display)
export DISPLAY

# A window manager, for keyboard focus and full screen, that adds nothing to windows.
cat >openbox.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<theme><keepBorder>no</keepBorder></theme>
<keyboard><keybind key="A-F4"><action name="Close"/></keybind></keyboard>
<applications><application name="*"><decor>no</decor><focus>yes</focus></application></applications>
</openbox_config>
END
openbox --config-file "$work/openbox.xml" >/dev/null 2>&1 &
manager=$!
trap 'kill $manager $screen; clean' EXIT

within() { # SECONDS COMMAND...: tries until it succeeds
    local end=$((SECONDS + $1)) said
    shift
    until said=$("$@" 2>&1); do
        [ $SECONDS -lt $end ] || { echo "$said"; return 1; }
        sleep 0.2
    done
}
look() { ffmpeg -nostdin -v error -y -f x11grab -draw_mouse 0 -video_size 640x480 -i "$DISPLAY" -frames:v 1 "$1"; }
screen_shows() { # PICTURE OPTIONS...
    look screen.png && "$PYTHON" "$LAB/verify/screen.py" screen.png "$@"
}
# A still picture, at its own size and on the whole screen.
ffmpeg -nostdin -v error -y -f lavfi -i smptehdbars=s=400x240:r=10 -frames:v 600 -pix_fmt yuv420p -c:v libx264 -preset ultrafast -g 30 still.h264
ffmpeg -nostdin -v error -y -i still.h264 -frames:v 1 still.png
timeout 60 "$CAMPLAY" --verbose --report window.json still.h264 2>window.err &
player=$!
check "play: the window shows the picture" within 10 screen_shows still.png
has_line() { # HEIGHT: white letters on black in the upper left, where the picture is grey
    local place
    place=$(xdotool search --name "^camplay " getwindowgeometry --shell | awk -F= '$1 == "X" {x = $2} $1 == "Y" {y = $2} END {print x "," y}')
    ffmpeg -nostdin -v error -f x11grab -draw_mouse 0 -video_size 60x$1 -i "$DISPLAY+$place" -frames:v 1 -f rawvideo -pix_fmt gray - | "$PYTHON" -c '
import sys
dots = sys.stdin.buffer.read()
last = dots[-60 * 18:]
assert last.count(0) > 200 and last.count(255) > 50, (last.count(0), last.count(255))'
}
xdotool key s
check "play: S shows the statistics" within 5 has_line 18
xdotool key s
xdotool key f
check "play: full screen, at its aspect ratio" within 10 screen_shows still.png --scaled
xdotool key q
status=0
wait $player || status=$?
check "play: Q ends it" test $status = 0
check "play: shown, one after the other" "$PYTHON" -c 'import json; p = json.load(open("window.json"))["pictures"]; assert 5 < p["shown"] <= p["decoded"] < 600, p'

# A moving picture, in a small window: it stops when paused, and the statistics take several lines.
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=176x144:r=10 -frames:v 900 -c:v libx264 -preset ultrafast moving.h264
ffmpeg -nostdin -v error -f lavfi -i color=gray:s=176x144:r=10 -frames:v 900 -c:v libx264 -bf 2 gray.h264
looks_twice() { look one.png && sleep 0.5 && look two.png; }
stands() { looks_twice && cmp one.png two.png; }
moves() {
    looks_twice || return
    ! cmp -s one.png two.png || { echo "it stands still"; return 1; }
}
is_lit() { # somewhere: at the whole screen's size it need not be
    local said
    look lit.png || return
    said=$("$PYTHON" "$LAB/verify/screen.py" lit.png lit.png 2>&1) || grep -q 'on the screen in place of' <<<"$said" || { echo "$said"; return 1; }
}
timeout 60 "$CAMPLAY" moving.h264 2>window.err &
player=$!
check "play: a film in the window" within 10 is_lit
check "play: it moves" moves
xdotool key space
check "play: paused, it stands still" within 3 stands
check "play: and stays so" stands
xdotool key space
check "play: and goes on" within 3 moves
xdotool search --name "^camplay " windowmove 0 0 windowsize 640 300
fills() { # what is not black is as large as the window has room for
    local width height
    look sized.png
    read -r width height < <(ffmpeg -nostdin -i sized.png -vf bbox=min_val=24 -f null - 2>&1 | sed -nE 's/.* w:([0-9]+) h:([0-9]+) .*/\1 \2/p' | tail -n 1)
    [ "$height" -ge 296 ] && [ "$height" -le 300 ] && [ $((width * 144)) -ge $((176 * 296)) ] && [ $((width * 144)) -le $((176 * 302)) ] || { echo "$width x $height"; return 1; }
}
check "play: in a window of another size it has that size, at its aspect ratio" within 5 fills
xdotool key alt+F4
if wait $player; then pass "play: closing the window ends it"; else fail "play: closing the window ends it" "$(cat window.err)"; fi

# A film of a minute and a half in a container, two pictures a second: the arrows reach its end long before it would.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=176x144:r=2 -frames:v 180 -pix_fmt yuv420p -c:v libx264 -g 10 -f h264 slow.h264
"$recorder" remux slow.h264 slow.mkv
for file in slow.mkv slow.h264; do
    timeout 60 "$CAMPLAY" --report sought.json --overwrite $file 2>window.err &
    player=$!
    check "play: $file in the window" within 10 is_lit
    xdotool key Up Left Right Right Right Right Right
    if wait $player; then pass "play: arrows go on in $file"; else fail "play: arrows go on in $file" "$(cat window.err)"; fi
    check "play: what lies between is not played, $file" "$PYTHON" -c 'import json; p = json.load(open("sought.json"))["pictures"]; assert p["decoded"] < 120, p'
done

# The statistics of a small window; and a display that disappears
timeout 60 "$CAMPLAY" --report lost.json --overwrite --snapshot lost.png --save lost-saved.h264 gray.h264 2>window.err &
player=$!
check "play: a grey film" within 10 is_lit
sleep 0.5
xdotool key s
check "play: statistics in more than one line" within 5 has_line 60
xdotool search --name "^camplay " windowkill
status=0
wait $player || status=$?
check "play: a display that disappears is an error" test $status = 69
check "play: with a reason" grep -q 'no display (it was closed)' window.err
check "play: what comes last is still written" reports lost.json losses 0
check "play: the picture, too" test "$(ffprobe -v error -show_entries stream=width,height -of csv=p=0 lost.png)" = 176,144
check "play: and what was saved" decodes_silently lost-saved.h264

# A live stream whose sender disappears and returns with another picture; pictures are reordered
for way in null vflip; do
    ffmpeg -nostdin -v error -f lavfi -i smptehdbars=s=400x240:r=30,$way -frames:v 900 -pix_fmt yuv420p $way.y4m
    ffmpeg -nostdin -v error -i $way.y4m -frames:v 1 $way.png
done
live_port=$(port)
sends() { # WAY
    timeout 60 "$recorder" --device "$1.y4m" --pace --encoder software --bframes 2 --listen "$live_port" 2>bars.err &
    sender=$!
}
sends null
timeout 60 "$CAMPLAY" --verbose --report live.json --overwrite "tcp://127.0.0.1:$live_port" 2>live.err &
player=$!
check "play: a live stream in the window" within 10 screen_shows null.png
kill "$(pgrep -P $sender)" && wait $sender || fail "play: the sender" "$(cat bars.err)"
check "play: its sender has ended" within 5 grep -q 'sender disconnected' live.err
sends vflip
check "play: it continues when the sender is back" within 10 grep -qz 'connected.*connected' live.err
check "play: and shows it" within 10 screen_shows vflip.png
sleep 1
xdotool key q
if wait $player; then pass "play: a live window ends"; else fail "play: a live window ends" "$(cat live.err)"; fi
check "play: two connections" reports live.json connections 2
kill "$(pgrep -P $sender)" && wait $sender || fail "play: the sender, again" "$(cat bars.err)"

# Standard input: a file is one; a pipe is live unless its time is given
piped() { # OPTIONS...
    cat plain.h264 plain.h264 plain.h264 plain.h264 | timeout 20 "$CAMPLAY" --report piped.json --overwrite "$@" - 2>piped.err
}
takes() { # FILE SECONDS: at least
    "$PYTHON" -c 'import json, sys; t = json.load(open(sys.argv[1]))["seconds"]; assert t >= float(sys.argv[2]), t' "$@"
}
check "play: a file on standard input" timeout 20 "$CAMPLAY" --report stdin.json --overwrite --fps 60 - <plain.h264 &&
    check "play: at its time" takes stdin.json 0.95 # of 1
check "play: a pipe with a rate" piped --fps 60 && check "play: at that rate" takes piped.json 3.95 # of 4
check "play: a pipe without" piped && check "play: as it comes" "$PYTHON" -c 'import json; t = json.load(open("piped.json"))["seconds"]; assert t < 7.5, t # of 8'

# Whatever order its pictures are in, and whatever is missing
for file in plain.h264 reordered.h264 sliced.h264 own.h264 lost.h264 plain.h265 reordered.h265 lost.h265; do
    records "play: $file in the window" --speed 10 $file --report window.json --overwrite &&
        check "play: $file in the window, all of it" "$PYTHON" -c 'import json; p = json.load(open("window.json"))["pictures"]; assert p["shown"] + p["late"] == p["decoded"] and p["decoded"] + p["skipped"] > 30, p'
done

# No machine can decode a hundred thousand pictures a second in time.
make heavy.h264 1280x720 400 libx264 -preset ultrafast -bf 2 -g 50
for _ in 1 2 3 4 5; do cat heavy.h264; done >heavier.h264
records "play: far too fast" --fps 1000 --speed 100 heavier.h264 --report heavy.json &&
    check "play: what is skipped is counted" "$PYTHON" -c 'import json; p = json.load(open("heavy.json"))["pictures"]; assert p["skipped"] > 0 and p["decoded"] + p["skipped"] == p["received"] == 2000, p' &&
    check "play: the rest is shown, or late" "$PYTHON" -c 'import json; p = json.load(open("heavy.json"))["pictures"]; assert p["shown"] + p["late"] == p["decoded"] > 8, p'
# A live stream faster than its decoding, read all at once.
"$PYTHON" - <<'END' &
import os
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], file=open("flood.port.partial", "w"), flush=True)
os.rename("flood.port.partial", "flood.port")
connection = server.accept()[0]
connection.sendall(open("heavy.h264", "rb").read() * 10)
connection.shutdown(socket.SHUT_WR)
connection.recv(1)
END
flood=$!
check "play: a sender that does not wait" within 10 test -e flood.port
records "play: more than it can decode, live" --once "tcp://127.0.0.1:$(cat flood.port)" --report flood.json &&
    check "play: skips, and counts that" "$PYTHON" -c 'import json; p = json.load(open("flood.json"))["pictures"]; assert p["skipped"] > 0 and p["decoded"] + p["skipped"] == p["received"] == 4000, p'
kill $flood 2>/dev/null || true

records "play: far too fast, with every picture written" --fps 1000 --speed 100 heavier.h264 --output heavy.yuv --scale 64x48 --report heavy.json --overwrite &&
    check "play: nothing is skipped" reports heavy.json decoded 2000 skipped 0

# A file is played at the times in a timestamp file, as far as they go.
{ echo "# timestamp format v2" && seq 500 30 1670; } >times.txt # 40 of them, in 1.2 s
records "play: at times from a file" --timestamps times.txt own.h264 --report timed.json &&
    check "play: which take as long as they say" "$PYTHON" -c 'import json; t = json.load(open("timed.json"))["seconds"]; assert 1.17 <= t, t'
head -n 11 times.txt >few.txt
refuses "play: too few times" 65 'few\.txt has only 10 times' --timestamps few.txt own.h264

# A file is played at its rate, and to its end.
start=$(date +%s%N)
records "play: a file in the window" --speed 2 --fps 30 plain.h264 --report rate.json
taken=$((($(date +%s%N) - start) / 1000000))
check "play: at the requested rate" test $taken -ge 990
check "play: every picture is shown or counted" "$PYTHON" -c 'import json; p = json.load(open("rate.json"))["pictures"]; assert p["shown"] + p["late"] == p["decoded"] == 60, p'
finish
