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
for program in camplay camweb; do check "release build of $program" "$LAB/../../scripts/build" $program; done
finish
