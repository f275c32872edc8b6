#!/bin/bash
# A camera's Motion JPEG, decoded by a real driver on the emulated GPU straight into the encoder's surfaces.
# usage: jpeg.sh radeonsi|iHD
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
driver=${1:?usage: jpeg.sh radeonsi|iHD}
begin

if ! has_gpu "$driver: JPEG" "$driver" 'JPEGBaseline.*VLD'; then
    finish
    exit
fi
launcher=("$LAB/gpu/run" "$driver")
none_left=$(nothing_left "$driver")
export FAKEGPU_REPORT=$work/gpu.lines
gpu_says() { # NAME EXPRESSION...: its report on the last run
    tail -n 1 "$FAKEGPU_REPORT" >gpu.json
    check "$1" report gpu.json "${@:2}"
}
test60=(--device test --frames 60 --encoder vaapi --no-pace --overwrite --report report.json)

fails_with() { # NAME PATTERN ARGUMENTS...: at a picture, which is lost
    local status=0
    camrec "${@:3}" || status=$?
    if [ $status = 69 ]; then check "$1" error_names stderr "$2"; else fail "$1" "exit code $status: $(tail -n 3 stderr)"; fi
}

# The test source's JPEG is 4:2:0, its Motion JPEG 4:2:2: of that only Intel's engine makes 4:2:0.
formats=(jpeg mjpeg)
if [ "$driver" = radeonsi ]; then formats=(jpeg); fi
for format in "${formats[@]}"; do
    for size in 640x480 638x478 322x242; do
        name="$driver: $format of $size"
        records "$name" "${test60[@]}" --format "$format" --size "$size" out.h264 || continue
        check "$name: the GPU decoded every picture" report report.json 'encoder.jpeg.gpu == 60' 'encoder.jpeg.cpu == 0' 'frames.written == 60'
        gpu_says "$name: nothing is left on it" 'devices[0].decoded.jpeg == 60' 'devices[0].decoded.failed == 0' "$none_left"
        check "$name: every frame's number is in its picture" pictures numbers out.h264 --block 16
        check "$name: sound" is_sound out.h264 --frames 60
    done
done
# 4:2:0 by the GPU and by the processor is the same, but for rounding.
records "$driver: by the processor" "${test60[@]}" --format jpeg --size 640x480 --jpeg cpu --overwrite cpu.h264 &&
    gpu_says "$driver: by the processor: the GPU decodes nothing" 'devices[0].decoded.jpeg == 0' &&
    check "$driver: by the processor: the report has no GPU" report report.json "not hasattr(encoder, 'jpeg')"
ffmpeg -nostdin -v error -y -i cpu.h264 -pix_fmt yuvj420p -strict -1 cpu.y4m
records "$driver: by the GPU" "${test60[@]}" --format jpeg --size 640x480 --jpeg gpu out.h264 &&
    check "$driver: by the GPU: the same pictures" pictures equal out.h264 cpu.y4m --format y4m --tolerance 2

# Where the processor has to touch the picture anyway
while IFS='|' read -r what reason options; do
    # shellcheck disable=SC2086
    records "$driver: with $what" "${test60[@]}" --format jpeg --size 640x480 $options out.h264 &&
        check "$driver: with $what, the processor decodes, and says why" report report.json 'encoder.jpeg.gpu == 0' 'encoder.jpeg.cpu == 60' "'$reason' in encoder.jpeg.reason"
    # shellcheck disable=SC2086
    refuses "$driver: --jpeg gpu with $what" 69 "jpeg gpu: .*$reason" "${test60[@]}" --format jpeg --size 640x480 --jpeg gpu $options out.h264
done <<'END'
a text|overlay is drawn|--overlay %F
a hidden part|privacy is drawn|--privacy 200x120+160+80
a turned picture|is done by the processor|--rotate 180
other colours|colours are changed|--color-range limited
END
records "$driver: a hidden part" "${test60[@]}" --format jpeg --size 640x480 --privacy 200x120+160+80 out.h264 &&
    check "$driver: a hidden part is black" hides out.h264 180x100+170+90
if [ "$driver" = radeonsi ]; then
    records "$driver: 4:2:2" "${test60[@]}" --format mjpeg --size 640x480 out.h264 &&
        check "$driver: 4:2:2 is the processor's, with the reason" report report.json 'encoder.jpeg.gpu == 0' "'no 4:2:0 of 4:2:2' in encoder.jpeg.reason" &&
        gpu_says "$driver: 4:2:2 reaches no decoder that would spoil the surface" 'devices[0].decoded.jpeg == 0 and devices[0].decoded.failed == 0'
    fails_with "$driver: 4:2:2 with --jpeg gpu" 'no 4:2:0 of 4:2:2' "${test60[@]}" --format mjpeg --jpeg gpu out.h264
fi

refuses "$driver: --jpeg gpu for other pictures" 64 'jpeg gpu is for Motion JPEG' --device test --frames 10 --jpeg gpu --overwrite out.h264

# Heights of which the last rows are in no MCU: what is left in a surface is coded, though not shown.
if [ "$driver" = iHD ]; then
    records "$driver: 4:2:2 of 640x360" "${test60[@]}" --format mjpeg --size 640x360 out.h264 &&
        check "$driver: 4:2:2 of 640x360: the GPU decoded every picture" report report.json 'encoder.jpeg.gpu == 60' &&
        check "$driver: 4:2:2 of 640x360: what is not shown is grey" "$PYTHON" "$LAB/verify/margin.py" out.h264 360
fi

# A driver that decodes incorrectly is found out at the first picture.
cc -shared -fPIC -O2 -Wall -Wextra -o misjpeg.so "$LAB/host/misjpeg.c"
upright=("${launcher[@]}")
launcher=(env MISJPEG=wrong "LD_PRELOAD=$work/misjpeg.so" "${upright[@]}")
records "$driver: decoded incorrectly" "${test60[@]}" --format jpeg --size 640x480 out.h264 &&
    check "$driver: decoded incorrectly: the processor's from the first picture on" report report.json 'encoder.jpeg.gpu == 0' 'encoder.jpeg.cpu == 60' "'differ' in encoder.jpeg.reason" &&
    check "$driver: decoded incorrectly: the right pictures" pictures equal out.h264 cpu.y4m --format y4m --tolerance 0
fails_with "$driver: decoded incorrectly, --jpeg gpu" 'differ' "${test60[@]}" --format jpeg --size 640x480 --jpeg gpu out.h264
# One that fails later: the processor takes over, and no frame is lost.
launcher=(env MISJPEG=fail "LD_PRELOAD=$work/misjpeg.so" "${upright[@]}")
records "$driver: decoding fails at the twentieth picture" "${test60[@]}" --format jpeg --size 640x480 out.h264 &&
    check "$driver: decoding fails: every frame is there, and the encoder the same" report report.json 'encoder.jpeg.gpu == 20' 'encoder.jpeg.cpu == 40' \
        'frames.written == 60' 'encoder.restarts == 0' "'did not decode' in encoder.jpeg.reason" &&
    check "$driver: decoding fails: every frame's number is in its picture" pictures numbers out.h264 --block 16
# One whose decoding breaks the encoder: that is opened again without it, and stays on the GPU.
launcher=(env MISJPEG=poison "LD_PRELOAD=$work/misjpeg.so" "${upright[@]}")
records "$driver: decoding breaks the encoder" "${test60[@]}" --encoder auto --format jpeg --size 640x480 out.h264 &&
    check "$driver: decoding breaks the encoder: it is opened once more, and the processor decodes" report report.json 'encoder.restarts == 1' \
        "encoder.implementation == 'h264_vaapi'" 'frames.written == 60' 'frames.droppedByEncoder == 1' "'failed while' in encoder.jpeg.reason"
launcher=("${upright[@]}")

# The GPU's faults, with the decoder in use: a picture is two to it now.
fault() { # FAULTS COMMAND...
    FAKEGPU_FAULTS=$1 "${@:2}"
}
accounted='frames.captured + frames.droppedByDriver == frames.written + frames.droppedByUs + frames.droppedByEncoder + frames.unused'
either=(--device test --format jpeg --size 320x240 --frames 60 --no-pace --overwrite --report report.json)
if [ "$driver" = iHD ]; then
    for what in "lost 41" "lost 40" "hang 41 300" "hang 40 300"; do
        fault "$what" records "$driver: $what" "${either[@]}" out.h264 &&
            check "$driver: $what: software took over" report report.json 'frames.written == 60' "encoder.implementation == 'libx264'" \
                '1 <= frames.droppedByEncoder <= 4' "$accounted" &&
            check "$driver: $what: sound" stream out.h264 --frames 60
    done
    fault "fail I915_GEM_EXECBUFFER2 EIO 40 1" records "$driver: a submission fails" "${either[@]}" --encoder vaapi out.h264 &&
        check "$driver: a submission fails: no frame more than that is lost" report report.json 'frames.written == 60' 'frames.droppedByEncoder <= 1' "$accounted"
    # With two codecs both encoders fail, and are opened once more: at their first pictures, and later.
    for first in 2 20; do
        fault "fail I915_GEM_EXECBUFFER2 EIO $first 2" records "$driver: two codecs, two submissions fail from $first on" "${either[@]}" --encoder vaapi out.h264 out.h265 &&
            check "$driver: two codecs, two submissions fail from $first on: each encoder is opened once more" report report.json 'encoders[0].restarts == 1' \
                'encoders[1].restarts == 1' "encoders[0].implementation == 'h264_vaapi'" "encoders[1].implementation == 'hevc_vaapi'" \
                'outputs[0].written == 60' 'outputs[1].written == 60'
    done
    # What an encoder has produced counts though its failure was excused: it may fail again.
    fault "fail I915_GEM_EXECBUFFER2 EIO 20 3" records "$driver: two codecs, three submissions fail" "${either[@]}" --encoder vaapi out.h264 out.h265 &&
        check "$driver: two codecs, three submissions fail: both go on" report report.json 'outputs[0].written == 60' 'outputs[1].written == 60' \
            'encoders[0].restarts + encoders[1].restarts == 3'
fi
fault "slow 20" records "$driver: a slow GPU" --device test --format jpeg --size 320x240 --fps 30 --frames 25 --encoder vaapi --overwrite --report report.json out.h264 &&
    check "$driver: a slow GPU: drops are counted" report report.json 'frames.written == 25' 'encoder.jpeg.gpu >= 25' "$accounted"
finish
