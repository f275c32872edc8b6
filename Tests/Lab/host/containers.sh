#!/bin/bash
# Raw streams of x264 and x265 into containers: true times, the same pictures, and what is left after a crash.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin


pictures_of() { # FILE [FFMPEG'S FORMAT]: a hash of all decoded pictures
    local format=()
    [ -z "${2-}" ] || format=(-f "$2")
    ffmpeg -nostdin -v error "${format[@]}" -i "$1" -fps_mode passthrough -f framemd5 - | awk '!/^#/ {print $NF}' | md5sum
}

has_pictures_of() { # CONTAINER RAW FORMAT
    [ "$(pictures_of "$1")" = "$(pictures_of "$2" "$3")" ]
}

has_stream() { # FILE KEY=VALUE...
    local found wanted
    found=$(ffprobe -v error -show_streams "$1")
    shift
    for wanted in "$@"; do
        grep -qxF -- "$wanted" <<<"$found" || { echo "$(grep -E "^${wanted%%=*}=" <<<"$found") in place of $wanted"; return 1; }
    done
}

has_configuration() { # FILE: avcC and hvcC begin with their version, Annex B with zeros
    ffprobe -v error -show_data -show_entries stream=extradata "$1" | grep -q '^00000000: 01'
}

# Ninety frames: thirty a second, then low light, a gap, and a clock that hardly moves.
awk 'BEGIN {
    print "# timestamp format v2"
    for (i = 0; i < 90; i++) {
        printf "%.6f\n", t
        t += i < 30 ? 100 / 3 : i < 60 ? 200 / 3 : i == 60 ? 1500 : i < 70 ? 1.25 : 40.0401
    }
}' >times.txt

declare -A encoder=([h264]=libx264 [hevc]=libx265)
for codec in h264 hevc; do
    for b in 0 3; do
        options=(-bf "$b" -g 15)
        if [ $codec = hevc ]; then options=(-x265-params "log-level=none:open-gop=0:repeat-headers=1:keyint=15:bframes=$b"); fi
        raw=$codec-$b.raw
        if ! ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=30 -frames:v 90 -pix_fmt yuv420p -c:v "${encoder[$codec]}" "${options[@]}" -f $codec "$raw"; then
            skip "containers: $codec, $b B frames" "this ffmpeg has no ${encoder[$codec]}"
            continue
        fi
        for format in mkv mp4 ts; do
            name="containers: $codec with $b B frames in .$format" file=$codec-$b.$format
            records "$name" remux "$raw" "$file" --timestamps times.txt || continue
            check "$name: each picture at its time" container times "$file" times.txt
            check "$name: the pictures of the raw stream" has_pictures_of "$file" "$raw" $codec
            check "$name: cut at any byte" container cuts "$file"
            check "$name: codec and size" has_stream "$file" codec_name=$codec width=320 height=240
            if [ $format = ts ]; then continue; fi
            check "$name: begins at 0" has_stream "$file" start_pts=0
            check "$name: a configuration record" has_configuration "$file"
        done
        check "containers: $codec with $b B frames in .mp4: its name" has_stream "$codec-$b.mp4" codec_tag_string="$([ $codec = h264 ] && echo avc1 || echo hvc1)"
    done
done

records "remux: the stream's own rate" remux --verbose h264-0.raw own.mkv && says "remux: says which rate" 'no timestamp file; 30 frames/s'
records "remux: an MP4 of fragments" remux h264-0.raw own.mp4 && check "remux: a fragment a keyframe" container fragments own.mp4 6
records "remux: another rate" remux h264-0.raw given.mp4 --fps 15 && check "remux: twice as long" has_stream given.mp4 duration=6.000000

# What mkvmerge makes of a recording's timestamps, and camrec of the same.
if command -v mkvmerge >/dev/null; then
    records "mkvmerge: recorded, with gaps" --device test --size 320x240 --fps 30 --encoder software --frames 60 --timestamps kept.txt kept.h264 &&
        sed -i '20,$ s/^\([0-9]*\)\./\1''5./' kept.txt
    check "mkvmerge: takes the timestamps" mkvmerge --quiet --output merged.mkv --timestamps 0:kept.txt kept.h264
    check "mkvmerge: each picture at its time" container times merged.mkv kept.txt
else
    skip "mkvmerge" "not installed; scripts/install-packages test brings it"
fi

# Errors
refuses "remux: an output that exists" 73 'own\.mkv exists' remux h264-0.raw own.mkv
records "remux: replaced on request" remux h264-0.raw own.mkv --overwrite
refuses "remux: an input that is not there" 66 'nothing\.h264: no such file' remux nothing.h264 out.mkv
refuses "remux: an unknown container" 64 'mkv, \.mp4 or \.ts' remux h264-0.raw out.avi
refuses "remux: a folder that is not there" 73 'none/out\.mkv' remux h264-0.raw none/out.mkv
refuses "remux: a container as the input" 65 'Matroska' remux own.mkv out.mp4
head -n 60 times.txt >few.txt
refuses "remux: fewer times than pictures" 65 '59 times for 90 pictures' remux h264-0.raw out.mkv --timestamps few.txt
sed '10s/.*/soon/' times.txt >bad.txt
refuses "remux: a line that is no time" 65 "line 10: 'soon'" remux h264-0.raw out.mkv --timestamps bad.txt
ln -s h264-0.raw link.mkv
refuses "remux: an input as the output" 73 'is an input' remux h264-0.raw --overwrite link.mkv
check "remux: nothing is left" test ! -e out.mkv -a ! -e out.mp4
for format in mkv mp4 ts; do
    ln -s /dev/full full.$format
    refuses "remux: a full disk, .$format" 74 'disk is full' remux h264-0.raw full.$format
    # For camrec alone: the shell's own tally may be longer than that.
    launcher=(prlimit --fsize=40960)
    refuses "remux: a file that may not grow, .$format" 74 'may not grow' remux h264-0.raw limited.$format --timestamps times.txt
    launcher=()
    check "remux: what fits plays, .$format" container prefix h264-0.$format limited.$format
done
head -c $(($(stat -c %s h264-0.raw) * 2 / 3)) h264-0.raw >cut.h264
records "remux: a recording that was cut" remux cut.h264 cut.mkv --timestamps times.txt &&
    says "remux: says what is missing" 'warning: times\.txt has [0-9]+ times more'

# A process that is killed while it writes.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=1280x720:r=30 -frames:v 150 -c:v libx264 -preset ultrafast -qp 1 -g 15 -f h264 large.h264
for format in mkv mp4 ts; do
    records "killed: the whole, .$format" remux large.h264 large.$format || continue
    for share in 3 5 7 9; do
        rm -f killed.$format
        "$CAMREC" remux large.h264 killed.$format 2>/dev/null &
        pid=$!
        until [ "$(stat -c %s killed.$format 2>/dev/null || echo 0)" -ge $(($(stat -c %s large.$format) * share / 10)) ] || ! kill -0 $pid 2>/dev/null; do :; done
        kill -9 $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
        check "killed: after $share tenths, .$format" container prefix large.$format killed.$format --least $((150 * share / 10 - 45))
    done
done

# A recording that is killed, in the middle of what it writes.
begins_like() { # FILE RAW LEAST: as far as both go, their pictures are the same, and there are so many at least
    local one other count
    one=$(picture_hashes "$1") other=$(picture_hashes "$2")
    count=$(($(wc -l <<<"$one") < $(wc -l <<<"$other") ? $(wc -l <<<"$one") : $(wc -l <<<"$other")))
    [ "$count" -ge "$3" ] && [ "$(head -n "$count" <<<"$one")" = "$(head -n "$count" <<<"$other")" ] || { echo "$count pictures, or they differ"; return 1; }
}
for format in mkv mp4 ts; do
    "$CAMREC" --device test --size 640x480 --fps 30 --keyframe-interval 15 --encoder software --qp 4 --overwrite killed.h264 live.$format 2>/dev/null &
    pid=$!
    until [ "$(stat -c %s live.$format 2>/dev/null || echo 0)" -ge 400000 ] || ! kill -0 $pid 2>/dev/null; do :; done
    kill -9 $pid 2>/dev/null || true
    wait $pid 2>/dev/null || true
    check "killed: a recording plays, .$format" begins_like live.$format killed.h264 15
done
finish
