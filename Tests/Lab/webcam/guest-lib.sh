#!/bin/bash
# Sourced by the guest's test scripts: helpers, and a camera that is plugged in.
cd "$(dirname "${BASH_SOURCE[0]}")"
. ../guest/guest.sh
out=/run/uvc; mkdir -p $out
export camera=$LAB_CACHE/webcam
link=/dev/v4l/by-id/usb-Emulated_Emulated_Webcam_EMU0001-video-index0
cam() { "$camera/uvccam" "$@"; }
ok() { pass "$*"; }
bad() { fail "$*" "not as expected"; }
await() { for _ in $(seq 150); do "$@" && return 0; sleep 0.1; done; return 1; }
gone() { ! [ -e $link ]; }
fps() { tr '\r<' '\n ' <"$1" | grep -a -v 'Frame rate' | grep -a -oE '[0-9.]+ fps' | tr '\n' ' '; }
v4l() { # v4l WIDTH HEIGHT FOURCC RATE options...: capture with v4l2-ctl
	local w=$1 h=$2 p=$3 r=$4; shift 4
	timeout 60 v4l2-ctl -d $link --set-fmt-video=width=$w,height=$h,pixelformat=$p -p $r --stream-mmap "$@"
}

grab() { # grab WIDTH HEIGHT FOURCC COUNT: starts grab.py; its lines go to $out/log
	rm -f $out/log
	python3 grab.py $link "$@" >$out/log 2>&1 & reader=$!
	await grep -qs '^seq' $out/log
}
frames() { grep -c '^seq' $out/log; }

modprobe vhci-hcd; modprobe uvcvideo
"$camera/uvccam" -f "$camera/frames" >$out/cam.log 2>&1 &
check "by-id link appears" await test -e $link
udevadm settle
