#!/bin/bash
# Single pictures and time lapses, of the built-in sources: files that other programs read, what is refused, full disks,
# and pictures of running recordings.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# A picture is the first one of another file, but for what JPEG and 4:2:0 lose, and how chroma is spread over pixels.
looks_like() { # IMAGE FILE
    local said
    said=$(ffmpeg -nostdin -i "$1" -i "$2" -frames:v 1 -lavfi '[0:v]scale=out_range=full,format=gbrp[a];[1:v]scale=in_range=limited:out_range=full,format=gbrp[b];[a][b]psnr' -f null - 2>&1) || return
    "$PYTHON" -c 'import re, sys; value = float(re.search(r"average:([\d.]+|inf)", sys.argv[1])[1]); sys.exit(f"{value} dB" if value < 25 else 0)' "$said"
}

plays_at() { # FILE SECONDS COUNT: so many frames, each at its multiple of a time
    ffprobe -v error -select_streams v -show_entries packet=pts_time -of csv=p=0 "$1" | tr -d ',' | "$PYTHON" -c '
import sys
step, count = float(sys.argv[1]), int(sys.argv[2])
times = sorted(float(line) for line in sys.stdin if line.strip())
wrong = [time for number, time in enumerate(times) if abs(time - times[0] - number * step) > 0.0011]
sys.exit(f"{len(times)} frames, at {times}" if wrong or len(times) != count else 0)' "$2" "$3"
}

captured_each() { # FILE MILLISECONDS: a file of times, so far apart
    "$PYTHON" -c '
import sys
times = [float(line) for line in open(sys.argv[1]) if not line.startswith("#")]
sys.exit(f"{times}" if any(abs(time - number * float(sys.argv[2])) > 0.01 for number, time in enumerate(times)) else 0)' "$1" "$2"
}

counts() { # FILE...: the numbers of their frames
    local file all=()
    for file; do all+=("$(ffprobe -v error -select_streams v -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$file" | tr -d ',')"); done
    echo "${all[*]}"
}

image() { "$PYTHON" "$LAB/verify/image.py" "$@"; }

# Every kind of picture
for format in nv12 yuyv rgb24 mjpeg; do
    for size in 2x2 641x361 1280x720; do
        for kind in jpg png; do
            name=$format-$size.$kind
            records "$name: taken" snapshot --device test --format $format --size $size $name &&
                check "$name: sound, with time and camera" image $name --size $size --model 'test picture' --near 60 --tables
        done
    done
done
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x240:rate=10 -frames:v 3 -pix_fmt yuv420p film.y4m
for kind in jpg png; do
    records "a file's first picture, .$kind" snapshot --device film.y4m film.$kind && check "a file's first picture, .$kind: sound" image film.$kind --size 320x240
    check "a file's first picture, .$kind: the same colours" looks_like film.$kind film.y4m
done
records "a quality" snapshot --device test --format mjpeg --quality 20 low.jpg
check "a quality: coded again, and smaller" test "$(stat -c %s low.jpg)" -lt "$(stat -c %s mjpeg-1280x720.jpg)"
"$CAMREC" snapshot --device test - >piped.jpg && check "standard output" image piped.jpg --size 1280x720
records "a name with a date" snapshot --device test --utc 'shots-%Y/%m.jpg' && check "a name with a date: there" image "$(date -u +shots-%Y/%m.jpg)" --size 1280x720

# What is refused, and leaves nothing behind
cp low.jpg kept.jpg
refuses "a file that exists" 73 'kept\.jpg: already exists; use another name, or --overwrite' snapshot --device test kept.jpg
check "a file that exists: unchanged" cmp low.jpg kept.jpg
records "a file that exists, replaced" snapshot --device test --overwrite kept.jpg && check "replaced: sound" image kept.jpg
refuses "a folder that does not exist" 73 'none/a\.jpg' snapshot --device test none/a.jpg
refuses "a name without a format" 64 'must be named \.jpg' snapshot --device test a.gif
refuses "a quality of a PNG" 64 'quality is for JPEG' snapshot --device test --quality 50 a.png
refuses "a camera that does not exist" 66 '/dev/video99' snapshot --device /dev/video99 a.jpg
refuses "no time to settle in a test picture" 64 'settle is for cameras' snapshot --device test --settle 1s a.jpg
: >empty.y4m
refuses "a file that is not one" 65 'empty\.y4m' snapshot --device empty.y4m a.jpg
check "nothing is left" test ! -e a.jpg -a ! -e a.png -a ! -e none
if mkdir full && mount -t tmpfs -o size=16k none full 2>/dev/null; then
    cp low.jpg small.jpg
    head -c 4k small.jpg >full/kept.jpg
    cp full/kept.jpg before
    refuses "a full disk" 74 'the disk is full' snapshot --device test --overwrite full/kept.jpg
    refuses "a full disk, a new file" 74 'the disk is full' snapshot --device test full/new.jpg
    check "a full disk: the old file is as it was" cmp before full/kept.jpg
    check "a full disk: nothing else is there" test "$(ls -A full)" = kept.jpg
    umount full
else
    skip "a full disk" "no permission to mount one"
fi

# From a running recording, which loses nothing
"$CAMREC" --device test --frames 150 --size 640x360 --control-socket ctl --report live.json live.h264 2>live.log &
recorder=$!
await 20 test -S ctl
for number in 1 2 3; do
    check "running: picture $number" "$CAMREC" ctl ctl snapshot now-$number.jpg
    check "running: picture $number is sound" image now-$number.jpg --size 640x360 --model 'test picture' --near 30 --tables
done
check "running: a PNG" "$CAMREC" ctl ctl snapshot now.png && check "running: the PNG is sound" image now.png --size 640x360
refuses "running: a file that exists" 73 'already exists' ctl ctl snapshot now.png
check "running: replaced" "$CAMREC" ctl --overwrite ctl snapshot now.png
refuses "running: a name without a format" 64 'must be named \.jpg' ctl ctl snapshot now.gif
status=0
wait $recorder || status=$?
check "running: the recording ends" test $status = 0
check "running: no frame is lost" report live.json 'frames.captured == 150' 'frames.encoded == 150' 'frames.droppedByDriver == 0' 'frames.droppedByUs == 0'

# Time lapse: a file of 100 frames, ten a second
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x240:rate=10 -frames:v 100 -pix_fmt yuv420p -strict -1 lapse.y4m
quick=(--encoder software --latency realtime --device lapse.y4m)
for format in mkv mp4 ts; do
    records "lapse: .$format" "${quick[@]}" --every 1s --playback-fps 25 --timestamps $format.txt --report $format.json lapse.$format
    check "lapse: .$format has ten frames, 40 ms apart" plays_at lapse.$format 0.040 10
    check "lapse: .$format: the times of capture" captured_each $format.txt 1000
    check "lapse: .$format: the report" report $format.json 'frames.captured == 100' 'frames.notWanted == 90' 'frames.encoded == 10' 'timeLapse.everySeconds == 1' \
        'timeLapse.playbackFramesPerSecond == 25' 'abs(encoder.measuredFramesPerSecond - 25) < 0.01'
done
records "lapse: a raw stream" "${quick[@]}" --every 1s lapse.h264 && check "lapse: a raw stream declares its rate" has_properties lapse.h264 r_frame_rate=30/1
mkdir parts && records "lapse: segments" "${quick[@]}" --every 1s --segment 4s parts/a.mkv
check "lapse: segments are as long as they were captured" test "$(counts parts/a.mkv parts/a-1.mkv parts/a-2.mkv)" = "4 4 2"
records "lapse: a duration" "${quick[@]}" --every 3s --duration 5s --report short.json short.mkv && check "lapse: a duration of capture" report short.json 'frames.encoded == 2'
refuses "lapse: live" 64 'every is for files' --device test --every 1s --listen 9982
refuses "lapse: of a camera's H.264" 64 'depend on each other' --every 1s --format h264 a.h264

finish
