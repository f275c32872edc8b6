#!/bin/bash
# Settings files, camrec check and camrec doctor, as far as they need no camera.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
json() { "$PYTHON" -c 'import json, sys; report = json.load(open(sys.argv[1])); sys.exit(not all(eval(c, {"r": report}) for c in sys.argv[2:]))' "$@"; }

cat >good.conf <<'END'
# A camera.
device = test
size = 320x240      # small
frames = 20
pace = no
encoder = software
output = "first #1.h264"
output = second.mkv
END
records "settings: read" --settings good.conf
check "settings: each output is there" is_sound "first #1.h264" --frames 20
check "settings: in its form" same_pictures second.mkv "first #1.h264"
records "settings: the command line wins" record --settings=good.conf --frames 10 third.h264
check "settings: its frames" is_sound third.h264 --frames 10
check "settings: its outputs" test "$(find . -name '*.h264' | wc -l)" = 2
printf 'device = test\nencoder = software\npace = no\nframes = 9\nsegment = 1f\nkeep = 1\nkeep = 7d\nkeyframe-interval = 1\nverbose = yes\n' >keeps.conf
records "settings: the command line's --keep stands for all of the file's" --settings keeps.conf --keep 3 kept.h264
check "settings: three are left" test "$(echo kept*.h264)" = "kept-6.h264 kept-7.h264 kept-8.h264"
records "settings: --quiet replaces verbose" --settings keeps.conf --quiet quiet.h264
check "settings: the file's keeps all apply" test "$(echo quiet*.h264)" = "quiet-8.h264"
check "settings: it is quiet" test ! -s stderr

# After a restart of a service, there is nobody to name another file.
for run in first second; do
    NOTIFY_SOCKET=$work/nobody records "service: the $run run" --device test --size 320x240 --frames 10 --no-pace --encoder software --report service.json service.h264
done
check "service: each run has its file" is_sound service.h264 --frames 10
check "service: the second's gets a counter" is_sound service-1.h264 --frames 10
check "service: the report is the second's" report service.json 'output == "service-1.h264" or outputs[0].segments.last == "service-1.h264"'
refuses "a file of the same name: refused without a service" 73 'service.h264: already exists' --device test --frames 1 --encoder software service.h264

# A duration is recorded once, whatever was lost, and after a crash only its rest. The folder stands for the
# service's RuntimeDirectory.
timed=(--device test --size 320x240 --fps 20 --encoder software --keyframe-interval 5)
as_service() { NOTIFY_SOCKET=$work/nobody RUNTIME_DIRECTORY=$work/run camrec "$@"; }
ends_once() {
    local status=0
    mkdir -p run timed
    as_service "${timed[@]}" --duration 1s timed/a.h264 /dev/full || status=$?
    [ $status = 76 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
    status=0
    as_service "${timed[@]}" --duration 1s timed/a.h264 /dev/full || status=$?
    [ $status = 76 ] && grep -q 'ended before the service was restarted' stderr || { echo "again: exit code $status: $(cat stderr)"; return 1; }
    [ "$(ls timed)" = a.h264 ] || { echo "files: $(ls timed)"; return 1; }
}
check "service: a duration with losses is over, and not restarted" ends_once
frames_end_once() {
    local status=0
    as_service "${timed[@]}" --frames 9 timed/frames.h264 /dev/full || status=$?
    [ $status = 76 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
    status=0
    camrec "${timed[@]}" --frames 9 timed/alone.h264 /dev/full || status=$?
    [ $status = 74 ] || { echo "without a service: exit code $status: $(cat stderr)"; return 1; }
}
check "service: so are frames; without a service it is 74" frames_end_once
goes_on_after_crash() {
    local pid
    rm -rf run timed && mkdir run timed
    rm -f stderr
    NOTIFY_SOCKET=$work/nobody RUNTIME_DIRECTORY=$work/run "$CAMREC" "${timed[@]}" --duration 4s timed/a.h264 2>stderr &
    pid=$!
    await 10 test -s timed/a.h264
    kill -KILL $pid
    wait $pid || true
    as_service "${timed[@]}" --duration 4s --report timed.json timed/a.h264 || { echo "exit code $?: $(cat stderr)"; return 1; }
    # 20 a second, and the previous process recorded some of them.
    report timed.json '0 < frames.written < 80'
}
check "service: after a crash the rest is recorded" goes_on_after_crash

cat >bad.conf <<'END'
device test
bitrat = 4M

size = 640by480
qp = 24
bitrate = 4M
pace = maybe
frames = 10
frames = 20
output = film.avi
END
cat >bad.expected <<'END'
camrec: bad.conf:1: 'device test' has no '='; write key = value
camrec: bad.conf:2: unknown key 'bitrat'; the nearest is 'bitrate'
camrec: bad.conf:4: the value '640by480' is invalid for '--size <WxH>': expected width and height in pixels, as in 1280x720, up to 16384x16384
camrec: bad.conf:7: 'pace' is 'maybe'; write yes or no
camrec: bad.conf:9: 'frames' is already in line 8; leave one out
camrec: bad.conf: there are more mistakes; fix these first
END
status=0
camrec check good.conf bad.conf || status=$?
check "check: a mistake is exit code 1" test $status = 1
check "check: five mistakes with their lines, and that there are more" diff bad.expected stderr
status=0
camrec --settings bad.conf out.h264 || status=$?
check "settings: nothing is recorded with a mistake" test "$status" = 64 -a ! -e out.h264
check "settings: the mistakes are those that check finds" diff bad.expected stderr
refuses "settings: no such file" 64 'none.conf' --settings none.conf out.h264
refuses "check: no such file" 1 'none.conf' check none.conf
refuses "check: no file" 1 '/dev/null' check /dev/null

# What record would reject before opening a device.
printf 'entropy = cabac\nprofile = constrained-baseline\n' >impossible.conf
refuses "check: what no encoder can do" 1 'impossible.conf:2: CABAC needs profile main or high' check impossible.conf
printf 'output = a.h265\nprofile = high\n' >impossible.conf
refuses "check: a profile that H.265 has not" 1 'impossible.conf:2: H.265 has no profile high' check impossible.conf
printf 'output = a.h264\nlisten = yes\n' >impossible.conf
refuses "check: listen is not a flag" 1 "impossible.conf:2: --listen cannot be 'yes': expected a port" check impossible.conf
printf 'output = a.h264\nmax-clients = 3\n' >impossible.conf
refuses "check: an option without what it needs" 1 'impossible.conf:2: --max-clients needs --listen' check impossible.conf

mistaken() { # PATTERN LINE...: of a file with these lines, check names the last
    local pattern=$1
    shift
    printf '%s\n' "$@" >impossible.conf
    refuses "check: ${!#}" 1 "^camrec: impossible.conf:$#: $pattern" check impossible.conf
}
mistaken 'same.h264: given twice: it is also an output; use another name' 'output = same.h264' 'output = same.h264'
mistaken '\./same.h264: given twice' 'output = same.h264' 'output = ./same.h264'
mistaken 'a.h264: given twice: it is also an output' 'output = a.h264' 'report = a.h264'
mistaken '.*: too long: a socket path has at most 107 bytes; use a shorter one' 'output = a.h264' "listen = unix:x$(printf '%0107d' 0)"
mistaken '.*: too long: a socket path' 'output = a.h264' "control-socket = x$(printf '%0107d' 0)"
mistaken '.*only a mode may follow it; write unix:sk,mode=660' 'output = a.h264' 'listen = unix:sk,mdoe=660'
mistaken 'test: the test source has no H264; try nv12' 'output = a.h264' 'device = test' 'format = h264'
mistaken 'a.y4m: a .y4m file has no MJPG; leave out --format' 'output = a.h264' 'device = a.y4m' 'format = mjpeg'
mistaken 'level 3.1 is too low for 1920x1080 at 30 frames a second; use 4' 'output = a.h264' 'size = 1920x1080' 'fps = 30' 'level = 3.1'
mistaken 'level 3.1 is too low for 1280x720 at 60 frames a second; use 3.2' 'device = test' 'level = 3.1' 'fps = 60'
mistaken 'H.264 has no level for 16384x16384; lower --size' 'size = 16384x16384'
mistaken 'tset: no such device; use --device test' 'output = a.h264' 'device = tset'
mistaken "'%D.h264': %D becomes '.*'.*; write %F" 'output = %D.h264'
mistaken "'%Q.h264': %Q is not a conversion of strftime; write %% for a percent sign" 'output = %Q.h264'
printf 'device = test\nlisten = 9982\nmax-clients-per-address = 3\nformat = nv12\n' >useless.conf
records "check: what has no effect is not a mistake" check useless.conf && says "check: but reported" 'useless.conf: --max-clients-per-address has no effect'
printf 'output = a.h264\nformat = h264\nbitrate = 2M\n' >useless.conf
records "check: a rate for the camera's own H.264 is not a mistake" check useless.conf && says "check: but reported, too" 'have no effect; leave them out'

printf '\xef\xbb\xbfdevice = test\nframes = 10\n' >marked.conf
printf '%s\n' 'device = test' 'ca-file = /nowhere/server.crt' 'output = rtsps://127.0.0.1/cam' >certificates.conf
records "check: certificates that are not there are not a mistake" check certificates.conf && says "check: but reported" 'certificates.conf: ca-file /nowhere/server.crt: no such file'
check "check: a byte order mark is not a mistake" "$CAMREC" check marked.conf
for number in $(seq 100); do echo "control = $number"; done >wrong.conf
status=0
camrec check wrong.conf || status=$?
check "check: many mistakes are reported up to a limit" test "$status" = 1 -a "$(wc -l <stderr)" = 6
says "check: reports that there are more" 'wrong.conf: there are more mistakes'
seq -f 'output = %g.h264' 2000 >long.conf
status=0
camrec check long.conf || status=$?
check "check: far too many settings: the exit code" test "$status" = 1
says "check: far too many settings" 'long.conf:257: more than 256 settings'

# This machine may or may not have a camera.
status=0
camrec doctor --json --encode || status=$?
cp stdout doctor.json
check "doctor: the exit code is what a recording's would be" json doctor.json "{None: 0, 'noCamera': 66, 'noPermission': 77, 'noEncoder': 69, 'noRoom': 73, 'busy': 75}[r['diagnosis'].get('obstacle')] == $status"
check "doctor: every part was looked at" json doctor.json "{f['area'] for f in r['diagnosis']['findings']} == {'machine', 'cameras', 'encoders', 'services', 'disk'}"
check "doctor: what is broken has a cause" json doctor.json "all(f['message'] for f in r['diagnosis']['findings'])"
check "doctor: software encodes H.264 and H.265, and all of it decodes" json doctor.json \
    "[t['result']['decoded'] for t in r['encoderTrials'] if 'node' not in t] == [150, 150]"
check "doctor: with a picture that resembles the source" json doctor.json "all(30 < t['result']['psnr'] < 60 for t in r['encoderTrials'] if 'node' not in t)"
check "doctor: and the rates hold" json doctor.json "all(t['result']['holdsRates'] and t['result']['peakBitRate'] <= 1.02 * t['result']['maximumBitRate'] for t in r['encoderTrials'] if 'node' not in t)"
check "doctor: near the requested rate" json doctor.json "all(0.7 < t['result']['bitRate'] / t['result']['wantedBitRate'] < 1.3 for t in r['encoderTrials'] if 'node' not in t)"
for driver in radeonsi iHD; do
    has_gpu "doctor: $driver" $driver || continue
    launcher=("$LAB/gpu/run" "$driver")
    camrec doctor --json || true
    cp stdout "$driver.json"
    # Intel's driver hangs; Mesa's ends the process.
    fault="hang 3"
    [ $driver = iHD ] || fault="hang 3 300"
    FAKEGPU_FAULTS=$fault camrec doctor --encode || true
    cp stdout "$driver.text"
    launcher=()
    check "doctor: $driver fails: it is told, and software is tried all the same" \
        grep -Pzq 'H.264 on /dev/dri/renderD128: (no picture|the process was killed|the GPU.s driver hangs).*\nH.265 on /dev/dri/renderD128: .*\nH.264 on software: libx264' "$driver.text"
    check "doctor: $driver encodes" json "$driver.json" "any(f['verdict'] == 'fine' and 'renderD128' in f['subject'] and 'H.264' in f['message'] for f in r['diagnosis']['findings'])"
done
finish
