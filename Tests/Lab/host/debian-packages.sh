#!/bin/bash
# The Debian packages, and scripts/install, which puts the same files in place.
# usage: packages.sh [--twice]      --twice builds them in another folder, too, and compares
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
repository=$(cd "$LAB/../.." && pwd)
begin

if ! said=$("$repository/scripts/install-packages" package lint 2>&1); then
    skip "packages" "$said"
    finish
    exit
fi
packages=$work/packages
if ! "$repository/scripts/package" "$packages" >"$work/log" 2>&1; then
    fail "packages: built" "$(grep -m 1 -A 2 'error' "$work/log" || tail -n 4 "$work/log")"
    finish
    exit
fi
pass "packages: built"
architecture=$(dpkg --print-architecture)
version=$("$CAMREC" --version | grep -oE -m 1 '[0-9]+\.[0-9]+\.[0-9]+' | sed -n 1p)
camrec=$(find "$packages" -name "camrec_*_$architecture.deb") camplay=$(find "$packages" -name "camplay_*_$architecture.deb")
camweb=$(find "$packages" -name "camweb_*_$architecture.deb")
check "packages: one for each program" test -e "$camrec" -a -e "$camplay" -a -e "$camweb"
is_newer() { dpkg --compare-versions "$1" gt "$2" || { echo "apt would not replace $2 by $1"; return 1; }; }
built=$(dpkg-deb --field "$camrec" Version)
check "packages: their version begins with what --version prints" grep -qxF "$version" <<<"$(grep -oE '^[0-9.]+' <<<"$built")"
if grep -q '^## \[Unreleased\]' "$repository/CHANGELOG.md"; then
    check "packages: a release replaces what was built before it" is_newer "$version+deb12" "$built"
    check "packages: a later commit's replaces this one" is_newer "$(sed -E 's/~git[0-9]+/~git29991231000000/' <<<"$built")" "$built"
fi
check "packages: the next Debian's replaces this one" is_newer "$(sed 's/+.*/+deb99/' <<<"$built")" "$built"
check "packages: lintian has no errors and no warnings" lintian --allow-root --fail-on error,warning "$camrec" "$camplay" "$camweb"

field() { dpkg-deb --field "$1" "$2"; }
has_field() { # DEB FIELD PATTERN
    grep -qE -- "$3" <<<"$(field "$1" "$2")" || { echo "$2: $(field "$1" "$2")"; return 1; }
}
links_no_display() { # DEB: neither X nor SDL, which are loaded where there is a window
    ! grep -oiE 'lib(x[0-9a-z]*11|xcb|sdl)[^,]*' <<<"$(field "$1" Depends)"
}
for package in "$camrec" "$camplay" "$camweb"; do
    name=$(basename "${package%%_*}")
    check "packages: $name depends on no display" links_no_display "$package"
    [ "$name" = camweb ] || check "packages: $name recommends the GPUs' drivers" has_field "$package" Recommends 'va-driver-all \| va-driver'
done
format=libavformat$(ldconfig -p | sed -nE 's/.*libavformat\.so\.([0-9]+) .*/\1/p' | sort -n | tail -n 1)
check "packages: camrec recommends this release's libavformat" has_field "$camrec" Recommends "\b$format\b"
check "packages: camweb recommends this release's libavformat" has_field "$camweb" Recommends "\b$format\b"
check "packages: camplay recommends this release's SDL" has_field "$camplay" Recommends '\blibsdl2-2\.0-0\b'

dpkg-deb -x "$camrec" unpacked
names_commit() { unpacked/usr/bin/camrec --version | sed -n 1p | grep -F "(commit $(git -C "$repository" describe --always --dirty --abbrev=40 --exclude='*' | sed -E 's/^(.{12}).{28}$/\1/'))"; }
check "packages: camrec names the commit that it was built from" names_commit
dpkg-deb -x "$camplay" unpacked
dpkg-deb -x "$camweb" unpacked
check "packages: camweb's service runs the package's program" grep -rqx 'ExecStart=/usr/bin/camweb .*' unpacked --include=camweb.service
check "packages: camweb runs" unpacked/usr/bin/camweb --version
check "packages: the service runs the package's program" grep -rqx 'ExecStart=/usr/bin/camrec record .*' unpacked --include=camrec@.service
check "packages: its program records" unpacked/usr/bin/camrec --device test --size 320x240 --encoder software --no-pace --frames 30 out.h264
check "packages: and what it recorded is sound" is_sound out.h264 --frames 30
check "packages: no document links to what is not there" "$PYTHON" "$LAB/verify/documents.py" unpacked/usr/share/doc/camrec
searches_no_folder() { ! readelf --dynamic unpacked/usr/bin/{camrec,camplay,camweb} | grep -E 'RUNPATH|RPATH'; }
check "packages: the programs take their libraries from where the system has them" searches_no_folder
names_a_folder() { grep -rlaF "$repository" "$@"; }
check "packages: nothing names the folder that they were built in" bash -c "$(declare -f names_a_folder); repository='$repository'; ! names_a_folder unpacked"

# What dpkg's tools compress and add, and where Debian 12 has units and rules, is all that differs.
listed() { # FOLDER
    (cd "$1" && find . -type f | sed -E 's#^\./lib/#./usr/lib/#; s#(/man/.*|/NEWS.*)\.gz$#\1#; /\/changelog(\.Debian)?\.gz$/d; /\/lintian\//d' | sort)
}
same_files() { diff <(listed unpacked) <(listed installed); }
same_content() {
    local file
    while read -r file; do
        case $file in */usr/bin/*) continue ;; esac # stripped
        local other=$file
        [ -e "unpacked/$other" ] || other=${file/#.\/usr\/lib/.\/lib}
        if [ -e "unpacked/$other" ]; then cmp "installed/$file" "unpacked/$other"; else zcmp "installed/$file" "unpacked/$other.gz"; fi || return
    done < <(listed installed)
}
check "install: below a folder, as packages do" "$repository/scripts/install" --prefix /usr --destdir installed
check "install: the same files as in the packages" same_files
check "install: with the same content" same_content

check "install: elsewhere" "$repository/scripts/install" --prefix /opt/camrec --destdir elsewhere
check "install: the service runs the program of the prefix" grep -qx 'ExecStart=/opt/camrec/bin/camrec record .*' elsewhere/etc/systemd/system/camrec@.service
mkdir -p elsewhere/var/lib/camrec
touch elsewhere/var/lib/camrec/a.mkv elsewhere/etc/camrec/door.conf elsewhere/opt/camrec/share/doc/camrec/examples/door.conf
said=$("$repository/scripts/install" --uninstall --prefix /opt/camrec --destdir elsewhere 2>&1) || fail "uninstall" "$said"
check "uninstall: says where recordings and settings are" grep -q '/var/lib/camrec.*/etc/camrec' <<<"$said"
check "uninstall: leaves them and another's file, and nothing else" diff <(find elsewhere -type f | sort) \
    <(printf 'elsewhere/%s\n' etc/camrec/door.conf opt/camrec/share/doc/camrec/examples/door.conf var/lib/camrec/a.mkv)
check "uninstall: leaves no folder of its own" diff <(find elsewhere/opt elsewhere/etc/systemd* -type d | sort) \
    <(printf 'elsewhere/%s\n' etc/systemd etc/systemd/system opt opt/camrec{,/share{,/doc{,/camrec{,/examples}}}} | sort)
check "install: one program without the others" env CAMPLAY=/nowhere CAMWEB=/nowhere "$repository/scripts/install" --only camrec --destdir alone
check "install: camweb alone" env CAMREC=/nowhere CAMPLAY=/nowhere "$repository/scripts/install" --only camweb --destdir alone-web
check "install: with its service, and nothing of camrec's" diff <(cd alone-web && find . -name '*.service' -o -name '*.conf' | sort) \
    <(printf './usr/local/lib/%s\n' systemd/system/camweb.service sysusers.d/camweb.conf | sort)
check "install: manual pages name the documents' folder" grep -qF /usr/local/share/doc/camrec/examples/camera.conf alone/usr/local/share/man/man5/camrec.conf.5

mkdir -p "a [b] c/sources" closed/etc/camrec mine/usr/share/doc/camrec/README.md
chmod 700 closed/etc/camrec
(cd "$repository" && git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- | tar -x -C "$work/a [b] c/sources")
# The copy has no commits, which date manual pages.
check "install: from a folder with spaces, below one" env SOURCE_DATE_EPOCH="$(git -C "$repository" log -1 --format=%ct)" "a [b] c/sources/scripts/install" --prefix /usr/ --destdir "a [b] c/put"
check "install: the same files as from elsewhere" diff --recursive "a [b] c/put" installed
check "install: /etc/camrec stays closed to others" "$repository/scripts/install" --destdir closed
check "install: with the mode that it had" test "$(stat -c %a closed/etc/camrec)" = 700
fails() { ! "$@"; }
check "install: refuses a prefix that systemd would misread" fails "$repository/scripts/install" --prefix "/opt/50% more" --destdir refused
check "install: and puts nothing there" test ! -e refused
check "uninstall: fails if something cannot be removed" fails "$repository/scripts/install" --uninstall --prefix /usr --destdir mine

# An administrator's links, files and units.
mkdir -p linked/data linked/opt other/etc/systemd/system named
ln -s ../data linked/opt/camrec
check "install: below a linked folder" "$repository/scripts/install" --prefix /opt/camrec --destdir linked
check "uninstall: with it" "$repository/scripts/install" --uninstall --prefix /opt/camrec --destdir linked
check "uninstall: leaves the link, and nothing in it" diff <(find linked/opt linked/data | sort) <(printf '%s\n' linked/data linked/opt linked/opt/camrec)
says_it_is_absent() { ! said=$("$repository/scripts/install" --uninstall --prefix /opt/typo --destdir linked 2>&1) && grep -q 'not installed in linked/opt/typo; give the --prefix' <<<"$said"; }
check "uninstall: says that nothing is installed there" says_it_is_absent
echo mine >other/etc/systemd/system/camrec@.service
said=$("$repository/scripts/install" --prefix /opt/camrec --destdir other)
check "install: says that a file in /etc was another" grep -q 'camrec@.service was another; it is now .*camrec@.service.before$' <<<"$said"
check "install: keeps it" test "$(cat other/etc/systemd/system/camrec@.service.before)" = mine
check "install: again, says nothing of its own" eval '[ -z "$("$repository/scripts/install" --prefix /opt/camrec --destdir other)" ]'
cp "$CAMREC" named/camrec-new
check "install: a program of another name" env CAMREC=named/camrec-new "$repository/scripts/install" --only camrec --prefix //usr/ --destdir renamed
check "install: has its own there" test -x renamed/usr/bin/camrec
check "install: //usr is /usr" test -e renamed/usr/lib/systemd/system/camrec@.service

if [ "${1-}" = --twice ]; then
    mkdir -p "else where/sources"
    (cd "$repository" && git ls-files -z --cached --others --exclude-standard | tar -c --null --files-from=- | tar -x -C "$work/else where/sources")
    find "else where/sources" -exec touch --date=2031-05-06 {} +
    SOURCE_DATE_EPOCH=$(git -C "$repository" log -1 --format=%ct)
    CAMREC_COMMIT=$(git -C "$repository" describe --always --dirty --abbrev=40 --exclude='*')
    export SOURCE_DATE_EPOCH CAMREC_COMMIT
    check "packages: built in another folder, with spaces" "else where/sources/scripts/package" "made again"
    for package in "$camrec" "$camplay" "$camweb"; do
        check "packages: $(basename "${package%%_*}") is the same, byte for byte" cmp "$package" "made again/$(basename "$package")"
    done
fi
finish
