#!/bin/bash
# The software encoder and the built-in sources: what a machine without camera and GPU can do.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

# What the dynamic linker loads at the start.
needs() { readelf --dynamic "$1" | grep NEEDED; } # PROGRAM
links_what_it_always_uses() { # PROGRAM
    local libraries
    libraries=$(needs "$1") && ! grep -E 'lib(freetype|SDL|gnutls|asound|avformat)' <<<"$libraries"
}
links_sqlite() { needs "$1" | grep 'libsqlite3'; } # PROGRAM
does_without_sqlite() { needs "$1" >/dev/null && ! links_sqlite "$1"; } # PROGRAM
for program in "$CAMREC" "$CAMPLAY" "$CAMWEB"; do
    # Not every distribution builds all of them.
    if [ "$program" = "$CAMWEB" ] && [ ! -x "$CAMWEB" ]; then continue; fi
    check "software: ${program##*/} loads FreeType, SDL, GnuTLS, ALSA and libavformat only where it needs them" links_what_it_always_uses "$program"
    has=does_without_sqlite
    if [ "$program" = "$CAMWEB" ]; then has=links_sqlite; fi
    check "software: SQLite is loaded by camweb alone, for its index of recordings (${program##*/})" $has "$program"
done

software=(--encoder software --no-pace --overwrite)

if records "software: 200 frames of the test source" --device test --size 640x480 --fps 25 --frames 200 "${software[@]}" --report report.json out.h264; then
    check "software: IDR at 0, 25, 50 …, the promised shape" is_sound out.h264 --frames 200 --keyframe-interval 25
    check "software: every frame's number is in its picture" pictures numbers out.h264 --block 16
    check "software: standard error is silent if it is not a terminal" test ! -s stderr
    check "software: the report counts 200 frames" report report.json 'frames.encoded == 200' 'frames.written == 200' \
        'frames.keyframes == 8' 'frames.captured == 200 + frames.unused' 'frames.droppedByDriver == 0' "bytes == $(stat -c %s out.h264)"
fi

records "software: two outputs" --device test --size 320x240 --frames 10 --verbose "${software[@]}" one.h264 two.h264 &&
    check "software: what both share is on a line of its own" grep -qE '^all outputs: [0-9.]+ s; dropped: 0 by the driver' stderr

# One processor cannot encode 120 of these pictures a second.
busy() { taskset -c "$(taskset -cp $$ | grep -oE '[0-9]+' | tail -n 1)" "$CAMREC" "$@"; }
is_told() { [ "$(wc -l <stderr)" = 1 ] && grep -qE '^camrec: warning: [0-9]+ frames? dropped because the machine was too busy' stderr; }
if busy --device test --size 1920x1080 --fps 120 --codec hevc --encoder software --frames 20 --report busy.json busy.h265 2>stderr; then
    check "software: frames that come too fast are dropped and counted" report busy.json 'frames.written == 20' 'frames.droppedByUs > 0'
    check "software: standard error has the loss, in one line, also without a terminal" is_told
else
    fail "software: too many frames" "$(cat stderr)"
fi

records "software: keyframes every 7 frames" --device test --size 320x240 --frames 50 --keyframe-interval 7 "${software[@]}" out.h264 &&
    check "software: IDR at 0, 7, 14 …" is_sound out.h264 --frames 50 --keyframe-interval 7
records "software: keyframes every 2 s" --device test --size 320x240 --fps 10 --frames 50 --keyframe-interval 2s "${software[@]}" out.h264 &&
    check "software: IDR at 0, 20, 40" is_sound out.h264 --frames 50 --keyframe-interval 20
records "software: four slices on request" --device test --size 640x480 --frames 20 --slices 4 "${software[@]}" out.h264 &&
    check "software: four slices a picture" is_sound out.h264 --frames 20 --slices 4
# Capture times in the stream, read by camrec, by GStreamer, and as the times of a container. The recorder stands still for
# three seconds, longer than pictures can wait for it, so no constant rate explains them.
stamps() { # RAW
    rm -f stamped.txt
    "$CAMREC" --device test --size 320x240 --frames 120 --stamp --encoder software --pace --latency realtime --quiet --timestamps stamped.txt "$1" 2>stderr &
    local recorder=$!
    await 20 test -s "$1"
    kill -STOP $recorder
    sleep 3
    kill -CONT $recorder
    wait $recorder
}
states_times() { # RAW: by inspect and the timestamp file
    "$CAMREC" inspect --json "$1" >stamped.json && report stamped.json 'captureTimes.count == 120' 'accessUnits == 120' 'duration > 4.5' || return
    "$CAMREC" remux --overwrite --quiet "$1" restored.mkv && container times restored.mkv stamped.txt
}
for stamped in stamped.h265 stamped.h264; do
    if stamps $stamped; then
        check "software: --stamp, ${stamped#*.}: the promised shape" "$CAMREC" inspect --check $stamped
        check "software: --stamp, ${stamped#*.}: the times are those of capture" states_times $stamped
    else
        fail "software: --stamp, ${stamped#*.}" "$(cat stderr)"
    fi
done
reads_times() { # GStreamer's times are those of the timestamp file
    "$LAB/verify/capture_times.py" stamped.h264 >microseconds.txt || return
    "$PYTHON" - <<'END'
import sys
microseconds = [int(line) for line in open("microseconds.txt")]
milliseconds = [float(line) for line in open("stamped.txt") if line[0] != "#"]
apart = max(abs((time - microseconds[0]) / 1000 - wanted) for time, wanted in zip(microseconds, milliseconds))
if len(microseconds) != 120 or apart > 1:
    sys.exit(f"{len(microseconds)} times, up to {apart} ms apart")
END
}
if /usr/bin/python3 -c 'import gi; gi.require_version("GstVideo", "1.0")' 2>/dev/null; then
    check "software: --stamp: GStreamer reads the times" reads_times
else
    skip "software: --stamp: GStreamer" "no gir1.2-gst-plugins-base-1.0 here"
fi
records "software: without --stamp" --device test --size 320x240 --frames 10 "${software[@]}" out.h264 &&
    "$CAMREC" inspect --json out.h264 >stamped.json && check "software: without --stamp: no times" report stamped.json 'captureTimes is None'

records "software: 2 s by --duration" --device test --size 320x240 --fps 25 --duration 2s "${software[@]}" out.h264 &&
    check "software: 50 frames in 2 s" is_sound out.h264 --frames 50

records "software: standard output" --device test --size 320x240 --frames 30 "${software[@]}" - && mv stdout out.h264 &&
    check "software: standard output has the promised shape" is_sound out.h264 --frames 30 --keyframe-interval 30
records "software: the report on standard output" --device test --size 320x240 --frames 30 "${software[@]}" --report - out.h264 && mv stdout report.json &&
    check "software: that report is JSON" report report.json 'frames.written == 30'

for profile in constrained-baseline main high; do
    declare -A name=([constrained-baseline]="Constrained Baseline" [main]=Main [high]=High)
    records "software: profile $profile" --device test --size 320x240 --frames 20 --profile "$profile" "${software[@]}" out.h264 &&
        check "software: profile $profile in the stream" has_properties out.h264 "profile=${name[$profile]}"
done
records "software: level 4.0" --device test --size 320x240 --frames 10 --level 4.0 "${software[@]}" out.h264 &&
    check "software: level 4.0 in the stream" has_properties out.h264 level=40
for entropy in cavlc:0 cabac:1; do
    records "software: ${entropy%:*}" --device test --size 320x240 --frames 10 --entropy "${entropy%:*}" "${software[@]}" out.h264 &&
        check "software: ${entropy%:*} in the stream" has_syntax out.h264 entropy_coding_mode_flag "${entropy#*:}"
done
records "software: B frames on request" --device test --size 320x240 --frames 60 --bframes 2 --latency quality "${software[@]}" out.h264 &&
    check "software: B frames keep shape and count" is_sound out.h264 --frames 60 --keyframe-interval 30
records "software: constant QP" --device test --size 320x240 --frames 20 --qp 30 "${software[@]}" out.h264 &&
    check "software: constant QP is sound" is_sound out.h264 --frames 20

ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=640x360:r=50 -frames:v 40 -pix_fmt yuv420p limited.y4m
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=640x360:r=50 -frames:v 40 -vf scale=out_range=full -pix_fmt yuvj420p full.y4m
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=1280x720:r=50 -frames:v 10 -pix_fmt yuv422p hd.y4m
if records "software: a y4m file" --device limited.y4m --qp 10 "${software[@]}" out.h264; then
    check "software: a y4m file keeps every frame" is_sound out.h264 --frames 40
    check "software: a y4m file's pictures" pictures equal out.h264 limited.y4m --format y4m --psnr 40
    check "software: limited range and 50 frames a second are flagged" has_properties out.h264 color_range=tv r_frame_rate=50/1 width=640 height=360
fi
records "software: a full-range y4m file" --device full.y4m "${software[@]}" out.h264 &&
    check "software: full range is flagged" has_properties out.h264 color_range=pc
records "software: full range made limited" --device full.y4m --qp 10 --color-range limited "${software[@]}" out.h264 &&
    check "software: limited range is flagged after the conversion" has_properties out.h264 color_range=tv &&
    check "software: the conversion to limited range" pictures equal out.h264 limited.y4m --format y4m --psnr 35
if records "software: a 4:2:2 file of 720 lines" --device hd.y4m --qp 10 "${software[@]}" out.h264; then
    check "software: 4:2:2 becomes 4:2:0" pictures equal out.h264 hd.y4m --format y4m --psnr 40
    check "software: BT.709 is flagged" has_properties out.h264 color_space=bt709
fi

# Pixel aspect ratio and chroma siting, as in the file: between the pixels for JPEG's 4:2:0.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=25 -frames:v 5 -vf setsar=10/11 -pix_fmt yuv420p shape.y4m
for file in shape.h264 shape.h265; do
    records "software: pixels that are not square, $file" --device shape.y4m "${software[@]}" $file &&
        check "software: their shape and chroma's place are in $file" has_properties $file sample_aspect_ratio=10:11 chroma_location=center
done
for file in shape.mkv shape.mp4; do
    records "software: pixels that are not square, $file" --device shape.y4m "${software[@]}" $file &&
        check "software: their shape is in $file" bash -c "ffprobe -v error -show_entries stream=sample_aspect_ratio $file | grep -qx sample_aspect_ratio=10:11"
done

# The same picture in every format that the test source draws.
records "software: NV12" --device test --format nv12 --size 320x240 --frames 10 --qp 10 "${software[@]}" nv12.h264 || true
for format in nv21 yu12 yv12 yuyv uyvy yvyu; do
    records "software: $format" --device test --format $format --size 320x240 --frames 10 --qp 10 "${software[@]}" out.h264 &&
        check "software: $format gives NV12's pictures" pictures same out.h264 nv12.h264
done
for format in rgb24 bgr24 BGR4 RGB4 XR24 BX24 XB24 RX24; do
    records "software: $format" --device test --format $format --size 320x240 --frames 10 --qp 10 "${software[@]}" out.h264 &&
        check "software: $format gives NV12's pictures" pictures same out.h264 nv12.h264 --tolerance 8
done
records "software: grey" --device test --format grey --size 320x240 --frames 10 "${software[@]}" out.h264 &&
    check "software: grey has the frames' numbers" pictures numbers out.h264 --block 16
for size in 322x242 258x130 1918x1078; do
    records "software: $size" --device test --size $size --frames 5 "${software[@]}" out.h264 &&
        check "software: $size is cropped to its size" has_properties out.h264 width="${size%x*}" height="${size#*x}"
done

# H.265, alone and together with H.264.
if records "software: H.265" --device test --size 640x480 --fps 25 --frames 100 "${software[@]}" --report report.json out.h265; then
    check "software: H.265: IDR at 0, 25, 50 …, the promised shape" is_sound out.h265 --frames 100 --keyframe-interval 25
    check "software: H.265: every frame's number is in its picture" pictures numbers out.h265 --block 16
    check "software: H.265: rate and colour are flagged" has_properties out.h265 codec_name=hevc profile=Main r_frame_rate=25/1 color_range=tv color_space=smpte170m
    check "software: H.265: the report" report report.json 'encoder.implementation == "libx265"' 'encoder.codec == "hevc"' 'frames.written == 100' 'frames.keyframes == 4'
fi
# libx265's lookahead wrote beyond its memory at such sizes, and took every output along.
for size in 48x30 34x16 30x48 48x48; do
    records "software: H.265 of $size, at its best" --device test --size $size --frames 40 --codec hevc --latency quality "${software[@]}" small.h265 --overwrite &&
        check "software: H.265 of $size, at its best: all frames" is_sound small.h265 --frames 40
done
records "software: H.265 on standard output" --device test --size 320x240 --frames 30 --codec hevc "${software[@]}" - && mv stdout out.h265 &&
    check "software: --codec says what standard output gets" is_sound out.h265 --frames 30 --keyframe-interval 30
records "software: H.265 with level 4.1" --device test --size 320x240 --frames 10 --level 4.1 "${software[@]}" out.265 &&
    check "software: H.265 with level 4.1 in the stream" has_properties out.265 level=123
records "software: H.265, B frames" --device test --size 320x240 --frames 60 --bframes 2 --latency quality "${software[@]}" out.hevc &&
    check "software: H.265, B frames keep shape and count" is_sound out.hevc --frames 60 --keyframe-interval 30
records "software: H.265, B frames in real time" --device test --size 320x240 --frames 60 --bframes 2 "${software[@]}" out.hevc &&
    check "software: H.265, B frames in real time keep shape and count" is_sound out.hevc --frames 60 --keyframe-interval 30
records "software: H.265 of a 4:2:2 file" --device hd.y4m --qp 8 "${software[@]}" out.h265 &&
    check "software: H.265 of a 4:2:2 file has its pictures" pictures equal out.h265 hd.y4m --format y4m --psnr 40
for format in nv12 yu12 yuyv rgb24; do
    records "software: H.265 of $format" --device test --format $format --size 322x242 --frames 10 --qp 8 "${software[@]}" out.h265 &&
        check "software: H.265 of $format has the frames' numbers" pictures numbers out.h265 --block 16 &&
        check "software: H.265 of $format is cropped to its size" has_properties out.h265 width=322 height=242
done
if records "software: both codecs and a copy at once" --device test --size 640x480 --fps 25 --frames 60 --qp 8 "${software[@]}" --report report.json out.h264 out.h265 again.h264; then
    check "software: both at once: H.264" is_sound out.h264 --frames 60 --keyframe-interval 25
    check "software: both at once: H.265" is_sound out.h265 --frames 60 --keyframe-interval 25
    check "software: both at once: the same pictures" pictures same out.h264 out.h265 --tolerance 24
    check "software: two outputs of one codec are one stream" cmp out.h264 again.h264
    check "software: both at once: the report" report report.json 'len(encoders) == 2' 'len(outputs) == 3' 'frames.captured == 60 + frames.unused' \
        'outputs[1].codec == "hevc"' 'outputs[0].written == 60' 'outputs[1].written == 60' 'outputs[2].written == 60'
fi

# Keyframes only are the Main profile, too, and not libx265's Main Intra.
records "software: H.265, each frame a keyframe" --device test --size 320x240 --frames 10 --keyframe-interval 1 "${software[@]}" out.h265 &&
    check "software: H.265, each frame a keyframe: sound" is_sound out.h265 --frames 10 --keyframe-interval 1 &&
    check "software: H.265, each frame a keyframe: profile Main" has_properties out.h265 profile=Main

# Frames come in real time unless --no-pace is given. Only the lower bound: a slow machine may take longer.
start=$(date +%s%N)
records "software: real time" --device test --size 320x240 --fps 25 --frames 50 --encoder software --overwrite out.h264 &&
    check "software: 50 frames at 25 a second take 1.9 s or more" test $((($(date +%s%N) - start) / 1000000)) -ge 1900
finish
