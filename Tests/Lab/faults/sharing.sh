#!/bin/bash
# In the guest: vivid's faults where a GPU reads its pictures without a copy, in the GPU's memory and in the camera's.
# usage: ../guest/run --limit 7200 sharing.sh [--short]
set -euo pipefail
# shellcheck source=../guest/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest/guest.sh"
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
# shellcheck source=recordings.sh
. "$LAB/faults/recordings.sh"
# shellcheck source=vivid.sh
. "$LAB/faults/vivid.sh"
part="Cameras whose pictures a GPU reads without a copy"
in_guest
has_gpu "faults of shared memory" iHD || exit 0
modprobe vgem
FAKEGPU_MEMORY=/dev/dri/$(basename /sys/devices/platform/vgem/drm/card*)
export FAKEGPU_MEMORY FAKEGPU_PICTURES=cheap
launcher=("$LAB/gpu/run" iHD)

struck() { # FORMAT MEMORY: every fault, and no picture is copied
    local what="vivid, its $1 in the $2's memory" shared
    shared=(--so 'encoder.zeroCopy.copied == 0' --so "encoder.zeroCopy.memory == '$2'")
    options=(--size 320x180 --format "$1" --fps 10 --encoder vaapi) rate=10
    kept=faults/$1-$2
    mkdir -p "$work/$kept" "$RESULTS/$kept"
    cd "$work/$kept"
    begin_vivid
    vivid_stream_faults "$what" "${shared[@]}"
    strikes halt "$what: camrec is stopped for up to 4 s (SIGSTOP, SIGCONT)" "$(times 5 1)" halt --so 'source.restarts == 0' "${shared[@]}"
    [ -n "$short" ] || vivid_picture_faults "$what" "${shared[@]}"
    modprobe -r vivid
}
struck NV12 gpu
[ -z "$short" ] || exit 0
struck YUYV gpu
FAKEGPU_FAULTS='fail PRIME_HANDLE_TO_FD EMFILE' struck NV12 camera # the GPU gives no memory away
