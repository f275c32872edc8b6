#!/bin/bash
# In the guest: pictures that a camera and Debian 13's GPU drivers share. camrec runs in the folder that
# `Tests/Lab/distribution trixie --build` has made, with what was built there.
# usage: ../distribution trixie --build, then run sharing-debian13.sh
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

# DRIVER FORMAT SIZE MEMORY FAULTS: what the report says, and what is in the stream
is_shared() {
    local name="sharing, Debian 13, $1, $2 $3 in the $4's memory" file=$1-$2-$4
    v4l2-ctl -d "$camera" --set-fmt-video "width=${3%x*},height=${3#*x},pixelformat=NV12" --stream-mmap=4 --stream-count=1 --stream-skip=2 --stream-to="$RESULTS/$3.nv12" >"$RESULTS/seen" 2>&1
    if env --ignore-environment PATH=/usr/sbin:/usr/bin:/bin HOME=/root LANG=C.UTF-8 FAKEGPU_MEMORY="$memory" FAKEGPU_FAULTS="$5" chroot "$root" \
        /src/Tests/Lab/gpu/run "$1" /src/.build/release/camrec --device "$camera" --format "$2" --size "$3" --encoder vaapi --frames 8 \
        --keyframe-interval 4 --overwrite --report "/result/$file.json" "/result/$file.h264" >/dev/null 2>stderr; then
        on_host check "$name" report "shared/$file.json" "encoder.zeroCopy.memory == '$4'" 'encoder.zeroCopy.shared == 8' 'encoder.zeroCopy.copied == 0'
        on_host check "$name: the camera's bytes are in the stream" has_bytes_of "shared/$file.h264" "$3.nv12"
    else
        fail "$name" "$(tail -n 3 stderr)"
    fi
}
unshared='fail PRIME_HANDLE_TO_FD EMFILE' # the GPU gives no memory away, so that the camera's is used
for driver in iHD radeonsi; do
    is_shared $driver NV12 1280x720 gpu ''
    is_shared $driver NV12 1280x720 camera "$unshared"
done
is_shared iHD YUYV 640x360 gpu ''
is_shared iHD YUYV 640x360 camera "$unshared"
