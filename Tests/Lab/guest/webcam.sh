#!/bin/bash
# In the guest: a USB webcam through the real uvcvideo driver (../webcam), and a camera that encodes H.264 (v4l2loopback).
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
# shellcheck source=usb-webcam.sh
. "$LAB/guest/usb-webcam.sh"
gone() { ! [ -e $link ]; }
replug() {
    cam unplug
    await 15 gone
    cam plug
    await 15 test -e $link
    udevadm settle
}
# The hardware encoder if there is one, because its recordings are lossless.
encoder=software
if has_gpu "webcam: by hardware" iHD; then launcher=("$LAB/gpu/run" iHD) encoder=vaapi; fi

modprobe vhci-hcd
modprobe uvcvideo
"$camera/uvccam" -f "$camera/frames" >"$RESULTS/uvccam.log" 2>&1 &
await 30 test -e $link
udevadm settle

keep() { # FILE...: from memory to the folder that outlives the guest
    mv "$@" "$RESULTS/"
}

if records "webcam: YUYV by its by-id link" --device $link --size 320x240 --format YUYV --fps 15 --keyframe-interval 15 --frames 60 --encoder $encoder --report yuyv.json yuyv.h264; then
    keep yuyv.h264 yuyv.json
    on_host check "webcam: YUYV is sound" is_sound yuyv.h264 --frames 60 --keyframe-interval 15
    on_host check "webcam: YUYV's frame numbers are all there" pictures numbers yuyv.h264 --lost-by-report yuyv.json --ahead
fi
if records "webcam: MJPEG" --device $link --size 640x480 --format MJPG --fps 15 --keyframe-interval 15 --frames 60 --encoder $encoder --report mjpeg.json mjpeg.h264; then
    keep mjpeg.h264 mjpeg.json
    on_host check "webcam: MJPEG is sound" is_sound mjpeg.h264 --frames 60 --keyframe-interval 15
    on_host check "webcam: MJPEG's pictures follow each other" pictures follow mjpeg.h264 "$camera/frames/640x480" --lost-by-report mjpeg.json --ahead
    if [ "$encoder" = vaapi ]; then on_host check "webcam: MJPEG, decoded by the GPU" report mjpeg.json 'encoder.jpeg.gpu >= 60' 'encoder.jpeg.cpu == 0'; fi
    on_host check "webcam: MJPEG's full range is flagged" has_properties mjpeg.h264 color_range=pc
fi
records "webcam: MJPEG in software" --device $link --size 640x480 --format MJPG --fps 15 --keyframe-interval 15 --frames 30 --encoder software soft.h264 && keep soft.h264 &&
    on_host check "webcam: MJPEG in software is sound" is_sound soft.h264 --frames 30 --keyframe-interval 15
metadata=$(readlink -f "${link%0}1")
refuses "webcam: its second node is metadata" 66 'metadata' --device "$metadata" --frames 1 out.h264

others=() # further outputs
recording() { # NAME OPTIONS...: starts in the background, returns when the file has begun
    local name=$1
    shift
    rm -rf "$name" && mkdir "$name"
    await 15 test -e $link || true # what camrec then says is the failure
    timeout --foreground 120 "${launcher[@]}" "$CAMREC" --device $link --fps 15 --keyframe-interval 15 --encoder $encoder --report "$name/report.json" "$@" "$name/out.h264" "${others[@]}" 2>"$name/stderr" &
    recorder=$!
    await 30 sh -c "[ -n \"\$(find $name -name '*h264*' -size +8k)\" ]" || fail "$name" "nothing is recorded after 30 s: $(tail -n 2 "$name/stderr")"
}
ended() { # NAME CODE: the recording in the background ends with CODE
    local status=0
    wait $recorder || status=$?
    if [ $status = "$2" ]; then pass "$1: exit code $2"; else fail "$1: exit code $2" "it was $status: $(cat "$1/stderr")"; fi
    rm -rf "${RESULTS:?}/$1"
    keep "$1"
}

# uvcvideo drops frames with the error bit: a gap in the sequence.
recording gap --size 320x240 --format YUYV --frames 60
cam error 2
ended gap 0
on_host check "gap: counted as the driver's" report gap/report.json 'frames.droppedByDriver >= 2' 'frames.written == 60'
on_host check "gap: exactly those frames are missing" pictures numbers gap/out.h264 --lost-by-report gap/report.json --ahead
on_host check "gap: sound" is_sound gap/out.h264 --frames 60 --keyframe-interval 15

# With nodrop it delivers them flagged, and short ones too.
echo 1 >/sys/module/uvcvideo/parameters/nodrop
replug
recording flagged --size 320x240 --format YUYV --frames 80
cam error 2
sleep 1
cam short
ended flagged 0
on_host check "flagged: counted as corrupt, the short one too" report flagged/report.json 'frames.corrupt == 3' 'frames.written == 80'
on_host check "flagged: exactly those frames are missing" pictures numbers flagged/out.h264 --lost-by-report flagged/report.json --ahead
echo 0 >/sys/module/uvcvideo/parameters/nodrop
replug

# A short or broken JPEG always arrives.
recording broken --size 320x240 --format MJPG --frames 80
cam corrupt
# Repeatedly, because on a busy machine most pictures are dropped as late before they are decoded.
while kill -0 $recorder 2>/dev/null; do
    cam short
    sleep 0.3
done
ended broken 0
on_host check "broken: harmless" is_sound broken/out.h264 --frames 80 --keyframe-interval 15
on_host check "broken: the short picture is counted" report broken/report.json 'frames.corrupt >= 1'

recording silent --size 320x240 --format YUYV --device-timeout 0
cam freeze
ended silent 74
cam thaw
on_host check "silent: one line names the camera" error_names silent/stderr /dev/
on_host check "silent: what came before is sound" is_sound silent/out.h264 --keyframe-interval 15

replug
recording unplugged --size 320x240 --format MJPG --device-timeout 0
cam unplug
ended unplugged 74
# Only then is the link not confused with the next one.
await 15 gone
on_host check "unplugged: one line names the camera" error_names unplugged/stderr /dev/
on_host check "unplugged: what came before is sound" is_sound unplugged/out.h264 --keyframe-interval 15
cam plug
await 15 test -e $link
udevadm settle
records "webcam: works after it was replugged" --device $link --size 320x240 --frames 10 --encoder $encoder --overwrite out.h264 || true
# shellcheck source=outages.sh
. "$LAB/guest/outages.sh"
cam quit
await 15 gone

# A camera that encodes by itself: its stream is passed through.
if modprobe v4l2loopback video_nr=9,10 exclusive_caps=1,1 card_label=Encoder,Scenes; then
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=15 -frames:v 600 -c:v libx264 -preset ultrafast -g 15 -bf 0 "$RESULTS/camera.h264"
    ffmpeg -nostdin -v error -re -r 15 -f h264 -i "$RESULTS/camera.h264" -c copy -f v4l2 /dev/video9 >"$RESULTS/writer.log" 2>&1 &
    writer=$!
    await 30 sh -c 'v4l2-ctl -d /dev/video9 --get-fmt-video | grep -q H264'
    launcher=()
    if records "camera H264: passed through" --device /dev/video9 --format h264 --frames 60 --report h264.json --overwrite passed.h264; then
        keep passed.h264 h264.json
        on_host check "camera H264: the promised shape, and no second encoding" is_sound passed.h264 --frames 60 --slices-from camera.h264
    fi
    kill $writer 2>/dev/null || true
    wait $writer || true
    # Rates, keyframes and losses by capture time, on difficult content.
    # shellcheck source=loopback-writer.sh
    . "$LAB/guest/loopback-writer.sh"
    begin_writer 320x240
    if records "camera of scenes: recorded" --device /dev/video10 --frames 150 --encoder software --bitrate 300k --max-bitrate 450k --keyframe-interval 2s \
        --timestamps scenes.txt --report scenes.json scenes.h264; then
        keep scenes.h264 scenes.txt scenes.json
        on_host check "camera of scenes: sound, a keyframe each two seconds of capture" is_sound scenes.h264 --frames 150 --keyframe-time 2 --times scenes.txt
        on_host check "camera of scenes: no second has more than 450 kbit" rate scenes.h264 --times scenes.txt --window 1s --max 450k
    fi
    end_writer
    returns_with_another_size
else
    skip "camera H264" "v4l2loopback was not built, see $LAB_CACHE/guest/v4l2loopback.log"
fi
