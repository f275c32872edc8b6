#!/bin/bash
# In the guest: pictures that the camera and the GPU share. vivid writes NV12 or YUYV into the emulated GPU's memory, which vgem
# provides as real DMA-BUFs, or the GPU reads the camera's; nobody maps a picture after the first; what fails is copied.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
modprobe vgem
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle
camera=$(vivid_node)
FAKEGPU_MEMORY=/dev/dri/$(basename /sys/devices/platform/vgem/drm/card*)
export FAKEGPU_MEMORY
still_picture "$camera"
unshared='fail PRIME_HANDLE_TO_FD EMFILE' # the GPU gives no memory away, so that the camera's is used

shared() { # DRIVER ARGUMENTS...: camrec on the emulated GPU, in $format
    local status=0
    launcher=("$LAB/gpu/run" "$1")
    camrec --device "$camera" --format "$format" --encoder vaapi --overwrite "${@:2}" || status=$?
    launcher=()
    return $status
}

format=nv12

sees() { # WIDTH HEIGHT FILE: writes a picture as the camera's own memory has it
    v4l2-ctl -d "$camera" --set-fmt-video "width=$1,height=$2,pixelformat=${format^^}" --stream-mmap=4 --stream-count=1 --stream-skip=2 --stream-to="$3" >"$RESULTS/seen" 2>&1
}

# Of YUYV, as NV12: chroma is the mean of two rows.
halve_chroma() { # PICTURE WIDTH
    "$PYTHON" - "$@" <<'END'
import sys

picture, row = open(sys.argv[1], "rb").read(), 2 * int(sys.argv[2])
rows = [picture[start + 1 : start + row : 2] for start in range(0, len(picture), row)]
chroma = b"".join(bytes((a + b + 1) // 2 for a, b in zip(*pair)) for pair in zip(rows[::2], rows[1::2]))
open(sys.argv[1], "wb").write(picture[::2] + chroma)
END
}

# Each picture of the stream is the raw picture, byte for byte: the emulated GPU codes without loss.
has_bytes_of() { # STREAM PICTURE
    local length
    length=$(stat -c %s "$2")
    ffmpeg -nostdin -v error -i "$1" -f rawvideo -pix_fmt nv12 -y decoded.nv12 && split -b "$length" decoded.nv12 decoded. && rm decoded.nv12
    [ -e decoded.aa ] || { echo "no picture"; return 1; }
    for picture in decoded.a*; do cmp "$picture" "$2" || return 1; done
    rm -f decoded.*
}
declare -f has_bytes_of >>"$RESULTS/on-host"

# Mappings in which a picture fits, of a camera or a DMA-BUF, but for the emulated GPU's own, which it marks.
picture_mappings() { # PROCESS BYTES
    awk -v least="$2" '
        /^[0-9a-f]+-[0-9a-f]+ / {
            split($1, range, "-")
            name = $0
            size = strtonum("0x" range[2]) - strtonum("0x" range[1])
        }
        /^VmFlags:/ && (name ~ /dmabuf/ || name ~ /\/dev\/video/) && size >= least && $0 !~ / rr( |$)/ {print name}
    ' "/proc/$1/smaps"
}
maps_no_picture() { # PROCESS BYTES
    local found
    found=$(picture_mappings "$1" "$2")
    [ -z "$found" ] || { echo "$found"; return 1; }
}
encoded() { sed -nE 's/.*"encoded":\[([0-9]+).*/\1/p' <<<"$1"; } # STATS
has_encoded() { # COUNT
    [ "$(encoded "$("$CAMREC" ctl orders stats)")" -ge "$1" ]
}
is_back() { # the camera, with three pictures more
    local stats
    stats=$("$CAMREC" ctl orders stats)
    [[ $stats = *'"restarts":1,'* ]] || return 1
    back=${back:-$(encoded "$stats")}
    [ "$(encoded "$stats")" -ge $((back + 3)) ]
}
calls() { # how often functions of the driver were called that are for pictures in memory, by libva's trace
    cat trace.* | grep -oE '=(vaDeriveImage|vaGetImage|vaPutImage|vaCreateImage) ' | sort | uniq -c
}

is_kept() { # the surface that was not exported, by libva's trace
    local trace
    trace=$(grep -l 'vaExportSurfaceHandle ret = VA_STATUS_ERROR' trace.*) || { echo "nothing failed"; return 1; }
    ! grep -A 1 'vaExportSurfaceHandle ret = VA_STATUS_ERROR' "$trace" | grep DestroySurfaces
}

# DRIVER SIZE BYTES MEMORY: what is shared is right, and nobody maps it.
is_shared() {
    local name="sharing, $1, ${format^^} $2 in the $4's memory" count
    local file=$1-$format-$4
    sees "${2%x*}" "${2#*x}" "$RESULTS/$file.nv12"
    if [ $format = yuyv ]; then halve_chroma "$RESULTS/$file.nv12" "${2%x*}"; fi
    if shared "$1" --size "$2" --frames 8 --zero-copy on --keyframe-interval 4 --report "$RESULTS/$file.json" "$file.h264"; then
        mv "$file.h264" "$RESULTS/"
        on_host check "$name: the camera's bytes are in the stream" has_bytes_of "$file.h264" "$file.nv12"
        on_host check "$name: the processor has read one picture" report "$file.json" "encoder.zeroCopy.memory == '$4'" \
            'encoder.zeroCopy.shared == 8' 'encoder.zeroCopy.copied == 0' "encoder.zeroCopy.bytesRead == $3" 'not hasattr(encoder.zeroCopy, "reason")'
    else
        fail "$name" "$(tail -n 3 stderr)"
    fi
    # However long it records, it asks the driver as often for a picture's memory.
    for count in 4 12; do
        rm -f trace.*
        FAKEGPU_PICTURES=cheap LIBVA_TRACE=$work/trace shared "$1" --size "$2" --frames $count --zero-copy on short.h264 || true
        calls >calls-$count
    done
    check "$name: no picture is mapped through the driver" cmp calls-4 calls-12
    # While it records, no picture is in the process's memory.
    rm -f orders
    rm -f stderr
    FAKEGPU_PICTURES=cheap "$LAB/gpu/run" "$1" "$CAMREC" --device "$camera" --format $format --size "$2" --encoder vaapi --control-socket orders --overwrite long.h264 2>stderr &
    await 30 test -S orders
    await 5 has_encoded 5 || true
    recorder=$(pgrep -n -f -- '--control-socket orders')
    check "$name: no picture is mapped while it records" maps_no_picture "$recorder" "$3"
    check "$name: a snapshot meanwhile" "$CAMREC" ctl orders snapshot "$file.jpg"
    await 5 maps_no_picture "$recorder" "$3" || true
    check "$name: nothing stays mapped after a snapshot" maps_no_picture "$recorder" "$3"
    "$CAMREC" ctl orders stop >/dev/null
    wait || true
}
# DRIVER MODEL SIZE REASON [ANOTHER]: what cannot be shared is copied, and is right; ANOTHER reason is that of --zero-copy on.
is_copied() {
    local name="sharing, $2, ${format^^} $3" file=copied-$2-$format
    sees "${3%x*}" "${3#*x}" "$RESULTS/$file.nv12"
    if [ $format = yuyv ]; then halve_chroma "$RESULTS/$file.nv12" "${3%x*}"; fi
    if FAKEGPU_DEVICES=$2 shared "$1" --size "$3" --frames 8 --keyframe-interval 4 --report "$RESULTS/$file.json" "$file.h264"; then
        mv "$file.h264" "$RESULTS/"
        on_host check "$name: the copies are right" has_bytes_of "$file.h264" "$file.nv12"
        on_host check "$name: the report says why" report "$file.json" 'encoder.zeroCopy.shared == 0' 'encoder.zeroCopy.copied == 8' "'$4' in encoder.zeroCopy.reason"
    else
        fail "$name" "$(tail -n 3 stderr)"
    fi
    FAKEGPU_DEVICES=$2 shared "$1" --size "$3" --frames 8 --zero-copy on refused.h264 || true
    check "$name: --zero-copy on" error_names stderr "zero-copy on: .*${5-$4}.*; use --zero-copy auto"
}
# DRIVER SIZE BYTES: two encoders read the same memory.
is_shared_by_both() {
    local name="sharing, $1, ${format^^} $2 for both codecs" file=both-$1-$format
    sees "${2%x*}" "${2#*x}" "$RESULTS/$file.nv12"
    if [ $format = yuyv ]; then halve_chroma "$RESULTS/$file.nv12" "${2%x*}"; fi
    if shared "$1" --size "$2" --frames 8 --zero-copy on --keyframe-interval 4 --report "$RESULTS/$file.json" "$file.h264" "$file.h265"; then
        mv "$file.h264" "$file.h265" "$RESULTS/"
        on_host check "$name: the camera's bytes are in the stream" has_bytes_of "$file.h264" "$file.nv12"
        on_host check "$name: H.265 is sound" is_sound "$file.h265" --frames 8 --keyframe-interval 4
        on_host check "$name: the processor has read one picture" report "$file.json" 'len(encoders) == 2' \
            'encoders[1].implementation == "hevc_vaapi"' \
            'encoders[0].zeroCopy == encoders[1].zeroCopy' 'encoder.zeroCopy.shared == 8' 'encoder.zeroCopy.copied == 0' "encoder.zeroCopy.bytesRead == $3"
    else
        fail "$name" "$(tail -n 3 stderr)"
    fi
}
if has_gpu "sharing, iHD" iHD; then
    is_shared iHD 640x360 345600 gpu
    is_shared_by_both iHD 640x360 345600
    # Its rows end before those that the encoder codes.
    FAKEGPU_FAULTS=$unshared is_shared iHD 320x180 86400 camera
    format=yuyv
    is_shared iHD 640x360 460800 gpu
    is_shared_by_both iHD 640x360 460800
    FAKEGPU_FAULTS=$unshared is_shared iHD 320x180 115200 camera
    is_copied iHD skylake 640x360 'does not convert YUYV'
    format=nv12
fi
if has_gpu "sharing, radeonsi" radeonsi; then
    is_shared radeonsi 1280x720 1382400 gpu
    is_shared_by_both radeonsi 1280x720 1382400
    # Its rows are 768 bytes apart, the camera's 640.
    is_copied radeonsi renoir 640x360 'does not take'
    format=yuyv is_copied radeonsi renoir 640x360 'not known' 'does not convert YUYV'
fi

# What fails costs no more than it does otherwise. A GPU that is lost or stuck is given up, and software reads the memory.
faulty() { # NAME FAULTS EXPECTATION...
    local name="sharing, $1" file=${1//[^a-z]/}
    if FAKEGPU_PICTURES=cheap FAKEGPU_FAULTS=$2 shared iHD --encoder auto --size 640x360 --frames 40 --keyframe-interval 10 --report "$RESULTS/$file.json" "$file.h264"; then
        pass "$name"
        mv "$file.h264" "$RESULTS/"
        on_host check "$name: the recording is sound" is_sound "$file.h264" --frames 40
        on_host check "$name: every captured frame is accounted for" report "$file.json" 'frames.written == 40' \
            'frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.droppedByEncoder + frames.unused' "${@:3}"
    else
        fail "$name" "$(tail -n 3 stderr)"
    fi
}
if has_gpu "sharing, faults" iHD; then
    # The camera then writes into its own memory.
    faulty "a lost GPU" 'lost 15' 'encoder.zeroCopy.shared >= 10' 'source.restarts == 1'
    faulty "a stuck GPU" 'hang 15 300' 'encoder.zeroCopy.shared >= 10' 'source.restarts == 1'
    faulty "nothing exported" "$unshared" 'encoder.zeroCopy.memory == "camera"' 'encoder.zeroCopy.copied == 0'
    rm -f trace.*
    FAKEGPU_PICTURES=cheap FAKEGPU_FAULTS=$unshared LIBVA_TRACE=$work/trace shared iHD --size 640x360 --frames 4 kept.h264 || true
    check "sharing, nothing exported: the surface stays until the end, as the driver's list of exports has it" is_kept
    faulty "nothing imported" "$unshared; fail PRIME_FD_TO_HANDLE EINVAL" 'encoder.zeroCopy.shared == 0' 'encoder.zeroCopy.copied == 40' 'len(encoder.zeroCopy.reason) > 0'
    faulty "a GPU without memory" 'memory 6M' 'frames.written == 40'
    # The camera is opened again, and shares again.
    rm -f orders
    rm -f stderr
    FAKEGPU_PICTURES=cheap "$LAB/gpu/run" iHD "$CAMREC" --device "$camera" --format nv12 --size 640x360 --device-timeout 60s --control-socket orders \
        --report "$RESULTS/broken.json" --overwrite broken.h264 2>stderr &
    recorder=$!
    await 30 test -S orders
    await 5 has_encoded 5 || true
    v4l2-ctl -d "$camera" -c disconnect=1 || true
    await 10 is_back || true
    check "sharing, a camera that disconnects: no picture is mapped afterwards" maps_no_picture "$(pgrep -n -f -- '--control-socket orders')" 345600
    "$CAMREC" ctl orders stop >/dev/null || true
    status=0
    wait $recorder || status=$?
    check "sharing, a camera that disconnects: the recording ends well" test $status = 0
    mv broken.h264 "$RESULTS/"
    on_host check "sharing, a camera that disconnects: it is shared again" report broken.json 'encoder.zeroCopy.copied == 0' 'encoder.zeroCopy.shared == frames.encoded' \
        'encoder.zeroCopy.memory == "gpu"' 'source.restarts >= 1'
    on_host check "sharing, a camera that disconnects: the recording is sound" is_sound broken.h264
fi

bash "$LAB/faults/sharing.sh" --short
bash "$LAB/faults/shared-encoders.sh" --short
