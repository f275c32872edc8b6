#!/bin/bash
# In the guest, under the real systemd (run --systemd): the service, the udev rules with the USB webcam, the timer, cron
# and camweb, installed by scripts/install.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
repository=$(cd "$LAB/../.." && pwd)
# shellcheck source=usb-webcam.sh
. "$LAB/guest/usb-webcam.sh"
name=Emulated_Emulated_Webcam_EMU0001
link=/dev/camrec/$name
service=camrec@$name.service
recordings=/var/lib/camrec/$name
gone() { ! [ -e $link ]; }
property() { systemctl show --value --property "$2" "$1"; }
has_property() { # UNIT PROPERTY PATTERN
    local value
    value=$(property "$1" "$2")
    grep -qE -- "$3" <<<"$value" || { echo "$2=$value has no '$3'"; return 1; }
}
is_recording() { # FOLDER SECONDS AGO: something was written there since
    [ -n "$(find "$1" -type f -size +4k -newermt "@$2" 2>/dev/null)" ]
}
records_again() { # FOLDER: from now on
    await 30 is_recording "$1" "$(($(date +%s) + 1))" || { echo "nothing new in $1: $(journalctl -b --no-pager -n 5 -o cat -t camrec)"; return 1; }
}
settings() { # NAME LINE...
    printf '%s\n' "${@:2}" >"/etc/camrec/$1.conf"
}

# Everything in its place.
check "install" "$repository/scripts/install"
CAMREC=/usr/local/bin/camrec
check "install: the user is in video and render" bash -c 'id -nG camrec | grep -w video | grep -qw render'
settings $name "device = $link" "size = 320x240" "fps = 15" "keyframe-interval = 15" "format = YUYV" "encoder = software" "output = %H%M%S.h264" "segment = 1h" "control-socket = /run/camrec/$name/control"
check "install: the settings are sound" $CAMREC check /etc/camrec/$name.conf
check "service: systemd reports nothing" systemd-analyze verify /usr/local/lib/systemd/system/$service
status=0
systemd-analyze security --no-pager --threshold=20 $service >"$RESULTS/security" || status=$?
exposure=$(grep -oE '[0-9.]+ [A-Z]+' <<<"$(tail -n 1 "$RESULTS/security")")
check "service: exposure $exposure by systemd-analyze security, at most 2.0" test "$status" = 0

# Plugged in: link, permissions, start.
modprobe -a vhci-hcd uvcvideo
"$camera/uvccam" -f "$camera/frames" >"$RESULTS/uvccam.log" 2>&1 &
check "plug: the link" await 30 test -e $link
check "plug: one node has it, the one that captures" test "$(cat "/sys/class/video4linux/$(basename "$(readlink -f $link)")/index")" = 0
check "plug: the group has access" test "$(stat -Lc '%G %a' $link)" = "video 660"
check "plug: the seat has access" bash -c "udevadm info --query=property --property=TAGS $link | grep -q :uaccess:"
check "plug: the service starts" await 30 systemctl --quiet is-active $service
check "plug: it records" await 30 is_recording $recordings 0
check "service: reports its progress" await 15 has_property $service StatusText '^[1-9][0-9]* frames'
gives_sign() { [ "$(property $service WatchdogTimestampMonotonic)" -gt "$sign" ]; }
sign=$(property $service WatchdogTimestampMonotonic) # systemd's own, where it only was started
check "service: gives signs of life" await 60 gives_sign
check "service: runs as camrec" has_property $service User '^camrec$'

# Its metrics, as the example writes them.
metrics=/var/lib/prometheus/node-exporter
mkdir -p $metrics
cp "$repository"/examples/camrec-metrics@.* /etc/systemd/system/
systemctl daemon-reload
check "metrics: systemd reports nothing" systemd-analyze verify /etc/systemd/system/camrec-metrics@$name.{service,timer}
check "metrics: the example runs" systemctl start camrec-metrics@$name.service
check "metrics: frames are counted" grep -qE "^camrec_captured_frames_total\\{recording=\"/run/camrec/$name/control\"\\} [1-9]" $metrics/camrec-$name.prom
check "metrics: and nothing else is left there" test "$(ls $metrics)" = camrec-$name.prom

# The doctor, with a camera that is being recorded.
doctor() { # CODE PATTERN COMMAND...: exit code CODE, and a line with PATTERN
    local code=$1 pattern=$2 said status=0
    shift 2
    said=$("$@" $CAMREC doctor 2>&1) || status=$?
    [ "$status" = "$code" ] && grep -qE -- "$pattern" <<<"$said" || { echo "exit code $status: $said"; return 1; }
}
check "doctor: says that it is recorded, and by whom" doctor 0 "$(readlink -f $link): .*$link.*recorded by camrec" env
check "doctor: the service runs" doctor 0 "ok .*$service: running" env

# Unplugged.
pid=$(property $service MainPID)
cam unplug
check "unplug: the link goes" await 15 gone
check "unplug: the service waits, and says so" await 20 has_property $service StatusText '^waiting for the camera'
cam plug
check "replug: the link comes back" await 30 test -e $link
check "replug: recording again" records_again $recordings
check "replug: the process is the same, and the watchdog left it alone" test "$(property $service MainPID)" = "$pid"

# A stalled process is killed and restarted.
mkdir -p "/run/systemd/system/$service.d"
printf '[Service]\nWatchdogSec=4\nRestartSec=1\n' >"/run/systemd/system/$service.d/lab.conf"
systemctl daemon-reload
systemctl restart $service
pid=$(property $service MainPID)
kill -STOP "$pid"
another() { local now; now=$(property $service MainPID) && [ "$now" != 0 ] && [ "$now" != "$pid" ]; }
check "watchdog: a process that hangs is replaced" await 30 another
check "watchdog: recording again" records_again $recordings
check "stop: clean, by a signal" systemctl stop $service
check "stop: the result" has_property $service Result '^success$'
systemctl start camrec-metrics@$name.service 2>/dev/null || true
check "metrics: gone with the recording" test -z "$(ls $metrics)"
cp "$(find "$recordings" -name '*.h264' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2)" "$RESULTS/service.h264"
on_host check "stop: what was recorded is sound" is_sound service.h264 --keyframe-interval 15
bash "$LAB/faults/service.sh" --short
# The doctor, without permission, in units with other permissions, and for a camera in use.
check "doctor: another user is told to join the group" doctor 77 'usermod -aG video nobody' systemd-run --quiet --scope setpriv --reuid=65534 --regid=65534 --clear-groups
in_unit=(systemd-run --quiet --wait --pipe --collect -p User=camrec -p SupplementaryGroups=video -p WorkingDirectory=/tmp)
check "doctor: in a unit that allows no device" doctor 77 'DeviceAllow=char-video4linux rw' "${in_unit[@]}" -p DevicePolicy=closed
check "doctor: in a unit with cameras and no /sys" doctor 0 '/sys: hidden' "${in_unit[@]}" -p DevicePolicy=closed -p 'DeviceAllow=char-video4linux rw' -p InaccessiblePaths=/sys/class
v4l2-ctl -d $link --stream-mmap >/dev/null 2>&1 &
check "doctor: another program has the camera" await 20 doctor 75 'in use by v4l2-ctl' env
kill $! && wait $! || true

# By its port: that name has characters with a special meaning for systemd.
check "place: the link is still there" await 30 test -e $link
place=$(find /dev/camrec -name 'p*' -printf '%f\n' | sed -n 1p)
mv "/etc/camrec/$name.conf" kept.conf
sed "s|^device.*|device = /dev/camrec/$place|" kept.conf >"/etc/camrec/$place.conf"
cam unplug
check "place: the link goes" await 15 gone
cam plug
check "place: plugged in, the service of the place starts" await 30 systemctl --quiet is-active "camrec@$place.service"
check "place: it records" await 30 is_recording "/var/lib/camrec/$place" 0
systemctl stop "camrec@$place"
rm "/etc/camrec/$place.conf" && mv kept.conf "/etc/camrec/$name.conf"
cam quit

bash "$LAB/guest/camweb.sh"

# Waits for a camera that is missing.
settings absent "device = /dev/camrec/absent" "output = out.h264" "encoder = software"
check "absent camera: the service is still ready" timeout 20 systemctl start camrec@absent
check "absent camera: says what it waits for" has_property camrec@absent StatusText 'waiting.*/dev/camrec/absent'
systemctl stop camrec@absent
# Wrong settings are reported, once.
settings wrong "device = test" "bitrat = 4M" "output = out.h264"
systemctl start camrec@wrong 2>/dev/null || true
check "wrong settings: the line is in the journal" await 10 bash -c "journalctl -b --no-pager -u camrec@wrong | grep -q 'wrong.conf:2:.*bitrate'"
check "wrong settings: not retried" has_property camrec@wrong NRestarts '^0$'

# The real VA-API drivers with the unit's permissions, on the emulated GPU, which the unit must be able to see.
for driver in radeonsi iHD; do
    has_gpu "service: $driver" $driver || continue
    mkdir -p /opt/lab/gpu /opt/lab/bin "/run/systemd/system/camrec@$driver.service.d"
    mountpoint -q /opt/lab/gpu || { mount --bind "$LAB_CACHE/gpu" /opt/lab/gpu && mount --bind "$LAB/gpu" /opt/lab/bin; }
    printf '[Service]\nEnvironment=CAMREC_LAB_CACHE=/opt/lab\nExecStart=\nExecStart=/opt/lab/bin/run %s %s record --settings /etc/camrec/%%i.conf\n' \
        $driver $CAMREC >"/run/systemd/system/camrec@$driver.service.d/lab.conf"
    settings $driver "device = test" "size = 320x240" "fps = 5" "keyframe-interval = 5" "frames = 10" "encoder = vaapi" "output = out.h264"
    systemctl daemon-reload
    systemctl start camrec@$driver || true
    check "service: $driver encodes within its permissions" await 30 has_property camrec@$driver ActiveState '^inactive$'
    check "service: $driver reports nothing" bash -c "! journalctl -b --no-pager -t run -t camrec _SYSTEMD_UNIT=camrec@$driver.service | grep -E 'Failed|rror'"
    cp /var/lib/camrec/$driver/out.h264 "$RESULTS/$driver.h264" || true
    on_host check "service: what $driver encoded is sound" is_sound $driver.h264 --frames 10 --keyframe-interval 5
done

# At set times.
settings office "device = test" "size = 160x120" "fps = 3" "encoder = software" "duration = 2s" "output = out.h264"
date -s '2026-11-23 07:59:58' >/dev/null # a Monday
systemctl start camrec@office.timer
check "timer: records at eight on a weekday" await 20 test -s /var/lib/camrec/office/out.h264
check "timer: next on Tuesday" await 20 bash -c "systemctl list-timers --no-pager camrec@office.timer | grep -q 'Tue 2026-11-24 08:00'"

# A duration is recorded once: it ends even with losses, and after a crash the rest is recorded.
settings lossy "device = test" "size = 160x120" "fps = 3" "encoder = software" "duration = 4s" "output = out.h264" "output = /dev/full"
systemctl start camrec@lossy
check "duration: over, with losses" await 60 has_property camrec@lossy ActiveState '^failed$'
check "duration: says so to systemd" has_property camrec@lossy ExecMainStatus '^76$'
check "duration: not restarted" has_property camrec@lossy NRestarts '^0$'
settings timed "device = test" "size = 160x120" "fps = 3" "encoder = software" "duration = 1h" "output = out.h264"
systemctl start camrec@timed
check "duration: recorded" await 30 is_recording /var/lib/camrec/timed 0
deadline=$(cat /run/camrec/timed/deadline)
systemctl kill --signal=SEGV camrec@timed
check "duration: a crash, and another process" await 60 test -s /var/lib/camrec/timed/out-1.h264
check "duration: its end is the previous one's" test "$(cat /run/camrec/timed/deadline)" = "$deadline"
systemctl stop camrec@timed
check "duration: forgotten when the service is stopped" test ! -e /run/camrec/timed

# Cron, with a sendmail that keeps its input.
mkdir -p /var/mail-kept
chmod 1777 /var/mail-kept
printf '#!/bin/sh\nexec cat >"$(mktemp /var/mail-kept/XXXXXX)"\n' >/usr/sbin/sendmail
chmod 755 /usr/sbin/sendmail
recorder='camrec --device test --size 160x120 --fps 3 --keyframe-interval 3 --encoder software --duration 4s'
cat >/etc/cron.d/camrec <<END
$(grep -E '^(PATH|MAILTO)=' "$repository/examples/camrec.cron")
* * * * * camrec $recorder "/var/lib/camrec/a-\$(date +\%Y\%m\%d-\%H\%M\%z).h264"
* * * * * camrec $recorder /var/lib/camrec/b.mkv; env >/var/lib/camrec/environment; tty >/var/lib/camrec/tty
* * * * * camrec $recorder /nowhere/c.h264
END
date -s '2026-11-23 09:59:50' >/dev/null
systemctl start cron
finished() { [ "$(pgrep -c -x camrec)" = 0 ] && [ -e /var/lib/camrec/environment ]; }
check "cron: three jobs at once" await 40 bash -c '[ "$(find /var/lib/camrec -maxdepth 1 -name "[ab]*" -size +1k | wc -l)" = 2 ]'
check "cron: they end" await 40 finished
systemctl stop cron
check "cron: names that contain the time" bash -c "ls /var/lib/camrec | grep -qE '^a-20261123-10[0-9]{2}[+-][0-9]{4}\.h264\$'"
check "cron: no terminal" grep -q 'not a tty' /var/lib/camrec/tty
check "cron: an environment that is bare" test "$(grep -vcE '^(HOME|LOGNAME|PATH|PWD|SHELL|MAILTO|_|SHLVL|OLDPWD)=' /var/lib/camrec/environment)" = 0
check "cron: one mail, of the job that failed" test "$(find /var/mail-kept -type f | wc -l)" = 1
check "cron: one line in it, with the cause" bash -c "sed '1,/^\$/d' /var/mail-kept/* | tee $RESULTS/mail | grep -c . | grep -qx 1 && grep -q '^camrec: .*/nowhere/c.h264' $RESULTS/mail"
# The example itself, except for its camera and its durations, on a Monday at eight, when all of its lines begin.
systemctl stop camrec@office.timer camrec@office
rm -f /var/mail-kept/*
sed -E 's#--device /dev/camrec/NAME#--device test --size 160x120 --fps 3 --encoder software#; s#--duration [0-9]+[smh]#--duration 4s#; s# --wait [0-9]+[smh]##' \
    "$repository/examples/camrec.cron" >/etc/cron.d/camrec
date -s '2026-11-30 07:59:50' >/dev/null
systemctl start cron
examples() { find /var/lib/camrec -maxdepth 1 -size +1k -name '20261130-0800+*.mkv' -o -name office-2026-11-30.mkv -size +1k -o -name '1[0-9]*.mp4' -size +1k; }
check "cron: the example's three lines record" await 60 bash -c "$(declare -f examples)"'; [ "$(examples | wc -l)" = 3 ]'
check "cron: the example's jobs end" await 40 finished
systemctl stop cron
check "cron: the example's log" grep -q 'keyframe' /var/lib/camrec/camrec.log
check "cron: the example has nothing to mail" bash -c '! cat /var/mail-kept/* 2>/dev/null'
cp /var/lib/camrec/a-*.h264 "$RESULTS/cron.h264"
cp /var/lib/camrec/b.mkv "$RESULTS/cron.mkv"
on_host check "cron: the raw stream is sound" is_sound cron.h264 --keyframe-interval 3
on_host check "cron: the container plays" ffmpeg -nostdin -v error -xerror -i cron.mkv -f null -
journalctl -b --no-pager -o short-monotonic >"$RESULTS/journal"
