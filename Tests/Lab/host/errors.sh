#!/bin/bash
# Errors and their exit codes that need no camera, and the clean stop.
# usage: errors.sh [--short]
#   --short   without the walk through all options: 4,500 runs, and a debug program takes half a second for its arguments
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
quick=(--encoder software --no-pace)
small=(--device test --size 320x240 "${quick[@]}")

# 64: usage
refuses_usage() { # NAME ARGUMENTS...: the reason may be followed by the usage, so only its code and some output are checked
    local name=$1 status=0
    shift
    camrec "$@" || status=$?
    if [ "$status" = 64 ] && [ -s stderr ]; then pass "$name"; else fail "$name" "exit code $status in place of 64: $(head -n 2 stderr)"; fi
}
refuses_usage "usage: no output"
refuses_usage "usage: an unknown option" --no-such-option out.h264
for bad in "--size 0x0" "--size 640" "--size 99999999x99999999" "--fps 0" "--fps nan" "--frames x" "--duration 10q" "--bitrate 0" \
    "--bitrate 99999999999999999999M" "--keyframe-interval 0" "--encoder gpu" "--profile ultra" "--level 9.9" "--entropy none" "--qp 99" "--slices 0" "--color-range odd"; do
    # shellcheck disable=SC2086 # an option and its value
    refuses_usage "usage: $bad" "${small[@]}" $bad --frames 1 out.h264
done
refuses_usage "usage: recording and report both on standard output" "${small[@]}" --frames 1 --report - -
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=64x64:r=25 -frames:v 5 -pix_fmt yuv420p stamp.y4m
refuses "usage: capture times of a file" 64 'the pictures of a file have no capture times; leave out --stamp' --device stamp.y4m --stamp "${quick[@]}" out.h264
check "usage: nothing was created" test ! -e out.h264

# For mistyped words, the answer says what to type, and no camera is opened.
for word in stop status list play inspct; do
    refuses "mistyped: camrec $word" 64 "'$word' is not a command; the nearest is 'cam" "$word"
    check "mistyped: camrec $word makes no file" test ! -e $word
done
refuses "mistyped: with a file after it" 64 "'inspct' is not a command; the nearest is 'camrec inspect'" inspct --nal x.h264
refuses "mistyped: behind options" 64 "'stop'.* add --codec h264" "${small[@]}" --frames 1 stop
refuses "mistyped: behind an output" 64 "'stauts' is not a command; the nearest is 'camrec ctl SOCKET stats'" "${small[@]}" --frames 1 out.h264 stauts
refuses "mistyped: a command behind options" 64 "'devices' is a command and must come first: camrec devices" --device test devices
check "mistyped: no file of that name" test ! -e stauts -a ! -e devices -a ! -e out.h264
records "a bare word is a file where --codec says so" "${small[@]}" --frames 10 --codec h264 stop && check "a bare word: recorded" is_sound stop --frames 10
for name in shot.jpg x.avcc x.bin ./name 'a%H' a.txt; do
    refuses "output: $name does not say the codec" 64 "'$name': .*--codec h264" "${small[@]}" --frames 1 "$name"
done
records "output: x.bin with --codec" "${small[@]}" --frames 5 --codec hevc x.bin && mv x.bin x.h265 && check "output: x.bin is H.265" is_sound x.h265 --frames 5
refuses "output: rtmp://" 64 'does not support rtmp; use rtsp://HOST/PATH' "${small[@]}" --frames 1 rtmp://localhost/x
mkfifo pipe && { cat pipe >piped.h264 & } && records "output: a named pipe needs no extension" "${small[@]}" --frames 10 pipe && wait $! && check "output: what went through the pipe" is_sound piped.h264 --frames 10
check "output: /dev/stdout" bash -o pipefail -c "'$CAMREC' --device test --size 320x240 --encoder software --no-pace --frames 5 /dev/stdout | cat >redirected.h264"
check "output: what /dev/stdout got" is_sound redirected.h264 --frames 5
check "output: /dev/stdout if that is a file" bash -c "'$CAMREC' --device test --size 320x240 --encoder software --no-pace --frames 5 /dev/stdout >redirected.h264"
check "output: what the file got" is_sound redirected.h264 --frames 5
day=$(date +%F)
refuses "a date: a folder before it is not created" 73 'no such folder; create it first' "${small[@]}" --frames 5 'dated/%F/a.h264'
refuses "a date: nor where there are segments" 73 'no such folder; create it first' "${small[@]}" --frames 5 --segment 2f 'dated/%F/a.h264'
refuses "a date: nor of a report" 73 'no such folder; create it first' "${small[@]}" --frames 5 --report 'dated/%F/a.json' a.h264
dated_at_begin() { # the source is a pipe, whose writer comes two seconds later
    local pid begin status=0
    mkdir late && mkfifo late/source.y4m
    rm -f stderr
    "$CAMREC" --device late/source.y4m "${quick[@]}" --report 'late/%s.json' 'late/%s.h264' 2>stderr &
    pid=$!
    begin=$(($(date +%s) + 2))
    while [ "$(date +%s)" -lt $begin ]; do sleep 0.1; done
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=64x64:r=25 -frames:v 5 -pix_fmt yuv420p -f yuv4mpegpipe late/source.y4m
    wait $pid || status=$?
    [ $status = 0 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
    for name in late/*.h264 late/*.json; do
        name=${name#late/}
        [ "${name%.*}" -ge $begin ] || { echo "$name is older than $begin"; return 1; }
    done
}
check "a date: that of the recording's start, however long it waited" dated_at_begin
for conversion in %D %x %Ex; do
    refuses "a date: $conversion has slashes" 64 "$conversion becomes '.*/.*', .*; write %F for the date" "${small[@]}" --frames 5 "a-$conversion.h264"
done
refuses "a date: %D in a report's name" 64 '%D becomes .*; write %F' "${small[@]}" --frames 5 --report 'a-%D.json' a.h264
check "a date: nothing was created" test -z "$(find . -name 'dated*' -o -name 'a-*' -o -name 'a.h264')"
records "a date in a report's name" "${small[@]}" --frames 5 --utc --report '%Y/report.json' a.h264 && check "a date: the report exists" test -s "$(date -u +%Y)/report.json" -a ! -e %Y
mkdir dated
records "a date in a single file's name" "${small[@]}" --frames 5 'dated/%F/a.h264' && check "a date: its folder is created" test -s "dated/$day/a.h264" -o -s "dated/$(date +%F)/a.h264"
says_usage() { # PATTERN ARGUMENTS...: exit code 64, and a line that says what to type
    local pattern=$1 status=0
    shift
    camrec "${small[@]}" "$@" out.h264 || status=$?
    [ $status = 64 ] && [ "$(wc -l <stderr)" = 1 ] && grep -qE -- "$pattern" stderr || { echo "exit code $status: $(cat stderr)"; return 1; }
}
check "message: --frames -1" says_usage "'-1' is invalid for '--frames <N>': expected a whole number, 1 or more" --frames -1
check "message: --frames abc" says_usage "'--frames <N>': expected a whole number, 1 or more" --frames abc
check "message: --qp -4" says_usage "'--qp <N>': expected a whole number, 1 to 51" --qp -4
check "message: --rate-control abr" says_usage "'abr' is invalid for .*: expected auto, cbr, vbr, cqp, icq or qvbr; see 'camrec --help'$" --rate-control abr
check "message: --overwrite -1.h264" says_usage "'-1.h264' is not an option; for a file of that name write \./-1.h264$" --overwrite -1.h264
check "message: --report= does not take the OUTPUT" says_usage "'--report=' has no value; write one, or leave the option out$" --report=
check "message: --report twice" says_usage '--report is given twice; leave one out' --report a --report b
check "message: a newline in a name" says_usage "'a\\\\x0ab.xyz': '.xyz' is not a video format" $'a\nb.xyz'
refuses "message: --device with nothing" 64 "expected a camera's path, test, or a .y4m file" --device '' out.h264
refuses "message: --device tset" 66 'camrec: tset: no such device; use --device test$' --device tset out.h264
refuses "message: --device tset with segments is not waited for" 66 'tset: no such device' --device tset --segment 1s out.h264
refuses "message: the test source has no H.264" 64 'test: the test source has no H264; try nv12' --device test --format h264 out.h264
refuses "message: an option of inspect" 64 "unknown option '--nall'; use --nal$" inspect --nall out.h264
refuses "message: an option that inspect has not" 64 "unknown option '--frobnicate'; 'camrec inspect --help' lists them$" inspect --frobnicate out.h264
check "message: -v" says_usage "'-v'; use --verbose, or --version" -v
check "message: -t" says_usage "'-t'; use --duration" -t 10s
check "message: -o" says_usage "'-o'; name the OUTPUT without an option" -o x.h264
check "message: --durtion" says_usage "unknown option '--durtion'; use --duration" --durtion 3
check "message: --port" says_usage "unknown option '--port'; use --listen 9000$" --port 9000
check "message: --host and --port" says_usage "unknown option '--host'; use --listen 0.0.0.0:9000$" --host 0.0.0.0 --port 9000
check "message: --width and --height" says_usage "unknown option '--width'; use --size 640x480$" --width 640 --height 480
check "message: --preset slow" says_usage "unknown option '--preset'; use --latency quality$" --preset slow
check "message: --list" says_usage "unknown option '--list'; use 'camrec devices'$" --list
check "message: --segment 600" says_usage '--segment 600 has no unit; write 600s for seconds, or 600f for frames$' --segment 600
check "message: --duration 1w" says_usage "'1w' is invalid for '--duration <TIME>': expected a time such as 500ms, 90s, 1h30m, 00:10:00 or 7d" --duration 1w
check "message: --codec h266" says_usage "'h266' is invalid for .*: expected h264, or hevc for H.265" --codec h266
check "message: --size 640" says_usage '1280x720' --size 640
check "message: --level 9.9" says_usage 'as in 4.1, or auto' --level 9.9
refuses "message: a name that is not UTF-8" 64 "'caf.\.h264', is not UTF-8" "${small[@]}" --frames 1 $'caf\xe9.h264'
INVOCATION_ID=0123 refuses "no service: INVOCATION_ID in a shell" 66 '/dev/video250' --device /dev/video250 "${quick[@]}" out.h264

# Every option of every command, with unlikely values and bytes that are not text.
if [ "${1-}" != --short ]; then
    check "walk: each value is accepted, or rejected with what it must be" "$PYTHON" "$LAB/verify/values.py" "$CAMREC"
fi

# 65: bad input
refuses "bad input: a y4m file that does not exist" 66 'missing\.y4m: no such file; check its name and folder$' --device missing.y4m "${quick[@]}" out.h264
printf 'not a video\n' >bad.y4m
refuses "bad input: not a y4m file" 65 'bad\.y4m.*; check the file, or create it again$' --device bad.y4m "${quick[@]}" out.h264
: >empty.y4m
refuses "bad input: an empty file" 65 'empty\.y4m: not a YUV4MPEG2 file' --device empty.y4m "${quick[@]}" out.h264
printf 'YUV4MPEG2 W999999999 H999999999 F25:1 C420\nFRAME\n' >huge.y4m
refuses "bad input: an impossible size" 65 'huge\.y4m: its size of 999999999x999999999 is outside' --device huge.y4m "${quick[@]}" out.h264
printf 'YUV4MPEG2 W64 H64 F25:1 C420p10\nFRAME\n' >deep.y4m
refuses "bad input: ten bits" 65 "deep\.y4m: its format 'C420p10' is not supported" --device deep.y4m "${quick[@]}" out.h264
check "bad input: no file is left" test ! -e out.h264
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=25 -frames:v 20 -pix_fmt yuv420p whole.y4m
head -c $(($(stat -c %s whole.y4m) - 50000)) whole.y4m >truncated.y4m
refuses "bad input: a truncated y4m file" 65 'truncated\.y4m' --device truncated.y4m "${quick[@]}" out.h264
check "bad input: recorded as far as it goes" is_sound out.h264 --frames 19
rm -f out.h264

# 66: no such device
refuses "no device: a path that does not exist" 66 '/dev/video250' --device /dev/video250 "${quick[@]}" out.h264
refuses "no device: not a capture device" 66 '/dev/null' --device /dev/null "${quick[@]}" out.h264
refuses "no device: --wait is for one that is in use" 66 '/dev/video250' --device /dev/video250 --wait 0 "${quick[@]}" out.h264
waits_for_device() { # CODE ARGUMENTS...: the wait lasts as long as requested, or until the process is ended, and names the device
    local expected=$1 status=0
    shift
    limit=3 camrec "$@" --device /dev/video250 "${quick[@]}" out.h264 || status=$?
    grep -q 'waiting for /dev/video250' stderr && [ $status = "$expected" ] || { echo "exit code $status: $(cat stderr)"; return 1; }
}
check "no device: waited for as long as --device-timeout says" waits_for_device 66 --device-timeout 1s
check "no device: waited for with segments" waits_for_device 124 --segment 1s
refuses "no device: not waited for with segments and --device-timeout 0" 66 '/dev/video250' --device /dev/video250 --segment 1s --device-timeout 0 "${quick[@]}" out.h264
if compgen -G '/dev/video*' >/dev/null; then
    skip "no device: no camera at all" "this machine has a camera"
else
    refuses "no device: no camera at all" 66 'no camera.*--device test' "${quick[@]}" --frames 1 out.h264
fi

# 69: no encoder
refuses "no encoder: a render node that does not exist" 69 '/dev/dri/renderD250' --device test --frames 1 --encoder vaapi --render-node /dev/dri/renderD250 out.h264
if compgen -G '/dev/dri/renderD*' >/dev/null; then
    skip "no encoder: no render node at all" "this machine has one"
else
    refuses "no encoder: no render node at all" 69 'render node|/dev/dri' --device test --frames 1 --encoder vaapi out.h264
    records "no encoder: software instead" --device test --size 320x240 --frames 10 --no-pace --verbose out.h264 &&
        says "no encoder: says why" '(libx264|software).*(render node|/dev/dri|VAAPI)'
    rm -f out.h264
fi

# 73: the output cannot be created
echo precious >existing.h264
refuses "output: an existing file is refused" 73 'existing\.h264.*--overwrite' "${small[@]}" --frames 1 existing.h264
check "output: the existing file is untouched" grep -qx precious existing.h264
owners_alone() { # FILE: recorded where the umask takes no permission away
    (umask 0 && "$CAMREC" "${small[@]}" --frames 5 "$1") && [ "$(stat -c %a "$1")" = 644 ]
}
for file in open.h264 open.mp4; do check "output: its owner alone can write $file" owners_alone $file; done
records "output: --overwrite takes it" "${small[@]}" --frames 10 --overwrite existing.h264 && check "output: overwritten" is_sound existing.h264 --frames 10
refuses "output: a folder that does not exist" 73 'nowhere' "${small[@]}" --frames 1 nowhere/out.h264
refuses "output: a folder in the file's place" 73 "$work" "${small[@]}" --frames 1 --overwrite "$work"
refuses "output: a report that cannot be created" 73 'nowhere' "${small[@]}" --frames 1 --report nowhere/report.json out.h264

# 74: reading or writing failed
refuses "an unknown option with an h in it" 64 "unknown option '-threads'" -threads 2 out.h264
refuses "write: /dev/full" 74 '/dev/full: the disk is full' "${small[@]}" --frames 50 /dev/full
closed_pipe() {
    local status=0
    "$CAMREC" "${small[@]}" --frames 2000 - 2>stderr | head -c 1000 >/dev/null || status=${PIPESTATUS[0]}
    [ "$status" = 74 ] || { echo "exit code $status in place of 74: $(cat stderr)"; return 1; }
    [ "$(wc -l <stderr)" = 1 ] || { echo "standard error: $(cat stderr)"; return 1; }
}
check "write: a closed pipe" closed_pipe

# As an ordinary user, and on a separate disk: both need root.
if [ "$(id -u)" = 0 ]; then
    mkdir -p disk closed
    mount -t tmpfs -o size=300k none disk
    refuses "write: a full disk" 74 'the disk is full' "${small[@]}" --frames 5000 --qp 5 disk/out.h264
    check "write: what fit is still a recording" stream <(head -c "$(stat -c %s disk/out.h264)" disk/out.h264 | "$PYTHON" -c 'import sys; d = sys.stdin.buffer.read(); sys.stdout.buffer.write(d[:d.rindex(b"\0\0\0\1")])')
    umount disk
    # The program and its folder may be inaccessible to others, so use a copy that is not.
    chmod 755 . && cp "$CAMREC" camrec.copy && chmod 755 camrec.copy
    chmod 700 closed
    launcher=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    CAMREC=$work/camrec.copy refuses "output: an unwritable folder" 73 'closed.*[Pp]ermission denied' "${small[@]}" --frames 1 "$work/closed/out.h264"
    launcher=()
else
    skip "write: a full disk" "needs root for a mount"
    skip "output: an unwritable folder" "needs root to become another user"
fi

# Several outputs: one that fails does not stop the others; the run ends with its error.
survives() { # the run that wrote good.h264, good.h265 and, in vain, /dev/full
    local status=0
    camrec "${small[@]}" --frames 60 --overwrite --report report.json good.h264 /dev/full good.h265 || status=$?
    [ $status = 74 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
    error_names stderr '/dev/full.*full' || return 1
    is_sound good.h264 --frames 60 && is_sound good.h265 --frames 60 &&
        report report.json 'hasattr(outputs[1], "error")' 'outputs[1].written == 0' 'not hasattr(outputs[0], "error")' 'outputs[2].written == 60'
}
check "outputs: one that fails does not stop the others" survives
refuses "outputs: one file twice" 73 '\./same.h264: given twice: it is also an output; use another name$' "${small[@]}" --frames 5 same.h264 ./same.h264
refuses "outputs: one name twice, with --overwrite" 73 'camrec: same.h264: given twice: it is also an output' "${small[@]}" --overwrite --frames 5 same.h264 same.h264
check "outputs: one file twice leaves nothing behind" test ! -e same.h264
refuses "outputs: standard output twice" 64 "'-'.*twice" "${small[@]}" --frames 5 - -
refuses "outputs: a report that is one of them" 73 'mixed.h264: given twice: it is also an output' "${small[@]}" --frames 5 --report mixed.h264 mixed.h265 mixed.h264
refuses "outputs: a container that camrec does not write" 64 'does not write \.avi; use \.mkv' "${small[@]}" --frames 5 out.avi
refuses "codec: a picture too small for H.265" 69 'libx265 encodes 16x16 and larger, not 8x8' --device test --size 8x8 "${quick[@]}" --frames 5 none.h265
refuses "codec: unknown" 64 'codec' "${small[@]}" --frames 5 --codec vp8 out.h264
refuses "codec: a profile that H.265 has not" 64 'H.265 has no profile high' "${small[@]}" --frames 5 --profile high none.h265
refuses "codec: CAVLC for H.265" 64 'CAVLC' "${small[@]}" --frames 5 --entropy cavlc none.h265
refuses "codec: a level that H.265 has not" 64 'H.265 has no level 1.2' "${small[@]}" --frames 5 --level 1.2 none.h265
refuses "codec: a level at which libx265 crashes" 69 'libx265 encodes 32x32 and larger at level 5.2, not 16x16; use a --level below 5' \
    --device test --size 16x16 "${quick[@]}" --level 5.2 --frames 5 none.h265
for name in h264 264 avc; do
    refuses "codec: H.265 in a file named .$name" 64 "'named.$name' is a name for H.264, but --codec requests H.265; rename it" \
        "${small[@]}" --frames 5 --codec hevc named.$name
done
for name in h265 265 hevc; do
    refuses "codec: H.264 in a file named .$name" 64 "'named.$name' is a name for H.265, but --codec requests H.264; rename it" \
        "${small[@]}" --frames 5 --codec h264 named.$name
done
check "codec: a refused name leaves no file" bash -c '! ls named.*'
printf 'codec = hevc\noutput = named.h264\n' >misnamed.conf
records "codec: a settings file whose name says otherwise goes on" "${small[@]}" --frames 5 --settings misnamed.conf &&
    says "codec: the other name is reported" 'named.h264 receives H.265'
echo 'codec = hevc' >codec.conf
records "codec: a settings file's codec, a command line's name" "${small[@]}" --frames 5 --settings codec.conf service.h264 &&
    says "codec: that other name is reported" 'service.h264 receives H.265'
check "codec: camrec check says nothing of a name that is still missing" bash -c '! "$CAMREC" check codec.conf 2>&1 | grep receives'
refuses "codec: the command line's own codec, beside a settings file" 64 "is a name for H.264, but --codec requests H.265" \
    "${small[@]}" --frames 5 --settings codec.conf --codec hevc refused.h264

# A clean stop: exit code 0, and everything that was captured is in the file.
stops_cleanly() { # SIGNAL [COMMAND...]: the command runs camrec and takes the signal
    local status=0 pid signal=$1
    shift
    rm -rf stop stop.json && mkdir stop
    # bash makes a background job ignore SIGINT; env undoes that.
    rm -f stderr
    env --default-signal=INT,TERM "$@" "$CAMREC" --device test --size 320x240 --fps 50 --encoder software --report stop.json stop/out.h264 2>stderr &
    pid=$!
    for _ in $(seq 100); do
        [ -z "$(find stop -size +8k)" ] || break
        sleep 0.1
    done
    kill "-$signal" $pid || { echo "it ended by itself: $(cat stderr)"; return 1; }
    for _ in $(seq 100); do
        kill -0 $pid 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL $pid 2>/dev/null && { echo "still there 10 s after SIG$signal"; return 1; }
    wait $pid || status=$?
    [ $status = 0 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
    is_sound stop/out.h264 --keyframe-interval 50 &&
        report stop.json "frames.written == $(stream stop/out.h264 | cut -d ' ' -f 1)" 'frames.captured == frames.written + frames.droppedByUs + frames.unused' &&
        [ "$(ls stop)" = out.h264 ]
}
check "SIGINT stops cleanly" stops_cleanly INT
check "SIGTERM stops cleanly" stops_cleanly TERM
# It passes a signal to its child and to its group: two within microseconds, which do not always merge into one.
stopped_by_timeout() { for _ in 1 2 3 4 5; do stops_cleanly TERM timeout 60 || return 1; done; }
check "timeout stops cleanly" stopped_by_timeout

# On a terminal there is a progress line, the encoder and a summary; --quiet silences it.
on_terminal() { script -qec "'$CAMREC' --device test --size 320x240 --fps 25 --frames 50 --encoder software --overwrite $* '$work/tty.h264'" /dev/null </dev/null; }
on_terminal_says() { # PATTERN ARGUMENTS...
    local said pattern=$1
    shift
    said=$(on_terminal "$@") || { echo "exit code $?: $said"; return 1; }
    grep -aqE -- "$pattern" <<<"$said" || { echo "no '$pattern' in: $said"; return 1; }
}
on_terminal_is_silent() { # ARGUMENTS...
    local said
    rm -f tty.h264
    said=$(on_terminal "$@") && is_sound tty.h264 --frames 50 || { echo "it is not recorded: $said"; return 1; }
    [ -z "$said" ] || { echo "said: $said"; return 1; }
}
check "terminal: the encoder chosen" on_terminal_says 'libx264'
check "terminal: the summary" on_terminal_says '50 frames'
check "terminal: --quiet says nothing" on_terminal_is_silent --quiet

prints_version() { # PROGRAM: with the libraries that it has loaded
    local said ffmpeg
    said=$("$1" --version)
    ffmpeg=$(ffmpeg -version | sed -nE '1s/ffmpeg version (\S+).*/\1/p')
    grep -qE "^$(basename "$1") [0-9]+\.[0-9]+\.[0-9]+( \(commit [^ ]+\))?$" <<<"$said" && grep -qxF "FFmpeg $ffmpeg" <<<"$said" &&
        grep -qE '^libva 2\.[0-9]+\.[0-9]+$' <<<"$said" || { echo "$said"; return 1; }
}
lists_json() { "$CAMREC" devices --json | "$PYTHON" -m json.tool >/dev/null; }
check "--version" prints_version "$CAMREC"
check "camplay --version" prints_version "$CAMPLAY"
check "camrec devices" "$CAMREC" devices
check "camrec devices --json is JSON" lists_json

# The documents, which need no camera either.
repository=$(cd "$LAB/../.." && pwd)
check "documents: docs/reference/options.md is what the programs say" "$repository/scripts/options" --check "$(dirname "$CAMREC")"
check "documents: links, headings, lines of 120 columns" "$PYTHON" "$LAB/verify/documents.py" "$repository"
finish
