#!/bin/bash
# In the guest: the GPU's faults, where it reads a camera's pictures without a copy.
# usage: ../guest/run --limit 7200 shared-encoders.sh [--short]
set -euo pipefail
# shellcheck source=../guest/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest/guest.sh"
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
# shellcheck source=gpu.sh
. "$LAB/faults/gpu.sh"
part="Encoders that read a camera's pictures without a copy"
in_guest
on_host . "$LAB/faults/gpu.sh"
modprobe vgem
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle
camera=$(vivid_node)
still_picture "$camera"
FAKEGPU_MEMORY=/dev/dri/$(basename /sys/devices/platform/vgem/drm/card*)
export FAKEGPU_MEMORY FAKEGPU_PICTURES=cheap
# What is emulated on an emulated processor is slow enough.
frames=40 rate=10 latest=30 random_pictures=2 slow=400 narrow=8
# Software is opened there in more time, too; and the camera is restarted with its own memory.
took=20
besides="NV12 shared" beside=(--so 'encoder.zeroCopy.shared >= 1')
number=0

# Measured on the host, by the times of the pictures: they have no numbers.
judge() { # FAULT TRIAL-OPTIONS...
    number=$((number + 1))
    cd "$work"
    mv run "$RESULTS/$kept/$number"
    on_host judge_folder "$kept/$number" $rate "$@"
}
judge_folder() ( # FOLDER RATE FAULT TRIAL-OPTIONS...
    cd "$1"
    times=(--times times.txt) files=()
    # A process that died had no time to complete its files.
    [[ " $* " != *" --died-at "* ]] || times=()
    if [ -e a.h264 ]; then files=(a.h264); fi
    trial "$3" --block 0 --rate "$2" "${times[@]}" "${@:4}" "${files[@]}"
)
on_host eval "$(declare -f judge_folder)"

# 320x180 has rows that Intel's driver shares, 1280x720 those that Mesa's does.
for driver in iHD radeonsi; do
    has_gpu "$part: $driver" "$driver" || continue
    launcher=("$LAB/gpu/run" "$driver")
    case $driver in
        iHD) size=320x180 ;;
        radeonsi) size=1280x720 ;;
    esac
    source=(--device "$camera" --format nv12 --size "$size" --fps "$rate" --frames "$frames" --keyframe-interval 10 --timestamps times.txt)
    gpu_faults
    on_host eval "driver=$driver"
    on_host settle_gpu_faults
    [ -z "$short" ] || break
done
