#!/bin/bash
# Runs in the guest: every fault that can be made on purpose, unplug and replug.
. "$(dirname "$0")/guest-lib.sh"

echo "--- freeze, thaw"
grab 320 240 YUYV 1000
sleep 1; cam freeze; sleep 0.5; a=$(frames); sleep 3; b=$(frames); cam thaw; sleep 1; c=$(frames)
echo "frames: at freeze $a, 3 s later $b, 1 s after thaw $c; $(grep -c silent $out/log) silent seconds"
[ $a = $b ] && [ $c -gt $b ] && ok freeze || bad freeze

echo "--- faults with uvcvideo's default: bad frames are dropped, a gap in seq"
for fault in error short corrupt; do cam $fault; sleep 0.5; done; kill $reader; wait $reader 2>/dev/null
awk '$1 == "seq" {if (n++ && $2 != last + 1) print "gap", last, "->", $2; last = $2}' $out/log
echo "--- faults with nodrop=1 (read at plug): bad frames are delivered"
echo 1 >/sys/module/uvcvideo/parameters/nodrop
echo 0x80 >/sys/module/uvcvideo/parameters/trace # the driver says why a frame is bad
cam unplug; await gone; cam plug; await test -e $link; udevadm settle
for p in YUYV MJPG; do
	dmesg -C
	grab 640 480 $p 1000; cam error 2; sleep 0.7; cam short; sleep 0.7; cam corrupt; sleep 0.7; kill $reader; wait $reader 2>/dev/null
	echo "$p: $(frames) frames, flagged: $(grep -c ERROR $out/log); driver: $(dmesg | grep -c 'error bit set') marked for the error bit"
	awk '$1 == "seq" {if (n++ && $2 != last + 1) print "gap", last, "->", $2; last = $2}' $out/log
	[ $p = YUYV ] && echo "short: $(grep -v 'bytes 614400' $out/log | grep seq)"
	[ $p = MJPG ] && echo "short: $(awk '$1 == "seq" && $4 < 30000' $out/log)"
done
echo 0 >/sys/module/uvcvideo/parameters/nodrop; echo 0 >/sys/module/uvcvideo/parameters/trace
cam unplug; await gone; cam plug; await test -e $link; udevadm settle
v4l 640 480 MJPG 15 --stream-count=40 --stream-to=$out/x >/dev/null 2>&1 & reader=$!
await sh -c '$camera/uvccam status | grep -q streaming=1'; sleep 0.5; cam short; sleep 0.5; cam corrupt; wait $reader
ffmpeg -hide_banner -v error -f mjpeg -i $out/x -f null - 2>&1 | cut -c1-90

echo "--- stall"
grab 320 240 YUYV 30; sleep 0.5; cam stall; sleep 2; tail -2 $out/log; kill $reader 2>/dev/null; wait $reader 2>/dev/null
check "stream works again after a stall" v4l 320 240 YUYV 15 --stream-count=5

echo "--- unplug while capturing"
grab 640 480 MJPG 1000; sleep 0.5; cam unplug; wait $reader; tail -2 $out/log
check "ENODEV" grep -q ENODEV $out/log
check "link gone" await gone
cam plug; check "link back" await test -e $link; udevadm settle
check "capture after replug" v4l 640 480 MJPG 30 --stream-count=10
echo "--- unplug while frozen"
grab 320 240 YUYV 1000; cam freeze; sleep 2; cam unplug; wait $reader; tail -2 $out/log
cam status; await gone; cam plug; await test -e $link; udevadm settle
echo "--- unplug while ffmpeg captures"
timeout 60 ffmpeg -hide_banner -nostdin -v info -f v4l2 -input_format yuyv422 -video_size 320x240 -framerate 15 -i $link -c copy -f null - >$out/log 2>&1 & reader=$!
await sh -c '$camera/uvccam status | grep -q streaming=1'; await grep -a -q '^frame= *[1-9]' $out/log; sleep 1; cam unplug; wait $reader; echo "rc $? $(tr '\r' '\n' <$out/log | grep -i 'no such device')"
cam format B; check "link gone" await gone; cam plug; check "link back" await test -e $link; udevadm settle
v4l2-ctl -d $link --list-formats-ext | grep -E "Size|'"
for m in "320 240 MJPG 30" "800 600 MJPG 30" "352 288 YUYV 30" "160 120 YUYV 30"; do
	v4l $m --stream-count=45 >$out/log 2>&1; echo "$m: rc $? $(fps $out/log)"
done
cam format A; cam unplug; await gone; cam plug; await test -e $link; udevadm settle
echo "--- ten quick replugs"
for i in $(seq 10); do cam unplug; cam plug; done | sort | uniq -c; await test -e $link; udevadm settle
check "capture after ten replugs" v4l 640 480 YUYV 15 --stream-count=10
echo "--- idle for 6 s (autosuspend), then capture"
sleep 6; cat /sys/bus/usb/devices/1-1/power/runtime_status
check "capture after idling" v4l 640 480 MJPG 30 --stream-count=10
echo "--- kernel messages other than unlinks"
dmesg | grep -iE 'uvc|usb 1-1|vhci' | grep -vE 'unlink->|urb->status|already given back|New USB|Product:|Manufacturer|SerialNumber' | cut -c16- | sed 's/number [0-9]*/number N/;s/(sockfd [0-9]*)//' | sort | uniq -c | sort -rn | head -30
dmesg | grep -E 'BUG:|WARNING|Oops|Call Trace'
cam quit; await gone && ok "quit unplugs"
