#!/bin/bash
# In the guest that counts instructions: what camrec, ffmpeg and GStreamer spend on a camera's picture from the driver to
# the file, without the encoder, which is libx264 in each of them. Prints the table of docs/benchmarks.md.
# usage: run --counted pipelines.sh     (scripts/bench pipelines calls it)
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
gcc -O1 -Wall -Wextra -shared -fPIC -o share.so "$LAB/../Benchmark/encoder_share.c"
# GStreamer examines all its plugins first: these suffice.
mkdir -p gst && ln -sf /usr/lib/*/gstreamer-1.0/libgst{coreelements,video4linux2,videoconvertscale,jpeg,x264}.so gst/
export GST_PLUGIN_SYSTEM_PATH_1_0=$work/gst GST_REGISTRY=$work/gst-registry
gst-inspect-1.0 x264enc >/dev/null
ffmpeg -hide_banner -version >/dev/null

# Where the next libx264 is found even by who loads it late, as GStreamer does.
x264=$(ldconfig -p | awk '/libx264\.so\.[0-9]+ .*x86-64/ {path = $NF} END {print path}')

share() { # PROGRAM COMMAND...: its microseconds a picture, or nothing if it cannot read the format
    local program=$1
    shift
    rm -f share
    LD_PRELOAD="$PWD/share.so $x264" ENCODER_SHARE=$PWD/share timeout 200 "$@" >"$program.err" 2>&1 || true
    [ -e share ] || { echo "$program: $(tail -n 1 "$program.err")" >>"$RESULTS/refusals"; echo "- -"; return; }
    cat share
}

gstreamer() { # FORMAT CAPS...: GStreamer's way to a format that libx264 takes
    share gstreamer gst-launch-1.0 --no-fault -q v4l2src device="$camera" num-buffers=70 ! "$2,width=640,height=480,framerate=$rate/1" \
        "${@:3}" ! videoconvert ! video/x-raw,format="$1" ! \
        x264enc speed-preset=veryfast tune=zerolatency threads=1 bitrate=2000 ! filesink location=out.h264
}

compare() { # FORMAT FFMPEG'S GSTREAMER'S...: a row for a format; "-" where ffmpeg has no name for it
    local size=640x480 ours theirs='- -'
    ours=$(share camrec "$CAMREC" --quiet --device "$camera" --size $size --format "$1" --fps $rate --frames 70 \
        --encoder software --latency realtime --bitrate 2M --overwrite out.h264)
    [ "$2" = - ] || theirs=$(share ffmpeg ffmpeg -v error -nostdin -y -f v4l2 -input_format "$2" -video_size $size -framerate $rate -i "$camera" \
        -frames:v 70 -c:v libx264 -preset veryfast -tune zerolatency -threads 1 -b:v 2M -pix_fmt yuv420p out.h264)
    echo "$1 $ours $theirs $(gstreamer I420 "${@:3}") $(gstreamer NV12 "${@:3}")" >>"$RESULTS/pipelines"
}

modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle
camera=$(vivid_node) rate=25 # its fastest at this size
still_picture "$camera" 14
while read -r format ffmpeg gstreamer; do compare "$format" "$ffmpeg" "video/x-raw,format=$gstreamer"; done <<'END'
YUYV yuyv422 YUY2
UYVY uyvy422 UYVY
YVYU - YVYU
NV12 nv12 NV12
NV21 - NV21
YU12 yuv420p I420
YV12 - YV12
NV16 - NV16
NV24 - NV24
422P yuv422p Y42B
RGB3 rgb24 RGB
BGR3 bgr24 BGR
XR24 bgr0 BGRx
END
modprobe vhci-hcd
modprobe uvcvideo
"$LAB_CACHE/webcam/uvccam" -f "$LAB_CACHE/webcam/frames" >"$RESULTS/uvccam.log" 2>&1 &
camera=/dev/v4l/by-id/usb-Emulated_Emulated_Webcam_EMU0001-video-index0 rate=15
await 60 test -e $camera
udevadm settle
compare MJPG mjpeg image/jpeg ! jpegdec
[ ! -e "$RESULTS/refusals" ] || cat "$RESULTS/refusals"
on_host "$PYTHON" "$LAB/verify/pipelines.py" pipelines
on_host check "pipelines: camrec is not far above the cheapest" "$PYTHON" "$LAB/verify/pipelines.py" pipelines --limit
