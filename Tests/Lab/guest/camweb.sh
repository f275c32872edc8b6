#!/bin/bash
# In the guest, under the real systemd (run --systemd): camweb as a service, and a camera that a service records with the
# example's settings. unattended.sh runs it, too.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
repository=$(cd "$LAB/../.." && pwd)
camera=shown
page=http://127.0.0.1:8080
[ -x /usr/local/bin/camweb ] || check "camweb: installed" "$repository/scripts/install"
CAMREC=/usr/local/bin/camrec
as_camweb() { setpriv --reuid=camweb --regid=camweb --init-groups "$@"; }

check "camweb: systemd reports nothing" systemd-analyze verify /usr/local/lib/systemd/system/camweb.service
status=0
systemd-analyze security --no-pager --threshold=20 camweb.service >"$RESULTS/camweb-security" || status=$?
exposure=$(grep -oE '[0-9.]+ [A-Z]+' <<<"$(tail -n 1 "$RESULTS/camweb-security")")
check "camweb: exposure $exposure by systemd-analyze security, at most 2.0" test "$status" = 0
check "camweb: the user is in the group camrec, and in no other" test "$(id -nG camweb)" = "camweb camrec"
is_idle() { ! systemctl --quiet is-active camweb && ! systemctl --quiet is-enabled camweb; }
check "camweb: nobody starts it but the administrator" is_idle

sed -E "s|^device = .*|device = test\nfps = 5\nencoder = software|; s|^size = .*|size = 320x240|; s/NAME/$camera/" "$repository/examples/camera.conf" >/etc/camrec/$camera.conf
check "camweb: the example's settings are sound" $CAMREC check /etc/camrec/$camera.conf
check "camweb: starts" systemctl start camweb
check "camweb: the recorder starts" systemctl start camrec@$camera
check "camweb: runs as camweb" test "$(systemctl show --value --property User camweb)" = camweb
serves() { grep -q '<title>camweb</title>' <<<"$(curl -s $page/)"; }
check "camweb: serves the page" await 60 serves
lists() { curl -s $page/cameras.json | grep -q '^\[{"name":"shown"'; }
check "camweb: lists the camera of the settings" await 20 lists
await 60 test -S /run/camrec/$camera/live || true
receives() { # until there is enough of a stream that has no end
    curl -s --max-time 60 -o "$RESULTS/shown.ts" $page/live/$camera.ts || true
    [ "$(stat -c %s "$RESULTS/shown.ts")" -gt 20000 ]
}
check "camweb: the live picture" receives
on_host eval 'shows() { grep -qx h264,320,240 <<<"$(ffprobe -v error -select_streams v -show_entries stream=codec_name,width,height -of csv=p=0 shown.ts)"; }'
on_host check "camweb: is the camera's" shows
on_host check "camweb: and can be decoded" ffmpeg -nostdin -v error -xerror -i shown.ts -f null -
check "camweb: its user may ask for a keyframe" as_camweb $CAMREC ctl /run/camrec/$camera/control keyframe
reads_a_recording() { as_camweb head -c 1 "$(find /var/lib/camrec/$camera -name '*.mkv' | sed -n 1p)" >/dev/null; }
check "camweb: its user may read recordings" reads_a_recording
copies_a_recording() { # what there is so far, made in the service's own folder
    curl -s --max-time 60 -o "$RESULTS/shown.mp4" "$page/recordings/$camera.mp4?from=0&to=4000000000000000" || true
    [ "$(stat -c %s "$RESULTS/shown.mp4")" -gt 2000 ]
}
check "camweb: copies a recording into one MP4" await 60 copies_a_recording
on_host check "camweb: which can be decoded" ffmpeg -nostdin -v error -xerror -i shown.mp4 -f null -
others_may_not() { ! setpriv --reuid=65534 --regid=65534 --clear-groups $CAMREC ctl /run/camrec/$camera/control keyframe 2>/dev/null; }
check "camweb: other users may not command" others_may_not

# A password, as the guide has it
printf 'correct horse\n' | camweb password /etc/camrec/camweb.password maria
mkdir -p /run/systemd/system/camweb.service.d
printf '[Service]\nLoadCredential=password:/etc/camrec/camweb.password\nEnvironment="CAMWEB_OPTIONS=--password-file %%d/password"\n' \
    >/run/systemd/system/camweb.service.d/lab.conf
systemctl daemon-reload
check "camweb: starts with a password from a credential" systemctl restart camweb
asks() { [ "$(curl -s -o /dev/null -w '%{http_code}' $page/cameras.json)" = 401 ]; }
check "camweb: asks for it" await 60 asks
logs_in() { [ "$(curl -s -o /dev/null -w '%{http_code}' -H "Origin: $page" -d user=maria --data-urlencode 'password=correct horse' $page/login)" = 303 ]; }
check "camweb: and takes it, within its sandbox" logs_in
stops_cleanly() { systemctl stop camweb && [ "$(systemctl show --value --property Result camweb)" = success ]; }
check "camweb: stops" stops_cleanly
systemctl stop camrec@$camera
rm -r /etc/camrec/$camera.conf /etc/camrec/camweb.password /run/systemd/system/camweb.service.d
systemctl daemon-reload
