#!/bin/bash
# In the guest: vivid's cameras with both GPU drivers, the formats bit for bit, and camera faults.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
# The program, and the driver shim, where an ordinary user can read them.
cp "$CAMREC" /run/camrec && chmod 755 /run/camrec && CAMREC=/run/camrec
as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

# No camera yet.
refuses "no camera" 66 'no camera.*--device test' --frames 1 out.h264
refuses "no render node" 69 'render node|/dev/dri' --device test --frames 1 --encoder vaapi out.h264
records "no render node: software instead" --device test --size 320x240 --frames 10 --no-pace --verbose out.h264 &&
    says "no render node: says why" 'render node|/dev/dri|VAAPI'

# File systems without hard links, and with characters that names cannot have.
plain=(--device test --size 160x120 --encoder software --no-pace)
for system in vfat exfat; do
    if ! modprobe loop || ! modprobe $system; then
        skip "$system" "the kernel has no module for it"
        continue
    fi
    mkdir -p disk
    truncate -s 64M image
    check "$system: a disk" eval "mkfs.$system image && mount -o loop image disk"
    mountpoint -q disk || continue
    records "$system: a recording" "${plain[@]}" --frames 20 --keyframe-interval 10 disk/a.mp4 disk/a.h264
    for suffix in mkv mp4 ts; do records "$system: remux to .$suffix" remux disk/a.h264 disk/b.$suffix; done
    refuses "$system: remux replaces nothing" 73 'already exists' remux disk/a.h264 disk/b.mp4
    records "$system: but with --overwrite" remux --overwrite disk/a.h264 disk/b.mp4
    records "$system: a snapshot" snapshot "${plain[@]:0:4}" disk/a.jpg
    records "$system: another in its place" snapshot --overwrite "${plain[@]:0:4}" disk/a.jpg
    check "$system: nothing else is left" test "$(ls -A disk | tr '\n' ' ')" = 'a.h264 a.jpg a.mp4 b.mkv b.mp4 b.ts '
    mkdir -p "$RESULTS/$system" && cp disk/* "$RESULTS/$system/"
    on_host check "$system: the remux has the pictures" same_pictures $system/b.mp4 $system/a.h264
    refuses "$system: a name with a colon" 73 "disk/12:30.h264: the file system allows no ':' in names; use another name" "${plain[@]}" --frames 5 disk/12:30.h264
    refuses "$system: a remux to such a name stays" 73 "allows no ':' in names; rename the complete file, .*/disk/.camrec-.*[.]part" remux disk/a.h264 disk/12:30.mp4
    check "$system: under the name that is told" cmp disk/.camrec-*.part disk/b.mp4
    rm -f disk/* disk/.[a-z]*
    records "$system: segments, and the newest are kept" "${plain[@]}" --frames 40 --keyframe-interval 10 --segment 10f --keep 2 --timestamps disk/s.txt disk/s.h264
    records "$system: and without timestamps" "${plain[@]}" --frames 40 --keyframe-interval 10 --segment 10f --keep 2 disk/s.h264
    check "$system: two are left, and no timestamps" test "$(ls disk | tr '\n' ' ')" = 's-6.h264 s-7.h264 '
    # Times of creation are stored less exactly than they were reported, and FAT's in local time.
    check "$system: mounted again in another time zone" eval "umount disk && mount -o loop,time_offset=-345 image disk"
    records "$system: its segments are still known" "${plain[@]}" --frames 20 --keyframe-interval 10 --segment 10f --keep 2 disk/s.h264
    check "$system: the newest two are left" test "$(ls disk | tr '\n' ' ')" = 's-8.h264 s-9.h264 '
    umount disk
done

# A disk that turns read-only while it is recorded to: statistics say so, and the recording goes on when it is writable again.
turns_read_only() {
    local pid status=0
    modprobe loop && modprobe ext4 && truncate -s 64M image && mkfs.ext4 -qF image && mkdir -p disk && mount -o loop image disk || return 1
    "$CAMREC" --device test --size 160x120 --fps 10 --encoder software --segment 1s --control-socket state.sock --report state.json disk/a.h264 2>said &
    pid=$!
    await 60 test -s disk/a-1.h264 || { cat said; return 1; }
    echo u >/proc/sysrq-trigger # what the kernel does when a disk fails
    await 60 grep -q 'Read-only file system' said || { cat said; return 1; }
    "$CAMREC" ctl state.sock stats >stats
    mount -o remount,rw disk
    await 60 grep -q 'recording again' said || { cat said; return 1; }
    await 60 is_recording || { cat said; return 1; }
    kill -TERM $pid
    wait $pid || status=$?
    umount disk
    [ $status = 74 ] && grep -q '"state":"read-only"' stats && grep -q '"condition":"read-only"' stats &&
        grep -q "mount -o remount,rw" said && ! grep -q 'check the disk' said || { cat said stats; return 1; }
}
is_recording() { "$CAMREC" ctl state.sock stats | grep -q '"state":"recording"'; }
check "read-only: statistics say so, the hint fits, and it goes on" turns_read_only

modprobe vivid n_devs=2 node_types=0x20001,0x1 input_types=0x0,0x0 multiplanar=1,2
modprobe vgem
udevadm settle
single=$(vivid_node 000-vid-cap)
metadata=$(vivid_node 000-meta-cap)
multi=$(vivid_node 001-vid-cap)

# On demand: the camera is open only while somebody watches; meanwhile others may use it.
holds_camera() { grep -qx "$single" <<<"$(readlink "/proc/$1/fd/"*)"; }
is_without_camera() { ! holds_camera "$1"; }
on_demand() {
    ip link set lo up
    local pid status=0
    "$CAMREC" --device "$single" --size 640x480 --format YUYV --encoder software --listen 127.0.0.1:9990 --on-demand --linger 2s --verbose \
        --report demand.json 2>demand.log &
    pid=$!
    await 30 grep -q 'off, because nobody is watching' demand.log && is_without_camera $pid || { cat demand.log; kill $pid; return 1; }
    "$CAMREC" --device "$single" --size 320x240 --format YUYV --encoder software --frames 5 other.h264 || { kill $pid; return 1; }
    for _ in 1 2; do
        timeout 60 "$CAMPLAY" --no-window --frames 10 --once tcp://127.0.0.1:9990 && holds_camera $pid || { cat demand.log; kill $pid; return 1; }
        await 30 is_without_camera $pid || { cat demand.log; kill $pid; return 1; }
    done
    kill -TERM $pid
    wait $pid || status=$?
    [ $status = 0 ] && mv demand.json "$RESULTS/" || { cat demand.log; return 1; }
}
check "on-demand: the camera is open only while somebody watches" on_demand
on_host check "on-demand: the report" report demand.json 'source.turnedOn == 2' 'source.outages == 0' 'source.secondsOff > 0'

# An ordinary recording, on each driver. Three keyframes are enough: longer ones are recorded outside of the guest.
for driver in radeonsi iHD; do
    has_gpu "vivid, $driver" $driver || continue
    launcher=("$LAB/gpu/run" "$driver")
    if records "vivid, $driver: 75 frames of YUYV 640x480" --device "$single" --size 640x480 --format YUYV --fps 25 --keyframe-interval 25 --frames 75 --encoder vaapi \
        --report "$RESULTS/$driver.json" "$work/$driver.h264"; then
        mv "$work/$driver.h264" "$RESULTS/"
        on_host check "vivid, $driver: 75 access units, IDR at 0, 25, 50" is_sound $driver.h264 --frames 75 --keyframe-interval 25
        on_host check "vivid, $driver: every captured frame is accounted for" report $driver.json 'frames.written == 75' \
            'format.pixelFormat == "YUYV"' 'frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.droppedByEncoder + frames.unused'
    fi
    # Two codecs and a container from one capture; both encoders use the same surface.
    if records "vivid, $driver: H.264, H.265 and Matroska at once" --device "$single" --size 640x480 --format YUYV --fps 25 --keyframe-interval 25 --frames 75 --encoder vaapi \
        --report "$RESULTS/$driver-both.json" "$work/$driver-both.h264" "$work/$driver-both.h265" "$work/$driver-both.mkv"; then
        mv "$work/$driver-both".* "$RESULTS/"
        for codec in h264 h265; do
            on_host check "vivid, $driver: both at once: 75 access units of $codec, IDR at 0, 25, 50" is_sound "$driver-both.$codec" --frames 75 --keyframe-interval 25
        done
        on_host check "vivid, $driver: both at once: the container's pictures are H.264's" same_pictures "$driver-both.mkv" "$driver-both.h264"
        on_host check "vivid, $driver: both at once: every captured frame is accounted for" report "$driver-both.json" 'len(encoders) == 2' 'outputs[1].written == 75' 'outputs[2].written == 75' \
            'frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.droppedByEncoder + frames.unused' \
            'frames.captured == encoders[1].frames.encoded + frames.corrupt + frames.droppedByUs + encoders[1].frames.droppedByEncoder + encoders[1].frames.unused'
    fi
    launcher=()
done

# What is recorded is watched by camplay, ffmpeg and GStreamer at once.
watch() { # PROGRAM COMMAND...: its pictures go to PROGRAM.yuv, its messages to PROGRAM.err
    local program=$1 status=0
    shift
    timeout 200 "$@" >"$program.err" 2>&1 || status=$?
    check "watched: $program ends with the recording" test $status = 0
    check "watched: $program reports nothing" is_silent "$program.err"
    mv "$program.yuv" "$RESULTS/" || true
}
have_watched() { # COUNT UNITS: this many receivers have this many access units each
    [ "$("$CAMREC" ctl orders stats | grep -oE '"units":[0-9]+' | awk -F : -v units="$2" '$2 >= units' | wc -l)" = "$1" ]
}
is_silent() { [ ! -s "$1" ] || { cat "$1"; return 1; }; }
if command -v gst-launch-1.0 >/dev/null; then
    ip link set lo up
    # It examines all its plugins first, which takes longer than a recording: these suffice.
    mkdir -p gst && ln -sf /usr/lib/*/gstreamer-1.0/libgst{coreelements,tcp,videoparsersbad,libav}.so gst/
    export GST_PLUGIN_SYSTEM_PATH_1_0=$work/gst GST_REGISTRY=$work/gst-registry
    gst-inspect-1.0 avdec_h264 >/dev/null 2>&1 || true
    v4l2-ctl -d "$single" --set-fmt-video=width=320,height=180,pixelformat=YUYV
    timeout 200 "$CAMREC" --device "$single" --fps 10 --listen 9982 --control-socket orders --verbose --overwrite --report "$RESULTS/watched.json" watched.h264 2>watched.err &
    recorder=$!
    check "watched: the recording begins" await 60 grep '^listening on' watched.err
    watch camplay "$CAMPLAY" --no-window --once --output camplay.yuv tcp://127.0.0.1:9982 &
    watch ffmpeg ffmpeg -nostdin -v warning -f h264 -i tcp://127.0.0.1:9982 -fps_mode passthrough -f rawvideo ffmpeg.yuv &
    watch gstreamer gst-launch-1.0 -q tcpclientsrc host=127.0.0.1 port=9982 ! h264parse ! avdec_h264 ! filesink location=gstreamer.yuv &
    check "watched: by all three" await 90 have_watched 3 60
    "$CAMREC" ctl orders stop >/dev/null || true
    status=0
    wait $recorder || status=$?
    check "watched: the recording ends well" test $status = 0
    wait
    mv watched.h264 "$RESULTS/"
    on_host check "watched: the file is sound" is_sound watched.h264
    for program in camplay ffmpeg gstreamer; do
        on_host check "watched: $program has every picture from a keyframe on" "$PYTHON" "$LAB/verify/receivers.py" decoded watched.h264 $program.yuv
    done
    on_host check "watched: the report tells" report watched.json 'len([r for r in receivers if r.dropped == 0 and r.units > 0 and r.left == "the stream ended"]) == 3' 'outputs[0].written >= 60'
else
    skip "watched" "no GStreamer; install gstreamer1.0-tools"
fi

# What the camera delivers, read by v4l2-ctl; what camrec recorded of it; compared on the host.
launcher=("$LAB/gpu/run" iHD)
lossless() { # NODE FORMAT SIZE PATTERN COMPARISON...
    local node=$1 format=$2 size=$3 pattern=$4 name="$2 $3" file="$2-$3"
    shift 4
    still_picture "$node" "$pattern"
    v4l2-ctl -d "$node" --set-fmt-video=width="${size%x*}",height="${size#*x}",pixelformat="$format" \
        --stream-mmap=4 --stream-count=1 --stream-to="$RESULTS/$file.raw" >/dev/null 2>&1
    records "lossless: $name" --device "$node" --size "$size" --format "$format" --fps 25 --frames 5 --encoder vaapi "$work/$file.h264" || return 0
    mv "$work/$file.h264" "$RESULTS/"
    on_host check "lossless: $name is sound" is_sound "$file.h264" --frames 5
    on_host check "lossless: $name as the camera delivered it" pictures equal "$file.h264" "$file.raw" --format "$format" --size "$size" --still "$@"
}
gcc -O2 -fPIC -shared -o driver.so "$LAB/guest/driver.c" -ldl
# One-pixel checkers show whether chroma is the mean of two rows; squares show positions and colours.
squares=4 checkers=14
if has_gpu "lossless" iHD; then
    for format in YUYV UYVY YVYU; do lossless "$single" $format 640x480 $checkers; done
    lossless "$single" YUYV 640x360 $squares
    for format in NV12 NV21 YU12 YV12; do lossless "$single" $format 320x180 $squares; done
    for format in RGB3 BGR3 XR24 BX24; do lossless "$single" $format 320x180 $squares --tolerance 1; done
    lossless "$multi" NM12 320x180 $squares
    lossless "$multi" YM12 320x180 $squares
    lossless "$multi" YUYV 320x180 $checkers

    # A driver that pads its lines; v4l2-ctl's picture, read without the shim, has no padding.
    for format in YUYV:704 NV12:384; do
        name=${format%:*} stride=${format#*:}
        still_picture "$single" $checkers
        v4l2-ctl -d "$single" --set-fmt-video=width=320,height=180,pixelformat="$name" --stream-mmap=4 --stream-count=1 \
            --stream-to="$RESULTS/padded-$name.raw" >/dev/null 2>&1
        DRIVER_LOG=$work/granted LD_PRELOAD=$work/driver.so DRIVER_STRIDE=64 records "padded stride: $name" --device "$single" --size 320x180 --format "$name" --fps 25 --frames 5 \
            --encoder vaapi "$work/padded.h264" || continue
        mv "$work/padded.h264" "$RESULTS/padded-$name.h264"
        on_host check "padded stride: $name as the camera delivered it" pictures equal "padded-$name.h264" "padded-$name.raw" --format "$name" --size 320x180 --still
        check "padded stride: $name was padded" test "$(tail -n 1 granted)" = "$stride"
    done
fi
launcher=()
v4l2-ctl -d "$single" -c osd_text_mode=0 -c test_pattern=0
software=(--size 320x180 --format YUYV --fps 25 --encoder software --overwrite)

# A format that libv4lconvert knows.
records "vendor format: GBRG" --device "$single" --size 320x180 --format GBRG --fps 25 --frames 10 --encoder software --overwrite "$RESULTS/bayer.h264" &&
    on_host check "vendor format: GBRG is sound" is_sound bayer.h264 --frames 10

# The default camera is the first that captures pictures, and auto finds a format.
records "the default camera" --frames 10 --encoder software --report "$work/default.json" --overwrite out.h264 &&
    check "the default camera is $single" grep -q "$single" default.json
records "the by-path link" --device /dev/v4l/by-path/platform-vivid.0-video-index0 --frames 10 --encoder software --overwrite out.h264 || true

# Controls, as v4l2-ctl sees them.
v4l2-ctl -d "$single" -c brightness=128,contrast=100
records "controls" --device "$single" "${software[@]}" --frames 5 --control 'brightness=200,test_pattern=100% red' --report controls.json out.h264 &&
    check "controls: the camera has them" grep -q '^brightness: 200$' <(v4l2-ctl -d "$single" -C brightness)
check "controls: a menu's entry is found by its words" grep -q '100% Red' <(v4l2-ctl -d "$single" -C test_pattern)
check "controls: the report has them" grep -q '"brightness" *: *"200"' controls.json
records "controls that come back" --device "$single" "${software[@]}" --frames 5 --control contrast=50 --restore-controls out.h264 &&
    check "controls that come back: the former value" grep -q '^contrast: 100$' <(v4l2-ctl -d "$single" -C contrast)
"$CAMREC" devices --controls >devices.txt
check "controls: they are listed" grep -q '^ *brightness=200  (0 to 255; default 128)$' devices.txt
# --control cannot set arrays and structures.
lists_all() {
    local ours theirs missing
    ours=$(grep -oE '^      [a-z0-9_]+' devices.txt | tr -d ' ' | sort -u)
    theirs=$(v4l2-ctl -d "$single" -l | grep -vE 'dims=|\(area\)' | grep -oE '^ *[a-z0-9_]+ 0x' | awk '{print $1}' | sort -u)
    missing=$(comm -13 <(echo "$ours") <(echo "$theirs"))
    grep -qx brightness <<<"$theirs" && [ -z "$missing" ] || { echo "of $(wc -l <<<"$theirs") there are not: $missing"; return 1; }
}
check "controls: each has the name that v4l2-ctl gives it" lists_all
refuses "controls: an unknown one" 64 "no control 'brihgtness'; did you mean 'brightness'" --device "$single" --frames 1 --control brihgtness=1 --overwrite out.h264
v4l2-ctl -d "$single" -c brightness=128,test_pattern=0

# What a shell is offered, which asks the camera.
completes() { # OPTION PREFIX WORD... -- GIVEN...: these are among the completions, after what is given
    local option=$1 prefix=$2 words=() word found
    shift 2
    while [ "$1" != -- ]; do words+=("$1") && shift; done
    shift
    found=$("$CAMREC" ---completion record -- "$option" $(($# + 2)) ${#prefix} camrec "$@" "$option" "$prefix" 2>&1)
    for word in "${words[@]}"; do
        grep -qxF -- "$word" <<<"$found" || { echo "no $word: ${found//$'\n'/ }"; return 1; }
    done
}
check "completion: both cameras, and the test picture" completes --device '' "$single" "$multi" test --
check "completion: not the metadata node" eval '! completes --device "" "$metadata" --'
check "completion: sizes" completes --size '' 320x180 640x360 -- --device "$single"
check "completion: sizes of the first camera" completes --size '' 320x180 --
check "completion: formats" completes --format '' auto yuyv nv12 -- --device "$single"
check "completion: formats in capitals" completes --format Y YUYV -- --device "$single"
check "completion: rates at a size" completes --fps '' 30 25 -- --device "$single" --size 640x360
check "completion: no rate that only a smaller size has" eval '! completes --fps "" 60 -- --device "$single" --size 640x360'
check "completion: controls" completes --control '' brightness= test_pattern= -- --device "$single"
check "completion: another control" completes --control brightness=5,con brightness=5,contrast= -- --device "$single"
check "completion: a menu's entries" completes --control test_pattern= test_pattern=100_red -- --device "$single"
records "completion: what it offers is taken" --device "$single" "${software[@]}" --frames 5 --control test_pattern=100_red out.h264 || true
v4l2-ctl -d "$single" -c test_pattern=0

refuses "metadata node" 66 "$metadata.*metadata" --device "$metadata" --frames 1 --overwrite out.h264

# Busy: another program streams.
v4l2-ctl -d "$single" --stream-mmap=4 >/dev/null 2>&1 &
holder=$!
await 10 sh -c "v4l2-ctl -d $single --set-fmt-video=width=640,height=480 2>&1 | grep -q busy"
refuses "busy camera: names the program and its process" 75 "$single: busy: in use by v4l2-ctl \(pid $holder\)" --device "$single" --frames 1 --overwrite out.h264
check "completion: a camera that another program streams from" completes --size '' 320x180 -- --device "$single"
kill $holder
wait $holder || true

# One recorder per camera, whatever the link; the second can wait.
"$CAMREC" --device "$single" --frames 100000 --encoder software --overwrite first.h264 2>/dev/null &
holder=$!
await 10 test -s first.h264
ln -s "$single" link
refuses "one recorder per camera: the second says who has it" 75 "in use by camrec \(pid $holder\)" --device link --frames 1 --overwrite out.h264
check "one recorder per camera: others may inspect it" "$CAMREC" devices
second_waits() {
    "$CAMREC" --device link --wait 60s --frames 5 --encoder software --verbose --overwrite second.h264 2>waiting &
    await 20 grep -q 'waiting for .*in use by camrec' waiting || { echo "it does not wait: $(cat waiting)"; kill $! $holder 2>/dev/null; return 1; }
    kill -TERM $holder
    wait $! || { echo "exit code $?: $(cat waiting)"; return 1; }
    is_sound second.h264 --frames 5
}
check "one recorder per camera: the second waits for its turn" second_waits
wait $holder || true

# Permissions, as an ordinary user.
chmod 755 "$work"
mkdir -m 777 -p open
launcher=("${as_nobody[@]}")
refuses "no permission for the camera" 77 "$single: permission denied.*video" --device "$single" --frames 1 "$work/open/a.h264"
refuses "no permission for the render node" 77 '/dev/dri/renderD128: permission denied.*render' --device test --frames 1 --encoder vaapi \
    --render-node /dev/dri/renderD128 "$work/open/a.h264"
launcher=(setpriv --reuid=65534 --regid=65534 --groups "$(getent group video | cut -d : -f 3),$(getent group render | cut -d : -f 3)")
records "an ordinary user in the groups video and render" --device "$single" --frames 10 --encoder software "$work/open/b.h264" || true
launcher=()
if cp "$LAB/../../udev/70-camrec.rules" /etc/udev/rules.d/; then
    udevadm control --reload
    udevadm trigger --settle --subsystem-match=video4linux --subsystem-match=drm
    check "udev rules: the camera belongs to group video" test "$(stat -c '%G %a' "$single")" = "video 660"
    check "udev rules: the render node belongs to group render" test "$(stat -c '%G %a' /dev/dri/renderD128)" = "render 660"
    check "udev rules: udev reports nothing" bash -c "! udevadm test --action=add /sys/class/video4linux/$(basename "$single") 2>&1 | grep -iE '70-camrec.rules.*(invalid|unknown|ignor)'"
else
    fail "udev rules" "udev/70-camrec.rules is missing"
fi

# vgem is a render node that no VA-API driver knows.
refuses "render node without a driver" 69 '/dev/dri/renderD128' --device test --frames 1 --encoder vaapi --overwrite out.h264
records "render node without a driver: software instead" --device test --size 320x240 --frames 10 --no-pace --verbose --overwrite out.h264 &&
    says "render node without a driver: says why" '/dev/dri/renderD128'

# Driver faults.
LD_PRELOAD=$work/driver.so DRIVER_STREAMON_ERRNO=28 refuses "ENOSPC at STREAMON is USB bandwidth" 74 'USB.*bandwidth|bandwidth.*USB' \
    --device "$single" "${software[@]}" --frames 1 out.h264
v4l2-ctl -d "$single" -c inject_vidioc_streamon_error=1
refuses "STREAMON fails" 74 "$single" --device "$single" "${software[@]}" --frames 1 out.h264

frames=100
recording() { # NAME CONTROL...: records $frames frames and sets controls of the camera when the file has begun
    local name=$1 pid status=0
    shift
    rm -rf rec && mkdir rec
    timeout 120 "$CAMREC" --device "$single" "${software[@]}" --qp 20 --frames $frames --keyframe-interval ${interval:-25} --report rec/report.json \
        --timestamps rec/out.txt rec/out.h264 rec/out.mkv 2>rec/stderr &
    pid=$!
    await 30 sh -c '[ -n "$(find rec -name "*h264*" -size +8k)" ]' || fail "$name" "nothing is recorded: $(tail -n 2 rec/stderr)"
    while [ $# -gt 0 ]; do
        v4l2-ctl -d "$single" -c "$1" || true
        shift
    done
    wait $pid || status=$?
    rm -rf "${RESULTS:?}/$name" && cp -r rec "$RESULTS/$name"
    return $status
}
if recording flagged inject_v4l2_buf_flag_error=1 inject_v4l2_buf_flag_error=1; then
    on_host check "flagged buffers: skipped and counted" report flagged/report.json 'frames.corrupt >= 1' 'frames.written == 100'
    on_host check "flagged buffers: the recording is sound" is_sound flagged/out.h264 --frames 100 --keyframe-interval 25
else
    fail "flagged buffers" "camrec did not end well: $(cat rec/stderr)"
fi
interval=1s
if recording dropped percentage_of_dropped_buffers=50; then
    on_host check "dropped buffers: counted by their sequence" report dropped/report.json 'frames.droppedByDriver >= 5' 'frames.written == 100' \
        'frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.droppedByEncoder + frames.unused'
    on_host check "dropped buffers: the recording is sound" is_sound dropped/out.h264 --frames 100
    on_host check "dropped buffers: a keyframe each second of capture" stream dropped/out.h264 --keyframe-time 1 --times dropped/out.txt
    on_host check "dropped buffers: the container has each picture at its time" container times dropped/out.mkv dropped/out.txt
    on_host check "dropped buffers: so has the raw stream, remuxed afterwards" remuxes dropped/out.h264 dropped/out.txt
    check "dropped buffers: the user is told that the rate is off" grep -q 'frames arrived per second, but the stream declares 25.0: raw, it plays too fast' rec/stderr
    # With half of the frames missing, fewer arrive per second than the stream states.
    on_host check "dropped buffers: the rate is reported" report dropped/report.json 'encoders[0].measuredFramesPerSecond < 0.9 * encoders[0].statedFramesPerSecond'
else
    fail "dropped buffers" "camrec did not end well: $(cat rec/stderr)"
fi
interval=
v4l2-ctl -d "$single" -c percentage_of_dropped_buffers=0
# After the 128th.
v4l2-ctl -d "$single" -c wrap_sequence_number=1
check "a sequence number begins before its wrap" grep -aqE 'seq: *42949[0-9]{5}' <(v4l2-ctl -d "$single" --stream-mmap=4 --stream-count=1 --verbose 2>&1)
frames=160
if recording wrapped brightness=128; then
    on_host check "a sequence number that wraps is no loss" report wrapped/report.json 'frames.captured > 128' 'frames.droppedByDriver < 1000' 'frames.written == 160'
else
    fail "a sequence number that wraps" "camrec did not end well: $(cat rec/stderr)"
fi
v4l2-ctl -d "$single" -c wrap_sequence_number=0
frames=100

# vivid recovers when the last program closes it.
if recording lost disconnect=1; then
    on_host check "a camera that disconnects is reopened: the report" report lost/report.json 'source.restarts == 1' 'frames.written == 100'
    on_host check "a camera that disconnects is reopened: one file, with one more keyframe" is_sound lost/out.h264 --frames 100 --keyframe-interval 25 --extra-keyframes
    on_host check "a camera that disconnects is reopened: the container has each picture at its time" container times lost/out.mkv lost/out.txt
else
    fail "a camera that disconnects is reopened" "camrec did not end well: $(cat rec/stderr)"
fi

await 10 v4l2-ctl -d "$single" --get-fmt-video
records "the camera works again after all of this" --device "$single" "${software[@]}" --frames 10 out.h264 || true

# An HDMI input whose signal becomes another: 640x480 at 59.94 Hz, 1280x720 at 24 Hz, which vivid scales.
modprobe -r vivid
modprobe vivid n_devs=1 node_types=0x1 input_types=0x3
udevadm settle
single=$(vivid_node 000-vid-cap)
v4l2-ctl -d "$single" -c dv_timings_signal_mode=4 -c dv_timings=0
frames=300 # the signal changes before they are recorded, on a slow machine too
if recording signal dv_timings=5; then
    on_host check "another signal: the report" report signal/report.json 'source.restarts == 1' 'frames.written == 300' 'format.framesPerSecond == 24'
    for file in out.h264 out-1.h264; do on_host check "another signal: $file is sound" is_sound signal/$file; done
    for file in out.mkv out-1.mkv; do on_host check "another signal: $file can be decoded" ffmpeg -nostdin -v error -xerror -i signal/$file -f null -; done
else
    fail "another signal" "camrec did not end well: $(cat rec/stderr)"
fi

# The same without a scaler: what comes back does not have the proportions of the mask.
modprobe -r vivid
modprobe vivid n_devs=1 node_types=0x1 input_types=0x3 ccs_cap_mode=0
udevadm settle
single=$(vivid_node 000-vid-cap)
v4l2-ctl -d "$single" -c dv_timings_signal_mode=4 -c dv_timings=0
echo 'P2 4 3 1 0 0 1 1 1 1 1 1 1 1 1 1' >mask.pgm
masked() {
    local pid status=0
    timeout 120 "$CAMREC" --device "$single" --format YUYV --encoder software --privacy-mask mask.pgm --frames 1000 masked.h264 2>masked.err &
    pid=$!
    await 30 test -s masked.h264
    v4l2-ctl -d "$single" -c dv_timings=5
    wait $pid || status=$?
    [ $status = 64 ] && grep -q 'mask of 4x3 does not fit pictures of 1280x720' masked.err && [ ! -e masked-1.h264 ] || { cat masked.err; ls masked*; return 1; }
}
check "privacy: a camera that comes back with pictures that the mask does not fit is not recorded" masked

bash "$LAB/faults/cameras.sh" --short
