#!/bin/bash
# In the guest: pictures that a camera and Debian 13's GPU drivers share, and a USB webcam's Motion JPEG that these drivers
# decode. camrec runs in the folder that `Tests/Lab/distribution trixie --build` has made, with what was built there.
# usage: ../distribution trixie --build and ../webcam/build, then run sharing-debian13.sh
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
root=$LAB_CACHE/distributions/trixie
modprobe vgem
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle
camera=$(vivid_node)
still_picture "$camera"
memory=/dev/dri/$(basename /sys/devices/platform/vgem/drm/card*)
mount --bind "$LAB/../.." "$root/src"
mount --bind "$root/build" "$root/src/.build"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --rbind /sys "$root/sys"
mkdir -p "$RESULTS/shared"
mount --bind "$RESULTS/shared" "$root/result"

# Each picture of the stream is the camera's: the emulated GPU codes without loss. Of YUYV, vivid's still picture has the same
# chroma in both rows.
has_bytes_of() { # STREAM PICTURE
    ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt nv12 -y decoded.nv12 && for _ in 1 2 3 4 5 6 7 8; do cat "$2"; done | cmp - decoded.nv12
}
declare -f has_bytes_of >>"$RESULTS/on-host"

there() { # DRIVER ARGUMENTS... NAME: camrec inside, with the GPU's $faults
    env --ignore-environment PATH=/usr/sbin:/usr/bin:/bin HOME=/root LANG=C.UTF-8 FAKEGPU_MEMORY="$memory" FAKEGPU_FAULTS="$faults" chroot "$root" \
        /src/Tests/Lab/gpu/run "$1" /src/.build/release/camrec "${@:2:$#-2}" --encoder vaapi --overwrite \
        --report "/result/${*: -1}.json" "/result/${*: -1}.h264" >/dev/null 2>stderr
}
faults=

# DRIVER FORMAT SIZE MEMORY: what the report says, and what is in the stream
is_shared() {
    local name="sharing, Debian 13, $1, $2 $3 in the $4's memory" file=$1-$2-$4
    v4l2-ctl -d "$camera" --set-fmt-video "width=${3%x*},height=${3#*x},pixelformat=NV12" --stream-mmap=4 --stream-count=1 --stream-skip=2 --stream-to="$RESULTS/$3.nv12" >"$RESULTS/seen" 2>&1
    if there "$1" --device "$camera" --format "$2" --size "$3" --frames 8 --keyframe-interval 4 "$file"; then
        on_host check "$name" report "shared/$file.json" "encoder.zeroCopy.memory == '$4'" 'encoder.zeroCopy.shared == 8' 'encoder.zeroCopy.copied == 0'
        on_host check "$name: the camera's bytes are in the stream" has_bytes_of "shared/$file.h264" "$3.nv12"
    else
        fail "$name" "$(tail -n 3 stderr)"
    fi
}
unshared='fail PRIME_HANDLE_TO_FD EMFILE' # the GPU gives no memory away, so that the camera's is used
for driver in iHD radeonsi; do
    is_shared $driver NV12 1280x720 gpu
    faults=$unshared is_shared $driver NV12 1280x720 camera
done
is_shared iHD YUYV 640x360 gpu
faults=$unshared is_shared iHD YUYV 640x360 camera

# A webcam sends 4:2:2, which Intel's engine halves; of Mesa's nobody is asked for it.
webcam=$LAB_CACHE/webcam link=/dev/v4l/by-id/usb-Emulated_Emulated_Webcam_EMU0001-video-index0
modprobe vhci-hcd
modprobe uvcvideo
"$webcam/uvccam" -f "$webcam/frames" >"$RESULTS/uvccam.log" 2>&1 &
await 60 test -e $link
udevadm settle
for driver in iHD radeonsi; do
    name="webcam, Debian 13, $driver, MJPEG" file=$driver-mjpeg
    if there $driver --device "$(readlink -f $link)" --format MJPG --size 640x480 --fps 15 --frames 30 --keyframe-interval 15 "$file"; then
        on_host check "$name: sound" is_sound "shared/$file.h264" --frames 30 --keyframe-interval 15
        on_host check "$name: pictures follow each other" pictures follow "shared/$file.h264" "$webcam/frames/640x480" --lost-by-report "shared/$file.json" --ahead
        if [ $driver = iHD ]; then
            on_host check "$name: decoded by the GPU" report "shared/$file.json" 'encoder.jpeg.gpu >= 30' 'encoder.jpeg.cpu == 0' 'not hasattr(encoder.jpeg, "reason")'
        else
            on_host check "$name: decoded by the processor, with the reason" report "shared/$file.json" 'encoder.jpeg.gpu == 0' "'no 4:2:0 of 4:2:2' in encoder.jpeg.reason"
        fi
    else
        fail "$name" "$(tail -n 3 stderr)"
    fi
done
"$webcam/uvccam" quit >/dev/null
