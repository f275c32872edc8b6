#!/bin/bash
# Pictures that are changed on their way: turned, cut and scaled as ffmpeg does it, with the time of capture in them.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
export TZ=UTC

overlay() { "$PYTHON" "$LAB/verify/overlay.py" "$@"; }

looks_like() { # FILE OTHER FILTER DECIBELS: the file's pictures are the other's after one of ffmpeg's filters
    local least
    ffmpeg -nostdin -v error -i "$1" -i "$2" -lavfi "[1]$3[wanted];[0][wanted]psnr=stats_file=psnr.txt" -f null -
    least=$(sed -E 's/.*psnr_avg:([^ ]+).*/\1/; s/inf/100/' psnr.txt | sort -g | head -n 1)
    awk -v least="$least" -v wanted="$4" 'BEGIN { exit !(least >= wanted) }' || { echo "only $least dB"; return 1; }
}
has_size() { # FILE WxH ASPECT
    local found
    found=$(ffprobe -v error -select_streams v -show_entries stream=width,height,sample_aspect_ratio -of csv=p=0 "$1")
    [ "$found" = "${2/x/,},$3" ] || { echo "$found"; return 1; }
}

source=(--device test --no-pace --encoder software --frames 20 --size 320x240)
for format in nv12 yuyv mjpeg; do
    records "pictures: $format as it is" "${source[@]}" --format $format --qp 4 "$format.mkv" || continue
    while read -r options; read -r filter; do
        name="pictures: $format, $options"
        # shellcheck disable=SC2086 # several words
        records "$name" "${source[@]}" --format $format --qp 4 $options changed.mkv --overwrite || continue
        check "$name: as ffmpeg's $filter" looks_like changed.mkv $format.mkv "$filter" 38
    done <<'END'
--rotate 90
transpose=clock
--rotate 180
hflip,vflip
--rotate 270
transpose=cclock
--flip h
hflip
--flip v
vflip
--rotate 90 --flip h
transpose=clock,hflip
--crop 100x60+80+42
crop=100:60:80:42
--crop 100x60+80+42 --rotate 270
crop=100:60:80:42,transpose=cclock
END
    # ffmpeg's black is that of limited range, which differs from Motion JPEG's.
    if [ $format = mjpeg ]; then continue; fi
    name="pictures: $format, hidden, cut and turned"
    records "$name" "${source[@]}" --format $format --qp 4 --privacy 100x60+80+42,32x32+288+208 --crop 200x160+60+20 --rotate 90 changed.mkv --overwrite &&
        check "$name: as ffmpeg draws boxes" looks_like changed.mkv $format.mkv drawbox=80:42:100:60:black:fill,crop=200:160:60:20,transpose=clock 38
done

# Privacy: no path shows what is hidden.
part=80x40+90+52 # within the hidden one, without the codec's blur at its edges
ffmpeg -nostdin -v error -f lavfi -i color=white:s=160x120:r=1 -vf drawbox=40:20:50:32:black:fill -frames:v 1 mask.png
for format in nv12 yuyv mjpeg; do
    for encoder in software software,h265; do
        name="privacy: a mask in a file, $format, $encoder" file=masked.${encoder#software}
        case $encoder in *h265) file=masked.h265 ;; *) file=masked.h264 ;; esac
        records "$name" "${source[@]}" --format $format --privacy-mask mask.png "$file" --overwrite && check "$name: it is hidden" hides "$file" $part
    done
    records "privacy: a snapshot of $format" snapshot --device test --size 320x240 --format $format --privacy 100x64+80+40 a.jpg --overwrite &&
        check "privacy: a snapshot of $format: it is hidden" hides a.jpg $part
done
check "privacy: without a mask the same part is bright" eval '! hides mjpeg.mkv $part'
"$CAMREC" --device test --size 320x240 --format mjpeg --encoder software --privacy 100x64+80+40 --control-socket orders --listen 127.0.0.1:9979 2>/dev/null &
recorder=$!
await 20 test -S orders
check "privacy: a snapshot of a recording" "$CAMREC" ctl orders snapshot live.jpg
check "privacy: a snapshot of a recording: it is hidden" hides live.jpg $part
check "privacy: a snapshot of a recording has no other picture in it" test "$(LC_ALL=C grep -obUaP '\xff\xd8\xff' live.jpg | wc -l)" = 1
check "privacy: a receiver" eval 'timeout 20 "$CAMPLAY" --no-window --once --frames 5 --save seen.h264 tcp://127.0.0.1:9979'
check "privacy: a receiver: it is hidden" hides seen.h264 $part
kill -TERM $recorder
wait $recorder || true
records "privacy: motion that is hidden" "${source[@]}" --frames 90 --ring 1s --on-motion --privacy 320x240+0+0 --report still.json 'still-%H%M%S.mkv' || true
check "privacy: motion that is hidden is none" report still.json 'motion.count == 0' 'privacy.rectangles == ["320x240+0+0"]'
refuses "privacy: a mask with other proportions" 64 'mask of 160x120 does not fit pictures of 640x360' --device test --size 640x360 --frames 5 --encoder software --privacy-mask mask.png none.h264
refuses "privacy: a mask that is missing" 66 'nothing.pgm' "${source[@]}" --privacy-mask nothing.pgm none.h264
check "privacy: nothing was recorded without its mask" test ! -e none.h264

# Renditions: several sizes and rates from one capture.
for format in nv12 yuyv mjpeg; do
    name="renditions: $format" small='small.h264,size=160x120,fps=10,keyframe-interval=5'
    records "$name" "${source[@]}" --frames 60 --fps 30 --format $format --qp 4 --keyframe-interval 20 --report r.json full.h264 "$small" tiny.h265,size=80x60 --overwrite || continue
    check "$name: the whole picture is sound, with every frame's number" eval 'is_sound full.h264 --frames 60 --keyframe-interval 20 && pictures numbers full.h264 --block 16'
    check "$name: the small one is sound, at a third of the rate" eval 'is_sound small.h264 --frames 20 --keyframe-interval 5 && has_properties small.h264 width=160 height=120 r_frame_rate=10/1'
    check "$name: its pictures are every third one, scaled" looks_like small.h264 full.h264 "select=not(mod(n\\,3)),scale=160:120:flags=area" 30
    check "$name: in H.265" eval 'is_sound tiny.h265 --frames 60 --keyframe-interval 20 && has_properties tiny.h265 width=80 height=60'
    check "$name: the report knows them" report r.json 'outputs[1].encoder == 1' 'encoders[1].width == 160' 'encoders[1].frames.encoded == 20' 'encoders[1].statedFramesPerSecond == 10' \
        'encoders[2].codec == "hevc"' 'frames.encoded == 60' 'frames.captured == frames.encoded + frames.unused'
done
records "renditions: with the same properties" "${source[@]}" one.mkv,size=160x120,fps=5 two.h264,fps=5,size=160x120 --report r.json --overwrite &&
    check "renditions: with the same properties share an encoder" report r.json 'len(encoders) == 1' 'outputs[1].encoder == 0'
records "renditions: what is hidden, cut and turned" "${source[@]}" --qp 4 --privacy 100x64+80+40 --crop 240x160+40+20 --rotate 180 whole.h264 part.h264,size=120x80 &&
    check "renditions: it is hidden in the small one, too" eval 'hides whole.h264 80x44+110+86 && hides part.h264 30x12+60+48'
status=0
camrec "${source[@]}" --codec h264 whole.h264 /dev/full,size=160x120 --overwrite || status=$?
check "renditions: a full disk" test $status = 74
check "renditions: a full disk ends that output alone" is_sound whole.h264 --frames 20 --keyframe-interval 30
for name in a.mkv,size=320 a.mkv,size=161x90 a.mkv,fps=fast a.mkv,bitrate=0 a.mkv,fps=5,fps=6 a.mkv,quality=99; do
    refuses "renditions: $name" 64 "a\\.mkv" "${source[@]}" "$name"
done
records "renditions: a name that looks like one" "${source[@]}" 'a,size=160x120.mkv' && check "renditions: a name that looks like one is a name" has_size 'a,size=160x120.mkv' 320x240 N/A
"$CAMREC" --device test --size 320x240 --fps 30 --encoder software --bitrate 900k --control-socket orders --listen 127.0.0.1:9979 --listen 127.0.0.1:9978,size=160x120,fps=5,bitrate=100k \
    --report r.json --overwrite 2>/dev/null &
recorder=$!
await 20 test -S orders
check "renditions: live, the whole picture" eval 'timeout 20 "$CAMPLAY" --no-window --once --frames 5 --save seen-whole.h264 tcp://127.0.0.1:9979 && has_properties seen-whole.h264 width=320'
check "renditions: live, the small one" eval 'timeout 20 "$CAMPLAY" --no-window --once --frames 5 --save seen-small.h264 tcp://127.0.0.1:9978 && has_properties seen-small.h264 width=160'
check "renditions: another rate" "$CAMREC" ctl orders bitrate 500k
check "renditions: live again" eval 'timeout 20 "$CAMPLAY" --no-window --once --frames 5 tcp://127.0.0.1:9979'
kill -TERM $recorder
wait $recorder || true
check "renditions: another rate is not for the small one" report r.json 'encoders[0].bitRate == 500000' 'encoders[1].bitRate == 100000'

records "pictures: scaled" "${source[@]}" --qp 4 --scale 160x90 scaled.mkv &&
    check "pictures: scaled, and shown undistorted" has_size scaled.mkv 160x90 3:4
records "pictures: scaled to an impossible shape" "${source[@]}" --qp 4 --scale 320x16 flat.mkv &&
    says "pictures: that players show it distorted" '--scale 320x16: players will show the pictures distorted'
records "pictures: scaled and turned" "${source[@]}" --qp 4 --rotate 90 --scale 120x160 turned.mkv &&
    check "pictures: scaled and turned: as ffmpeg does it" looks_like turned.mkv nv12.mkv "transpose=clock,scale=120:160:flags=bilinear" 28

for codec in h264 h265; do
    for turn in 0 90 180 270; do
        name="pictures: the time in .$codec, turned by $turn" options=()
        if [ $turn != 0 ]; then options=(--rotate "$turn"); fi
        since=$(date +%s.%N)
        records "$name" --device test --encoder software --frames 40 --size 640x480 --bitrate 4M --overlay '%F %T.%f' --timestamps times.txt \
            "${options[@]}" "time.$codec" --overwrite || continue
        check "$name: that of capture" overlay times "time.$codec" --since "$since" --until "$(date +%s.%N)" --timestamps times.txt
    done
done

mkdir day
if records "pictures: segments of a camera on its side" --device test --encoder software --size 640x480 --duration 5s --overlay '%F %T.%f' \
    --rotate 90 --segment 2s --align 'day/%H%M%S.mkv'; then
    for file in day/*.mkv; do
        check "pictures: $(basename "$file") is upright" has_size "$file" 480x640 N/A
        check "pictures: $(basename "$file") is called by its first picture" overlay name "$file"
    done
fi
finish
