#!/bin/bash
# Runs in the guest: formats, controls, rates and content of the pictures.
. "$(dirname "$0")/guest-lib.sh"
ls -l /dev/v4l/by-id | tail -n +2
check "uvcvideo is the driver" sh -c "v4l2-ctl -d $link -D | grep -q uvcvideo"
v4l2-ctl -d $link --list-formats-ext
[ "$(v4l2-ctl -d $link --list-formats-ext | grep -cE 'Size: Discrete (640x480|1280x720|320x240)')" = 4 ] &&
	[ "$(v4l2-ctl -d $link --list-formats-ext | grep -cE '\((30|15).000 fps\)')" = 8 ] && ok "formats" || bad "formats"

echo "--- brightness"
v4l2-ctl -d $link --set-ctrl brightness=33
check "brightness set and read" sh -c "v4l2-ctl -d $link --get-ctrl brightness | grep -q 33 && $camera/uvccam status | grep -q brightness=33"
v4l2-ctl -d $link --set-ctrl brightness=0

echo "--- rates, v4l2-ctl, nothing written"
for m in "640 480 MJPG 30" "1280 720 MJPG 30" "640 480 YUYV 30" "320 240 YUYV 30" "640 480 MJPG 15" "640 480 YUYV 15"; do
	v4l $m --stream-count=60 >$out/log 2>&1; echo "$m: rc $? $(fps $out/log); $(cam status | grep -oE 'late=[0-9]+')"
done
echo "--- content, v4l2-ctl, written to a file"
for m in "640 480 MJPG 30" "1280 720 MJPG 30" "640 480 YUYV 30" "320 240 YUYV 30"; do
	set -- $m
	v4l $m --stream-count=60 --stream-to=$out/x >$out/log 2>&1
	echo "$m: $(fps $out/log) $(python3 check.py $([ $3 = MJPG ] && echo mjpeg || echo yuyv) $out/x $1 $2)"
	[ $3 = MJPG ] && { ffmpeg -v warning -xerror -f mjpeg -i $out/x -f null - && ok clean decode || bad decode; }
done
echo "--- ffmpeg"
for m in "640x480 mjpeg 30 copy" "640x480 yuyv422 30 copy" "640x480 mjpeg 15 rawvideo"; do
	set -- $m
	timeout 90 ffmpeg -hide_banner -nostdin -v warning -stats -f v4l2 -input_format $2 -video_size $1 -framerate $3 -i $link \
		-frames:v 60 -c $4 -f null - >$out/log 2>&1; echo "$m: rc $?"; tr '\r' '\n' <$out/log | sed '/./!d' | tail -4
done

cam quit
