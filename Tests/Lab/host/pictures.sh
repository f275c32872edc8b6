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
done
records "pictures: scaled" "${source[@]}" --qp 4 --scale 160x90 scaled.mkv &&
    check "pictures: scaled, and shown undistorted" has_size scaled.mkv 160x90 3:4
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
