#!/bin/bash
# Recordings in several files: no frame lost or duplicated, what is removed and what is kept, full disks and kills.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# Of pictures that are the same each time, bit for bit: with threads and a buffer libx264 decides otherwise each time.
quick=(--encoder software --latency realtime --no-pace)
small=(--device test --size 320x240 --fps 30 --keyframe-interval 30 "${quick[@]}")

count_of() { stream "$1" | cut -d ' ' -f 1; } # FILE: its frames

frames_are() { # COUNT... -- FILE...: each file has this many frames and is sound on its own
    local counts=()
    while [ "$1" != -- ]; do
        counts+=("$1")
        shift
    done
    shift
    [ ${#counts[@]} = $# ] || { echo "$# files in place of ${#counts[@]}: $*"; return 1; }
    for file; do
        is_sound "$file" --frames "${counts[0]}" || { echo "$file"; return 1; }
        counts=("${counts[@]:1}")
    done
}

# The test source makes the same pictures each time, and one encoder feeds both outputs: the concatenated segments are
# the file next to them.
same_stream() { # WHOLE FILE...
    local whole=$1
    shift
    [ -s "$whole" ] && cmp <(cat "$@") "$whole"
}

# Frames, times and sizes
mkdir frames && records "frames: recorded" "${small[@]}" --frames 250 --segment 100f --timestamps 'frames/t.txt' --report frames.json frames/a.h264 &&
    check "frames: each file has exactly its frames" frames_are 100 100 50 -- frames/a.h264 frames/a-1.h264 frames/a-2.h264
mkdir held && records "held back: recorded" "${small[@]}" --latency auto --frames 250 --segment 100f --timestamps 'held/t.txt' held/a.h264 held/b.mkv &&
    check "held back: each file has exactly its frames" frames_are 100 100 50 -- held/a.h264 held/a-1.h264 held/a-2.h264
for file in a b a-1 b-1 a-2 b-2; do
    check "held back: $file is sound" ffmpeg -nostdin -v error -xerror -i "$(ls held/$file.*)" -f null -
done
check "held back: so are the times" test "$(cat held/t*.txt | grep -vc '^#')" = 250
check "frames: the report tells of the files" report frames.json 'outputs[0].segments.count == 3' 'outputs[0].segments.first == "frames/a.h264"' \
    'outputs[0].segments.last == "frames/a-2.h264"' 'outputs[0].segments.removed == 0' 'outputs[0].written == 250' 'len(outputs) == 1'
for part in '' -1 -2; do check "frames: the times of a$part" remuxes "frames/a$part.h264" "frames/t$part.txt"; done

mkdir times && records "times: recorded, of both codecs" "${small[@]}" --frames 250 --segment 2500ms --utc 'times/%Y/%m/a.h264' times/b.h265 &&
    check "times: exact to the frame" frames_are 75 75 75 25 -- "times/$(date -u +%Y/%m)"/a{,-1,-2,-3}.h264
check "times: of H.265, too" frames_are 75 75 75 25 -- times/b{,-1,-2,-3}.h265

mkdir bytes && records "sizes: recorded" "${small[@]}" --frames 250 --segment 40kB bytes/a.h264
check "sizes: a file ends with a group of pictures" frames_are 150 100 -- bytes/a.h264 bytes/a-1.h264

for format in mkv mp4 ts; do
    mkdir $format
    records "segments in .$format" "${small[@]}" --frames 250 --segment 100f $format/a.$format || continue
    for part in '' -1 -2; do
        check "segments in .$format: the pictures of a$part" same_pictures "$format/a$part.$format" "frames/a$part.h264"
    done
done

# One capture, several outputs: only plain files are cut.
records "segments next to standard output" "${small[@]}" --frames 250 --segment 100f cut.h264 - &&
    check "segments: concatenated, they are the stream" same_stream stdout cut.h264 cut-1.h264 cut-2.h264

# On the clock: each file but the first begins at an even second, is named so, and the ones in between have their frames.
mkdir clock && records "clock: recorded" --device test --size 320x240 --fps 10 --encoder software --duration 7s --segment 2s --align 'clock/%s.mkv'
begins_on_the_clock() {
    local file names
    mapfile -t names < <(find clock -name '*.mkv' | sort)
    [ ${#names[@]} -ge 4 ] || { echo "${#names[@]} files"; return 1; }
    for file in "${names[@]:1}"; do
        [ $(($(basename "$file" .mkv) % 2)) = 0 ] || { echo "${names[*]}"; return 1; }
    done
    for file in "${names[@]:1:${#names[@]}-2}"; do
        [ "$(ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$file")" = 20 ] || { echo "$file has other than 20 frames"; return 1; }
    done
}
check "clock: files begin at even seconds" begins_on_the_clock

# Existing files are never overwritten.
mkdir taken && echo mine | tee taken/a.h264 >taken/a-4.h264
records "names: one that is taken gets a counter" "${small[@]}" --frames 10 --segment 100f taken/a.h264
check "names: above those that are there" test -s taken/a-5.h264 -a "$(cat taken/a.h264 taken/a-4.h264)" = $'mine\nmine'

# Before and after an event. Each picture is in one file at most, and what is kept in memory leaves no trace.
rings() { # COMMAND...: makes the event happen
    rm -rf ring ring.json && mkdir ring
    local pid
    rm -f stderr
    "$CAMREC" --device test --size 320x240 --fps 50 --keyframe-interval 10 --encoder software --ring 1s --post 500ms --control-socket ring/socket --report ring.json \
        'ring/a-%Y.h264' ring/b.mkv 2>stderr &
    pid=$!
    for _ in $(seq 600); do
        if grep -q '"captured":1[0-9][0-9]' <("$CAMREC" ctl ring/socket stats 2>&1); then break; fi
        sleep 0.1
    done
    grep -q '"captured":1[0-9][0-9]' <("$CAMREC" ctl ring/socket stats 2>&1) || { echo "it does not record: $(cat stderr)"; kill $pid; return 1; }
    [ ! -e ring/b.mkv ] || { echo "written before anything happened"; return 1; }
    pid=$pid "$@" >/dev/null
    for _ in $(seq 100); do
        if [ "$("$CAMREC" ctl ring/socket stats 2>&1 | grep -o '"written":[0-9]*' | sed -n 1p | cut -d : -f 2)" -ge 80 ]; then break; fi
        sleep 0.1
    done
    sleep 0.5
    kill -TERM $pid
    wait $pid || { cat stderr; return 1; }
    # Each writer learns of the event between two pictures, which need not be the same two. On a busy machine the ring has
    # fewer pictures than its time would hold: those that came late are counted.
    is_sound "ring/a-$(date +%Y).h264" --keyframe-interval 10 && ffmpeg -nostdin -v error -xerror -i ring/b.mkv -f null - &&
        report ring.json '75 - frames.droppedByUs <= outputs[0].written <= 130' 'outputs[0].segments.count == 1' 'abs(outputs[1].written - outputs[0].written) <= 20'
}
by_signal() { kill -USR2 "$pid"; }
by_socket() { "$CAMREC" ctl ring/socket trigger; }
check "ring: SIGUSR2 writes what was before it and what follows" rings by_signal
check "ring: so does 'camrec ctl trigger'" rings by_socket
refuses "ring: --post without it" 64 '--post' "${small[@]}" --frames 10 --post 3s out.h264

# Removal: the oldest of its own files, and never any other.
mkdir keep && cp frames/a.h264 keep/film.h264 && cp frames/a.h264 keep/rec-1999.h264
for _ in 1 2; do records "keep: recorded" "${small[@]}" --frames 250 --segment 50f --keep 3 --overwrite --report keep.json 'keep/rec-%Y.h264'; done
check "keep: so many files of its own, and nothing else is touched" test "$(ls keep)" = "$(printf '%s\n' film.h264 rec-1999.h264 "rec-$(date +%Y)"-{7,8,9}.h264)"
check "keep: the report counts what was removed" report keep.json 'outputs[0].segments.removed == 5' 'outputs[0].segments.count == 5'
cp keep/rec-*-9.h264 copy.h264 && mv copy.h264 "keep/rec-$(date +%Y)-7.h264" && ln -sf film.h264 "keep/rec-$(date +%Y)-8.h264"
records "keep: other files that replaced its own" "${small[@]}" --frames 100 --segment 50f --keep 1 'keep/rec-%Y.h264'
check "keep: they stay" test -e "keep/rec-$(date +%Y)-7.h264" -a -e keep/film.h264 -a ! -e "keep/rec-$(date +%Y)-9.h264"
# The age limit holds while camrec waits for the camera.
mkdir aged && records "keep: recorded, to age" "${small[@]}" --frames 90 --segment 30f --keep 50 'aged/a.h264' &&
    check "keep: files that can age" frames_are 30 30 30 -- aged/a{,-1,-2}.h264
timeout 60 "$CAMREC" --device /dev/none --segment 30f --keep 1s aged/a.h264 2>/dev/null &
recorder=$!
check "keep: what is too old is removed while the camera is missing" await 30 sh -c '[ -z "$(ls aged)" ]'
kill $recorder && wait $recorder || true
refuses "keep: without segments" 64 '--keep' "${small[@]}" --frames 10 --keep 3 out.h264
refuses "segments: no file" 64 'need an output that is a file' "${small[@]}" --frames 10 --segment 100f -
refuses "segments: a length of nothing" 64 'segment' "${small[@]}" --frames 10 --segment 0f out.h264
refuses "segments: an impossible folder" 73 'copy|frames' "${small[@]}" --frames 10 --segment 10f 'frames/a.h264/%H.h264'

# Disks
is_whole() { # FILE...
    [ $# != 0 ] || { echo "there is no file"; return 1; }
    for file; do is_sound "$file" || { echo "$file"; return 1; }; done
}
if [ "$(id -u)" = 0 ]; then
    mkdir disk && mount -t tmpfs -o size=800k none disk
    # A disk that is full, and has room again after a while: the other output has everything.
    fills() {
        local status=0 pid
        head -c 700k /dev/zero >disk/other
        rm -f stderr
        "$CAMREC" --device test --size 640x480 --fps 30 --keyframe-interval 10 --encoder software --qp 2 --segment 1s --report full.json \
            'disk/a.h264' beside.h264 2>stderr &
        pid=$!
        await 20 grep -q 'disk is full' stderr || { echo "it is not told: $(cat stderr)"; kill $pid; return 1; }
        rm -f disk/other
        await 20 grep -q 'recording again' stderr || { echo "it does not begin again: $(cat stderr)"; kill $pid; return 1; }
        kill -TERM $pid
        wait $pid || status=$?
        [ $status = 74 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
        is_whole disk/*.h264 beside*.h264 &&
            report full.json 'outputs[0].lost > 0' 'outputs[0].written + outputs[0].lost == frames.encoded' 'outputs[1].written == frames.encoded' \
                'outputs[1].lost == 0'
    }
    check "full disk: the file is complete, others continue, and segments resume when there is room" fills
    rm -rf disk/*
    # A container loses its unfinished part: the report counts what is in the file.
    counts_file() { # FORMAT
        local status=0 count
        camrec "${small[@]}" --latency auto --frames 6000 --qp 4 --report "full-$1.json" "disk/a.$1" || status=$?
        count=$(ffprobe -v error -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "disk/a.$1" | sed -n 1p)
        [ $status = 74 ] && error_names stderr 'disk is full' && report "full-$1.json" "outputs[0].written == $count" 'outputs[0].lost > 0'
    }
    for format in h264 mkv mp4 ts; do
        check "full disk: the report counts the pictures in the .$format" counts_file $format
        rm -rf disk/*
    done
    # Old segments make room, at once or beforehand.
    makes_room() {
        local status=0
        camrec "${small[@]}" --frames 3000 --qp 4 --segment 30f --keep 100 --report room.json disk/b.h264 || status=$?
        [ $status = 74 ] && error_names stderr 'disk is full' &&
            report room.json 'outputs[0].segments.removed > 5' '0 < outputs[0].lost < 90' 'outputs[0].written + outputs[0].lost == 3000'
    }
    check "full disk: --keep makes room at once, and from then on beforehand" makes_room
    rm -rf disk/* disk/.[a-z]*
    # While nothing can be written, statistics say so and since when; the report counts and names files that exist.
    states() {
        local status=0 pid
        head -c 740k /dev/zero >disk/other
        rm -f stderr
        "$CAMREC" --device test --size 640x480 --fps 30 --keyframe-interval 10 --encoder software --qp 2 --segment 20f --control-socket state.sock \
            --report state.json 'disk/a.h264' 2>stderr &
        pid=$!
        await 20 grep -q 'disk is full' stderr || { echo "it is not told: $(cat stderr)"; kill $pid; return 1; }
        "$CAMREC" ctl state.sock stats >stats || true
        # More attempts, each of which leaves an empty file for a moment.
        await 20 begins_again || true
        kill -TERM $pid
        wait $pid || status=$?
        [ $status = 74 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
        grep -q '"state":"disk full"' stats && grep -qE '"outage":\{"condition":"disk full","error":"[^"]*disk is full[^"]*","since":"20[0-9-]+T[0-9:.]+Z"' stats ||
            { echo "the statistics are $(cat stats)"; return 1; }
        report state.json "outputs[0].segments.count == $(ls disk/*.h264 | wc -l)" "outputs[0].segments.last == '$(ls -v disk/*.h264 | tail -n 1)'"
    }
    begins_again() { # the third attempt: lost pictures have grown by more than three seconds' worth
        [ "$("$CAMREC" ctl state.sock stats | grep -oE '"lost":[0-9]+' | head -n 1 | tr -dc 0-9)" -gt 130 ]
    }
    check "full disk: statistics say so, and the report counts and names files that exist" states
    rm -rf disk/* disk/.[a-z]*
    records "full disk: --min-free loses nothing" "${small[@]}" --frames 3000 --qp 4 --segment 30f --min-free 25% --report free.json disk/b.h264
    check "full disk: it removed old segments instead" report free.json 'outputs[0].segments.removed > 5' 'outputs[0].lost == 0'
    # shellcheck disable=SC2046,SC2012 # no spaces in them
    check "full disk: what is left is complete" is_whole $(ls -t disk/*.h264 | sed -n 1,4p)
    umount disk
else
    skip "full disk" "needs root for a mount"
fi

# A relative name, and the folder that it is relative to disappears: reported, and the other output continues.
begins() { compgen -G "$1"; } # PATTERN
loses_its_folder() { # WAY-TO-LOSE-IT
    local status=0 pid
    rm -rf lost lost.log beside*.h264 && mkdir lost
    if [ "$1" = umount ]; then mount -t tmpfs none lost; fi
    (cd lost && exec "$CAMREC" --device test --size 320x240 --encoder software --segment 1s '%s.h264' "$work/beside.h264" --overwrite 2>"$work/lost.log") &
    pid=$!
    await 20 begins 'lost/*.h264' || { echo "nothing is recorded: $(cat lost.log)"; kill $pid; return 1; }
    if [ "$1" = umount ]; then umount --lazy lost; else rm -rf lost; fi
    await 20 grep -q 'retrying' lost.log || { echo "it is not told: $(cat lost.log)"; kill $pid; return 1; }
    # The segment recorded next to it begins after that.
    await 20 begins "beside-$(find beside*.h264 | wc -l).h264" || { echo "nothing is recorded beside it: $(cat lost.log)"; kill $pid; return 1; }
    kill -TERM $pid
    wait $pid || status=$?
    [ $status = 74 ] && error_names lost.log '%s\.h264: [0-9]+ files?,' || { echo "exit code $status: $(cat lost.log)"; return 1; }
    is_whole beside*.h264
}
check "the working folder is removed" loses_its_folder rm
if [ "$(id -u)" = 0 ]; then check "the working folder's disk is unmounted" loses_its_folder umount; fi

# The age limit holds while nothing is written: for a ring without events, at the start and by a timer.
ages_in_silence() {
    local pid
    mkdir silent
    camrec "${small[@]}" --frames 150 --segment 30f --keep 9 silent/a.h264 && touch -d "2 hours ago" silent/*.h264 || return 1
    "$CAMREC" --device test --size 320x240 --encoder software --ring 5s --keep 1s silent/a.h264 2>stderr &
    pid=$!
    await 30 bash -c '! compgen -G "silent/*.h264"' || { echo "left: $(ls silent)"; kill $pid; return 1; }
    kill -TERM $pid
    wait $pid
}
check "keep: what is too old is removed while nothing is written" ages_in_silence

# Copied to another disk, with the journal: nothing is removed or forgotten, and both are reported.
mkdir moved && records "copies: recorded" "${small[@]}" --frames 150 --segment 30f --keep 9 moved/a.h264 && cp -a moved copied
for _ in 1 2; do
    records "copies: recorded next to them" "${small[@]}" --frames 30 --segment 30f --keep 1 copied/a.h264
    says "copies: reported, with the number and what to do" "copied: recordings that are copies, .*never removed: 5; 'camrec adopt copied'"
done
check "copies: they stay, its own go" test "$(cd copied && echo *.h264)" = "a-1.h264 a-2.h264 a-3.h264 a-4.h264 a-5.h264 a.h264"
# A folder and a link with a journal's name, and a missing folder, do not prevent adoption.
mkdir copied/.folder.camrec && ln -s nowhere copied/.link.camrec
adopts() { ("$CAMREC" adopt nowhere copied || [ $? = 66 ]) 2>/dev/null | grep -qx 'copied: recordings adopted: 5'; }
check "copies: camrec adopt" adopts
records "copies: recorded once more" "${small[@]}" --frames 30 --segment 30f --keep 1 copied/a.h264
check "copies: adopted ones go" test "$(cd copied && echo *.h264)" = a.h264
mkdir none && refuses "copies: a folder without a journal" 66 'none: no journal of recordings' adopt none

mkdir both && records "several limits" "${small[@]}" --frames 300 --segment 30f --keep 7d --keep 3 --keep 5 both/a.h264 &&
    check "several limits: each holds" test "$(cd both && echo *.h264)" = "a-7.h264 a-8.h264 a-9.h264"

# Killed at any moment: every file plays, except for an access unit that was being written.
for _ in 1 2; do
    rm -rf killed && mkdir killed
    "$CAMREC" --device test --size 640x480 --fps 30 --keyframe-interval 10 "${quick[@]}" --qp 10 --segment 20f --sync 1s killed/a.h264 killed/a.mkv killed/a.mp4 killed/a.ts 2>/dev/null &
    pid=$!
    until { [ -e killed/a-3.h264 ] && [ -e killed/a-2.mkv ] && [ -e killed/a-2.mp4 ] && [ -e killed/a-2.ts ]; } || ! kill -0 $pid 2>/dev/null; do sleep 0.01; done
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    ended=(killed/a.h264 killed/a-1.h264 killed/a-2.h264)
    check "killed: the raw segments that had ended are whole" frames_are 20 20 20 -- "${ended[@]}"
    for format in mkv mp4 ts; do check "killed: .$format" same_pictures killed/a-1.$format killed/a-1.h264; done
done

# Timestamps under the segments' own names: reported, and not retried forever.
refuses "timestamps: the segments' own name" 64 'same.h264.*--timestamps' "${small[@]}" --frames 9 --segment 3f --timestamps same.h264 same.h264
refuses "timestamps: a pattern that comes to the segments' name" 73 "$(date +%Y)\.h264: given twice: it is also " "${small[@]}" --frames 9 --segment 3f \
    --timestamps '%Y.h264' "$(date +%Y).h264"

# A program for each finished file. rsync and rclone are stand-ins here, which take the examples' arguments and copy.
program() { # NAME: makes a program of standard input
    { echo '#!/bin/sh' && cat; } >"$1" && chmod +x "$1"
}
mkdir stand-in far
program stand-in/rsync <<<'[ "$1 $2 $3" = "--archive --timeout=60 --" ] && cp "$4" "$5"'
program stand-in/rclone <<<'[ "$1" = copyto ] && mkdir -p "${3%/*}" && cp "$2" "$3"'
examples=$LAB/../../examples
hands_over() { # EXAMPLE FOLDER VARIABLE=VALUE: each file is in the folder when camrec has ended, unchanged
    mkdir "handed-$1" && env PATH="$work/stand-in:$PATH" "$3" timeout 60 "$CAMREC" --device test --size 320x240 --fps 30 --encoder software \
        --frames 90 --segment 30f --on-segment "$examples/on-segment-$1" --overwrite --report handed.json "handed-$1/a.mkv" 2>handed.log || return 1
    for name in a a-1 a-2; do cmp "handed-$1/$name.mkv" "$2/$name.mkv" || return 1; done
    report handed.json 'onSegment.started == 3' 'onSegment.failed == 0' 'onSegment.leftOut == 0'
}
check "on-segment: the example for rsync" hands_over rsync far CAMREC_PLACE="$work/far/"
check "on-segment: the example for rclone" hands_over rclone "far/$(date -u +%F)" CAMREC_REMOTE="$work/far"
program tells <<'END'
cat "$1" >"$1.copy"
echo "$CAMREC_PATH $CAMREC_FRAMES" >>told
exec >>inherited # a redirection or a pipe of one command can be open in the shell itself
for descriptor in /proc/$$/fd/*; do
    case ${descriptor##*/}=$(readlink "$descriptor") in [012]=* | *= | */tells) ;; *) readlink "$descriptor" ;; esac
done
exit 0
END
tells() { # with everything open that a recording can have open
    # It keeps them all: what is removed may be gone before the program opens it.
    camrec "${small[@]}" --frames 250 --segment 100f --keep 9 --sync 1s --control-socket control --listen 0 --on-segment ./tells told.h264 || return 1
    # Two programs may run at once, so that the later one may write first.
    test "$(sort told)" = "$work/told-1.h264 100
$work/told-2.h264 50
$work/told.h264 100" && cmp told-1.h264 told-1.h264.copy && cmp told-2.h264 told-2.h264.copy &&
        ! [ -s stderr ] && ! [ -s inherited ] || { cat told inherited stderr; return 1; }
}
check "on-segment: whole files, and nothing is inherited" tells
program limited <<<'ulimit -Sn >>limits'
limits() {
    (ulimit -Sn 256 && camrec "${small[@]}" --frames 20 --segment 10f --on-segment ./limited limited.h264) || return 1
    [ "$(sort -u limits)" = 256 ] || { cat limits; return 1; }
}
check "on-segment: programs have the limit of descriptors that camrec was started with" limits
program fails <<<'exit 3'
fails() {
    camrec "${small[@]}" --frames 100 --segment 10f --on-segment ./fails --report fails.json failed.h264 || return 1
    [ "$(wc -l <stderr)" = 1 ] && grep -qE 'fails: exit code 3 for .*failed(-[0-9])?\.h264; to see why, run it with that file' stderr &&
        report fails.json 'onSegment.failed == 10' 'outputs[0].written == 100' || { cat stderr; return 1; }
}
check "on-segment: failures are one warning, and the recording succeeds" fails
program hangs <<<'echo $$ >>hanging; exec sleep 100'
hangs() { # two hang, and the third waits for them: camrec ends nevertheless
    limit=40 camrec "${small[@]}" --frames 30 --segment 10f --on-segment ./hangs hung.h264 || return 1
    [ "$(grep -c 'hangs: still running for' stderr)" = 2 ] && grep -q 'hangs: not started for 1 file' stderr || { cat stderr; return 1; }
    # shellcheck disable=SC2046 # two processes
    kill $(cat hanging)
}
check "on-segment: programs that hang do not hold camrec" hangs
records "on-segment: a program that is not there" "${small[@]}" --frames 10 --on-segment ./nowhere absent.h264 &&
    check "on-segment: is warned of at the start" grep -q -- '--on-segment ./nowhere: No such file or directory; check its name' stderr
refuses "on-segment: no file" 64 '--on-segment needs an output that is a file' "${small[@]}" --frames 10 --on-segment ./fails -
finish
