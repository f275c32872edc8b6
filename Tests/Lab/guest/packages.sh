#!/bin/bash
# In the guest, beneath the real systemd (run --systemd): the Debian packages of camrec and camweb from their installation
# to their purge, with a camera that is plugged in already, and a recording that goes on through an upgrade.
# usage: packages.sh      after scripts/package
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
repository=$(cd "$LAB/../.." && pwd)
latest() { find "$repository/.build/packages" -name "$1_*.deb" -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2; } # PACKAGE
package=$(latest camrec) web=$(latest camweb)
name=platform-vivid.0
link=/dev/camrec/$name
segmenting=camrec@$name.service single=camrec@single.service
recordings=/var/lib/camrec/$name
property() { systemctl show --value --property "$2" "$1"; }
has_property() { # UNIT PROPERTY PATTERN
    local value
    value=$(property "$1" "$2")
    grep -qE -- "$3" <<<"$value" || { echo "$2=$value has no '$3'"; return 1; }
}
has_file_since() { [ -n "$(find "$1" -name '*.h264' -size +1k -newermt "@$2")" ]; } # FOLDER SECONDS
is_removed() { [ ! -e "$1" ]; }
# Other packages' triggers are left alone: the index of all man pages takes minutes on an emulated processor.
put() { dpkg --force-unsafe-io --no-triggers --install "$1"; }
has_files() { [ "$(find "$1" -name '*.h264' -size +1k | wc -l)" -ge "$2" ]; } # FOLDER COUNT

# A container's, which keeps packages from starting services.
rm -f /usr/sbin/policy-rc.d
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
mkdir -p /etc/camrec
printf '%s\n' "device = $link" "size = 320x240" "fps = 5" "keyframe-interval = 50" "encoder = software" \
    "segment = 100f" "keep = 3" "output = %H%M%S.h264" >"/etc/camrec/$name.conf"
printf '%s\n' "device = test" "size = 160x120" "fps = 3" "encoder = software" "output = out.h264" >/etc/camrec/single.conf

check "package: installed" put "$package"
check "package: the user is in video and render" bash -c 'id -nG camrec | grep -w video | grep -qw render'
check "package: the folder of recordings is the user's" test "$(stat -c '%U %G %a' /var/lib/camrec)" = "camrec camrec 750"
check "package: systemd has nothing to say of the service" systemd-analyze verify /lib/systemd/system/$segmenting
check "package: a camera that was plugged in has its link" await 30 test -e $link
check "package: and its service starts" await 30 systemctl --quiet is-active $segmenting
check "package: it records" await 60 has_files $recordings 1
check "package: a second instance starts" systemctl start $single

check "package: it can be enabled" systemctl enable $segmenting
newer=$(newer_package "$package")
first=$(find $recordings -name '*.h264' | sort | sed -n 1p)
pid=$(property $segmenting MainPID) single_pid=$(property $single MainPID)
# The next cut may come before dpkg has ended.
(until [ -e watched ]; do property $segmenting StatusText; done >statuses) &
watcher=$!
check "upgrade: installed" put "$newer"
check "upgrade: a recording without segments goes on" has_property $single MainPID "^$single_pid\$"
check "upgrade: the status says that a newer version waits for a restart" await 20 has_property $single StatusText '; a newer version waits for a restart$'
is_another() { local now; now=$(property $segmenting MainPID) && [ "$now" != 0 ] && [ "$now" != "$pid" ]; }
check "upgrade: at its cut the segmenting instance restarts" await 60 is_another
touch watched && wait $watcher
check "upgrade: until then the status says that a newer version waits" grep -q '^[1-9].*; a newer version waits for the next segment$' statuses
check "upgrade: once" has_property $segmenting NRestarts '^1$'
check "upgrade: and without a failure" bash -c "! journalctl -b --no-pager -o cat -u $segmenting | grep 'Failed with result'"
check "upgrade: it is the newer program" test "/proc/$(property $segmenting MainPID)/exe" -ef /usr/bin/camrec
check "upgrade: recording again" await 60 has_file_since $recordings "$(($(date +%s) + 1))"
check "upgrade: nothing is left to wait for" await 20 has_property $segmenting StatusText '^[1-9][^;]*$'
# Each segment but the one that is being written is whole: the former process ended where the next would have begun.
mkdir "$RESULTS/segments"
find $recordings -name '*.h264' -printf '%T@ %p\n' | sort -n | head -n -1 | cut -d ' ' -f 2 | xargs -I{} cp {} "$RESULTS/segments/"
whole_segments() {
    local file
    for file in segments/*.h264; do is_sound "$file" --frames 100 || return; done
}
on_host eval "$(declare -f whole_segments)"
on_host check "upgrade: each segment is whole" whole_segments
check "upgrade: restarted, the single recording is the newer program's" systemctl restart $single
check "upgrade: its status has no newer version" await 20 has_property $single StatusText '^[1-9][^;]*$'

# camweb, which an upgrade restarts.
check "camweb: installed" put "$web"
is_inactive() { ! systemctl --quiet is-active camweb; }
is_disabled() { ! systemctl --quiet is-enabled camweb; }
check "camweb: is not started" is_inactive
check "camweb: is not enabled" is_disabled
check "camweb: systemd has nothing to say of the service" systemd-analyze verify /lib/systemd/system/camweb.service
check "camweb: its user is in the group camrec" bash -c 'id -nG camweb | grep -qw camrec'
check "camweb: can be enabled, and starts" systemctl enable --now camweb
answers() { curl -s http://127.0.0.1:8080/ | grep -q '<title>camweb</title>'; }
check "camweb: serves the page" await 60 answers
pid=$(property camweb MainPID)
check "camweb: upgraded" put "$(newer_package "$web")"
is_restarted() { local now; now=$(property camweb MainPID) && [ "$now" != 0 ] && [ "$now" != "$pid" ]; }
check "camweb: the upgrade has restarted it" is_restarted
check "camweb: serves the page again" await 60 answers
check "camweb: removed" dpkg --no-triggers --remove camweb
check "camweb: has ended" bash -c '! pgrep -x camweb'
check "camweb: purged" dpkg --no-triggers --purge camweb
check "camweb: no cache is left" test ! -e /var/cache/camweb
nothing_is_left() { ! find /etc /lib/systemd /usr/lib/sysusers.d /usr/bin /usr/share/doc /usr/share/man/man1 /var/lib/systemd /var/lib/dpkg/info -path /usr/share/doc/camrec -prune -o -name '*camweb*' -print | grep .; }
check "camweb: nothing is left of it" nothing_is_left

# The newer process knows the segments of the former one: it removes them in their turn.
check "upgrade: old segments are removed as before" await 120 is_removed "$first"

check "remove: done" dpkg --no-triggers --remove camrec
check "remove: no instance is left" bash -c '! pgrep -x camrec'
check "remove: recordings are left" has_files $recordings 1
# Of another installation, which this one's purge leaves alone.
mkdir -p /etc/systemd/system/other.target.wants
ln -s /usr/local/lib/systemd/system/camrec@.service /etc/systemd/system/other.target.wants/camrec@other.service
said=$(dpkg --no-triggers --purge camrec 2>&1) || fail "purge" "$said"
check "purge: another installation's link is left" test -L /etc/systemd/system/other.target.wants/camrec@other.service
rm -r /etc/systemd/system/other.target.wants
check "purge: says where recordings and settings are" grep -q 'left in /var/lib/camrec and /etc/camrec' <<<"$said"
no_link_is_left() { ! find /etc/systemd/system -name 'camrec@*' | grep .; }
check "purge: no link of the enabled instance is left" no_link_is_left
check "purge: no cache is left" test ! -e /var/cache/camrec
check "purge: recordings are left" has_files $recordings 1
check "purge: settings are left" test -e /etc/camrec/single.conf
journalctl -b --no-pager -o short-monotonic >"$RESULTS/journal"
