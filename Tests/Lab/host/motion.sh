#!/bin/bash
# A ring that triggers by itself: what moves is in a file, and nothing else is.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

moving() { "$PYTHON" "$LAB/scenes/motion.py" "$@"; }
watch=(--no-pace --encoder software --latency realtime --keyframe-interval 5 --ring 1s --post 1s --on-motion)

shows_all() { # FILE COUNT: so many of its pictures have the box, which is brighter than anything else
    ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt gray - | "$PYTHON" -c '
import sys, numpy
pictures = numpy.frombuffer(sys.stdin.buffer.read(), numpy.uint8).reshape(-1, 240, 320)
found = sum(int((picture > 200).sum() > 200) for picture in pictures)
sys.exit(0 if found == int(sys.argv[1]) else f"{found} of {len(pictures)} pictures show it")' "$2"
}

moving --seed 1 --seconds 20 --moves 8-11 --light 4 --light 14 >scene.y4m
records "motion: an event between two changes of the light" --device scene.y4m "${watch[@]}" --report event.json event.mkv &&
    check "motion: the report has the event, and when and where it was" report event.json 'motion.count == 1' 'len(motion.events) == 1' \
        'abs(motion.events[0].startSeconds - 8.2) < 0.4' 'abs(motion.events[0].endSeconds - 10.8) < 0.4' 'motion.events[0].y > 110' \
        'motion.events[0].y + motion.events[0].height < 220' '0 < motion.events[0].peakShare < 0.1' 'outputs[0].segments.count == 1' \
        '40 <= outputs[0].written <= 65'
# The box comes in and goes out: at its first and last place none or too little of it is in the picture.
check "motion: the file has the whole event" shows_all event.mkv 29
says_it() { camrec --device scene.y4m "${watch[@]}" --verbose again.mkv && grep -q 'motion: once, last from 8' stderr; }
check "motion: the last lines say it" says_it

# One event, one file, though the time after it is shorter than the calm that ends it.
records "motion: a short time after the event" --device scene.y4m --no-pace --encoder software --latency realtime --keyframe-interval 5 \
    --ring 1s --post 100ms --on-motion --report short.json short.mkv &&
    check "motion: one event is in one file" report short.json 'motion.count == 1' 'outputs[0].segments.count == 1'

moving --mask --seed 1 >mask.pgm
ffmpeg -nostdin -v error -i mask.pgm -vf scale=64:48:flags=neighbor mask.png
for mask in mask.pgm mask.png; do
    records "motion: masked by $mask" --device scene.y4m "${watch[@]}" --motion-mask $mask --report $mask.json masked.mkv &&
        check "motion: nothing is written with $mask" report $mask.json 'motion.count == 0' 'outputs[0].written == 0'
done

for format in h264 h265; do
    for size in 2x2 16x16 321x239 1281x721; do
        moving --seed 2 --seconds 2 --moves 1-2 --size $size >odd.y4m
        if [ "$format $size" = "h265 2x2" ]; then continue; fi
        records "motion: $size as $format" --device odd.y4m "${watch[@]}" odd.$format
    done
done

refuses "motion: without a ring" 64 'on-motion needs --ring' --device scene.y4m --on-motion out.mkv
refuses "motion: a sensitivity that is none" 64 'sensitivity' --device scene.y4m --ring 1s --on-motion --motion-sensitivity 0 out.mkv
refuses "motion: a camera's own H.264" 64 'camera has coded' --device /dev/video0 --format h264 --ring 1s --on-motion out.h264
refuses "motion: a mask that is missing" 66 'none.pgm: no such file' --device scene.y4m --ring 1s --on-motion --motion-mask none.pgm out.mkv
head -c 9 mask.png >damaged.png && refuses "motion: a damaged mask" 65 'damaged.png: .*save the mask again' --device scene.y4m --ring 1s --on-motion --motion-mask damaged.png out.mkv
refuses "motion: a mask that is a recording" 65 'not a PGM or PNG picture' --device scene.y4m --ring 1s --on-motion --motion-mask event.mkv out.mkv

if film=$("$LAB/scenes/fetch" 2>&1); then
    ffmpeg -nostdin -v error -i "$film" -frames:v 20 -pix_fmt yuv420p people.y4m
    records "motion: the first two seconds of people walking past" --device people.y4m "${watch[@]}" --report people.json people.mkv &&
        check "motion: they trigger" report people.json 'motion.count == 1' 'outputs[0].written > 0'
else
    skip "motion: people walking past" "$film"
fi
finish
