#!/bin/bash
# The hardware path with one real driver on the emulated GPU.
# usage: vaapi.sh radeonsi|iHD [--short]
#   --short   without faults
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
driver=${1:?usage: vaapi.sh radeonsi|iHD [--short]}
begin

if ! has_gpu "$driver" "$driver" 'H264.*EncSlice'; then
    finish
    exit
fi
launcher=("$LAB/gpu/run" "$driver")
vaapi=(--encoder vaapi --no-pace --overwrite)

# What differs between the two.
case $driver in
    radeonsi) entry_point=EncSlice wrong_low_power=on lacking=(icq qvbr) ;;
    iHD) entry_point=EncSliceLP wrong_low_power=off lacking=(icq) ;;
esac

# The emulated GPU reports on each run, in one line.
export FAKEGPU_REPORT=$work/gpu.lines
gpu_says() { # NAME EXPRESSION...: its report on the last run
    local name=$1
    shift
    tail -n 1 "$FAKEGPU_REPORT" >gpu.json
    check "$name" report gpu.json "$@"
}
# Mesa 25 loses one more picture if its buffer is too small.
none_left=$(nothing_left "$driver") lost=1 crashes=''
if [ "$driver" = radeonsi ] && ! is_mesa_22; then
    lost=2 crashes="this Mesa crashes where it has no memory for its context"
fi
frees_all() { # NAME: buffers, contexts, mappings, fences, descriptors
    gpu_says "$1: nothing on the GPU is left" "$none_left" 'devices[0].opened > 0'
}
cheap() { export FAKEGPU_PICTURES=cheap; } # flat and skipped pictures, where nobody looks at them
exact() { unset FAKEGPU_PICTURES; }

if records "$driver: 200 frames of the test source" --device test --size 640x480 --fps 25 --frames 200 --keyframe-interval 20 "${vaapi[@]}" --report report.json out.h264; then
    check "$driver: IDR at 0, 20, 40 …, the promised shape" is_sound out.h264 --frames 200 --keyframe-interval 20
    check "$driver: every frame's number is in its picture" pictures numbers out.h264 --block 16
    check "$driver: the report counts 200 frames" report report.json 'frames.encoded == 200' 'frames.written == 200' 'frames.keyframes == 10' \
        'frames.captured == 200 + frames.unused' "'$entry_point' in encoder.name"
    frees_all "$driver: 200 frames"
    gpu_says "$driver: the GPU coded 200 pictures in one session" 'devices[0].pictures.h264 == 200' 'devices[0].sessions == 1' \
        'devices[0].memory_peak < 64 * 1024 * 1024'
fi
records "$driver: a hidden part" --device test --size 640x480 --frames 20 "${vaapi[@]}" --privacy 200x120+160+80 hidden.h264 &&
    check "$driver: a hidden part is black" hides hidden.h264 180x100+170+90
if records "$driver: two sizes" --device test --size 640x480 --fps 30 --frames 30 --keyframe-interval 10 "${vaapi[@]}" --format yuyv --report report.json \
    --overwrite full.h264 small.h264,size=320x240,fps=10; then
    check "$driver: two sizes: the whole picture" eval 'is_sound full.h264 --frames 30 --keyframe-interval 10 && pictures numbers full.h264 --block 16'
    check "$driver: two sizes: the small one" eval 'is_sound small.h264 --frames 10 --keyframe-interval 10 && has_properties small.h264 width=320 height=240'
    check "$driver: two sizes: both by the GPU" report report.json "'$entry_point' in encoders[0].name" "'$entry_point' in encoders[1].name"
    frees_all "$driver: two sizes"
fi
since=$(date +%s.%N)
if TZ=UTC records "$driver: a picture on its side, with the time" --device test --size 640x480 --frames 20 --encoder vaapi --overwrite --rotate 90 \
    --overlay '%F %T.%f' --timestamps times.txt turned.mkv; then
    check "$driver: its time is that of capture" "$PYTHON" "$LAB/verify/overlay.py" times turned.mkv --since "$since" \
        --until "$(($(date +%s) + 2))" --timestamps times.txt
fi
cheap
for codec in h264 h265; do
    records "$driver: --stamp, .$codec" --device test --size 320x240 --frames 20 --stamp "${vaapi[@]}" stamped.$codec &&
        check "$driver: --stamp, .$codec: each picture states its time" report <("$CAMREC" inspect --json stamped.$codec) 'captureTimes.count == 20' 'accessUnits == 20' &&
        check "$driver: --stamp, .$codec: the promised shape" "$CAMREC" inspect --check stamped.$codec
done
records "$driver: chosen by itself" --device test --size 640x480 --frames 10 --no-pace --overwrite --verbose out.h264 &&
    says "$driver: says that it chose $entry_point" "\b$entry_point\b"
refuses "$driver: --low-power $wrong_low_power is refused with the reason" 69 'EncSlice' --device test --frames 10 "${vaapi[@]}" --low-power "$wrong_low_power" out.h264
exact

# A driver's attributes for an entry point that it does not have mean nothing.
encoders() { # the profiles and entry points of the GPU
    "$@" "$CAMREC" devices --json | "$PYTHON" -c 'import json, sys; print(*[(p["profile"], p["entryPoint"]) for e in json.load(sys.stdin)["encoders"] if e.get("node") for p in e["profiles"]], sep="\n")'
}
has_the_same() { # FILE FILE: and an encoder among them
    grep "$entry_point'" "$1" && cmp "$1" "$2"
}
cc -shared -fPIC -O2 -Wall -Wextra -o generous.so "$LAB/host/generous.c"
encoders "${launcher[@]}" >encoders
encoders env LD_PRELOAD="$work/generous.so" "${launcher[@]}" >generous
check "$driver: only entry points that the driver has are listed" has_the_same encoders generous

scenes --seed 4 --seconds 1 --kind changing -o scene.y4m
for codec in h264 hevc; do
    check "$driver: $codec, no picture is held back" stepwise scene.y4m $codec 0 "${launcher[@]}" "$CAMREC" --device {} --no-pace --encoder vaapi --codec $codec -
done

# Lossless: the file's picture equals what was written to the driver's surface.
lossless() { # NAME FILE.y4m TOLERANCE
    records "$driver: $1" --device "$2" "${vaapi[@]}" out.h264 || return 0
    check "$driver: $1 is sound" is_sound out.h264 --frames 12
    check "$driver: $1 bit for bit" pictures equal out.h264 "$2" --format y4m --tolerance "$3"
}
for size in 640x480 636x358 322x242; do
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=$size:r=30 -frames:v 12 -pix_fmt yuv420p in.y4m
    lossless "4:2:0 of $size" in.y4m 0
done
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=636x358:r=30 -frames:v 12 -pix_fmt yuv422p in.y4m
lossless "4:2:2 of 636x358" in.y4m 0
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=322x242:r=30 -frames:v 12 -pix_fmt yuv444p in.y4m
lossless "4:4:4 of 322x242" in.y4m 1

# A driver that gets surfaces wrong in one way: the other way is used and reported; if there is none, that is reported.
cc -shared -fPIC -O2 -Wall -Wextra -o askew.so "$LAB/host/askew.c"
upright=("${launcher[@]}")
askew() { # WAY OPTIONS...
    launcher=(env "ASKEW=$1" "LD_PRELOAD=$work/askew.so" "${upright[@]}")
    records "$driver: askew $*" --device in.y4m "${vaapi[@]}" "${@:2}" out.h264
    launcher=("${upright[@]}")
}
is_silent() { [ ! -s stderr ] || { cat stderr; return 1; }; }
right=(pictures equal out.h264 in.y4m --format y4m --tolerance 1)
askew none && check "$driver: surfaces are read back as they were written" is_silent
askew map && check "$driver: mapped surfaces are askew: the pictures are correct" "${right[@]}"
if grep -q 'mapped surface' stderr; then maps=yes; else maps=''; fi
[ "$driver" = radeonsi ] || check "$driver: mapped surfaces are askew: reported" test -n "$maps"
askew map --upload put && check "$driver: mapped surfaces are askew, --upload put: the pictures are correct" "${right[@]}" &&
    check "$driver: mapped surfaces are askew, --upload put: nothing to report" is_silent
askew lock && check "$driver: surfaces that cannot be mapped: the pictures are correct" "${right[@]}" &&
    check "$driver: surfaces that cannot be mapped: nothing to report" is_silent
askew put --upload put && says "$driver: what is put is lost, --upload put: reported" 'read back differs from the one'
if [ -n "$maps" ]; then
    askew put && check "$driver: what is put is lost: surfaces are mapped" "${right[@]}" && check "$driver: what is put is lost: nothing to report" is_silent
    askew map --upload map && says "$driver: mapped surfaces are askew, --upload map: reported" 'read back differs from the one'
else
    refuses "$driver: --upload map is refused with the reason" 69 'leave out --upload map' --device test --frames 10 "${vaapi[@]}" --upload map out.h264
fi

records "$driver: NV12" --device test --format nv12 --size 320x240 --frames 10 "${vaapi[@]}" nv12.h264 || true
for format in nv21 yu12 yv12 yuyv uyvy yvyu; do
    records "$driver: $format" --device test --format $format --size 320x240 --frames 10 "${vaapi[@]}" out.h264 &&
        check "$driver: $format gives NV12's pictures" pictures same out.h264 nv12.h264
done
for format in rgb24 bgr24 BGR4 RGB4 XR24 BX24 XB24 RX24; do
    records "$driver: $format" --device test --format $format --size 320x240 --frames 10 "${vaapi[@]}" out.h264 &&
        check "$driver: $format gives NV12's pictures" pictures same out.h264 nv12.h264 --tolerance 2
done

# Colour: radeonsi 22.3 writes no video_signal_type by itself.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=640x360:r=50 -frames:v 30 -vf scale=out_range=full -pix_fmt yuvj420p full.y4m
records "$driver: full range" --device full.y4m "${vaapi[@]}" out.h264 &&
    check "$driver: full range and 50 frames a second are flagged" has_properties out.h264 color_range=pc r_frame_rate=50/1 &&
    check "$driver: full range bit for bit" pictures equal out.h264 full.y4m --format y4m
# Pixel aspect ratio and chroma siting, as in the file: between the pixels for JPEG's 4:2:0.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=25 -frames:v 5 -vf setsar=10/11 -pix_fmt yuv420p shape.y4m
for file in shape.h264 shape.h265; do
    records "$driver: pixels that are not square, $file" --device shape.y4m "${vaapi[@]}" $file &&
        check "$driver: their shape and chroma's place are in $file" has_properties $file sample_aspect_ratio=10:11 chroma_location=center
done
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=1280x720:r=25 -frames:v 10 -pix_fmt yuv420p hd.y4m
records "$driver: 720 lines" --device hd.y4m "${vaapi[@]}" out.h264 &&
    check "$driver: BT.709 and limited range are flagged" has_properties out.h264 color_range=tv color_space=bt709

cheap
for mode in "cqp --qp 24" "cbr --bitrate 2M" "vbr --bitrate 2M --max-bitrate 4M --rate-window 1s"; do
    # shellcheck disable=SC2086 # words
    records "$driver: ${mode%% *}" --device test --size 640x480 --frames 20 --rate-control $mode "${vaapi[@]}" --report report.json out.h264 &&
        check "$driver: ${mode%% *} is sound" is_sound out.h264 --frames 20
done
# The driver gets the bucket that enforces the promise: at 2 and 3 Mbit/s over a second, 2.5 Mbit/s and the half
# Mbit that they leave, nine tenths of it free. libva reports what it passes on, the GPU what the driver made of it.
told() { # KEY=VALUE...: in the last run
    local said wanted
    said=$(cat libva.* 2>/dev/null | tr -d '\t ')
    for wanted; do
        grep -qE "\]$wanted\$" <<<"$said" || { echo "$(grep -E "\]${wanted%%=*}=" <<<"$said" | tail -n 1) in place of $wanted"; return 1; }
    done
}
was_told() { # NAME "OPTIONS" KEY=VALUE...
    local name=$1 options=$2
    shift 2
    rm -f libva.* gpu.log
    # shellcheck disable=SC2086 # words
    LIBVA_TRACE=libva FAKEGPU_LOG=gpu.log records "$driver: $name" --device test --size 320x240 --frames 3 $options "${vaapi[@]}" out.h264 &&
        check "$driver: $name is what the driver is told" told "$@"
}
was_told "average and maximum" "--bitrate 2M --max-bitrate 3M" \
    bits_per_second=2500000 target_percentage=80 window_size=200 buffer_size=500000 initial_buffer_fullness=450000
if [ $driver = radeonsi ]; then # the other one's commands do not say
    check "$driver: average and maximum reach the GPU" grep -q '"bitrate":2000000,"peak":2500000,"fps":"30/1","vbv":500000,"vbv_level":57,' gpu.log
fi
was_told "a window of two seconds" "--bitrate 2M --max-bitrate 3M --rate-window 2s" \
    bits_per_second=2500000 target_percentage=80 window_size=400 buffer_size=1000000 initial_buffer_fullness=900000
was_told "CBR" "--rate-control cbr --bitrate 2M" \
    bits_per_second=2000000 target_percentage=100 buffer_size=200000 initial_buffer_fullness=180000
was_told "a maximum of our own" "--bitrate 2M" bits_per_second=5000000 target_percentage=40 buffer_size=3000000
exact
# The emulated GPU obeys no rate: camrec measures its own output and says so, once.
records "$driver: a rate that is not held" --device test --size 320x240 --frames 60 --bitrate 500k --max-bitrate 1M "${vaapi[@]}" --report report.json out.h264 || true
too_much() { [ "$(wc -l <stderr)" = 1 ] && grep -qE 'warning: the encoder exceeded its rate: [0-9.]+ Mbit/s in the fullest 1 s instead of 1; [0-9.]+ Mbit/s on average instead of 0.5' stderr || { cat stderr; return 1; }; }
check "$driver: a rate that is not held: one warning, with the numbers" too_much
check "$driver: a rate that is not held: the report" report report.json 'encoder.measuredPeakBitRate > 1000000' 'encoder.measuredBitRate > 500000'
# H.265, whose pictures the emulated GPU codes by the means of their blocks: flat blocks keep their brightness.
if records "$driver: H.265" --device test --size 640x480 --fps 25 --frames 100 --keyframe-interval 20 "${vaapi[@]}" --report report.json out.h265; then
    check "$driver: H.265: IDR at 0, 20, 40 …, the promised shape" is_sound out.h265 --frames 100 --keyframe-interval 20
    check "$driver: H.265: every frame's number is in its picture" pictures numbers out.h265 --block 16
    check "$driver: H.265: rate and colour are flagged" has_properties out.h265 codec_name=hevc profile=Main r_frame_rate=25/1 color_range=tv color_space=smpte170m width=640 height=480
    check "$driver: H.265: the report" report report.json 'encoder.implementation == "hevc_vaapi"' 'frames.written == 100' "encoder.entryPoint == '$entry_point'"
fi
cheap
for size in 636x358 1920x1080; do
    records "$driver: H.265 of $size" --device test --size $size --frames 5 "${vaapi[@]}" out.h265 &&
        check "$driver: H.265 of $size is sound" is_sound out.h265 --frames 5 &&
        check "$driver: H.265 of $size is cropped to its size" has_properties out.h265 width=${size%x*} height=${size#*x}
done
exact
# Several outputs: both encoders use the same surface, so H.264 stays lossless next to H.265.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=640x480:r=30 -frames:v 30 -pix_fmt yuv420p in.y4m
if records "$driver: both codecs and a copy at once" --device in.y4m "${vaapi[@]}" --report report.json out.h264 out.h265 again.h265; then
    check "$driver: both at once: H.264" is_sound out.h264 --frames 30
    check "$driver: both at once: H.264 bit for bit" pictures equal out.h264 in.y4m --format y4m
    check "$driver: both at once: H.265" is_sound out.h265 --frames 30
    check "$driver: two outputs of one codec are one stream" cmp out.h265 again.h265
    check "$driver: both at once: the report" report report.json 'len(encoders) == 2' 'frames.captured == 30' \
        'encoders[0].implementation == "h264_vaapi"' 'encoders[1].implementation == "hevc_vaapi"' 'outputs[2].written == 30'
    frees_all "$driver: both at once"
fi
# A GPU without H.265: a request is an error; by default software replaces it, with the reason.
if [ "$driver" = iHD ]; then
    export FAKEGPU_DEVICES=skylake
    refuses "$driver: no H.265 on this GPU" 69 'has no EncSlice.* for H.265' --device test --size 320x240 --frames 10 "${vaapi[@]}" out.h265
    records "$driver: no H.265 on this GPU: software instead" --device test --size 320x240 --frames 10 --no-pace --overwrite --verbose out.h265 &&
        says "$driver: no H.265 on this GPU: says why" 'libx265.*because.*H.265' &&
        check "$driver: no H.265 on this GPU: still sound" is_sound out.h265 --frames 10
    records "$driver: H.264 on the GPU next to H.265 in software" --device in.y4m --no-pace --overwrite --report report.json out.h264 out.h265 &&
        check "$driver: each where it can be" report report.json 'encoders[0].implementation == "h264_vaapi"' 'encoders[1].implementation == "libx265"' &&
        check "$driver: H.264 on the GPU next to H.265 in software, bit for bit" pictures equal out.h264 in.y4m --format y4m
    unset FAKEGPU_DEVICES
fi
cheap
for mode in "${lacking[@]}"; do
    records "$driver: $mode, which it lacks" --device test --size 640x480 --frames 20 --rate-control "$mode" --quality 25 "${vaapi[@]}" out.h264 &&
        says "$driver: says that it lacks $mode" "$mode|${mode^^}" &&
        check "$driver: still recorded without $mode" is_sound out.h264 --frames 20
done
# Two GPUs: the first that has the codec is chosen, or the one that is named.
launcher=("$LAB/gpu/run" "skylake,icelake")
if records "$driver: two GPUs: H.265" --device test --size 320x240 --frames 10 --no-pace --overwrite --verbose out.h265; then
    says "$driver: two GPUs: the one that has H.265 is chosen" '/dev/dri/renderD129 .*because.*renderD128 has no'
    check "$driver: two GPUs: sound" is_sound out.h265 --frames 10
fi
launcher=("$LAB/gpu/run" "renoir,icelake")
records "$driver: two GPUs: the second is named" --device test --size 320x240 --frames 10 "${vaapi[@]}" --render-node /dev/dri/renderD129 out.h264 &&
    gpu_says "$driver: two GPUs: only the second is used" 'devices[0].opened == 0' 'devices[1].pictures.h264 == 10' 'devices[1].left.total == 0'
launcher=("$LAB/gpu/run" "$driver")

if [ "${2-}" = --short ]; then
    finish
    exit
fi

# GPU faults. Software takes over if allowed; if not, the recording so far is kept and the error is reported. Every
# frame is accounted for, and nothing is left on the GPU.
accounted='frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.droppedByEncoder + frames.unused'
fault() { # FAULT COMMAND...
    local status=0
    export FAKEGPU_FAULTS=$1
    : >"$FAKEGPU_REPORT"
    shift
    "$@" || status=$?
    unset FAKEGPU_FAULTS
    return "$status"
}
gives_up() { # NAME FAULT: camrec ends with an error, because no other encoder may be taken
    local status=0
    fault "$2" camrec "${test60[@]}" "${hw[@]}" out.h264 || status=$?
    if [ "$status" = 69 ]; then pass "$1"; else fail "$1" "exit code $status: $(tail -n 3 stderr)"; fi
}
is_cut_off() { # FILE FRAMES: this many whole pictures, and perhaps one more
    is_sound "$1" --frames "$2" || stream "$1" --frames $(($2 + 1))
}
replaced() { # NAME LOST: 60 frames were recorded, the last of them in software, and no more than LOST were not
    check "$1: software took over" report report.json 'frames.written == 60' 'encoder.implementation == "libx264"' "1 <= frames.droppedByEncoder <= $2" "$accounted"
    check "$1: sound" stream out.h264 --frames 60
    frees_all "$1"
}
test60=(--device test --size 320x240 --fps 30 --frames 60 --overwrite --report report.json)
hw=(--encoder vaapi --no-pace)
case $driver in
    iHD)
        # One frame for each of the three attempts to reopen it, and the first.
        fault "lost 20" records "$driver: device lost" "${test60[@]}" --no-pace out.h264 && replaced "$driver: device lost" 4
        fault "hang 20 300" records "$driver: GPU hang" "${test60[@]}" --no-pace out.h264 && replaced "$driver: GPU hang" 4
        gives_up "$driver: GPU hang, no other encoder" "hang 20 300"
        check "$driver: GPU hang: the error is named" error_names stderr 'h264_vaapi failed: .*try --encoder software \(.*20 frames'
        check "$driver: GPU hang: what was recorded is whole" is_sound out.h264 --frames 20
        check "$driver: GPU hang: every frame is accounted for" report report.json 'frames.written == 20' "$accounted"
        frees_all "$driver: GPU hang"
        fault "fail I915_GEM_EXECBUFFER2 EIO 31 1" records "$driver: one submission fails" "${test60[@]}" "${hw[@]}" out.h264 &&
            check "$driver: one submission fails: one frame is lost, no more" report report.json 'frames.written == 60' 'frames.droppedByEncoder == 1' \
                'encoder.implementation == "h264_vaapi"' "$accounted" &&
            check "$driver: one submission fails: sound" stream out.h264 --frames 60
        ;;
    radeonsi)
        # Mesa 22.3 ends the program by itself when the kernel refuses a submission.
        status=0
        fault "hang 20 300" camrec "${test60[@]}" "${hw[@]}" out.h264 || status=$?
        check "$driver: GPU hang: it fails, and ends" test $status != 0 -a $status != 124
        says "$driver: GPU hang: Mesa gives up" 'The process will be terminated|the context is lost'
        # Mesa 25 returns part of the hung picture before it ends the program.
        check "$driver: GPU hang: what was recorded is whole" is_cut_off out.h264 20
        ;;
esac
fault "coded 30" records "$driver: coded buffer too small" "${test60[@]}" --no-pace out.h264 && replaced "$driver: coded buffer too small" $lost
gives_up "$driver: coded buffer too small, no other encoder" "coded 30"
check "$driver: coded buffer too small: the error is named" error_names stderr 'failed: .*try --encoder software \(nothing was recorded\)'
frees_all "$driver: coded buffer too small, no other encoder"
if [ -n "$crashes" ]; then
    skip "$driver: no memory on the GPU" "$crashes"
else
    fault "memory 2M" records "$driver: no memory on the GPU" "${test60[@]}" --no-pace out.h264 &&
        check "$driver: no memory on the GPU: software took over" report report.json 'frames.written == 60' 'encoder.implementation == "libx264"' "$accounted"
fi
# 60 ms a picture at 30 a second: nearly every other one must be dropped, and counted.
fault "slow 60" records "$driver: slow GPU" --device test --size 320x240 --fps 30 --frames 25 --encoder vaapi --overwrite --report report.json out.h264 &&
    check "$driver: slow GPU: drops are counted" report report.json 'frames.written == 25' 'frames.droppedByUs > 5' "$accounted" &&
    check "$driver: slow GPU: sound" stream out.h264 --frames 25 &&
    gpu_says "$driver: slow GPU: what it coded is what was encoded" 'devices[0].pictures.h264 == 25' "$none_left"
# The camera's rate differs from its nominal rate: another session follows it, with the same parameter sets.
for codec in h264 h265; do
    fault "slow 60" records "$driver: slow GPU, $codec, rates follow" --device test --size 320x240 --fps 30 --frames 100 --keyframe-interval 15 \
        --encoder vaapi --bitrate 1M --max-bitrate 2M --overwrite out.$codec || continue
    gpu_says "$driver: slow GPU, $codec: a session for each rate" 'devices[0].sessions >= 2'
    check "$driver: slow GPU, $codec: parameter sets never change" "$CAMREC" inspect --avcc out.avcc --avcc-record out.avcC --overwrite out.$codec
done

# A driver that never answers, at each call that enters it before the first picture: its node is left out, and every
# command ends. In parallel, because each waits for ten seconds.
case $driver in
    radeonsi) stuck=("VERSION" "AMDGPU_INFO 20" "AMDGPU_CTX") ;;
    iHD) stuck=("VERSION" "I915_GETPARAM 20" "I915_GEM_CONTEXT_CREATE") ;;
esac
hangs() { # PLACE OPTIONS...: in its own folder; its exit code goes into a file
    rm -rf "stuck$1"
    mkdir "stuck$1"
    (
        cd "stuck$1"
        status=0
        FAKEGPU_FAULTS="stuck ${stuck[$1]}" timeout --kill-after=5 90 "${launcher[@]}" "$CAMREC" "${@:2}" >stdout 2>stderr </dev/null || status=$?
        echo "$status" >status
    ) &
}
unset FAKEGPU_REPORT
for place in 0 1 2; do hangs $place --device test --size 320x240 --frames 30 --overwrite --report report.json out.h264; done
wait
for place in 0 1 2; do
    check "$driver: stuck in ${stuck[$place]}: ends well" test "$(cat "stuck$place/status")" = 0
    check "$driver: stuck in ${stuck[$place]}: the node is left out, with the reason" grep -q "renderD128: its driver is not responding; left out" "stuck$place/stderr"
    check "$driver: stuck in ${stuck[$place]}: software took over" report "stuck$place/report.json" 'frames.written == 30' 'encoder.implementation == "libx264"'
done
# Wherever the hang is, including cleanup and the other codec, camrec ends.
calls=(15 40 60 70 78 82 86 88 90 94 98 102 106 110)
stuck=()
for call in "${calls[@]}"; do stuck+=("* $call 1"); done
for place in "${!calls[@]}"; do hangs "$place" --device test --size 640x480 --frames 5 --overwrite out.h264 out.h265; done
wait
ended() { # with a recording, or for want of an encoder
    local place status
    for place in "${!calls[@]}"; do
        status=$(cat "stuck$place/status")
        [[ $status = 0 || $status = 69 ]] || { echo "call ${calls[$place]}: exit code $status: $(tail -n 1 "stuck$place/stderr")"; return 1; }
    done
}
check "$driver: stuck at any call: ends" ended
stuck=("*" "*" "*")
hangs 0 --device test --frames 30 --overwrite --encoder vaapi out.h265
hangs 1 devices
hangs 2 doctor
wait
# A kernel driver wakes a GPU where its node is opened.
cc -shared -fPIC -O2 -Wall -Wextra -o door.so "$LAB/host/door.c"
behind_door() { "${launcher[@]}" sh -c 'LD_PRELOAD=$0:$LD_PRELOAD exec timeout --kill-after=5 60 "$@"' "$work/door.so" "$CAMREC" "$@"; }
for command in doctor devices; do (behind_door $command >door.$command 2>&1 && echo 0 >door.$command.status || echo $? >door.$command.status) & done
wait
check "$driver: stuck where its node is opened: exit codes, as without a door" test "$(cat door.doctor.status door.devices.status)" = $'66\n0'
for command in doctor devices; do
    check "$driver: stuck where its node is opened: $command ends, and says so" grep -q "renderD128: its driver is not responding" door.$command
done
check "$driver: stuck, no other encoder" test "$(cat stuck0/status)" = 69
check "$driver: stuck, no other encoder: nothing was made" test ! -e stuck0/out.h265
check "$driver: stuck: devices ends" test "$(cat stuck1/status)" = 0
check "$driver: stuck: devices says why" grep -q "renderD128: its driver is not responding" stuck1/stdout
check "$driver: stuck: doctor ends, reporting no camera" test "$(cat stuck2/status)" = 66
check "$driver: stuck: doctor says why" grep -q "renderD128: its driver is not responding" stuck2/stdout
export FAKEGPU_REPORT=$work/gpu.lines

# A fence that never signals: the thread that waits for it is abandoned, and both codecs continue with a fresh display.
echo "hang 20" >faults
FAKEGPU_CONTROL=$work/faults limit=60 camrec --device test --size 320x240 --fps 30 --frames 60 --keyframe-interval 30 "${vaapi[@]}" --report report.json out.h264 out.h265 &
recorder=$!
# Until the fault ends, every encoder that replaces it hangs as well.
await 30 grep -qs "the GPU's driver hangs" stderr || true
: >faults
status=0
wait $recorder || status=$?
check "$driver: an encoder that hangs: the recording continues" test $status = 0
says "$driver: an encoder that hangs: one line reports it" "warning: the GPU's driver hangs; recording continues with h264_vaapi"
check "$driver: an encoder that hangs: the report" report report.json 'encoders[0].restarts >= 1' 'frames.written == 60' \
    'frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.droppedByEncoder + frames.unused'
for file in out.h264 out.h265; do
    check "$driver: an encoder that hangs: $file is sound" is_sound $file --frames 60 --keyframe-interval 30 --extra-keyframes
done
finish
