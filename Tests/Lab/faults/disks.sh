#!/bin/bash
# Disks that are full, slow, hang, fail or disappear, and folders that are removed. Needs root, for mounts.
# usage: disks.sh [--short]
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
part="Disks"
if [ "$(id -u)" != 0 ]; then
    skip "$part" "needs root for a mount"
    finish
    exit
fi
test30=(--device test --size 640x480 --fps 30 --keyframe-interval 10 --encoder software)
disk=$work/disk store=$work/store
mkdir -p "$disk" "$store"
trap 'umount --lazy "$disk" "$store" 2>/dev/null || true; clean' EXIT

# Permanently full: the file ends there, and another output continues.
for ((i = 0; i < $(times 3 1); i++)); do
    draw 100 400
    mount -t tmpfs -o "size=${drawn}k" none "$disk"
    start "${test30[@]}" --no-pace --qp 2 --frames 3000 "$disk/a.h264"
    ended
    trial "full" --status "$status" --wanted 74 --report report.json --so '"disk is full" in outputs[0].error' "$disk/a.h264"
    rm "$disk/a.h264"
    start "${test30[@]}" --no-pace --qp 2 --frames 3000 "$disk/a.h264" beside.h264
    ended
    trial "full, and another output elsewhere" --status "$status" --wanted 74 --report report.json "$disk/a.h264"
    trial "full: the output elsewhere" --status "$status" --wanted 74 --report report.json --output 1 --so 'outputs[1].written == 3000' --most-lost 0 beside.h264
    umount "$disk"
done
for fault in "full" "full, and another output elsewhere" "full: the output elsewhere"; do settle "$fault"; done

# Old segments make room.
if [ -z "$short" ]; then
    mount -t tmpfs -o size=400k none "$disk"
    start "${test30[@]}" --no-pace --qp 2 --frames 3000 --segment 30f --min-free 25% "$disk/a.h264" beside.h264
    ended
    mapfile -t files < <(ls -v beside*.h264)
    trial "nearly full, with --min-free" --output 1 --status "$status" --report report.json --so 'outputs[0].segments.removed > 0' \
        --so 'outputs[0].lost == 0' --so 'outputs[0].written == 3000' --most-lost 0 "${files[@]}"
    settle "nearly full, with --min-free"
    umount "$disk"
fi

# A recording in segments on the disk, and one next to it, while the disk fails for a while.
meanwhile() { # FAULT TRIAL-OPTION...: from `appears` to `begins`, `stops` and `disappears`
    local fault=$1 files i
    shift
    for ((i = 0; i < $(times 3 1); i++)); do
        appears
        mkdir -p "$disk/sub"
        draw 3 "$(times 25 5)"
        start "${test30[@]}" --qp 8 --segment 1s "$disk/sub/a.h264" beside.h264
        await 30 holds $((drawn * 1000)) "$disk/sub/a*.h264" || fail "$fault" "nothing is recorded"
        begins
        await 60 grep -q 'retrying' stderr || fail "$fault" "it is not told"
        stops
        await 60 grep -q 'recording again' stderr || fail "$fault" "it is not tried again"
        grows "$disk/sub/a*.h264" || fail "$fault" "it does not go on"
        ended TERM
        mapfile -t files < <(ls -v "$disk"/sub/a*.h264)
        trial "$fault" --rate 30 --status "$status" --wanted 74 --report report.json --so 'outputs[0].lost > 0' --most-took 20 "$@" "${files[@]}"
        mapfile -t files < <(ls -v beside*.h264)
        trial "$fault: the other output" --rate 30 --status "$status" --wanted 74 --report report.json --output 1 --so 'outputs[1].lost == 0' "${files[@]}"
        disappears
    done
    settle "$fault"
    settle "$fault: the other output"
}

appears() { mount -t tmpfs -o size=2m none "$disk"; }
disappears() { umount "$disk"; }
begins() { head -c 2m /dev/zero >"$disk/other" 2>/dev/null || true; }
stops() { rm "$disk/other"; }
meanwhile "full for a while, segments"

begins() { rm -r "$disk/sub"; }
stops() { :; }
meanwhile "the folder is removed, segments" --gone

# The same store comes back at its place.
appears() { mount -t tmpfs none "$store" && mount --bind "$store" "$disk"; }
disappears() { umount "$disk" "$store"; }
begins() { umount --lazy "$disk"; }
stops() { mount --bind "$store" "$disk"; }
if [ -z "$short" ]; then meanwhile "unmounted for a while, segments" --gone; fi

# A power cut: the file system stops at once, and unflushed data is gone (EXT4_IOC_SHUTDOWN of fs/ext4/ext4.h, without a
# flush of its journal). --sync limits how much that may be.
powers_off() { # FOLDER: when, on CLOCK_MONOTONIC
    "$PYTHON" -c '
import fcntl, os, struct, sys, time
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))
print(time.monotonic())' "$1"
}
if truncate -s 64M "$work/image" && mkfs.ext4 -q "$work/image" && mount -o loop "$work/image" "$disk" 2>/dev/null; then
    for ((i = 0; i < $(times 20 1); i++)); do
        rm -rf "$disk"/*.*
        start "${test30[@]}" --qp 8 --sync 2s "$disk/a.h264" "$disk/b.mkv" --segment 4s
        for_a_while 3000 9000
        moment=$(powers_off "$disk")
        ended KILL
        umount "$disk" && mount -o loop "$work/image" "$disk"
        for file in a.h264 b.mkv; do
            mapfile -t files < <(find "$disk" -name "${file%.*}*.${file#*.}" -size +0 | sort -V)
            trial "power cut, --sync 2s, .${file#*.}" --rate 30 --killed "$moment" --powerless --status "$status" --wanted 137 \
                --most-took 2.1 "${files[@]}"
        done
    done
    umount "$disk"
    for format in h264 mkv; do settle "power cut, --sync 2s, .$format"; done
else
    skip "power cut" "no loop device, or no mkfs.ext4"
fi

read -ra fuse < <(pkg-config --cflags --libs fuse3 2>/dev/null || true)
if [ ! -e /dev/fuse ] || ! command -v fusermount3 >/dev/null || ! built disk "${fuse[@]}"; then
    skip "slow and failing disks" "no FUSE here; install fuse3 and libfuse3-dev"
    finish
    exit
fi
control=$work/control
serve() { # the store through FUSE
    "$built" "$control" "$store" "$disk" 2>/dev/null &
    server=$!
    await 10 mountpoint -q "$disk"
}
appears() { : >"$control" && mount -t tmpfs none "$store" && serve; }
disappears() { umount "$disk" && umount "$store"; }
begins() { echo fail >"$control"; }
stops() { : >"$control"; }
meanwhile "EIO for a while, segments"
begins() { kill -KILL "$server" && wait "$server" || true; } 2>/dev/null
stops() { umount --lazy "$disk" && serve; }
if [ -n "$short" ]; then
    finish
    exit
fi
meanwhile "its server dies and comes back (ENOTCONN), segments" --gone

# Without segments, a disk error ends the file.
appears
for ((i = 0; i < $(times 3 1); i++)); do
    draw 3 "$(times 25 5)"
    : >"$control"
    rm -f "$disk/a.h264"
    start "${test30[@]}" --qp 8 "$disk/a.h264" beside.h264
    await 30 holds $((drawn * 1000)) "$disk/a.h264" || fail "EIO" "nothing is recorded"
    echo fail >"$control"
    grows beside.h264
    ended TERM
    trial "EIO" --status "$status" --wanted 74 --report report.json --so 'outputs[1].lost == 0' "$disk/a.h264"
done
settle "EIO"

# A disk that hangs: new data is kept in memory.
for ((i = 0; i < $(times 3 1); i++)); do
    : >"$control"
    rm -f "$disk/a.h264"
    start "${test30[@]}" --qp 8 "$disk/a.h264" beside.h264
    await 30 holds 3000 "$disk/a.h264" || fail "hangs for a while" "nothing is recorded"
    echo hang >"$control"
    draw 10 100
    await 60 holds $((drawn * 1000)) beside.h264
    : >"$control"
    grows "$disk/a.h264"
    ended TERM
    trial "hangs for a while" --rate 30 --status "$status" --report report.json --so 'outputs[0].lost == 0' --most-lost 30 "$disk/a.h264"
done
settle "hangs for a while"

# One that hangs for longer than its queue of a minute, which is 3600 pictures, holds up only itself.
test240=(--device test --size 320x240 --fps 240 --keyframe-interval 240 --encoder software)
for ((i = 0; i < $(times 2 1); i++)); do
    : >"$control"
    rm -f "$disk"/a*.h264
    start "${test240[@]}" --segment 1s "$disk/a.h264" beside.h264
    await 30 holds 3000 "$disk/a*.h264" || fail "hangs for longer, segments" "nothing is recorded"
    echo hang >"$control"
    await 60 grep -q 'stalled; pending' stderr || fail "hangs for longer, segments" "it is not noticed"
    for_a_while 1000 4000
    : >"$control"
    await 60 grep -q 'recording again' stderr || fail "hangs for longer, segments" "it does not go on"
    grows "$disk/a*.h264"
    ended TERM
    mapfile -t files < <(ls -v "$disk"/a*.h264)
    trial "hangs for longer, segments" --rate 240 --status "$status" --wanted 74 --report report.json --so 'outputs[0].lost > 0' \
        --most-took 20 "${files[@]}"
    mapfile -t files < <(ls -v beside*.h264)
    trial "hangs for longer, segments: the other output" --rate 240 --status "$status" --wanted 74 --report report.json \
        --output 1 --so 'outputs[1].lost == 0' "${files[@]}"
done
settle "hangs for longer, segments"
settle "hangs for longer, segments: the other output"

# One that hangs permanently is abandoned: by the other output, and at the end.
: >"$control"
rm -f "$disk"/a*.h264
start "${test240[@]}" "$disk/a.h264" beside.h264
await 30 holds 3000 "$disk/a.h264" || fail "hangs for good" "nothing is recorded"
echo hang >"$control"
await 60 grep -q 'stalled; pending' stderr || fail "hangs for good" "it is not noticed"
grows beside.h264
kill -TERM "$recorder"
await 60 test -s report.json || fail "hangs for good" "it does not end"
await 10 grep -q 'stalled; pending.*beside.h264: ' stderr || fail "hangs for good" "its last words are lost"
# The kernel closes the file before the process is gone, and waits for the disk.
: >"$control"
ended
trial "hangs for good: the other output" --rate 240 --status "$status" --wanted 74 --report report.json --output 1 \
    --so '"stalled" in outputs[0].error' --so 'outputs[1].lost == 0' beside.h264
settle "hangs for good: the other output"

# A slow disk: 28 MB a second (the emulated GPU's pictures are lossless) for one that takes 10. When the queue of 64 MiB
# is full, frames are dropped, but never coded units: with P pictures in between, the decoder would complain.
if has_gpu "slow: a third of what it should take" iHD; then
    launcher=("$LAB/gpu/run" iHD)
    for ((i = 0; i < $(times 3 1); i++)); do
        rm -f "$disk/a.h264"
        echo "slow 10000000" >"$control"
        start --device test --size 640x480 --fps 60 --frames 400 --encoder vaapi "$disk/a.h264"
        ended
        trial "slow: a third of what it should take" --rate 60 --status "$status" --report report.json --so 'outputs[0].lost == 0' \
            --so 'frames.droppedForOutput > 0' --so 'outputs[0].written == 400' --so 'frames.droppedByEncoder == 0' "$disk/a.h264"
    done
    settle "slow: a third of what it should take"
    launcher=()
fi
: >"$control"
disappears

# A file that is removed without segments.
start "${test30[@]}" a.h264 beside.h264
await 30 holds 3000 a.h264 && rm a.h264
await 30 grows beside.h264
ended TERM
trial "the file is removed" --status "$status" --wanted 74 --report report.json --output 1 --so '"removed" in outputs[0].error' beside.h264
settle "the file is removed"
finish
