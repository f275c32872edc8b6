#!/bin/bash
# In the guest: whether a camera and an encoder start side by side. Prints the table of docs/benchmarks.md.
# usage: run start.sh [RUNS]     (scripts/bench start calls it)
# Not in a guest that counts instructions: its one processor cannot do two things at once.
#
# Three recordings in turn: of a camera with an encoder that opens at once, of the test picture with the encoder, and of
# the camera with it. The last one's first IDR should come when the slower of camera and encoder is ready, and the
# encoder's own time for a picture later. On iHD, which shares both of the camera's formats, also with and without copies.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
runs=${1:-5}
cd "$work"
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
modprobe vgem
udevadm settle
camera=$(vivid_node)
memory=/dev/dri/$(basename /sys/devices/platform/vgem/drm/card*)
gcc -O1 -Wall -Wextra -shared -fPIC -o moments.so "$LAB/../Benchmark/moments.c"

measure() { # NAME ARGUMENTS...: the moments of a recording of one picture, in NAME.moments
    local name=$1
    shift
    rm -f "$name.moments"
    LD_PRELOAD=$PWD/moments.so MOMENTS=$PWD/$name.moments \
        "${launcher[@]}" "$CAMREC" --quiet --frames 1 --size 640x480 "$@" - >"$name.h264" 2>>start.err
    cat "$name.moments" >>"$RESULTS/start-$driver.$name"
}

for driver in radeonsi iHD; do
    has_gpu "start, $driver" $driver || continue
    rm -f "$RESULTS/start-$driver".*
    launcher=("$LAB/gpu/run" "$driver")
    for ((run = 0; run <= runs; run++)); do
        for rate in 5 25; do
            measure camera-$rate --device "$camera" --format YUYV --fps $rate --encoder software
            measure encoder --device test --encoder vaapi
            measure both-$rate --device "$camera" --format YUYV --fps $rate --encoder vaapi
        done
        [ $driver = iHD ] || continue
        for format in YUYV NV12; do
            for way in auto off; do
                FAKEGPU_MEMORY=$memory measure $format-$way --device "$camera" --format $format --fps 25 --encoder vaapi --zero-copy $way
            done
        done
    done
    for rate in 5 25; do
        on_host check "start, $driver, camera at $rate frames/s" "$PYTHON" "$LAB/verify/start.py" "$driver" $rate
    done
    if [ $driver = iHD ]; then on_host "$PYTHON" "$LAB/verify/start.py" iHD; fi
done
cat start.err
