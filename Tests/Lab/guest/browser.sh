#!/bin/bash
# In the guest, under the real systemd (run --systemd --beside browser-beside.sh): two cameras of the vivid driver record as
# services, and camweb shows them. A browser on the host looks at the page and ends this.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
repository=$(cd "$LAB/../.." && pwd)
check "browser: installed" "$repository/scripts/install"
CAMREC=/usr/local/bin/camrec

modprobe virtio_net
ip link set lo up
for link in /sys/class/net/*; do [ "$(basename "$link")" = lo ] || name=$(basename "$link"); done
ip addr add 10.0.2.15/24 dev "${name:?no network}" && ip link set "$name" up
modprobe vivid n_devs=2 node_types=0x1,0x1
udevadm settle
mapfile -t nodes < <(grep -l '^vivid-.*vid-cap' /sys/class/video4linux/video*/name | sed -E 's|.*/(video[0-9]+)/name|/dev/\1|' | sort)
check "browser: two cameras" test ${#nodes[@]} = 2

settings() { # NAME NODE LINE...: as the example has them, at a rate that an emulated processor encodes
    sed -E "s|^device = .*|device = $2\nformat = YUYV\nfps = 5\nkeyframe-interval = 10\nencoder = software|; s|^size = .*|size = 320x180|; \
        s|^segment = .*|segment = 30s|; s/NAME/$1/; s|/NAME|/$1|g" "$repository/examples/camera.conf" >"/etc/camrec/$1.conf"
    printf '%s\n' "${@:3}" >>"/etc/camrec/$1.conf"
    check "browser: the settings of $1 are sound" $CAMREC check "/etc/camrec/$1.conf"
}
settings door "${nodes[0]}" "control = test_pattern=75% colorbar"
settings yard "${nodes[1]}" "control = test_pattern=100% green"
mkdir -p /run/systemd/system/camweb.service.d
printf '[Service]\nEnvironment=CAMWEB_OPTIONS=--allow-changes\n' >/run/systemd/system/camweb.service.d/lab.conf
systemctl daemon-reload
check "browser: the recorders start" systemctl start camrec@door camrec@yard
check "browser: camweb starts" systemctl start camweb
# As a tunnel does: camweb itself serves this machine alone.
check "browser: the way from the host" systemd-run --quiet --socket-property=ListenStream=10.0.2.15:8080 /lib/systemd/systemd-socket-proxyd 127.0.0.1:8080
records() { [ -n "$(find "/var/lib/camrec/$1" -name '*.mkv' -size +4k)" ]; }
for camera in door yard; do check "browser: $camera records" await 120 records $camera; done
touch "$RESULTS/ready"
await 700 test -e "$RESULTS/seen" || true
journalctl -b --no-pager -o short-monotonic -t camrec -t camweb >"$RESULTS/journal" || true
for camera in door yard; do
    $CAMREC ctl /run/camrec/$camera/control stats >"$RESULTS/$camera.json"
    check "browser: $camera still records, in one process" test "$(systemctl show --value --property NRestarts camrec@$camera)" = 0
done
check "browser: the recorders stop" systemctl stop camrec@door camrec@yard
check "browser: camweb stops" systemctl stop camweb
