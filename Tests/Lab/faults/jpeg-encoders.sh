#!/bin/bash
# The GPU's faults, where it decodes a camera's Motion JPEG besides encoding: on the emulated GPU under both drivers.
# usage: jpeg-encoders.sh [--short]
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
# shellcheck source=gpu.sh
. "$LAB/faults/gpu.sh"
part="Encoders whose GPU decodes Motion JPEG"
# 4:2:0, which both drivers decode.
source=(--device test --format jpeg --size 320x240 --fps 60 --frames 90 --keyframe-interval 30)
units=2 besides="JPEG decoded" beside=(--so 'hasattr(encoder, "jpeg")')
for driver in radeonsi iHD; do
    has_gpu "$part: $driver" "$driver" 'JPEGBaseline.*VLD' || continue
    launcher=("$LAB/gpu/run" "$driver")
    gpu_faults
    settle_gpu_faults
done
finish
