#!/bin/bash
# camweb: recorders' live pictures in a browser, found there by their content; viewers and requests that misbehave.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

web() { "$PYTHON" "$LAB/verify/web.py" "$@"; }
browsers() { "$PYTHON" "$LAB/verify/browsers.py" "$@"; }
viewer() { "$PYTHON" "$LAB/verify/viewer.py" "$@"; }
# shellcheck source=web-lib.sh
. "$LAB/host/web-lib.sh"
ends_with_disk() { # also lets go of the disk that may hang
    : 2>/dev/null >"$work/disk-state" || true
    umount --lazy "$work/disk" 2>/dev/null || true
    ends
}
trap ends_with_disk EXIT

refuses_web() { # NAME CODE PATTERN ARGUMENTS...: camweb exits with CODE after one line that has PATTERN
    local name=$1 code=$2 pattern=$3 status=0
    shift 3
    timeout 20 "$CAMWEB" "$@" >stdout 2>stderr </dev/null || status=$?
    if [ "$status" != "$code" ] || [ "$(wc -l <stderr)" != 1 ] || ! grep -qE -- "$pattern" stderr; then
        fail "$name" "exit code $status in place of $code: $(head -n 3 stderr)"
    else
        pass "$name"
    fi
}
refuses_web "settings and an address" 64 "leave one out" --settings . tcp://127.0.0.1:1
refuses_web "an address that is none" 64 "tcp://HOST:PORT or unix:PATH" http://127.0.0.1:1
refuses_web "two cameras of one name" 64 "two cameras are called 'a'; name one" a=tcp://127.0.0.1:1 a=tcp://127.0.0.1:2
refuses_web "listening beyond this machine" 64 "needs --password-file.*reverse proxy.*ssh -L" --listen 0.0.0.0:8080 tcp://127.0.0.1:1
refuses_web "listening at another machine's name" 64 "needs --password-file" --listen example.org:8080 tcp://127.0.0.1:1
refuses_web "recordings of no camera" 64 "no CAMERA has this name" --recordings b=. a=tcp://127.0.0.1:1
refuses_web "recordings without a name" 64 "expected NAME=FOLDER" --recordings . a=tcp://127.0.0.1:1
refuses_web "another server's options" 64 "unknown option '--port'; use --listen 0.0.0.0:8000$" --host 0.0.0.0 --port 8000 tcp://127.0.0.1:1
refuses_web "a host that is an address" 64 "use --listen 0.0.0.0:8080" --host 0.0.0.0 tcp://127.0.0.1:1
refuses_web "a mistyped option" 64 "unknown option '--lisen'; use --listen$" --lisen 80 tcp://127.0.0.1:1
refuses_web "a host with a port" 64 "without scheme and port" --host example.org:80 tcp://127.0.0.1:1

few_descriptors() { # camweb serves, or says what is missing
    local limit status
    for limit in 5 7 9 11 15 40; do
        status=0
        (ulimit -n $limit && exec timeout 2 "$CAMWEB" --listen 0 tcp://127.0.0.1:1) >stdout 2>stderr || status=$?
        [ $status = 74 ] && grep -q "raise 'ulimit -n'" stderr || [ $status = 124 ] || { echo "$limit: exit code $status: $(cat stderr)"; return 1; }
    done
    [ $status = 124 ] || { echo "40 are not enough: $(cat stderr)"; return 1; }
}
check "few descriptors: it serves, or says what is missing" few_descriptors

status() { curl -s -o /dev/null -w '%{http_code}' "$@" "$page"; } # CURL_OPTION...
serves --listen 127.0.0.2:0 tcp://127.0.0.1:1
check "another loopback address answers under its own number" test "$(status)" = 200
stops "another loopback address: camweb ends" "$server"

if ! command -v chromium >/dev/null; then
    skip "web: in a browser" "no chromium here"
    finish
    exit
fi

# Two cameras, one over TCP and one over a UNIX socket
test_source=(--device test --size 640x360)
mkdir -p run/garden rec mp4 raw h265
# What it records goes on while the live picture is looked at.
door_files=(--segment 4s 'rec/%H%M%S.mkv')
records_live door.log door.json 127.0.0.1:0 "${test_source[@]}" "${door_files[@]}"
door=$recorder door_port=$port
records_live garden.log garden.json "unix:$work/run/garden/live" --device test --size 320x240 --segment 4s 'mp4/%H%M%S.mp4' 'raw/%H%M%S.h264'
garden=$recorder
records_live hevc.log hevc.json 127.0.0.1:0 --device test --size 320x240 --codec hevc --segment 4s 'h265/%H%M%S.mkv'
hevc=$recorder
serves --host cams.example --scratch "$work" "door=tcp://127.0.0.1:$door_port" "unix:$work/run/garden/live" "hevc=tcp://127.0.0.1:$port" nobody=tcp://127.0.0.1:1 \
    raw=tcp://127.0.0.1:1 --recordings "door=$work/rec" --recordings "garden=$work/mp4" --recordings "raw=$work/raw" \
    --recordings "hevc=$work/h265"
check "nobody connects before somebody watches" bash -c "! grep -q joined door.log"
refuses_web "an address in use" 73 "another program uses this port" --listen "$web_port" tcp://127.0.0.1:1
check "a proxy's name works once it is given" test "$(status -H 'Host: cams.example') $(status -H 'Host: other.example')" = "200 403"
seen=
live() { # NAME ARGUMENTS...: the browser shows it; says how old the pictures are
    local name=$1 said
    shift
    if said=$(web live "$page" "$@" 2>&1); then
        pass "$name"
        printf '      %s\n' "$said"
        seen=$(sed -nE 's/^door: picture ([0-9]+),.*/\1/p' <<<"$said")
    else
        fail "$name" "$said"
    fi
}
check "the state of a picture, from its age" web ages "$page"
live "both cameras, light" door garden --screenshot light.png
live "a late join" door --after "${seen:-0}"
live "both cameras, dark" door garden --dark --screenshot dark.png
live "one large on Enter, all on Escape" door --large --screenshot large.png
live "on a phone" door garden --size 390x844 --screenshot phone.png
live "two viewers" door --tabs 2
live "without WebCodecs: Media Source Extensions" door garden --without-webcodecs
check "H.265, which the browser may not play" web unplayable "$page" hevc "does not play H.265"

# Players
played() { # CAMERA FORM: what ffmpeg receives begins with a keyframe, and its pictures are the source's, at rising times
    # With finer times than Matroska has: pictures may arrive together.
    local file=copy-$1-$2.ts raw=played-$1.$2.h264
    [ "$1" != hevc ] || raw=played-$1.$2.h265
    timeout 60 ffmpeg -nostdin -v error -i "${page}live/$1.$2" -frames:v 60 -c copy -y "$file" -frames:v 60 -c copy -y "$raw" || return
    pictures numbers "$raw" --block 16 --ahead --gaps || return
    ffprobe -v error -show_entries packet=dts,flags -of csv=p=0 "$file" |
        grep , | awk -F, 'NR == 1 && $2 !~ /^K/ {print "no keyframe first"; exit 1} NR > 1 && $1 <= last {print $1 " after " last; exit 1}
            {last = $1} END {if (NR != 60) {print NR " pictures in place of 60"; exit 1}}'
}
for form in mp4 ts; do
    for camera in door hevc; do check "players: /live/$camera.$form in ffmpeg" played $camera $form; done
    check "players: a media type for .$form" bash -c "curl -sI '${page}live/door.$form' | grep -qiE '^content-type: video/mp(4|2t)'"
done

check "players: a recorder that is not there" bash -c "curl -si '${page}live/nobody.ts' | grep -q '^127.0.0.1:1: connection refused; start'"

# What camweb must not do
clients refusals "$web_port" door >refusals.log 2>&1 &
refusals=$!

# A recorder that is killed and comes back
web outage "$page" door >outage.log 2>&1 &
viewer=$!
if await 60 grep -q '^live' outage.log; then
    # A file that was only begun would have no pictures.
    has_begun() { [ "$(stat -c %s "$(find rec -name '*.mkv' | sort | tail -n 1)")" -gt 4000 ]; }
    await 20 has_begun || true
    kill -KILL "$door"
    wait "$door" 2>/dev/null || true
    await 60 grep -q '^down' outage.log || true
    sleep 2 # so long a gap can be seen on a phone's time line
    records_live door.log door.json "127.0.0.1:$door_port" "${test_source[@]}" "${door_files[@]}"
    door=$recorder
fi
if wait $viewer; then pass "a killed recorder: the picture comes back"; else fail "a killed recorder: the picture comes back" "$(cat outage.log)"; fi
check "a killed recorder: the page says what is wrong, and what to do" grep -qE '^down: .*(connection refused; start|ended the stream; start|connection lost)' outage.log
if wait $refusals; then pass "requests that are refused, and connections that never end"; else fail "requests that are refused, and connections that never end" "$(cat refusals.log)"; fi

# The connection to the recorder ends some seconds after the last viewer has left.
mkfifo stop
web stops "$page" door >stops.log 2>&1 <stop &
viewer=$!
exec 7>stop
await 60 grep -q '^left' stops.log || true
check "nobody is watching: the recorder is left alone again" await 60 grep -q ' left after ' door.log
exec 7>&-
if wait $viewer; then pass "nobody is watching: after a live picture"; else fail "nobody is watching: after a live picture" "$(cat stops.log)"; fi

# The door's recordings, with a gap where its recorder was killed
span=
plays_recordings() { # NAME ARGUMENTS...
    local name=$1 said
    shift
    if said=$(web recordings "$page" door "$@" 2>&1); then
        pass "$name"
        printf '      %s\n' "$said"
        span=${said%% *}
    else
        fail "$name" "$said"
    fi
}
await 20 test "$(find rec -name '*.mkv' | wc -l)" -ge 4 || true
plays_recordings "recordings: a time line, a click, across files, over a gap" --screenshot recordings.png
plays_recordings "recordings: dark, on a phone" --dark --size 390x844 --screenshot recordings-phone.png
# What a busy machine kept a browser from doing in time, it does at the second try; a defect fails twice.
twice() { "$@" || "$@"; }
check "a large camera: at each size, light and dark, the picture has half of the window" twice viewer layout "$page" door --screenshot look.png
check "a large camera: address, keys, pictures, speeds, drags, fingers, wheel, go to, Back, full screen" twice viewer player "$page" door
check "a large camera: an export by mouse, finger, keys and text" twice viewer export "$page" door
check "a large camera: names, focus, reduced motion" twice viewer access "$page" door

one_at_a_time() { # LOG: no receiver of a recorder joined before the last one had left
    awk '/ joined$/ {n++} / left after / {n--} n > 1 {print "two at once: " $0; exit 1} END {if (NR == 0) exit 1}' "$1"
}
stops "the door's recorder ends" "$door"
stops "the garden's recorder ends" "$garden"
stops "the recorder of H.265 ends" "$hevc"

# Downloads, and the files as they are
always='from=0&to=4000000000000000'
copied() { # CAMERA FILE...: the download of everything has each file's NAL units, byte for byte, in an MP4 with its index in front
    local camera=$1 file kind=h264
    [ "$1" != hevc ] || kind=h265
    shift
    curl -sf -D head.txt -o all.mp4 "${page}recordings/$camera.mp4?$always" || return
    grep -qi '^content-disposition: attachment; filename="'"$camera"'-[-0-9]*\.mp4"' head.txt || { cat head.txt; return 1; }
    "$CAMREC" remux --overwrite all.mp4 all.$kind >/dev/null || return
    : >files.$kind
    for file in "$@"; do
        if [[ $file = *.h264 ]]; then cat "$file" >>files.h264; continue; fi
        "$CAMREC" remux --overwrite "$file" one.$kind >/dev/null && cat one.$kind >>files.$kind || return
    done
    cmp all.$kind files.$kind || return
    [[ $(ffprobe -v error -show_entries format_tags=creation_time -of csv=p=0 all.mp4) = 2*Z ]] || { echo "no creation time"; return 1; }
    "$PYTHON" - all.mp4 <<'END'
import struct, sys
data, place, boxes = open(sys.argv[1], "rb").read(), 0, []
while place < len(data):
    size, kind = struct.unpack(">I4s", data[place:place + 8])
    boxes.append(kind.decode())
    place += size
if boxes[:2] != ["ftyp", "moov"] or "moof" in boxes:
    sys.exit(f"boxes: {boxes}")
END
}
check "download: .mkv files as one MP4" copied door rec/*.mkv
gap_stays() { # the time between two pictures of the download is that between the recordings, by the list
    curl -sf "${page}recordings/door.json?$always" >list.json
    ffprobe -v error -show_entries packet=pts_time -of csv=p=0 all.mp4 | tr -d , >times.txt
    "$PYTHON" - <<'END'
import json, sys
segments = json.load(open("list.json"))["segments"]
wanted = max(other["start"] - one["end"] for one, other in zip(segments, segments[1:])) / 1e6
times = [float(line) for line in open("times.txt") if line.strip()]
found = max(other - one for one, other in zip(times, times[1:]))
if abs(found - wanted) > 0.1 or wanted < 0.2:
    sys.exit(f"a gap of {found} s in place of {wanted} s")
END
}
check "download: a gap keeps its length" gap_stays
part_is_copied() {
    curl -sf -o part.mp4 "${page%/}$span" && "$CAMREC" remux --overwrite part.mp4 part.h264 >/dev/null || return
    [[ $(ffprobe -v error -show_entries packet=flags -of csv=p=0 part.mp4) = K* ]] || { echo "no keyframe first"; return 1; }
    "$PYTHON" - <<'END'
import sys
whole, part = (open(name, "rb").read() for name in ("all.h264", "part.h264"))
if not part or part not in whole or part == whole:
    sys.exit(f"{len(part)} bytes that are not a part of {len(whole)}")
END
}
check "download: what was selected on the page" part_is_copied
check "download: .mp4 files as one MP4" copied garden mp4/*.mp4
check "download: raw files as one MP4" copied raw raw/*.h264
check "download: H.265 as one MP4" copied hevc h265/*.mkv
check "download: nothing is left behind" bash -c '! ls -A . | grep -qE "part$|^\.camrec-"'
pieces_play() { # CAMERA: what the page plays of each recording has its pictures
    local id
    for id in $(curl -sf "${page}recordings/$1.json?$always" | "$PYTHON" -c 'import json, sys; print(*[s["id"] for s in json.load(sys.stdin)["segments"]])'); do
        curl -sf -o piece.mp4 "${page}recordings/$1/$id.mp4?at=1000000&length=1000000" || return
        decodes_container piece.mp4 || return
    done
}
for camera in door garden raw hevc; do check "pieces that browsers play: $camera" pieces_play $camera; done
ranges() {
    local file id address
    file=$(find rec -name '*.mkv' | sort | head -n 1)
    id=$("$PYTHON" -c 'import json; print(json.load(open("list.json"))["segments"][0]["id"])')
    address=${page}recordings/door/$id
    code() { curl -s -o got -w '%{http_code}' "$@" "$address"; }
    [ "$(code)" = 200 ] && cmp got "$file" || return
    [ "$(code -r 100-299)" = 206 ] && cmp got <(tail -c +101 "$file" | head -c 200) || return
    [ "$(code -r -50)" = 206 ] && cmp got <(tail -c 50 "$file") || return
    [ "$(code -r 999999999-)" = 416 ] || { echo "no 416"; return 1; }
    [ "$(code -r 0-9 -H 'If-Range: "other"')" = 200 ] || { echo "If-Range"; return 1; }
    [ "$(curl -sI "$address" | tr -d '\r' | awk 'tolower($1) == "content-length:" {print $2}')" = "$(stat -c %s "$file")" ] || { echo HEAD; return 1; }
    # One that is replaced is not sent.
    cp "$file" other && mv other "$file" && [ "$(code)" = 404 ] || { echo "a replaced file"; return 1; }
    rm "$file" && ln -s /etc/passwd "$file" && [ "$(code)" = 404 ] || { echo "a link"; return 1; }
}
check "files as they are: ranges, and nothing in their place" ranges
check "all viewers of a camera share one connection: over TCP" one_at_a_time door.log
check "all viewers of a camera share one connection: over a UNIX socket" one_at_a_time garden.log
check "no picture is lost on the way to camweb" report garden.json 'len(receivers) >= 1' 'len([r for r in receivers if r.dropped > 0]) == 0'
stops "camweb ends" "$server"

# A disk that hangs makes the first two downloads of a camera last, so that a third one waits.
read -ra fuse < <(pkg-config --cflags --libs fuse3 2>/dev/null || true)
if [ -e /dev/fuse ] && command -v fusermount3 >/dev/null && gcc -std=gnu11 -O1 -o hanging "$LAB/faults/disk.c" "${fuse[@]}" 2>/dev/null; then
    mkdir store disk
    : >disk-state
    "$work/hanging" "$work/disk-state" "$work/store" "$work/disk" 2>disk.log &
    disk=$!
    background+=("$disk")
    if await 10 mountpoint -q disk; then
        serves door=tcp://127.0.0.1:1 --recordings "door=$work/rec" --scratch "$work/disk"
        echo hang >disk-state
        begin=$(curl -sf "${page}recordings/door.json?$always" | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["segments"][1]["start"])')
        making=()
        for seconds in 1 2; do
            address="from=$begin&to=$((begin + seconds * 1000000))"
            curl -sf -o "made-$seconds.mp4" "${page}recordings/door.mp4?$address" &
            making+=("$!")
            await 20 bash -c "curl -sf '${page}recordings/door.span?$address' | grep -qE '\"(made|position)\":0'" || true
        done
        viewer queue "$page" door >queue.log 2>&1 &
        waiting=$!
        check "downloads: one that waits says so on the page, and can be canceled" await 60 grep -q '^waiting' queue.log
        echo slow 150000 >disk-state # bytes a second
        await 60 grep -q '^made' queue.log || true
        : >disk-state
        if wait $waiting; then pass "downloads: the page shows the making, and the browser gets the whole file"; else
            fail "downloads: the page shows the making, and the browser gets the whole file" "$(cat queue.log)"
        fi
        for download in "${making[@]}"; do
            if wait "$download"; then pass "downloads: one that came first"; else fail "downloads: one that came first" "curl ends with $?"; fi
        done
        stops "downloads: camweb ends" "$server"
        umount disk
    else
        skip "downloads: a queue on the page" "FUSE cannot mount here: $(cat disk.log)"
    fi
else
    skip "downloads: a queue on the page" "no FUSE here; install fuse3 and libfuse3-dev"
fi

# The services' settings: cameras that come and go
mkdir -p etc
shed=
serves --settings "$work/etc"
web comes "$page" shed >comes.log 2>&1 &
viewer=$!
if await 60 grep -qF "none yet; add listen = unix:/run/camrec/NAME/live,mode=660 to $work/etc/NAME.conf" comes.log; then
    records_live shed.log shed.json "unix:$work/run/shed" --device test --size 320x240 --control-socket run/shed-control
    shed=$recorder
    printf 'device = test\nsize = 320x240\nlisten = unix:%s/run/shed,mode=660\n' "$work" >etc/shed.conf
    await 60 grep -q '^shed' comes.log || true
    echo "control-socket = $work/run/shed-control" >>etc/shed.conf
    await 60 grep -q '^changed' comes.log || true
    rm etc/shed.conf
fi
if wait $viewer; then pass "settings: a camera comes, is seen, changes, and goes"; else fail "settings: a camera comes, is seen, changes, and goes" "$(cat comes.log)"; fi
check "settings: its recorder is left alone then" await 20 grep -q ' left after ' shed.log
[ -z "$shed" ] || stops "settings: the recorder ends" "$shed"
stops "settings: camweb ends" "$server"

# A second viewer of a running stream: its keyframe is asked for, where the next regular one would come after a minute.
records_live late.log late.json "unix:$work/late" --device test --size 320x240 --keyframe-interval 1800 --control-socket late-control late.h264
late=$recorder
serves "late=unix:$work/late,control=$work/late-control" "mute=unix:$work/late,control=$work/none"
clients reads "$web_port" late first.h264 >first.log 2>&1 &
viewers=($!)
check "a late viewer: begins at once" await 20 test -s first.h264
check "a late viewer: another one, too" clients reads "$web_port" late second.h264 --pictures 5
check "viewers: frames that RFC 6455 forbids, and a ping" clients breaks "$web_port" late
check "late viewers: of a recorder that cannot be asked" clients joins "$web_port" mute
stops "a late viewer: the recorder ends" "$late"
for viewer in "${viewers[@]}"; do wait "$viewer" || fail "a late viewer" "$(cat first.log)"; done
check "a late viewer: its first picture is a keyframe made for it" "$PYTHON" "$LAB/verify/receivers.py" newcomer late.h264 1800 first.h264 second.h264
check "a late viewer: that one cannot be had is told once" test "$(grep -c '^mute: no keyframe for a new viewer.*No such file' web.log)" = 1
stops "a late viewer: camweb ends" "$server"

# The state of a picture is the age of the newest one, also on a page that is opened during an outage.
states() { # PAGE_OPTION...
    local step=0 name="states${1-}"
    records_live frozen.log frozen.json "unix:$work/frozen" --device test --size 320x240 --control-socket frozen-control
    frozen=$recorder
    serves "frozen=unix:$work/frozen,control=$work/frozen-control"
    rm -f wanted && mkfifo wanted
    web states "$page" frozen "$@" >states.log 2>&1 <wanted &
    viewer=$!
    exec 8>wanted
    shows() { # STATE TEXT
        step=$((step + 1))
        echo "$1 $2" >&8
        check "$name: $1, on a page that was open and on one that is opened then" await 90 grep -qx "$step" states.log
    }
    await 60 grep -q '^watching' states.log || true
    kill -STOP "$frozen"
    shows silent "no picture for"
    kill -CONT "$frozen"
    shows live live
    "$CAMREC" ctl frozen-control pause >/dev/null
    shows paused paused
    "$CAMREC" ctl frozen-control resume >/dev/null
    shows live live
    kill -KILL "$frozen" && wait "$frozen" 2>/dev/null || true
    shows unavailable "recorder gone"
    stops "$name: camweb ends" "$server"
    shows reconnecting reconnecting
    exec 8>&-
    if wait $viewer; then pass "$name: each one"; else fail "$name: each one" "$(cat states.log)"; fi
}
states
states --without-webcodecs

# Browsers as they are: decoders that fail, no WebCodecs, Firefox. Keyframes are rare where that is hard.
mkdir -p fox
minute=(--device test --size 256x144 --control-socket)
records_live real.log real.json "unix:$work/real" --device test --size 256x144 --segment 4s 'fox/%H%M%S.mkv'
real=$recorder
records_live slow.log slow.json "unix:$work/slow" "${minute[@]}" slow-control --fps 1 --keyframe-interval 60
slow=$recorder
records_live groups.log groups.json "unix:$work/groups" "${minute[@]}" groups-control --keyframe-interval 36000 --listen "unix:$work/small,size=128x72"
groups=$recorder
records_live order.log order.json "unix:$work/order" --device test --size 256x144 --bframes 2
order=$recorder
serves "real=unix:$work/real" --recordings "real=$work/fox"
check "browsers: a decoder that fails is replaced, and the page says when none is left" browsers decoders "$page" real
check "browsers: a ManagedMediaSource in place of a MediaSource" browsers managed "$page" real
has_firefox=
command -v firefox-esr >/dev/null && has_firefox=yes
if [ -n "$has_firefox" ]; then
    check "Firefox: live, a recording, a download" browsers firefox "$page" real --screenshot firefox.png
    check "Firefox without WebCodecs: live, a recording, a download" browsers firefox "$page" real --without-webcodecs
else
    skip "Firefox" "no firefox-esr here"
fi
stops "browsers: camweb ends" "$server"
serves "groups=unix:$work/groups,small=unix:$work/small,control=$work/groups-control" "real=unix:$work/real"
check "several cameras are shown small, and one alone is not" web sizes "$page" groups 128 256
stops "browsers: camweb ends after sizes" "$server"
serves "groups=unix:$work/groups,small=tcp://127.0.0.1:1,control=$work/groups-control" "real=unix:$work/real"
check "a smaller stream that nobody offers gives way to the whole one" web sizes "$page" groups 256 256
stops "browsers: camweb ends after no small stream" "$server"
for name in slow groups order; do
    serves "$name=unix:$work/$name,control=$work/$name-control"
    case $name in
        slow)
            check "a camera of one picture a second" browsers slow "$page" slow
            check "a camera of one picture a second, without WebCodecs" browsers slow "$page" slow --without-webcodecs
            [ -z "$has_firefox" ] || check "a camera of one picture a second, in Firefox without WebCodecs" browsers slow "$page" slow --without-webcodecs --firefox
            ;;
        groups)
            check "hardly a keyframe, without WebCodecs" browsers groups "$page" groups "$groups" 30
            [ -z "$has_firefox" ] || check "hardly a keyframe, in Firefox without WebCodecs" browsers groups "$page" groups "$groups" 30 --firefox
            ;;
        order) check "B frames, without WebCodecs: the page says what to do" browsers reordered "$page" order ;;
    esac
    stops "browsers: camweb ends after $name" "$server"
done
cameras=()
for camera in 1 2 3 4 5 6 7 8; do cameras+=("c$camera=unix:$work/real"); done
serves "${cameras[@]}"
check "eight cameras over HTTP/1.1, without WebCodecs" browsers many "$page" c1 c2 c3 c4 c5 c6 c7 c8
stops "browsers: camweb ends after eight cameras" "$server"
for recorder in "$real" "$slow" "$groups" "$order"; do stops "browsers: a recorder ends" "$recorder"; done

# The recorder's figures and commands
records_live panel.log panel.json "unix:$work/panel" --device test --size 640x360 --keyframe-interval 1000 --control-socket panel-control panel.h264
panel=$recorder
serves --allow-changes "panel=unix:$work/panel,control=$work/panel-control" "gone=unix:$work/none,control=$work/none-control" bare=tcp://127.0.0.1:1
check "the recorder on the page: figures, buttons, doctor" web recorder "$page" panel --screenshot panel.png
check "the recorder on the page: dark, on a phone" web recorder "$page" panel --dark --size 390x844 --screenshot panel-phone.png
tell() { # CODE FORM [CURL_OPTION]...: camweb answers a form with CODE
    local wanted=$1 form=$2 found
    shift 2
    found=$(curl -s -o said -w '%{http_code}' -H "${origin-Origin: ${page%/}}" "$@" --data-raw "$form" "${page}cameras/panel/command")
    [ "$found" = "$wanted" ] || { echo "$form: $found in place of $wanted: $(cat said)"; return 1; }
}
commands() {
    tell 200 command=keyframe && tell 200 'command=bitrate&value=2.5M' && tell 200 command=pause && tell 200 command=resume || return
    # In the recorder's words.
    tell 409 command=trigger && grep -q 'record with --ring' said || return
    tell 409 'command=control&name=brightness&value=1' && grep -q 'not a camera' said || return
    tell 409 'command=bitrate&value=9999M' || return
    # No command of the page
    tell 400 command=stop && tell 400 '' && tell 400 'command=bitrate' && tell 400 'command=bitrate&value=2M%0Astop' || return
    tell 400 'command=control&name=a%0Astop&value=1' && tell 400 'command=control&name=a&value=1%0Astop' || return
    tell 400 'command=control&name=a&value=1,b=2' && tell 400 'command=keyframe&command=stop' && tell 400 'command=%zz' || return
    # Not the page
    origin='Origin: http://evil.example' tell 403 command=pause && origin='' tell 403 command=pause || return
    tell 403 command=pause -H 'Host: evil.example' && tell 400 command=pause -H 'Content-Type: text/plain' || return
    tell 413 "command=$(head -c 5000 /dev/zero | tr '\0' a)"
}
check "commands: each one, and what is refused" commands
check "commands: the recorder goes on" "$CAMREC" ctl panel-control stats
asks() { # PATH CODE
    local found
    found=$(curl -s -o said -w '%{http_code}' "$page$1")
    [ "$found" = "$2" ] || { echo "$1: $found in place of $2: $(cat said)"; return 1; }
}
questions() {
    asks cameras/panel/stats.json 200 && asks cameras/panel/doctor.json 200 && asks cameras/panel/snapshot.jpg 200 || return
    asks cameras/panel/controls.json 409 && asks cameras/panel/command 405 && asks cameras/none/stats.json 404 || return
    asks cameras/gone/stats.json 503 && grep -q 'No such file' said || return
    asks cameras/bare/stats.json 404 && grep -q 'control-socket' said && asks cameras/panel/../../etc 404 || return
}
check "questions: each one, and what is refused" questions
measures() {
    curl -sf -D head.txt "${page}metrics" >metrics.txt && grep -qi '^content-type: text/plain; version=0.0.4' head.txt || return
    grep -qx 'camrec_up{recording="panel"} 1' metrics.txt && grep -qx 'camrec_up{recording="gone"} 0' metrics.txt || return
    grep -qE '^camrec_captured_frames_total\{recording="panel"\} [1-9]' metrics.txt || return
    grep -qE '^camrec_output_free_bytes\{recording="panel",output="panel.h264"\} [1-9]' metrics.txt || return
    # All that camrec itself says, under another name.
    diff <("$CAMREC" ctl panel-control stats --prometheus | sed -E 's/ [-0-9.e+]+$//; s/recording="[^"]*"/recording="panel"/' | sort) \
        <(grep -vE 'camrec_up|camweb_' metrics.txt | sed -E 's/ [-0-9.e+]+$//' | sort)
}
check "metrics: of each recorder that answers" measures
stops "the recorder on the page: camweb ends" "$server"
serves "panel=unix:$work/panel,control=$work/panel-control"
check "without --allow-changes: the page only shows" web shows "$page" panel
check "without --allow-changes: nothing can be changed" tell 403 command=pause
stops "without --allow-changes: camweb ends" "$server"
stops "the recorder on the page: it ends" "$panel"
check "the recorder on the page: its recording is sound" decodes_silently panel.h264

# Events, of which the recorder keeps two; and a recording with sound
mkdir -p events talk events-etc
records_live events.log events.json "unix:$work/events-live" --device test --size 320x240 --fps 10 --keyframe-interval 10 --ring 2s --post 1s --keep 2 \
    --control-socket events-control 'events/%H%M%S.mkv'
events=$recorder
printf 'device = test\noutput = %s/events/%%H%%M%%S.mkv\nring = 2s\nlisten = unix:%s/events-live\ncontrol-socket = %s/events-control\n' "$work" "$work" "$work" >events-etc/gate.conf
serves --settings "$work/events-etc" --allow-changes
check "events: triggered on the page, shown, removed meanwhile, and played at eight times the speed" web events "$page" gate
stops "events: camweb ends" "$server"
stops "events: the recorder ends" "$events"
ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=320x240:r=30:d=6 -f lavfi -i sine=d=6 -c:v libx264 -g 30 -bf 0 -pix_fmt yuv420p -c:a aac talk/one.mkv
serves talk=tcp://127.0.0.1:1 --recordings "talk=$work/talk" --scratch "$work"
curl -sf "${page}recordings/talk.json?$always" >talk.json
id=$("$PYTHON" -c 'import json; print(json.load(open("talk.json"))["segments"][0]["id"])')
lasts() { # FILE FROM TO: its sound, in seconds
    ffprobe -v error -select_streams a -show_entries packet=pts_time -of csv=p=0 "$1" | tr -d , |
        awk -v from="$2" -v to="$3" 'NR == 1 {first = $1} {last = $1} END {length_ = last - first; if (NR == 0 || length_ < from || length_ > to) {print "sound of " length_ " s"; exit 1}}'
}
has_sound() {
    curl -sf -o piece.mp4 "${page}recordings/talk/$id.mp4?at=2000000&length=2000000" && lasts piece.mp4 1.5 2.5 || return
    curl -sf -o all.mp4 "${page}recordings/talk.mp4?$always" && lasts all.mp4 5.8 6.2
}
check "sound: in the pieces that browsers play, and in a download" has_sound
check "sound: the browser decodes it" web heard "$page" talk
stops "sound: camweb ends" "$server"

# Noise, which no encoder can compress: what a viewer does not read soon fills its buffer.
ffmpeg -nostdin -v error -f lavfi -i color=gray:s=160x120:r=30,noise=alls=100:allf=t -frames:v 750 -pix_fmt yuv420p noise.y4m
receivers() { "$PYTHON" "$LAB/verify/receivers.py" "$@"; }
serves noise=unix:"$work/noise"
records_live noise.log noise.json "unix:$work/noise" --device noise.y4m --pace --qp 10 noise.h264
noise=$recorder
viewers=()
clients reads "$web_port" noise good.h264 >good.log 2>&1 &
viewers+=($!)
clients reads "$web_port" noise slow.h264 --pause 6 >slow.log 2>&1 &
viewers+=($!)
await 20 test -s good.log || true
clients steady "$web_port" noise >steady.log 2>&1 &
viewers+=($!)
before=$(most_memory "$server")
clients unread "$web_port" noise >unread.log 2>&1 &
viewers+=($!)
for viewer in "${viewers[@]}"; do wait "$viewer" || fail "viewers" "$(cat good.log slow.log steady.log unread.log)"; done
wait "$noise" || fail "noise: the recording" "exit code $?"
grew=$(($(most_memory "$server") - before))
check "a viewer that reads slowly, but all the time, keeps its connection" grep -q '^still connected' steady.log
check "a viewer that never reads is disconnected" grep -q '^disconnected' unread.log
check "a viewer that never reads: memory is bounded" test $grew -le 8192
echo "      $grew kB more, for a stream of $(($(stat -c %s noise.h264) / 1000)) kB"
check "another viewer gets everything from its first keyframe on" receivers piece noise.h264 good.h264
misses_some() {
    local missing
    missing=$(receivers part noise.h264 slow.h264) || { echo "$missing"; return 1; }
    [ "$missing" -gt 0 ] || { echo "nothing is missing"; return 1; }
}
check "a viewer that reads nothing for 6 s goes on at a keyframe" misses_some
check "a viewer that reads nothing for 6 s can decode what it got" decodes_silently slow.h264
check "the recorder loses no frame" report noise.json 'frames.droppedByUs == 0' 'frames.written == frames.encoded' 'len([r for r in receivers if r.dropped > 0]) == 0' 'len(receivers) == 1'
stops "camweb ends without a recorder" "$server"
finish
