#!/bin/bash
# Recordings that camweb's page keeps and releases, in a real browser.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=web-lib.sh
. "$LAB/host/web-lib.sh"
keeping() { "$PYTHON" "$LAB/verify/keeping.py" "$@"; }
twice() { "$@" || "$@"; }
twice_kept() { "$@" || { is_said "command=keep&first=$first" 200 && "$@"; }; } # with one recording kept

if ! command -v chromium >/dev/null; then
    skip "keeping: in a browser" "no chromium here"
    finish
    exit
fi

mkdir rec
source=(--device test --size 640x360 --segment 3s --keep 100 --control-socket control 'rec/%H%M%S.mkv')
records_live door.log door.json 127.0.0.1:0 "${source[@]}"
door=$recorder door_port=$port
serves_door() { serves --allow-changes "door=tcp://127.0.0.1:$door_port,control=control" --recordings "door=$work/rec" "$@"; }
serves_door
has_files() { [ "$(find rec -name '*.mkv' | wc -l)" -ge 5 ]; }
await 40 has_files || true
check "a span, what plays, the list: kept and released, at each size, light and dark" twice keeping keep "$page" door --screenshot kept.png

form() { curl -s -w ' %{http_code}' -H "Origin: ${page%/}" --data "$1" "${page}cameras/door/command"; } # DATA
first=$(cd rec && echo ./*.mkv | cut -d ' ' -f 1)
first=${first#./}
is_said() { [[ $(form "$1") =~ $2 ]] || { form "$1"; return 1; }; } # DATA PATTERN
check "the form: a name outside of the folder" is_said "command=keep&first=../$first" ' 400$'
check "the form: a file that the recorder does not know" is_said "command=keep&first=other.mkv" 'not a recording that this recorder may remove.* 409$'
check "the form: a recording" is_said "command=keep&first=$first" '"count":1.* 200$'
stops "camweb ends" "$server"

# The storage page, with days of recordings: a raw file ends at its time of modification.
mkdir yard
records_live yard.log yard.json 127.0.0.1:0 --device test --size 320x240 --segment 3s --control-socket yard-control 'yard/%H%M%S.mkv'
yard=$recorder
camrec --device test --size 320x240 --encoder software --no-pace --frames 30 old.h264
for place in rec yard; do
    for days in 1 2 3; do cp old.h264 "$place/old-$days.h264" && touch -d "$days days ago" "$place/old-$days.h264"; done
done
serves_door "yard=tcp://127.0.0.1:$port,control=yard-control" --recordings "yard=$work/yard"
estimates() {
    curl -sf "${page}storage.json" | "$PYTHON" -c 'import json, sys
report = json.load(sys.stdin)
kinds = [camera["outlook"]["kind"] for camera in report["cameras"]]
sys.exit(kinds != ["keeps", "fills"] or len(report["disks"]) != 1)'
}
check "storage: one disk, a camera with a limit and one without" await 20 estimates
check "storage: its page by button, address and keys, at each size, light and dark" twice_kept "$PYTHON" "$LAB/verify/storage.py" "$page" door yard --screenshot storage.png
is_said "command=keep&first=$first" '"count":1.* 200$' >/dev/null
stops "the yard's recorder ends" "$yard"
stops "camweb with storage ends" "$server"

# Without the right to change something
serves "door=tcp://127.0.0.1:$door_port,control=control" --recordings "door=$work/rec"
check "without rights: refused" is_said "command=release&first=$first" 'only shows.* 403$'
check "without rights: what is kept is shown, and no button changes it" twice keeping watch "$page" door
stops "camweb ends again" "$server"

# Without a recorder
stops "the recorder ends" "$door"
serves_door
check "without a recorder: the page says what to type" twice keeping gone "$page" door
check "without a recorder: that works" "$CAMREC" keep --release "rec/$first"
stops "camweb ends at last" "$server"
finish
