#!/bin/bash
# In the guest, under the real systemd: a service that crashes or hangs while it records the USB webcam, and what that
# costs until it records again.
# usage: ../guest/run --systemd --limit 3600 service.sh [--short]
# ../guest/unattended.sh runs the short form, and triggers the watchdog itself.
set -euo pipefail
# shellcheck source=../guest/guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/../guest/guest.sh"
# shellcheck source=faults.sh
. "$LAB/faults/faults.sh"
part="The service under systemd"
in_guest
cd "$work"

name=Emulated_Emulated_Webcam_EMU0001
link=/dev/camrec/$name
service=camrec@$name.service
recordings=/var/lib/camrec/$name
usb=$LAB_CACHE/webcam
property() { systemctl show --value --property "$1" $service; }
configure() { # LINE...: the service's settings, besides those of all
    printf '%s\n' "device = $link" "size = 320x240" "fps = 15" "format = YUYV" "output = %H%M%S.h264" "segment = 1h" "$@" >/etc/camrec/$name.conf
}
restart() { # with its settings and those of the unit
    systemctl daemon-reload
    systemctl restart $service
    process=
    await 60 records || fail "service" "it does not record: $(property StatusText)"
}
records() { # another process than before, into another file
    local now
    now=$(property MainPID)
    [ "$now" != "$process" ] && file=$(find "/proc/$now/fd" -lname "$recordings/*.h264" -printf '%l\n' 2>/dev/null) &&
        [ -n "$(find "$file" -size +8k)" ] && process=$now
}

exit_code() { # of the service's former process, as a shell reports it
    journalctl -b --no-pager -o cat -u $service | grep -oE 'Main process exited, code=[a-z]+, status=[0-9]+' | tail -n 1 |
        awk -F '[=,]' '{print $NF + ($3 == "exited" ? 0 : 128)}'
}

strikes() { # FOLDER FAULT TIMES EXIT-CODE COMMAND: at random moments, each of which ends the process
    local number before took last sent
    mkdir "$RESULTS/$kept/$1"
    for ((number = 0; number < $3; number++)); do
        for_a_while 0 2000
        last=$file
        before=$(now)
        $5
        await 120 records || fail "$2" "it does not record again: $(property StatusText)"
        took=$(since "$before")
        # The camera reports how many frames it sent until it was released.
        sent=$(grep -oE 'stream off: [0-9]+' "$RESULTS/uvccam.log" | tail -n 1 | grep -oE '[0-9]+')
        cp "$last" "$RESULTS/$kept/$1/$number.h264"
        on_host trial "$2" --block 0 --rate 15 --status "$(exit_code)" --wanted "$4" --took "$took" --sent "$sent" "$kept/$1/$number.h264"
    done
    on_host settle "$2"
}

if [ ! -e /usr/local/bin/camrec ]; then check "install" "$LAB/../../scripts/install"; fi
if [ ! -e $link ]; then
    modprobe -a vhci-hcd uvcvideo
    "$usb/uvccam" -f "$usb/frames" >"$RESULTS/uvccam.log" 2>&1 &
    await 30 test -e $link
    udevadm settle
fi

configure "encoder = software"
restart
crash() { systemctl kill --signal=SEGV $service; }
strikes crash "the process crashes (SIGSEGV)" "$(times 5 1)" 139 crash
if [ -n "$short" ]; then
    systemctl stop $service
    exit 0
fi
end() { systemctl kill --signal=KILL $service; }
strikes kill "the process is killed (SIGKILL)" 5 137 end
halt() { systemctl kill --signal=STOP $service; }
strikes hang "the process hangs (SIGSTOP), and the watchdog ends it after 30 s" 2 134 halt

# A driver that crashes: Mesa ends the process when a submission is refused.
if has_gpu "the GPU's driver ends the process" radeonsi; then
    mkdir -p /opt/lab/gpu /opt/lab/bin "/run/systemd/system/$service.d"
    mount --bind "$LAB_CACHE/gpu" /opt/lab/gpu
    mount --bind "$LAB/gpu" /opt/lab/bin
    touch /opt/lab/faults
    printf '[Service]\nEnvironment=CAMREC_LAB_CACHE=/opt/lab FAKEGPU_CONTROL=/opt/lab/faults\nExecStart=\nExecStart=/opt/lab/bin/run radeonsi /usr/local/bin/camrec record --settings /etc/camrec/%%i.conf\n' \
        >"/run/systemd/system/$service.d/lab.conf"
    configure "encoder = vaapi"
    restart
    refuse() {
        echo 'fail AMDGPU_CS ECANCELED' >/opt/lab/faults
        await 60 another_process
        : >/opt/lab/faults
    }
    another_process() { [ "$(property MainPID)" != "$process" ]; }
    strikes driver "the GPU's driver ends the process (Mesa, when a submission is refused)" 3 1 refuse
fi

systemctl stop $service
check "service: stopped, it ends well" test "$(property Result) $(property ExecMainStatus)" = "success 0"
journalctl -b --no-pager -o short-monotonic >"$RESULTS/journal"
"$usb/uvccam" quit
