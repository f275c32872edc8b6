#!/bin/bash
# Compares how camrec inspect and libavcodec (trace_headers, ffprobe) read streams, value by value.
# usage: reference.sh [--table FILE.md] [STREAM...]     (STREAMs of your own instead of those made here)
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
table=
if [ "${1-}" = --table ]; then
    table=$(realpath "${2:?usage: reference.sh [--table FILE.md] [STREAM...]}")
    shift 2
fi
streams=()
for stream; do streams+=("$(realpath "$stream")"); done
begin

made() { # FILE STATUS
    [ "$2" = 0 ] && [ -s "$1" ] || fail "reference: ${1%.*} is made" "status $2, $(stat -c %s "$1" 2>/dev/null || echo no) bytes; see above"
}
picture=testsrc2=s=96x80:r=25
frames=12
x() { # FILE FORMAT PARAMETERS [FFMPEG OPTIONS...]: a stream of libx264 or libx265, by the file's name
    local file=$1 format=$2 parameters=$3 library=libx264 option=-x264-params status
    shift 3
    if [ "$(demuxer "$file")" = hevc ]; then library=libx265 option=-x265-params; fi
    # CI hung here once, with only encoders running.
    for _ in 1 2; do
        status=0
        timeout --kill-after=5 60 ffmpeg -nostdin -v error -y -f lavfi -i "$picture" -frames:v "$frames" -pix_fmt "$format" "$@" -threads 2 \
            -c:v "$library" -preset veryfast $option "log-level=-1:$parameters" "$file" || status=$?
        if [ "$status" != 124 ]; then break; fi
    done
    made "$file" "$status"
}
edited() { # FROM TO OPTIONS: the VUI that h264_metadata or hevc_metadata writes
    local codec status=0
    codec=$(demuxer "$1")
    timeout --kill-after=5 60 ffmpeg -nostdin -v error -y -f "$codec" -i "$1" -c copy -bsf:v "${codec}_metadata=$3" "$2" || status=$?
    made "$2" "$status"
}
odd() { # KIND FILE SOURCE...
    local status=0
    timeout --kill-after=5 60 "$PYTHON" "$LAB/verify/odd_streams.py" "$@" || status=$?
    made "$2" "$status"
}

h264_streams() {
    x plain.h264 yuv420p keyint=6
    x baseline.h264 yuv420p keyint=6 -profile:v baseline
    x order-type-2.h264 yuv420p bframes=0:keyint=6
    x b-pyramid.h264 yuv420p bframes=3:b-pyramid=normal:b-adapt=0:ref=4
    x open-gop.h264 yuv420p bframes=2:b-adapt=0:keyint=5:open-gop=1
    x weighted.h264 yuv420p weightp=2:weightb=1:bframes=2 -vf fade=in:0:12
    x slices.h264 yuv420p slices=4:keyint=6
    x slice-max-mbs.h264 yuv420p slice-max-mbs=7
    x mbaff.h264 yuv420p interlaced=1:tff=1:keyint=6
    x mbaff-bottom-first.h264 yuv420p interlaced=1:bff=1:bframes=2
    x fake-interlaced.h264 yuv420p fake-interlaced=1
    x pic-struct.h264 yuv420p pic-struct=1:nal-hrd=vbr:vbv-maxrate=400:vbv-bufsize=400
    x hrd-cbr.h264 yuv420p nal-hrd=cbr:bitrate=300:vbv-maxrate=300:vbv-bufsize=300:filler=1
    x delimiters.h264 yuv420p aud=1:keyint=5
    x intra-refresh.h264 yuv420p intra-refresh=1:keyint=6
    x scaling-jvt.h264 yuv420p cqm=jvt
    x scaling-custom.h264 yuv420p cqm4i=17,17,17,17,17,17,17,17,17,17,17,17,17,17,17,20:cqm8p=18
    x lossless.h264 yuv420p qp=0
    x constrained-intra.h264 yuv420p constrained-intra=1
    x cavlc.h264 yuv420p cabac=0:8x8dct=0
    x gray.h264 gray keyint=6
    x 422.h264 yuv422p keyint=6
    x 444.h264 yuv444p keyint=6
    x 444-scaling.h264 yuv444p cqm=jvt
    x 10bit.h264 yuv420p10 keyint=6
    x 422-10bit.h264 yuv422p10 keyint=6:interlaced=1
    x 422-10bit-intra.h264 yuv422p10 keyint=1
    x 444-10bit.h264 yuv444p10 keyint=6
    x level-1b.h264 yuv420p level=1b:bframes=0:cabac=0:8x8dct=0:weightp=0 -profile:v baseline
    x sar.h264 yuv420p sar=40/33:overscan=show:videoformat=pal:range=pc:colorprim=bt709:transfer=smpte2084:colormatrix=bt2020nc:chromaloc=2
    x 29.97.h264 yuv420p keyint=6 -r 30000/1001
    picture=testsrc2=s=95x79:r=25 x odd-444.h264 yuv444p keyint=6
    picture=testsrc2=s=94x78:r=25 x cropped.h264 yuv420p keyint=6
    picture=testsrc2=s=94x76:r=25 x cropped-mbaff.h264 yuv420p interlaced=1
    picture=testsrc2=s=16x16:r=25 x 16x16.h264 yuv420p keyint=6
    picture=testsrc2=s=4096x64:r=25 frames=2 x 4096x64.h264 yuv420p keyint=6
    picture=testsrc2=s=32x32:r=25 frames=70 x frame-num-wraps.h264 yuv420p bframes=0:keyint=250:ref=1:scenecut=0
    edited plain.h264 vui-edited.h264 sample_aspect_ratio=16/11:video_format=2:colour_primaries=9:transfer_characteristics=18:matrix_coefficients=9:video_full_range_flag=1:chroma_sample_loc_type=3:tick_rate=60:level=5.2
    edited plain.h264 rate-unknown.h264 tick_rate=0
    edited plain.h264 recropped.h264 crop_left=2:crop_right=4:crop_top=6:crop_bottom=8
    edited delimiters.h264 user-data.h264 aud=remove:sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+hello
}

h265_streams() {
    x plain.h265 yuv420p keyint=6
    x open-gop.h265 yuv420p keyint=5:min-keyint=5:open-gop=1:bframes=2:b-adapt=0:scenecut=0
    x b-pyramid.h265 yuv420p bframes=4:b-pyramid=1:b-adapt=0:ref=4
    x low-delay.h265 yuv420p bframes=0:keyint=6
    x weighted.h265 yuv420p weightp=1:weightb=1:bframes=2 -vf fade=in:0:12
    picture=testsrc2=s=96x256:r=25 x slices.h265 yuv420p slices=3:ctu=32:keyint=6
    x wavefront.h265 yuv420p wpp=1:ctu=16:keyint=6
    x hrd.h265 yuv420p hrd=1:vbv-maxrate=400:vbv-bufsize=400:aud=1:keyint=6
    x hrd-cbr.h265 yuv420p hrd=1:bitrate=300:vbv-maxrate=300:vbv-bufsize=300:strict-cbr=1
    x delimiters.h265 yuv420p aud=1:keyint=5
    x end-of-sequence.h265 yuv420p keyint=5:eos=1:eob=1
    x scaling-default.h265 yuv420p scaling-list=default
    x temporal-layers.h265 yuv420p temporal-layers=1:bframes=2:b-adapt=0
    x hash.h265 yuv420p hash=1
    x recovery-point.h265 yuv420p idr-recovery-sei=1:keyint=4
    x interlaced.h265 yuv420p interlace=tff
    x lossless.h265 yuv420p lossless=1
    x transform-skip.h265 yuv420p tskip=1:constrained-intra=1:amp=1:rect=1:cu-lossless=1
    x short-sets.h265 yuv420p multi-pass-opt-rps=1:opt-qp-pps=1:opt-ref-list-length-pps=1
    x gray.h265 gray keyint=6
    x gray-10bit.h265 gray10 keyint=6
    x 422.h265 yuv422p keyint=6
    x 444.h265 yuv444p keyint=6
    x 10bit.h265 yuv420p10 keyint=6
    x 12bit.h265 yuv420p12 keyint=6
    x 422-10bit.h265 yuv422p10 keyint=6
    x 444-12bit.h265 yuv444p12 keyint=6
    x intra.h265 yuv420p keyint=1
    x high-tier.h265 yuv420p level-idc=5.1:high-tier=1
    x sar.h265 yuv420p overscan=show:videoformat=pal:range=full:colorprim=bt709:transfer=smpte2084:colormatrix=bt2020nc:chromaloc=2:display-window=2,4,6,8 -vf setsar=40/33
    x mastering.h265 yuv420p10 hdr10=1:repeat-headers=1:max-cll=1000,400:master-display='G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)'
    x 29.97.h265 yuv420p keyint=6 -r 30000/1001
    picture=testsrc2=s=95x79:r=25 x odd-444.h265 yuv444p keyint=6
    picture=testsrc2=s=94x78:r=25 x cropped.h265 yuv420p keyint=6
    picture=testsrc2=s=16x16:r=25 x 16x16.h265 yuv420p keyint=6:ctu=16
    picture=testsrc2=s=4096x64:r=25 frames=2 x 4096x64.h265 yuv420p keyint=6
    edited plain.h265 vui-edited.h265 sample_aspect_ratio=16/11:video_format=2:colour_primaries=9:transfer_characteristics=18:matrix_coefficients=9:video_full_range_flag=1:chroma_sample_loc_type=3:tick_rate=60:num_ticks_poc_diff_one=1
    edited plain.h265 recropped.h265 crop_left=2:crop_right=4:crop_top=6:crop_bottom=8
}

# What no available encoder makes.
odd_streams() {
    local suffix
    odd fields field-pairs.h264
    odd order-type-1 order-type-1.h264
    odd redundant redundant-pictures.h264
    odd colour-planes colour-planes.h264
    x small.h264 yuv420p keyint=30 -frames:v 41 -s 32x32
    x small.h265 yuv420p keyint=30 -frames:v 41 -s 32x32
    for suffix in h264 h265; do
        odd sets "every-element.$suffix" "small.$suffix"
        odd zeros "extra-zeros.$suffix" "plain.$suffix"
        odd short "short-start-codes.$suffix" "plain.$suffix"
        odd late "late-sets.$suffix" "plain.$suffix"
        odd partly "one-set-late.$suffix" "plain.$suffix"
        odd cut "begins-with-open-gop.$suffix" "open-gop.$suffix"
        odd joined "changing-sets.$suffix" "plain.$suffix" "cropped.$suffix" "plain.$suffix"
        odd ended "sequence-ends.$suffix" "plain.$suffix" "plain.$suffix"
        odd filled "filler.$suffix" "plain.$suffix"
        rm "small.$suffix"
    done
}

recorded() { # NAME OPTIONS...: camrec's own, of both codecs from one capture
    local name=$1
    shift
    records "reference: $name" --device test --size 192x136 --fps 25 --frames 12 --keyframe-interval 5 --no-pace --overwrite "$@" "$name.h264" "$name.h265" || true
}
recorded_streams() {
    local driver
    recorded camrec-software --encoder software
    recorded camrec-software-b --encoder software --bframes 2 --latency quality
    for driver in radeonsi iHD; do
        has_gpu "reference: $driver" "$driver" 'HEVCMain .*EncSlice' || continue
        launcher=("$LAB/gpu/run" "$driver")
        recorded "camrec-$driver" --encoder vaapi
        launcher=()
    done
}

if [ ${#streams[@]} = 0 ]; then
    h264_streams &
    h264=$!
    h265_streams &
    wait $h264 || fail "reference: H.264 is made" "ended with status $?"
    wait $! || fail "reference: H.265 is made" "ended with status $?"
    odd_streams
    recorded_streams
    streams=(*.h264 *.h265)
fi
"$PYTHON" "$LAB/verify/reference.py" --camrec "$CAMREC" --tally compared ${table:+--table "$table"} "${streams[@]}" || true
for stream in "${streams[@]}"; do
    grep -qF "reference: $(basename "$stream"): " compared || fail "reference: $(basename "$stream")" "it was not compared"
done
while IFS=$'\t' read -r outcome name reason; do "$outcome" "$name" "$reason" >>log; done <compared
grep ^FAIL log || true
finish
