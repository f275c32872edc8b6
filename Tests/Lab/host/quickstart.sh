#!/bin/bash
# The release build, as a newcomer makes it: what scripts/quickstart does and says, and again: nothing is overwritten.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
quickstart=$(readlink -f "$LAB/../../scripts/quickstart")
mkdir bin
status=0
"$quickstart" >said 2>&1 || status=$?
cat said
check "quickstart: ends well" test $status = 0
check "quickstart: recorded 200 frames" is_sound out.h264 --frames 200
sed -nE 's/^Put it on your PATH: (sudo )?//p' said | sed "s|/usr/local/bin|$work/bin|" >last
check "quickstart: its last command puts camrec on the PATH" bash last
check "quickstart: where it runs" bin/camrec --version
before=$(md5sum <out.h264)
check "quickstart: again" "$quickstart"
check "quickstart: leaves the first recording alone" test "$(md5sum <out.h264)" = "$before"
check "quickstart: records beside it" is_sound out-1.h264 --frames 200
# Toolchains outside of the PATH, and one on it that is too old. These build nothing.
toolchain() { # FOLDER VERSION
    mkdir -p "$1"
    printf '#!/bin/sh\n[ "$1" != --version ] || exec echo "Swift version %s (swift)"\nexit 1\n' "$2" >"$1/swift"
    chmod +x "$1/swift"
}
toolchain home/.local/share/swiftly/bin 6.9.1
toolchain old 5.10
found() { # PATTERN HOME PATH
    HOME=$2 PATH=$3 "$quickstart" >said 2>&1 || true
    grep -qE "$1" said || { cat said; return 1; }
}
check "quickstart: finds what swiftly installed" found "^Swift 6.9, in $work/home" "$work/home" /usr/bin:/bin:/usr/sbin:/sbin
check "quickstart: passes over one that is too old" found "^Swift 6.9, in $work/home" "$work/home" "$work/old:/usr/bin:/bin:/usr/sbin:/sbin"
toolchain own 6.8
check "quickstart: prefers the user's own" found "^Swift 6.8, in $work/own" "$work/home" "$work/own:/usr/bin:/bin:/usr/sbin:/sbin"
for program in camplay camweb; do check "release build of $program" "$LAB/../../scripts/build" $program; done
finish
