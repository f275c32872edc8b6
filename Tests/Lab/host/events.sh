#!/bin/bash
# Programs that are started with events, and the examples: a broker, a web server and a mail program of the test's own.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
examples=$LAB/../../examples
small=(--device test --size 320x240 --fps 30 --encoder software)

program() { # NAME: makes a program of standard input
    { echo '#!/bin/sh' && cat; } >"$1" && chmod +x "$1"
}
program notes <<<'said=$(cat); printf "%s %s\n" "$1" "$said" >>"${0%/*}/noted"' # at once: two may write
said() { # PATTERN: what was noted of an event
    grep -q -- "$1" noted
}
noted() { cut -d ' ' -f 1 noted | tr '\n' ' '; }

begins_and_ends() {
    rm -f noted
    camrec "${small[@]}" --frames 30 --on-event ./notes --report ends.json ends.mkv || return 1
    [ "$(noted)" = 'recording-began recording-ended ' ] && said '"frames":30' && ! [ -s stderr ] &&
        report ends.json 'onEvent.started == 2' 'onEvent.failed == 0' 'onEvent.leftOut == 0' || { cat noted stderr; return 1; }
}
check "events: a recording begins and ends" begins_and_ends

triggers() { # motion of the test picture, and a trigger
    rm -f noted
    "$CAMREC" "${small[@]}" --duration 60s --ring 1s --post 1s --on-motion --on-event ./notes,trigger,motion --control-socket socket 'ring-%s.mkv' 2>stderr &
    local pid=$!
    await 30 said '^motion-began ' && "$CAMREC" ctl socket trigger >/dev/null && await 30 said '^trigger ' || { kill $pid; cat stderr; return 1; }
    kill -TERM $pid
    wait $pid || return 1
    said '^motion-ended .*"seconds":' && ! said '^recording' || { cat noted; return 1; }
}
check "events: motion and a trigger, and only what was asked for" triggers

if [ "$(id -u)" = 0 ]; then
    mkdir disk && mount -t tmpfs -o size=800k none disk
    fills() {
        rm -f noted
        head -c 700k /dev/zero >disk/other
        "$CAMREC" "${small[@]}" --qp 2 --segment 1s --on-event ./notes,disk,outage disk/a.h264 2>stderr &
        local pid=$!
        await 60 said '^disk-full .*"output":"disk/a.h264"' || { echo "it is not told: $(cat stderr)"; kill $pid; return 1; }
        rm -f disk/other
        await 60 said '^outage-over .*the disk is full' || { echo "its end is not told: $(cat stderr)"; kill $pid; return 1; }
        kill -TERM $pid
        wait $pid || [ $? = 74 ] || return 1
        await 10 said '^disk-free .*"seconds":' || { cat noted; return 1; }
    }
    check "events: a full disk, and its end" fills
    umount disk
else
    skip "events: a full disk" "needs root"
fi

program hangs <<<'echo $$ >>"${0%/*}/hanging"; exec sleep 100'
holds_nothing() {
    rm -f hanging
    limit=40 camrec "${small[@]}" --frames 30 --on-event ./hangs --report hung.json hung.mkv || return 1
    # shellcheck disable=SC2046 # processes
    kill $(cat hanging)
    grep -q 'hangs: still running for recording-began' stderr && grep -q 'hangs: not started for 1 event' stderr &&
        report hung.json 'outputs[0].written == 30' || { cat stderr; return 1; }
}
check "events: a program that hangs does not hold camrec" holds_nothing
program tells <<<'{ echo "$@"; env; cat; } >>"${0%/*}/told"'
keeps_secrets() { # neither the password of a server nor one in its address
    rm -f told
    CAMREC_PASSWORD=hush-variable camrec "${small[@]}" --frames 30 --on-event ./tells secret.mkv "rtsp://user:hush-address@127.0.0.1:1/cam" || true
    [ -s told ] && ! grep hush told
}
check "events: no password reaches a program" keeps_secrets
records "events: a program that is not there" "${small[@]}" --frames 10 --on-event ./nowhere absent.h264 &&
    check "events: is warned of at the start" grep -q -- '--on-event ./nowhere: No such file or directory; check its name' stderr
refuses "events: motion without its detection" 64 '--on-event with motion needs --on-motion' "${small[@]}" --frames 10 --on-event ./notes,motion a.h264
settable() { "$CAMREC" ctl --help | grep -qE 'on-(event|segment)'; }
cannot_be_set() { ! settable; }
check "events: programs cannot be set through the control socket" cannot_be_set

# A broker of the test's own, with a password.
free_port() { "$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
export XDG_CONFIG_HOME=$work/config
mkdir config
broker=$(command -v mosquitto || ls /usr/sbin/mosquitto 2>/dev/null || true)
if [ -n "$broker" ] && command -v mosquitto_pub >/dev/null; then
    port=$(free_port)
    (umask 077 && mosquitto_passwd -b -c "$work/users" camera wide-shut)
    printf 'listener %s 127.0.0.1\nallow_anonymous false\npassword_file %s\npersistence false\nuser root\n' "$port" "$work/users" >broker.conf
    "$broker" -c "$work/broker.conf" >broker.log 2>&1 &
    broker_process=$!
    printf -- '-h 127.0.0.1\n-p %s\n-u camera\n-P wide-shut\n' "$port" | tee config/mosquitto_pub >config/mosquitto_sub
    await 20 mosquitto_pub -t ready -m yes
    kept() { timeout 20 mosquitto_sub -t "$1" -C 1; }
    says_kept() { [ "$(kept "$1")" = "$2" ]; }
    # The test picture moves from its beginning to its end.
    CAMREC_MQTT_NAME=door "$CAMREC" "${small[@]}" --duration 120s --ring 1s --post 1s --on-motion --on-event "$examples/on-event-mqtt" 'door-%s.mkv' 2>stderr &
    recorder=$!
    check "mqtt: motion reaches the broker" await 60 says_kept camrec/door/motion ON
    check "mqtt: the recording does, too" await 20 says_kept camrec/door/recording ON
    discovered() {
        kept homeassistant/binary_sensor/camrec_door/motion/config | "$PYTHON" -c '
import json, sys
found = json.load(sys.stdin)
sys.exit(0 if (found["device_class"], found["state_topic"]) == ("motion", "camrec/door/motion") else f"{found}")'
    }
    check "mqtt: Home Assistant finds the sensor" discovered
    kill -TERM $recorder
    wait $recorder || true
    check "mqtt: the end reaches the broker" await 20 says_kept camrec/door/recording OFF
    check "mqtt: so does the motion's" await 20 says_kept camrec/door/motion OFF
    last_event() { kept camrec/door/event | grep -qE '"event":"(recording|motion)-ended"'; }
    check "mqtt: the last event as JSON" last_event
    check "mqtt: the example fails nowhere" test ! -s stderr
    kill $broker_process
else
    skip "mqtt" "no mosquitto here"
fi

cat >hook.py <<'E2'
import http.server, sys


class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("posted", "ab") as file:
            file.write(f"{self.headers['Authorization']} {self.headers['Content-Type']} ".encode() + body)
        self.send_response(204)
        self.end_headers()


server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
print(server.server_port, flush=True)
server.serve_forever()
E2
"$PYTHON" hook.py >hook.port 2>/dev/null &
hook=$!
await 20 test -s hook.port
printf 'url = "http://127.0.0.1:%s/hook"\nheader = "Authorization: Bearer wide-shut"\n' "$(cat hook.port)" >webhook
posts() {
    CAMREC_WEBHOOK=$work/webhook camrec "${small[@]}" --frames 30 --on-event "$examples/on-event-webhook" hooked.mkv || return 1
    [ "$(grep -cE '^Bearer wide-shut application/json \{.*"event":"recording-(began|ended)"' posted)" = 2 ] && ! [ -s stderr ] || { cat posted stderr; return 1; }
}
check "webhook: each event is posted" posts
kill $hook
fails_visibly() {
    CAMREC_WEBHOOK=$work/webhook camrec "${small[@]}" --frames 30 --on-event "$examples/on-event-webhook" unhooked.mkv || return 1
    grep -q 'on-event-webhook: exit code 7 for recording-began; to see why, run it with that event' stderr
}
check "webhook: a server that is away is a warning, and the recording succeeds" fails_visibly

program sendmail <<<'{ echo "$@"; cat; } >>"${0%/*}/mailed"'
mails() {
    CAMREC_MAIL=me@example.org SENDMAIL=$work/sendmail camrec "${small[@]}" --frames 30 --on-event "$examples/on-event-mail,recording" mailed.mkv || return 1
    grep -q '^-t$' mailed && grep -q '^To: me@example.org$' mailed && grep -q '^Subject: test: recording-ended$' mailed && grep -q '"frames":30' mailed ||
        { cat mailed stderr; return 1; }
}
check "mail: each event is mailed" mails
finish
