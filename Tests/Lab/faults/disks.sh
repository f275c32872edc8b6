#!/bin/bash
# Disks that are full, slow, hang, fail, or go away, and folders that are removed. Needs root, for mounts.
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
disk=$work/disk
mkdir -p "$disk"

# What is lost, and for how long, of the output on the disk, and that the one beside it has everything.
lost_beside() { # FAULT CODE TRIAL-OPTION...
    local files
    mapfile -t files < <(ls -v "$disk"/a*.h264 2>/dev/null)
    trial "$1" --rate 30 --status "$status" --wanted "$2" --report report.json "${@:3}" "${files[@]}"
    trial "$1: the output beside it" --rate 30 --status "$status" --wanted "$2" --report report.json --output 1 --so 'outputs[1].lost == 0' beside.h264
}

# A disk that is full, for good.
for ((i = 0; i < $(times 5 1); i++)); do
    draw 200 900
    mount -t tmpfs -o "size=${drawn}k" none "$disk"
    start "${test30[@]}" --no-pace --qp 4 --frames 5000 "$disk/a.h264"
    ended
    trial "the disk is full" --status "$status" --wanted 74 --report report.json --so '"full" in outputs[0].error' "$disk/a.h264"
    umount "$disk"
    mount -t tmpfs -o "size=${drawn}k" none "$disk"
    start "${test30[@]}" --no-pace --qp 4 --frames 1500 "$disk/a.h264" beside.h264
    ended
    lost_beside "the disk of one of two outputs is full" 74
    umount "$disk"
done
settle "the disk is full"
settle "the disk of one of two outputs is full"
settle "the disk of one of two outputs is full: the output beside it"

# With segments it is tried again: when there is room, when the disk works, when it is mounted again.
interrupted() { # FAULT: between FAULT_BEGINS and FAULT_ENDS
    local fault=$1 i
    for ((i = 0; i < $(times 5 1); i++)); do
        disk_is_there
        draw 3 25
        start "${test30[@]}" --qp 8 --segment 1s "$disk/a.h264" beside.h264
        await 30 holds $((drawn * 1000)) "$disk/a*.h264" || fail "$fault" "nothing is recorded"
        fault_begins
        await 60 grep -q 'trying on' stderr || fail "$fault" "it is not told"
        fault_ends
        await 60 grep -q 'recording again' stderr || fail "$fault" "it is not tried again"
        grows "$disk/a*.h264" || fail "$fault" "it does not go on"
        ended TERM
        mapfile -t beside < <(ls -v beside*.h264)
        trial "$fault" --rate 30 --status "$status" --wanted 74 --report report.json --so 'outputs[0].lost > 0' --most-took 15 $(ls -v "$disk"/a*.h264)
        trial "$fault: the output beside it" --rate 30 --status "$status" --wanted 74 --report report.json --output 1 --so 'outputs[1].lost == 0' "${beside[@]}"
        disk_is_gone
    done
    settle "$fault"
    settle "$fault: the output beside it"
}
disk_is_there() { mount -t tmpfs -o size=2m none "$disk"; }
disk_is_gone() { umount "$disk"; }
fault_begins() { head -c 2m /dev/zero >"$disk/other" 2>/dev/null || true; }
fault_ends() { rm "$disk/other"; }
interrupted "the disk is full for a while"
if [ -z "$short" ]; then
    # A bind mount, so that what was recorded is there when it comes back.
    mkdir -p "$work/store"
    disk_is_there() { rm -rf "$work/store/"* && mount -t tmpfs none "$work/store" && mount --bind "$work/store" "$disk"; }
    disk_is_gone() { umount "$disk" "$work/store"; }
    fault_begins() { umount --lazy "$disk"; }
    fault_ends() { mount --bind "$work/store" "$disk"; }
    interrupted "the disk is unmounted for a while"
fi

# Old segments make room: nothing is lost.
mount -t tmpfs -o size=2m none "$disk"
start "${test30[@]}" --no-pace --qp 8 --frames 1500 --segment 30f --min-free 25% "$disk/a.h264" beside.h264
ended
trial "the disk would be full, --min-free" --output 1 --status "$status" --report report.json --so 'outputs[0].lost == 0' --so 'outputs[0].segments.removed > 0' \
    --so 'outputs[0].written == 1500' --most-lost 0 $(ls -v beside*.h264)
settle "the disk would be full, --min-free"
umount "$disk"

# The folder is removed. An open file's name is gone with it; segments make the folder anew.
start "${test30[@]}" --segment 1s there/a.h264 beside.h264
await 30 holds 1 'there/a*.h264' && rm -r there
await 30 holds 5000 'there/a*.h264' || fail "the folder is removed, segments" "it is not made anew"
ended TERM
trial "the folder is removed, segments: the output beside it" --rate 30 --output 1 --status "$status" --wanted "$(grep -q 'trying on' stderr && echo 74 || echo 0)" --report report.json $(ls -v beside*.h264)
settle "the folder is removed, segments: the output beside it"
finish
