#!/bin/bash
# Re-run: load real VA-API encode drivers without a GPU and encode through them.  Debian 12, no root needed after the
# base packages (ffmpeg vainfo gcc libva2 libva-drm2 libdrm-amdgpu1 libllvm15 are taken from the system).
#   check.sh
set -euo pipefail
HERE=$(dirname "$(readlink -f "$0")")
W=$("$HERE/fetch"); cd "$W"
L=$W/root/usr/lib/x86_64-linux-gnu
E="env LIBVA_MESSAGING_LEVEL=1 LIBVA_DRIVERS_PATH=$L/dri LD_LIBRARY_PATH=$L LD_PRELOAD=$HERE/.build/fakegpu.so FAKEGPU_LOG=$W/log.json"
AMD="$E LIBVA_DRIVER_NAME=radeonsi"; INTEL="$E LIBVA_DRIVER_NAME=iHD FAKEGPU_I915=0x8a52"
for p in "$AMD" "$INTEL"; do $p vainfo --display drm --device /dev/dri/renderD128 2>/dev/null | grep -E 'Driver version|Enc'; done
fail=0
enc() { # name, env, codec, frames to ignore at the start for the lossless comparison, encoder options
  local n=$1 p=$2 c=$3 skip=$4; shift 4; rm -f log.json; local f=${c%_vaapi}
  if ! $p ffmpeg -y -v error -nostdin -vaapi_device /dev/dri/renderD128 -f lavfi -i testsrc2=s=640x480:r=30 -vf format=nv12,hwupload -c:v $c "$@" -frames:v 8 -f $f out.$f; then echo "$n: ffmpeg failed"; fail=1; return; fi
  ffmpeg -v error -nostdin -f $f -i out.$f -pix_fmt nv12 -f framemd5 - 2>dec.err | grep -v '^#' | awk '{print $NF}' > a
  ffmpeg -v error -nostdin -f lavfi -i testsrc2=s=640x480:r=30 -frames:v 8 -vf format=nv12 -f framemd5 - | grep -v '^#' | awk '{print $NF}' > b
  local same; same=$(paste a b | awk -v s=$skip 'NR>s && $1==$2' | wc -l)
  echo "$n: decoded $(wc -l < a)/8, decoder messages $(wc -l < dec.err), lossless frames $same, pictures logged $(grep -c '"op":"encode"' log.json)"
  [ "$(wc -l < a)" = 8 ] && [ ! -s dec.err ] || fail=1
  [ $f = hevc ] || [ "$same" = $((8 - skip)) ] || fail=1
  if [ $f = hevc ]; then # mosaic: compare 8x8 block means of the last picture
    ffmpeg -y -v error -nostdin -i out.$f -pix_fmt yuv420p -f rawvideo o1.yuv; ffmpeg -y -v error -nostdin -f lavfi -i testsrc2=s=640x480:r=30 -frames:v 8 -pix_fmt yuv420p -f rawvideo o2.yuv
    python3 "$HERE/blockmeans.py" o1.yuv o2.yuv 640x480 | tail -1 | tee blk; grep -q '>6: [1-9]' blk && fail=1; true
  fi
}
# radeonsi 22.3 reallocates every fresh (interlaced-layout) surface at first use and converts it with a shader: first frames are black
enc "radeonsi h264 CQP" "$AMD" h264_vaapi 2
enc "radeonsi h264 CBR" "$AMD" h264_vaapi 2 -rc_mode CBR -b:v 2M
enc "radeonsi h264 baseline" "$AMD" h264_vaapi 2 -profile:v constrained_baseline
enc "radeonsi hevc" "$AMD" hevc_vaapi 0
enc "iHD h264 CQP" "$INTEL" h264_vaapi 0 -low_power 1
enc "iHD h264 CBR" "$INTEL" h264_vaapi 0 -low_power 1 -rc_mode CBR -b:v 2M
enc "iHD h264 baseline" "$INTEL" h264_vaapi 0 -low_power 1 -profile:v constrained_baseline
enc "iHD hevc CQP" "$INTEL" hevc_vaapi 0 -low_power 1
enc "iHD hevc VBR" "$INTEL" hevc_vaapi 0 -low_power 1 -b:v 4M
exit $fail
