#!/bin/bash
# Recordings that are kept: which limits leave them alone, by the command and by a running recorder.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
small=(--device test --size 320x240 --fps 30 --keyframe-interval 30 --encoder software --latency realtime)
fast=("${small[@]}" --no-pace)

left() { (cd "$1" && echo *.*); } # FOLDER: its files
lists() { "$CAMREC" keep --list --json "$1" | "$PYTHON" -c 'import json, os, sys; print(*[os.path.basename(r["path"]) for r in json.load(sys.stdin)["recordings"]])'; }
keeps() { "$CAMREC" keep "$@" >/dev/null; }

# By the command, with each limit
mkdir count && records "by number: recorded" "${fast[@]}" --frames 90 --segment 30f --keep 3 --timestamps count/t.txt count/a.mkv
check "by number: the first is kept" keeps count/a.mkv
records "by number: recorded again" "${fast[@]}" --frames 90 --segment 30f --keep 3 count/a.mkv
check "by number: it stays with its times, and counts" test "$(left count)" = "a-4.mkv a-5.mkv a.mkv t.txt"
check "by number: it is listed" test "$(lists count)" = a.mkv
is_text() { "$CAMREC" keep --list count | tail -n 1 | grep -qx 'recordings kept: 1, [0-9]* bytes'; }
check "by number: it is listed in words" is_text
check "by number: it is released" keeps --release count/a.mkv
records "by number: recorded once more" "${fast[@]}" --frames 30 --segment 30f --keep 3 count/a.mkv
check "by number: it goes, with its times" test "$(left count)" = "a-4.mkv a-5.mkv a-6.mkv"

mkdir bytes && records "by bytes: recorded" "${fast[@]}" --frames 150 --segment 30f --keep 9 bytes/a.h264
size=$(stat -c %s bytes/a.h264)
check "by bytes: a range is kept" keeps --to bytes/a-2.h264 bytes/a-1.h264
records "by bytes: recorded again" "${fast[@]}" --frames 30 --segment 30f --keep $((size * 2 / 1000))kB bytes/a.h264
# The new file has the name of one that went.
three_files() { [ -e bytes/a-1.h264 ] && [ -e bytes/a-2.h264 ] && [ "$(find bytes -name "*.h264" | wc -l)" = 3 ]; }
check "by bytes: they stay, and count" three_files

mkdir age && records "by age: recorded" "${fast[@]}" --frames 120 --segment 30f --keep 7d age/a.h264
touch -d "2 days ago" age/*.h264
check "by age: the first is kept" keeps age/a.h264
records "by age: recorded again" "${fast[@]}" --frames 30 --segment 30f --keep 1d age/a.h264
check "by age: it stays, however old, alone" test "$(find age -name '*.h264' -mtime +0)" = age/a.h264

# A limit that is full of what is kept is a full disk: nothing is recorded until something is released.
mkdir full && records "full: recorded" "${fast[@]}" --frames 60 --segment 30f --keep 2 full/a.h264
check "full: all is kept" keeps full/a.h264 full/a-1.h264
status=0
"$CAMREC" "${fast[@]}" --frames 60 --segment 30f --keep 2 full/a.h264 2>full.log || status=$?
check "full: nothing more is recorded" test $status = 74
check "full: camrec says why" error_names full.log 'full: the recordings that are kept fill --keep; release .*\(nothing was recorded\)'
check "full: nothing was removed" test "$(left full)" = "a-1.h264 a.h264"

# What cannot be kept
echo stranger >count/b.mkv
cp count/a-4.mkv copy && rm count/a-4.mkv && cp copy count/a-4.mkv
refuses "not from a journal" 66 'count/b.mkv: not in a journal' keep count/b.mkv
refuses "no such file" 66 'none/a.mkv: not in a journal' keep none/a.mkv
refuses "outside of a journal's folder" 66 '/etc/passwd: not in a journal' keep /etc/passwd
refuses "a copy" 65 "a-4.mkv: a copy, .*camrec adopt" keep count/a-4.mkv
mkdir none && refuses "a list without a journal" 66 'none: no journal of recordings' keep --list none
refuses "a list of no folder" 66 'nowhere: no such folder' keep --list nowhere
refuses "a range of several" 64 'name only that one' keep --to count/a-6.mkv count/a-5.mkv count/a-6.mkv
refuses "JSON without a list" 64 'json is for --list' keep --json count/a-5.mkv
refuses "a list that releases" 64 'only lists; leave --release out' keep --list --release count

# Through a running recorder
mkdir live
"$CAMREC" "${small[@]}" --segment 3s --keep 3 --control-socket socket live/a.h264 2>live.log &
recorder=$!
ctl() { "$CAMREC" ctl socket "$@"; }
await 20 test -s live/a.h264
is_kept() { ctl keep live/a.h264 | grep -q '"ok":true'; }
check "running: kept" is_kept
refuses "running: no other process marks" 75 'live/a.h264: a recorder is running there; ask it: camrec ctl SOCKET keep' keep live/a.h264
await 30 test -s live/a-4.h264
check "running: it stays, the next goes" bash -c '[ -e live/a.h264 ] && [ ! -e live/a-1.h264 ]'
is_listed() { ctl kept | grep -q '"count":1' && "$CAMREC" keep --list live | grep -q 'live/a.h264: '; }
check "running: it is listed by both" is_listed
is_refused() { ! ctl keep /etc/passwd >said && grep -q "not a recording that this recorder" said; }
check "running: no other file can be kept" is_refused
newest() { find live -name '*.h264' -printf '%T@ %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2; }
all_kept() { ctl keep live/a.h264 "$(newest)" >/dev/null && ctl stats | grep -q '"state":"disk full"'; }
check "running: a limit full of what is kept is the state of a full disk" await 20 all_kept
check "running: says so" grep -q 'live: the recordings that are kept fill --keep; release some .*(retrying)' live.log
before=$(left live)
sleep 1
check "running: nothing is removed then" test "$(left live)" = "$before"
check "running: released" ctl release live/a.h264
goes_on() { ctl stats | grep -q '"state":"recording"'; }
check "running: it goes on then" await 20 goes_on
check "running: with a file" await 20 grep -q 'recording again' live.log
ctl stop >/dev/null
status=0
wait $recorder || status=$?
check "running: the loss is its exit code" test $status = 74
check "running: what was released goes" test ! -e live/a.h264
finish
