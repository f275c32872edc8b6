#!/bin/bash
# camplay: whatever a stream's picture order, each picture appears in ffmpeg's order, or is counted.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
if [ ! -x "$CAMPLAY" ]; then
    fail "order" "there is no $CAMPLAY"
    finish
    exit
fi
limit=20

odd() { "$PYTHON" "$LAB/verify/odd_streams.py" "$@"; }
make() { # FILE ENCODER OPTIONS...: 50 pictures
    local file=$1
    shift
    ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=176x144:r=25 -frames:v 50 -pix_fmt yuv420p -c:v "$@" -f "$(demuxer "$file")" "$file"
}
x264() { make "$1.h264" libx264 -g 24 "${@:2}"; }
x265() { make "$1.h265" libx265 -x265-params "log-level=none:repeat-headers=1:$2"; }

x264 plain -bf 0
x264 deep -bf 7 -x264-params b-pyramid=normal:b-adapt=0
x264 strict -bf 3 -x264-params b-pyramid=strict
x264 temporal -bf 3 -x264-params b-pyramid=none:direct=temporal
x264 open -bf 3 -x264-params open-gop=1:keyint=12
x264 weighted -bf 3 -x264-params weightb=1:weightp=2:ref=8
x264 sliced -bf 3 -slices 4
x264 interlaced -bf 3 -flags +ilme+ildct -x264-params tff=1
x264 refreshed -x264-params intra-refresh=1:keyint=24
x264 refreshing -bf 0 -x264-params intra-refresh=1:keyint=12
x264 opendeep -bf 7 -x264-params open-gop=1:keyint=12:b-pyramid=normal:b-adapt=0
x264 openfields -bf 3 -flags +ilme+ildct -x264-params open-gop=1:keyint=12:tff=1
x265 deep bframes=7:b-adapt=0:b-pyramid=1:keyint=24
x265 cra open-gop=1:bframes=4:keyint=12:min-keyint=12
x265 radl open-gop=0:radl=2:bframes=4:keyint=24:min-keyint=24
x265 layers temporal-layers=1:bframes=3:keyint=24
x265 sliced slices=3:bframes=3:keyint=24
x265 fields interlace=tff:bframes=3:keyint=24
x265 weighted weightb=1:bframes=3:ref=5:keyint=24
for kind in fields order-type-1 long-term leading pyramid; do odd $kind $kind.h264; done
odd bla bla.h265 cra.h265
odd cut begun.h265 cra.h265

balances() { # REPORT [KEY VALUE]...: every access unit ends somewhere, and counts are as said
    "$PYTHON" - "$@" <<'END_OF_PROGRAM'
import json, sys
report = json.load(open(sys.argv[1]))
pictures = report["pictures"]
ends = "decoded", "secondFields", "beforeFirstKeyframe", "frozen", "skipped", "lost", "withheld", "unplayed"
assert pictures["received"] == sum(pictures[end] for end in ends) > 0, pictures
assert (pictures["lost"] == 0) or report["losses"] > 0, report
for key, value in zip(sys.argv[2::2], sys.argv[3::2]):
    found = {**report, **pictures}[key]
    assert found > 0 if value == "some" else found == int(value), f"{key} is {found} in place of {value}"
END_OF_PROGRAM
}
as_ffmpeg() { # Y4M RAW [FIRST]
    local one other
    one=$(ffmpeg -nostdin -v error -i "$1" -f framemd5 - | awk -F, '!/^#/ {print $NF}') other=$(picture_hashes "$2" | tail -n "+${3:-1}")
    [ -n "$one" ] && [ "$one" = "$other" ] || { echo "$(wc -l <<<"$one") pictures differ from $(wc -l <<<"$other")"; return 1; }
}
plays() { # FILE LOSSES
    check "order: $1" "$CAMPLAY" --no-window "$1" --output file.y4m --report file.json --overwrite &&
        check "order: $1, as ffmpeg has it" as_ffmpeg file.y4m "$1" && check "order: $1, all counted" balances file.json losses "$2"
}
piped() { # FILE
    # shellcheck disable=SC2002 # standard input must be a pipe, which counts as live
    cat "$1" | timeout "$limit" "$CAMPLAY" --no-window - --output pipe.y4m --report pipe.json --overwrite
}

for file in *.h264 *.h265; do
    losses=0
    # The second to last of its frames has one field, which libavcodec drops.
    if [ "$file" = fields.h264 ]; then losses=1; fi
    plays "$file" $losses
    check "order: $file through a pipe" piped "$file"
    case $file in
        # These declare nothing, and are shown without delay: some come too late.
        leading.h264 | pyramid.h264) check "order: $file through a pipe: what comes too late is counted" balances pipe.json lost some ;;
        *)
            check "order: $file through a pipe, as ffmpeg has it" as_ffmpeg pipe.y4m "$file"
            check "order: $file through a pipe, all counted" balances pipe.json losses $losses
            ;;
    esac
done

for stream in open opendeep openfields; do
    check "order: $stream is joined at its I pictures, and goes on there after a loss" "$PYTHON" "$LAB/verify/joined.py" "$CAMPLAY" $stream.h264 12
done
check "order: one that is refreshed is joined where it is whole" "$PYTHON" "$LAB/verify/joined.py" "$CAMPLAY" refreshing.h264 refreshed
check "order: H.265 is joined at its CRA pictures" "$PYTHON" "$LAB/verify/joined.py" "$CAMPLAY" cra.h265 12
# The picture before a keyframe, the keyframe, one between two.
for start in 0.92s:24 0.96s:25 1s:26; do
    for file in open.h264 cra.h265 refreshed.h264; do
        check "order: $file is played from ${start%:*} on" "$CAMPLAY" --no-window --start "${start%:*}" "$file" --output file.y4m --overwrite
        check "order: at the very picture" as_ffmpeg file.y4m "$file" "${start#*:}"
    done
done
status=0
"$CAMPLAY" --no-window deep.h264 --output - --report full.json --overwrite >/dev/full 2>/dev/null || status=$?
check "order: a full disk ends it" test "$status" = 74
check "order: and all that was received is counted" balances full.json
check "order: leading pictures of a BLA picture are withheld, and counted" "$CAMPLAY" --no-window bla.h265 --report bla.json
check "order: as many as there are" balances bla.json withheld some
check "order: leading pictures of the first CRA picture, too" "$CAMPLAY" --no-window begun.h265 --report begun.json
check "order: as many as there are" balances begun.json withheld some
check "order: fields are counted" "$CAMPLAY" --no-window fields.h264 --report fields.json
check "order: as second ones" balances fields.json secondFields some
check "order: what is still to come is counted" "$CAMPLAY" --no-window deep.h264 --frames 9 --report frames.json
check "order: when enough was played" balances frames.json decoded 9 unplayed some
finish
