#!/bin/bash
# In the guest that counts instructions: what camrec, ffmpeg and GStreamer spend on a camera's picture from the driver to the
# file, where a GPU encodes it, without what the emulated GPU does. Prints the table of docs/benchmarks.md.
# usage: run --counted gpu-pipelines.sh     (scripts/bench gpu-pipelines calls it)
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
gcc -O1 -Wall -Wextra -shared -fPIC -o share.so "$LAB/../Benchmark/gpu_share.c"
mkdir -p gst && ln -sf /usr/lib/*/gstreamer-1.0/libgst{coreelements,video4linux2,videoconvertscale,videoparsersbad,jpeg,jpegformat,vaapi}.so gst/
export GST_PLUGIN_SYSTEM_PATH_1_0=$work/gst GST_REGISTRY=$work/gst-registry GST_VAAPI_ALL_DRIVERS=1 GST_VAAPI_DRM_DEVICE=/dev/dri/renderD128
ffmpeg -hide_banner -version >/dev/null
modprobe vgem
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle
FAKEGPU_MEMORY=/dev/dri/$(basename /sys/devices/platform/vgem/drm/card*)
FAKEGPU_PRELOAD=$PWD/share.so:$LAB/gpu/.build/fakegpu.so
export FAKEGPU_MEMORY FAKEGPU_PRELOAD FAKEGPU_PICTURES=cheap
device=/dev/dri/renderD128

share() { # WAY COMMAND...: adds its microseconds a picture, or why there are none
    rm -f share out.h264
    GPU_SHARE=$PWD/share timeout 600 "$LAB/gpu/run" "$driver" "${@:2}" >program.log 2>&1 || true
    if [ -e share ]; then
        echo "$driver $format $1 $(cut -d ' ' -f 1 share)" >>"$RESULTS/pipelines"
    else
        echo "$driver $format $1: $(tail -n 2 program.log | tr '\n' ' ')" >>"$RESULTS/refusals"
    fi
}

ours() { # WAY OPTIONS...
    share "$1" "$CAMREC" --quiet --device "$camera" --size $size --format "$format" --fps $rate --frames 95 --encoder vaapi --bitrate 2M --overwrite "${@:2}" out.h264
}
ffmpegs() { # WAY INPUT'S FILTERS OPTIONS...
    local power=0
    if [ $driver = iHD ]; then power=1; fi # its only encoder without kernels that are not free
    # shellcheck disable=SC2086 # words
    share "$1" ffmpeg -v error -nostdin -y -init_hw_device vaapi=gpu:$device -filter_hw_device gpu $2 -f v4l2 -input_format "$name" \
        -video_size $size -framerate $rate -i "$camera" -frames:v 95 ${3:+-vf "$3"} -c:v h264_vaapi -low_power $power -b:v 2M -bf 0 out.h264
}
gstreamer() { # WAY MODE CAPS ELEMENTS...
    share "$1" gst-launch-1.0 --no-fault -q v4l2src device="$camera" io-mode="$2" num-buffers=95 ! \
        "$3,width=${size%x*},height=${size#*x},framerate=$rate/1" ! "${@:4}" vaapih264enc rate-control=cbr bitrate=2000 ! filesink location=out.h264
}

size=1280x720 rate=10
camera=$(vivid_node)
still_picture "$camera" 14
for driver in iHD radeonsi; do
    format=NV12 name=nv12
    ours camrec
    ours camrec-copied --zero-copy off
    ffmpegs ffmpeg '' hwupload
    gstreamer gstreamer-dmabuf dmabuf video/x-raw,format=NV12
    gstreamer gstreamer-mmap mmap video/x-raw,format=NV12
    format=YUYV name=yuyv422
    ours camrec
    ours camrec-copied --zero-copy off
    ffmpegs ffmpeg-swscale '' format=nv12,hwupload
    ffmpegs ffmpeg-vpp '' hwupload,scale_vaapi=format=nv12
    gstreamer gstreamer-dmabuf dmabuf video/x-raw,format=YUY2 vaapipostproc !
    gstreamer gstreamer-vpp mmap video/x-raw,format=YUY2 vaapipostproc !
    gstreamer gstreamer-videoconvert mmap video/x-raw,format=YUY2 videoconvert ! video/x-raw,format=NV12 !
done
modprobe vhci-hcd
modprobe uvcvideo
"$LAB_CACHE/webcam/uvccam" -f "$LAB_CACHE/webcam/frames" >"$RESULTS/uvccam.log" 2>&1 &
camera=/dev/v4l/by-id/usb-Emulated_Emulated_Webcam_EMU0001-video-index0 rate=15 size=640x480
await 60 test -e $camera
udevadm settle
for driver in iHD radeonsi; do
    format=MJPG name=mjpeg
    ours camrec
    ours camrec-copied --jpeg cpu
    ffmpegs ffmpeg-gpu "-hwaccel vaapi -hwaccel_device gpu -hwaccel_output_format vaapi" scale_vaapi=format=nv12
    ffmpegs ffmpeg-cpu '' format=nv12,hwupload
    gstreamer gstreamer-gpu mmap image/jpeg jpegparse ! vaapijpegdec !
    gstreamer gstreamer-cpu mmap image/jpeg jpegdec ! videoconvert ! video/x-raw,format=NV12 !
done
[ ! -e "$RESULTS/refusals" ] || cat "$RESULTS/refusals"
on_host "$PYTHON" "$LAB/verify/gpu_pipelines.py" pipelines
on_host check "gpu-pipelines: camrec is not far above the cheapest" "$PYTHON" "$LAB/verify/gpu_pipelines.py" pipelines --limit
