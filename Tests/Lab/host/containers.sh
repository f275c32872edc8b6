#!/bin/bash
# Raw streams of x264 and x265 in containers: capture times, identical pictures, and what remains after a crash; and
# reading what camrec writes with inspect, remux and camplay, damaged or not.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

hashes_of() { ffmpeg -nostdin -v error "$@" -fps_mode passthrough -f framemd5 - | awk -F, '!/^#/ {print $NF}'; } # OPTIONS...

has_pictures_of() { # FILE FIRST OPTIONS...: those that ffmpeg finds with the options, from the first one on
    local one other
    one=$(hashes_of -i "$1") other=$(hashes_of "${@:3}" | tail -n "+$2")
    [ -n "$one" ] && [ "$one" = "$other" ] || { echo "$(wc -l <<<"$one") pictures of $1 differ from $(wc -l <<<"$other")"; return 1; }
}
has_some_of() { # Y4M FILE: each of its pictures is one of the file's
    local some all strange
    some=$(hashes_of -i "$1") all=$(hashes_of -i "$2")
    strange=$(comm -23 <(sort -u <<<"$some") <(sort -u <<<"$all"))
    [ -n "$some" ] && [ -n "$all" ] && [ -z "$strange" ] || { echo "of $(wc -l <<<"$some") pictures, these are strange: $strange"; return 1; }
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
    grep -q '^00000000: 01' <<<"$(ffprobe -v error -show_data -show_entries stream=extradata "$1")"
}

# Ninety frames: thirty a second, then low light, a gap, and a clock that hardly advances.
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
            check "$name: the pictures of the raw stream" has_pictures_of "$file" 1 -f $codec -i "$raw"
            # An MP4 that is made from a recording has no name before it is complete.
            [ $format = mp4 ] || check "$name: cut at any byte" container cuts "$file"
            check "$name: codec and size" has_stream "$file" codec_name=$codec width=320 height=240
            if [ $format = ts ]; then continue; fi
            check "$name: begins at 0" has_stream "$file" start_pts=0
            check "$name: a configuration record" has_configuration "$file"
        done
        check "containers: $codec with $b B frames in .mp4: its name" has_stream "$codec-$b.mp4" codec_tag_string="$([ $codec = h264 ] && echo avc1 || echo hvc1)"
    done
done

records "remux: the stream's own rate" remux --verbose h264-0.raw own.mkv && says "remux: says which rate" 'no timestamp file; 30 frames/s'
records "remux: an MP4" remux h264-0.raw own.mp4 && check "remux: its index is in front" container indexed own.mp4
mkfifo pipe.mp4
cat pipe.mp4 >piped.mp4 &
records "remux: an MP4 into a pipe" remux h264-0.raw pipe.mp4 && wait $! && check "remux: one fragment per keyframe" container fragments piped.mp4 6
records "remux: another rate" remux h264-0.raw given.mp4 --fps 15 && check "remux: twice as long" has_stream given.mp4 duration=6.000000

# mkvmerge and camrec make the same of a recording's timestamps.
if command -v mkvmerge >/dev/null; then
    records "mkvmerge: recorded, with gaps" --device test --size 320x240 --fps 30 --encoder software --frames 60 --timestamps kept.txt kept.h264 &&
        sed -i '20,$ s/^\([0-9]*\)\./\1''5./' kept.txt
    check "mkvmerge: takes the timestamps" mkvmerge --quiet --output merged.mkv --timestamps 0:kept.txt kept.h264
    check "mkvmerge: each picture at its time" container times merged.mkv kept.txt
else
    skip "mkvmerge" "not installed; scripts/install-packages test brings it"
fi

# A transport stream whose sound is mono for four seconds, then stereo
for channels in 1 2; do
    ffmpeg -nostdin -v error -f lavfi -i testsrc2=s=160x120:r=25:d=4 -f lavfi -i sine=d=4 -c:v libx264 -g 25 -bf 0 -pix_fmt yuv420p \
        -c:a aac -ac $channels -output_ts_offset $((channels * 4 - 4)) -muxdelay 0 -muxpreload 0 -f mpegts - >>changing.ts
done
sounds() { # FILE CHANNELS LEAST MOST: so many seconds of it
    local channels seconds
    channels=$(ffprobe -v error -select_streams a -show_entries stream=channels -of csv=p=0 "$1")
    seconds=$(ffprobe -v error -select_streams a -show_entries packet=pts_time -of csv=p=0 "$1" | tr -d , | awk 'NR == 1 {first = $1} {last = $1} END {print last - first}')
    [ "$channels" = "$2" ] && awk "BEGIN {exit !($seconds >= $3 && $seconds <= $4)}" || { echo "$channels channels, $seconds s"; return 1; }
}
# Two pictures at the joint are damaged, which has its exit code.
loses_some() { # PATTERN ARGUMENTS...
    local status=0
    "$CAMREC" "${@:2}" 2>stderr || status=$?
    { [ $status = 65 ] && grep -qE -- "$1" stderr; } || { echo "status $status: $(cat stderr)"; return 1; }
}
check "remux: sound whose format changes is left out, with what to do" loses_some 'sound from 3\.9[0-9]* s on.*--from 3\.9' remux changing.ts mono.mkv
check "remux: the first sound is kept" sounds mono.mkv 1 3.8 4.1
check "remux: the sound after the change" loses_some 'left out because of damage' remux --from 4.1 changing.ts stereo.mkv && check "remux: that sound is kept" sounds stereo.mkv 2 3.8 4.1
# Joined recordings, whose times restart: a flash and a click together, half a second after each second
ffmpeg -nostdin -v error -f lavfi -i "color=black:s=160x120:r=25:d=4,geq=lum='if(lt(mod(T+0.5\,1)\,0.099)\,235\,16)':cb=128:cr=128" \
    -f lavfi -i "aevalsrc='if(lt(mod(t+0.5,1),0.1),0.5*sin(2*PI*1000*t),0)':s=48000:d=4" -c:v libx264 -bf 0 -pix_fmt yuv420p -g 25 -c:a aac claps.mkv
records "remux: a transport stream" remux claps.mkv claps.ts && cat claps.ts claps.ts claps.ts >joined.ts
records "remux: joined recordings" remux joined.ts joined.mkv
claps() { "$PYTHON" "$LAB/verify/sound.py" claps "$@"; }
check "remux: joined recordings: flashes and clicks together, in all of them" claps joined.mkv --within 45 --least 12
check "remux: joined recordings: the sound of all of them" sounds joined.mkv 1 11.8 12.1
records "remux: a part of joined recordings" remux --from 1 --to 3 joined.ts part.mkv &&
    says "remux: a part of joined recordings: sound is left out, with what to do" 'sound of recordings after the first.*remux all of it first'

# Errors
refuses "remux: an output that exists" 73 'own\.mkv: already exists' remux h264-0.raw own.mkv
records "remux: replaced on request" remux h264-0.raw own.mkv --overwrite
refuses "remux: an input that does not exist" 66 'nothing\.h264: no such file' remux nothing.h264 out.mkv
refuses "remux: an unknown container" 64 'named .mkv, .mp4, .ts, .h264 or .h265' remux h264-0.raw out.avi
refuses "remux: the other codec's name" 64 'the stream is H\.264; name it \.h264' remux h264-0.raw out.h265
refuses "remux: times in addition to a container's own" 64 'have times; leave out' remux own.mkv out.mp4 --fps 15
refuses "remux: an end before the beginning" 64 'later than --from' remux own.mkv out.mp4 --from 2s --to 1s
refuses "remux: a beginning after the end" 65 'last picture is at 2\.96[67] s' remux own.mkv out.mp4 --from 10s
refuses "remux: a folder that does not exist" 73 'none/out\.mkv' remux h264-0.raw none/out.mkv
head -n 60 times.txt >few.txt
refuses "remux: fewer times than pictures" 65 '59 times for 90 pictures' remux h264-0.raw out.mkv --timestamps few.txt
sed '10s/.*/soon/' times.txt >bad.txt
refuses "remux: a line that is not a time" 65 "line 10: 'soon'" remux h264-0.raw out.mkv --timestamps bad.txt
ln -s h264-0.raw link.mkv
refuses "remux: an input as the output" 73 'it is also an input' remux h264-0.raw --overwrite link.mkv
check "remux: nothing is left" test ! -e out.mkv -a ! -e out.mp4
for format in mkv mp4 ts; do
    ln -s /dev/full full.$format
    refuses "remux: a full disk, .$format" 74 'disk is full' remux h264-0.raw full.$format
    # For camrec alone: the shell's own tally may be longer than that.
    launcher=(prlimit --fsize=40960)
    if [ $format = mp4 ]; then
        refuses "remux: a file that may not grow, .mp4" 74 'size limit' remux h264-0.raw limited.mp4
        launcher=()
        check "remux: nothing is left of an .mp4" test ! -e limited.mp4
        continue
    fi
    refuses "remux: a file that may not grow, .$format" 74 'size limit' remux h264-0.raw limited.$format --timestamps times.txt
    launcher=()
    check "remux: what fits plays, .$format" container prefix h264-0.$format limited.$format
done
head -c $(($(stat -c %s h264-0.raw) * 2 / 3)) h264-0.raw >cut.h264
records "remux: a recording that was cut" remux cut.h264 cut.mkv --timestamps times.txt &&
    says "remux: says what is missing" 'warning: times\.txt has [0-9]+ more times'

# A process that is killed while it writes.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=1280x720:r=30 -frames:v 150 -c:v libx264 -preset ultrafast -qp 1 -g 15 -f h264 large.h264
for format in mkv ts; do
    records "killed: the whole, .$format" remux large.h264 large.$format || continue
    for share in 3 5 7 9; do
        rm -f killed.$format
        "$CAMREC" remux large.h264 killed.$format 2>/dev/null &
        pid=$!
        until [ "$(stat -c %s killed.$format 2>/dev/null || echo 0)" -ge $(($(stat -c %s large.$format) * share / 10)) ] || ! kill -0 $pid 2>/dev/null; do :; done
        kill -9 $pid 2>/dev/null || true
        wait $pid 2>/dev/null || true
        check "killed: after $share tenths, .$format" container prefix large.$format killed.$format --least $((150 * share / 10 - 30)) # two groups of pictures
    done
done

# A recording that is killed in the middle of a write.
begins_like() { # FILE RAW LEAST: as far as both go, their pictures are the same, and there are at least this many
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

# camrec reads what it writes: each container, both codecs, in all three programs.
same() { # FILE FILE
    cmp "$1" "$2"
}
pictures() { # FILE: as camplay decodes them
    timeout 60 "$CAMPLAY" --no-window --quiet --overwrite --output - --pixel-format yuv420p "$1" | md5sum | grep -v '^d41d8cd98f00b204e9800998ecf8427e' # nothing
}
same_pictures() { # FILE FILE
    local one other
    one=$(pictures "$1") && other=$(pictures "$2") && [ "$one" = "$other" ]
}
starts_at() { # FILE RAW PICTURES: playing from 1.5 s on skips this many
    timeout 60 "$CAMPLAY" --no-window --quiet --overwrite --output from.yuv --start 1.5s "$1" &&
        timeout 60 "$CAMPLAY" --no-window --quiet --overwrite --output all.yuv "$2" &&
        cmp from.yuv <(tail -c +$((320 * 240 * 3 * $3 / 2 + 1)) all.yuv)
}
counts() { # FILE N: what inspect finds in it
    "$CAMREC" inspect --json "$1" | "$PYTHON" -c '
import json, sys
found = json.load(sys.stdin)
assert found["frameCount"] == int(sys.argv[1]), found["frameCount"]
assert found["failure"] is None and not found["problems"], (found["failure"], found["problems"])
' "$2"
}
plays_all() { # FILE: of 90 pictures
    rm -f play.json direct.png
    "$CAMPLAY" --no-window --report play.json --snapshot direct.png "$1" && play_report play.json 'pictures.decoded == 90' 'losses == 0' && [ -s direct.png ]
}
few_lines() { # what a program says of a file that is not one: 65 and why, or, of a part that plays, 0 or, from remux, 65 with a warning; and a line for each kind of thing
    local errors
    code=0
    timeout 20 "$@" >/dev/null 2>said || code=$?
    errors=$(grep -vc '^cam[a-z]*: warning: ' said || true)
    case $code/$errors in
        0/* | 65/1 | 65/0) [ $code = 0 ] || [ -s said ] || { echo "status $code without a word"; return 1; }
            [ "$(wc -l <said)" -le 4 ] || { cat said; return 1; } ;;
        *) echo "status $code: $(head -c 300 said)"; return 1 ;;
    esac
}
gives_up() { few_lines "${@:2}" && [ $code = 65 ] && grep -q "$1" said; } # PATTERN COMMAND...
packets() { ffprobe -v quiet -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$1"; }
all_take() { # FILE: none of the three crashes, hangs or says more than it should; $taken is the number of pictures
    taken=0
    rm -f taken.mkv taken.json
    few_lines "$CAMREC" inspect "$1" && few_lines "$CAMREC" remux "$1" taken.mkv || return
    # What was already written stays if the input turns out to be damaged later.
    if [ $code = 0 ] || [ -e taken.mkv ]; then
        taken=$(packets taken.mkv)
        [ "$taken" -gt 0 ] || { echo "exit code $code, and no picture was made"; return 1; }
    fi
    few_lines "$CAMPLAY" --no-window --report taken.json "$1" || return
    [ $code != 0 ] || play_report taken.json 'pictures.decoded > 0'
}
cut_everywhere() { # FILE: at two dozen lengths; a longer file never has fewer pictures
    local size end before=0
    size=$(stat -c %s "$1")
    for ((end = 0; end < size; end += size / 24)); do
        head -c $end "$1" >part."${1##*.}"
        all_take part."${1##*.}" || { echo "cut at $end"; return 1; }
        [ "$taken" -ge "$before" ] || { echo "cut at $end: $taken pictures, and $before before"; return 1; }
        before=$taken
    done
    [ "$before" -ge 60 ] || { echo "$before pictures in the end"; return 1; }
}
flipped() { # FILE: bits, most of them where the structure is
    local seed
    for seed in $(seq 12); do
        "$PYTHON" - "$1" "$seed" >flip."${1##*.}" <<'END'
import random, sys
data, source = bytearray(open(sys.argv[1], "rb").read()), random.Random(int(sys.argv[2]))
for _ in range(source.randint(1, 30)):
    data[source.randrange(min(len(data), 2000) if source.random() < 0.5 else len(data))] ^= 1 << source.randrange(8)
sys.stdout.buffer.write(data)
END
        all_take flip."${1##*.}" || { echo "seed $seed"; return 1; }
    done
}

for codec in h264 hevc; do
    raw=again.$([ $codec = hevc ] && echo h265 || echo h264)
    records "again: recorded, $codec" --device test --no-pace --size 320x240 --frames 90 --keyframe-interval 15 --bframes 2 --codec $codec --encoder software "$raw" || continue
    for format in mkv mp4 ts; do
        name="again: $codec in .$format"
        records "$name: recorded" --device test --no-pace --size 320x240 --frames 90 --codec $codec --encoder software --overwrite direct.$format &&
            check "$name: inspect" counts direct.$format 90 && check "$name: inspect --check" "$CAMREC" inspect --check direct.$format &&
            check "$name: camplay" plays_all direct.$format
        records "$name: remux" remux --overwrite "$raw" again.$format || continue
        check "$name: the same pictures" same_pictures again.$format "$raw"
        check "$name: from 1.5 s on" starts_at again.$format "$raw" 45
        records "$name: back" remux --overwrite again.$format "back.${raw##*.}" && check "$name: bit for bit" same "back.${raw##*.}" "$raw"
        check "$name: cut everywhere" cut_everywhere again.$format
        check "$name: flipped bits" flipped again.$format
    done
    records "again: AVCC of $codec" inspect --overwrite --avcc again.avcc --avcc-record again.avcC "$raw"
    check "again: AVCC of $codec: inspect" counts again.avcc 90
    check "again: AVCC of $codec: camplay" same_pictures again.avcc "$raw"
    check "again: AVCC of $codec: from 1.5 s on" starts_at again.avcc "$raw" 45
    check "again: AVCC of $codec: with its record" "$CAMREC" inspect --record again.avcC again.avcc
    check "again: AVCC of $codec: flipped bits" flipped again.avcc
    records "again: a part of $codec" remux --overwrite --verbose --from 1.2s --to 2.1s again.mkv part.mp4 &&
        says "again: says where the cut is" 'from 1\.0 s to 2\.5 s' && check "again: has those pictures" counts part.mp4 45
    for size in 320x240 640x480 320x240; do "$CAMREC" --device test --no-pace --size $size --frames 10 --codec $codec --encoder software - 2>/dev/null; done >"sizes.${raw##*.}"
    rm -f sizes*.y4m
    check "again: other sizes of $codec" "$CAMPLAY" --no-window --output sizes.y4m "sizes.${raw##*.}"
    check "again: a file for each size" grep -qx "W320 W640 W320" <(head -qn 1 sizes.y4m sizes-1.y4m sizes-2.y4m | awk '{printf "%s%s", sep, $2; sep = " "} END {print ""}')
done

# Missing data is reported and counted.
spoil() { "$PYTHON" "$LAB/verify/spoil.py" "$@"; }
says_nothing_odd() { grep -qE 'problems +none' <<<"$("$CAMREC" inspect "$1")"; }
plays_spoilt() { # NAME FILE WHOLE EXPRESSION...
    rm -f play.json play.y4m
    check "$1: camplay plays the rest" "$CAMPLAY" --no-window --output play.y4m --report play.json "$2"
    check "$1: which are the pictures of the whole" has_some_of play.y4m "$3"
    check "$1: camplay counts a loss" play_report play.json 'losses == 1' "${@:4}"
}
"$CAMREC" --device test --no-pace --size 320x240 --frames 90 --keyframe-interval 30 --encoder software --latency realtime --overwrite whole.h264 2>/dev/null
"$CAMREC" remux --overwrite whole.h264 whole.mp4 2>/dev/null
# Large enough to be recognised from its beginning.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=30 -frames:v 90 -c:v libx264 -qp 10 large.h264
"$CAMREC" inspect --overwrite --avcc whole.avcc large.h264 >/dev/null
for way in zeros length; do
    spoil $way whole.mp4 spoilt.mp4 40
    plays_spoilt "spoilt: $way" spoilt.mp4 whole.mp4 'pictures.received == 90' 'pictures.decoded == 70'
    # Picture 40 is damaged: up to the keyframe at 60 nothing that refers to it can be shown.
    refuses "spoilt: $way: remux says what is left out" 65 'pictures left out because of damage, up to the next keyframe: 20; .*at 1\.3' remux --overwrite spoilt.mp4 spoilt.mkv &&
        check "spoilt: $way: remux keeps the rest" counts spoilt.mkv 70 && check "spoilt: $way: which is sound" ffmpeg -nostdin -v error -xerror -i spoilt.mkv -f null -
    refuses "spoilt: $way: inspect --check" 65 'offset [0-9]+: ' inspect --check spoilt.mp4
    check "spoilt: $way: inspect" grep -q 'offset' <("$CAMREC" inspect spoilt.mp4 2>&1)
done
# What libavformat skips without a word: the file's own structure tells.
mkvmerge -q --compression 0:zlib -o packed.mkv whole.mp4
spoil packed packed.mkv spoilt-packed.mkv 40
refuses "spoilt: skipped in Matroska: remux says what is left out" 65 'left out because of damage.*pictures skipped: [0-9]+' remux --overwrite spoilt-packed.mkv spoilt.mkv &&
    check "spoilt: skipped in Matroska: the rest is sound" ffmpeg -nostdin -v error -xerror -i spoilt.mkv -f null -
refuses "spoilt: skipped in Matroska: inspect --check" 65 'pictures skipped: [0-9]+' inspect --check spoilt-packed.mkv
ffmpeg -nostdin -v error -y -i whole.mp4 -c copy plain.mp4
spoil samples plain.mp4 spoilt-samples.mp4 5
# What libavformat skips because the structure is damaged: a block, a fragment's header, and the parts of such a header.
rename() { # FILE OUTPUT N FROM TO: the N-th place, from the end if negative
    "$PYTHON" - "$@" <<'END'
import sys
data, old, new = open(sys.argv[1], "rb").read(), bytes.fromhex(sys.argv[4]), bytes.fromhex(sys.argv[5])
places = [n for n in range(len(data)) if data.startswith(old, n)]
place = places[int(sys.argv[3])]
open(sys.argv[2], "wb").write(data[:place] + new + data[place + len(old):])
END
}
ffmpeg -nostdin -v error -y -i whole.mp4 -c copy structure.mkv
ffmpeg -nostdin -v error -y -i whole.mp4 -c copy -movflags frag_keyframe+delay_moov+default_base_moof structure.mp4
free=66726565
for kind in 6d6f6f66 74726166 7472756e; do
    rename structure.mp4 spoilt-$kind.mp4 1 $kind $free
    refuses "spoilt: a fragment without its $kind: remux" 65 'no table lists the data at byte' remux --overwrite spoilt-$kind.mp4 spoilt.mkv
done
rename structure.mkv spoilt-cluster.mkv 1 1f43b675 1f43b677
refuses "spoilt: a cluster with another name: remux" 65 'its structure is damaged at byte' remux --overwrite spoilt-cluster.mkv spoilt.mkv
refuses "spoilt: a cluster with another name: inspect" 65 'its structure is damaged at byte' inspect spoilt-cluster.mkv
check "spoilt: a cluster with another name: the report comes first" grep -q ' frames in ' stdout
refuses "spoilt: skipped in MP4: remux says what is missing" 65 'its tables list 5 more pictures' remux --overwrite spoilt-samples.mp4 spoilt.mkv
refuses "spoilt: skipped in MP4: inspect --check" 65 'its tables list 5 more pictures' inspect --check spoilt-samples.mp4
for file in packed.mkv plain.mp4 whole.mp4 structure.mkv structure.mp4; do
    records "spoilt: nothing is skipped in $file" remux --overwrite $file spoilt.mkv && check "spoilt: which needs no word, $file" test ! -s stderr
    check "spoilt: all of $file is in order" says_nothing_odd $file
done
# Joined files are read one after the other, if libavformat can, and have their times added up.
for format in mkv mp4; do
    cat structure.$format structure.$format >joined.$format
    records "joined: .$format" remux --overwrite joined.$format spoilt.mkv && check "joined: .$format: all pictures" counts spoilt.mkv 180
    check "joined: all of .$format is in order" says_nothing_odd joined.$format
    check "joined: .$format: none is hidden, and their times add up" grep -qE 'pictures from 0 to 2\.96[67] s, in 2 joined recordings$' <("$CAMREC" inspect joined.$format)
done
# Fragments of other programs may state places that count from the start of their file: behind another file, what
# libavformat finds there is the first file's data once more.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=160x120:r=25:d=1 -c:v libx264 -g 10 -pix_fmt yuv420p -movflags frag_keyframe+empty_moov places.mp4
cat places.mp4 places.mp4 >joined-places.mp4
left_out() { # camrec remux says so, and copies each of the first file's pictures once
    local status=0
    "$CAMREC" remux --overwrite joined-places.mp4 spoilt.mkv 2>stderr || status=$?
    [ $status = 65 ] && grep -q 'another file follows' stderr && counts spoilt.mkv 25
}
check "joined: fragments with places of their own" left_out
cat plain.mp4 plain.mp4 >joined-plain.mp4
refuses "joined: an index at the end of each" 65 'another file follows at byte [0-9]+ and is left out' remux --overwrite joined-plain.mp4 spoilt.mkv
spoil unit whole.avcc spoilt.avcc 50
plays_spoilt "spoilt: a wrong length" spoilt.avcc large.h264 'pictures.received == 49' 'pictures.decoded == 48'
refuses "spoilt: a wrong length: remux says what is left out" 65 'its end cannot be read' remux --fps 30 --overwrite spoilt.avcc spoilt.mkv
# frame_num has four bits here, and wraps after 15.
for lost in 5 15 16; do
    spoil lose whole.h264 spoilt.h264 $lost
    plays_spoilt "spoilt: picture $lost is missing" spoilt.h264 whole.h264 'pictures.received == 89' "pictures.decoded == 60 + $lost"
done
# A container that breaks off within a picture, as a full disk or a copy that was stopped leaves it
for format in mkv mp4 ts; do
    "$CAMREC" --device test --no-pace --size 320x240 --frames 90 --keyframe-interval 30 --encoder software --overwrite whole.$format 2>/dev/null
    # An odd number of bytes: no whole packets of a transport stream.
    head -c $(($(stat -c %s whole.$format) * 2 / 3 | 1)) whole.$format >cut.$format
    plays_spoilt "broken off: $format" cut.$format whole.$format 'pictures.decoded > 30' 'pictures.decoded < 90'
    refuses "broken off: $format: inspect --check" 65 'cannot be read|the stream ends|is damaged' inspect --check cut.$format
    refuses "broken off: $format: remux says so" 65 'its end cannot be read and is left out' remux --overwrite cut.$format rest.mkv &&
        check "broken off: $format: the rest is sound" ffmpeg -nostdin -v error -xerror -i rest.mkv -f null -
done
# A power cut may leave zeros in the last block of a file (ext4): everything before them is kept.
for format in mkv mp4 ts; do
    { head -c -2000 whole.$format && head -c 300 /dev/zero; } >zeros.$format
    plays_spoilt "zeros at the end: $format" zeros.$format whole.$format 'pictures.decoded > 60' 'pictures.decoded < 90'
    refuses "zeros at the end: $format: remux says so" 65 'its end cannot be read and is left out|left out because of damage' remux --overwrite zeros.$format rest.mkv &&
        check "zeros at the end: $format: the rest is sound" ffmpeg -nostdin -v error -xerror -i rest.mkv -f null -
done
# The pictures before the damage are complete, including those that are held back for reordering when a keyframe follows
# it.
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=30 -frames:v 60 -c:v libx264 -bf 3 -g 20 -keyint_min 20 -sc_threshold 0 ordered.mkv
spoil block ordered.mkv spoilt.mkv 38
plays_spoilt "spoilt: ahead of a keyframe" spoilt.mkv ordered.mkv "pictures.received == $(packets spoilt.mkv) + 1" 'pictures.decoded == pictures.received - 1' 'pictures.decoded > 56'

# Times that jump back, as in two concatenated recordings
"$CAMREC" remux --overwrite whole.h264 whole.mp4 2>/dev/null
ffmpeg -nostdin -v error -y -i whole.mp4 -c copy -bsf:v "setts=dts=DTS-30000:pts=if(gte(N\,30)*lt(N\,40)\,PTS-10000\,PTS)" -video_track_timescale 15360 back.mp4
records "times that jump back: remux" remux --overwrite back.mp4 rest.mkv && says "times that jump back: remux says so" 'times that do not increase: 1;'
touch private.mp4 && chmod 600 private.mp4
records "private: replaced" remux --overwrite whole.h264 private.mp4 && check "private: stays its owner's alone" test "$(stat -c %a private.mp4)" = 600

plays_as_ffmpeg() { # FILE
    "$CAMPLAY" --no-window "$1" --output play.y4m --report play.json --overwrite && has_pictures_of play.y4m 1 -i "$1"
}

# Files that are not such recordings
ffmpeg -nostdin -v error -y -f lavfi -i sine -t 1 sound.mp4
ffmpeg -nostdin -v error -y -f lavfi -i sine -t 1 sound.ts
ffmpeg -nostdin -v error -y -ss 0.5 -i whole.mp4 -c copy edited.mp4
records "again: a film whose beginning is hidden" remux --overwrite edited.mp4 part.mkv &&
    says "again: says that it is taken over" 'edited\.mp4: pictures copied although an edit list hides them: 15'
check "again: camplay shows it as ffmpeg does" plays_as_ffmpeg edited.mp4
check "again: what is hidden is counted" play_report play.json 'pictures.withheld == 15' 'losses == 0'
check "again: it is played from half a second on" "$CAMPLAY" --no-window --start 0.5 edited.mp4 --output play.y4m --overwrite
check "again: counted from the first picture that is shown" has_pictures_of play.y4m 16 -i edited.mp4
check "again: inspect says it" grep -q '15 of them hidden by an edit list' <("$CAMREC" inspect edited.mp4)
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=s=320x240:r=30 -frames:v 90 -c:v libx264 -bf 3 -x264-params open-gop=1:keyint=15:b-adapt=0:scenecut=0 open.mp4
ffmpeg -nostdin -v error -y -f lavfi -i sine -t 1 -c:a mp2 other.mp4
ffmpeg -nostdin -v error -y -i other.mp4 -i again.mp4 -map 1 -map 0 -c copy -metadata:s:v rotate=90 turned.mp4
records "again: a film with other sound that is turned" remux --overwrite turned.mp4 part.mkv &&
    says "again: says that neither is taken over" 'turned\.mp4: left out: sound, a rotation by 90 degrees to the left'
check "again: inspect says it" grep -q 'also sound, a rotation by 90 degrees to the left' <("$CAMREC" inspect turned.mp4)
check "again: camplay says it" grep -q 'left out: sound, a rotation by 90 degrees to the left' <("$CAMPLAY" --no-window --frames 1 --snapshot turned.png turned.mp4 2>&1)

# Sound, as ffmpeg writes it: before the first picture, with frames that only prepare the decoder; each packet as it is,
# and at its time.
ffmpeg -nostdin -v error -y -f lavfi -i 'sine=f=440:b=4:r=48000' -i again.mp4 -map 0 -map 1 -c:v copy -c:a aac -t 3 aac.mkv
ffmpeg -nostdin -v error -y -i aac.mkv -c copy aac.mp4
ffmpeg -nostdin -v error -y -i aac.mkv -c copy aac.ts
ffmpeg -nostdin -v error -y -i aac.mkv -c:v copy -c:a libopus opus.mkv
ffmpeg -nostdin -v error -y -i opus.mkv -c copy opus.ts
ffmpeg -nostdin -v error -y -i aac.mkv -c:v copy -c:a flac flac.mkv
same_sound() { # FILE REMUXED: sounds the same at the same times from the first picture, but for the first packets, which some lose
    "$PYTHON" - "$@" <<'END'
import subprocess, sys
import numpy
def run(*command): return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
def first(file, stream):
    times = run("ffprobe", "-v", "error", "-select_streams", stream, "-show_entries", "frame=pts_time", "-read_intervals", "%+0.5", "-of", "csv=p=0", file).split()
    return min(float(time.strip(b",")) for time in times)
def sound(file): return numpy.frombuffer(run("ffmpeg", "-nostdin", "-v", "error", "-i", file, "-map", "0:a", "-f", "f32le", "-ac", "1", "-ar", "48000", "-"), numpy.float32)
def since_picture(file): return first(file, "a") - first(file, "v")
one, other = sound(sys.argv[1]), sound(sys.argv[2])
shift = round((since_picture(sys.argv[2]) - since_picture(sys.argv[1])) * 48000)
length = min(len(one) - shift, len(other)) - 26000
assert length > 90000, (len(one), len(other), shift)
# Matroska rounds times to milliseconds. AAC has noise that each decoder makes for itself.
def difference(offset): return numpy.abs(one[shift + offset + 24000:][:length] - other[24000:][:length]).max()
best = min(range(-100, 101), key=difference)
assert difference(best) < 0.03, f"differs by {difference(best)}, moved by {best} samples"
END
}
for input in aac.mkv aac.mp4 aac.ts opus.mkv opus.ts flac.mkv; do
    for output in copied.mkv copied.mp4 copied.ts; do
        [ $input-$output != flac.mkv-copied.ts ] || continue
        records "sound: $input to $output" remux --overwrite $input $output && check "sound: $input to $output: packet for packet" same_sound $input $output
    done
    check "sound: inspect describes that of $input" grep -qE '^ *sound +(AAC|Opus|FLAC), (48000|44100) Hz, 1 channel, .* from -?0\.?0?[0-9]* to [23]\.[0-9]+ s$' <("$CAMREC" inspect $input)
done
records "sound: to a raw stream" remux --overwrite aac.mkv copied.h265 && says "sound: says that it is left out" 'aac\.mkv: the sound is left out; to keep it, name the output \.mkv, \.mp4 or \.ts'
records "sound: flac to .ts" remux --overwrite flac.mkv copied.ts && says "sound: says what keeps flac" 'the sound is left out; to keep it, name the output \.mkv or \.mp4'

# Open GOPs: a film that begins with an I picture in the middle of a stream, and one that is played from there
for file in amid.mkv amid.mp4; do
    ffmpeg -nostdin -v error -y -ss 1.6 -i open.mp4 -c copy -avoid_negative_ts disabled $file
    check "again: $file begins with an open group, and is shown as ffmpeg shows it" plays_as_ffmpeg $file
    check "again: $file: inspect finds its parameter sets" grep -q '1 SPS (1 distinct), 1 PPS' <("$CAMREC" inspect $file)
done
check "again: playing continues at an open GOP" "$CAMPLAY" --no-window --start 1.9 open.mp4 --output play.y4m --overwrite
check "again: at exactly that picture" has_pictures_of play.y4m 58 -i open.mp4
check "again: a rate of its own changes nothing of that" "$CAMPLAY" --no-window --start 1.9 --fps 10 open.mp4 --report play.json --overwrite
check "again: as many pictures" play_report play.json 'pictures.decoded == 33'

# Requests that contradict the file
recorder=$CAMREC
CAMREC=$CAMPLAY
refuses "again: another codec than the file's" 64 'open\.mp4: it holds H\.264; leave out --codec hevc' --no-window --codec hevc --snapshot not.png open.mp4
printf "# timestamp format v2\n0\n" >times.txt
refuses "again: times beside the file's" 64 'its pictures have times; leave out --timestamps' --timestamps times.txt open.mp4
CAMREC=$recorder
refuses "again: a rate beside the file's times" 64 'its pictures have times; leave out' remux --fps 30 open.mp4 not.mkv
for place in 0 0s 0ms; do
    check "again: --start $place is the beginning" "$CAMPLAY" --no-window --start $place open.mp4 --report play.json --overwrite
    check "again: --start $place: all of it" play_report play.json 'pictures.decoded == 90'
done
records "again: --from 0 is the beginning" remux --from 0 --overwrite open.mp4 all.mkv && check "again: --from 0: all of it" test "$(packets all.mkv)" = 90
ffmpeg -nostdin -v error -y -i again.mkv -i again.mp4 -map 0 -map 1 -c copy two.mkv
ffmpeg -nostdin -v error -y -f lavfi -i testsrc2 -t 1 -c:v mpeg4 other.mp4
truncate -s 1T endless.mkv && head -c 3000 again.mkv | dd of=endless.mkv conv=notrunc status=none
mkfifo pipe.mkv
limit=20
declare -A reason=([sound.mp4]='no video in it' [sound.ts]='no video in it' [two.mkv]='it has 2 videos' [other.mp4]='its video is mpeg4' [endless.mkv]='no picture in its first 256 MB')
recorder=$CAMREC
for file in sound.mp4 sound.ts two.mkv other.mp4 endless.mkv; do
    refuses "foreign: inspect $file" 65 "${reason[$file]}" inspect $file
    refuses "foreign: remux $file" 65 "${reason[$file]}" remux $file out.mkv
    # If a file begins like a recording, its first pictures are played, and its problems reported.
    if [ $file = endless.mkv ]; then
        check "foreign: camplay $file" gives_up "${reason[$file]}" "$CAMPLAY" --no-window $file
        continue
    fi
    CAMREC=$CAMPLAY
    refuses "foreign: camplay $file" 65 "${reason[$file]}" --no-window $file
    CAMREC=$recorder
done
refuses "foreign: a pipe" 65 'not a file' remux pipe.mkv out.mp4
check "foreign: nothing is left" test ! -e out.mkv -a ! -e out.mp4

# A transport stream that begins two minutes earlier than the previous one: libavformat treats that as a wrap of its
# clock.
joined_duration() { # FIRST SECOND: the joined stream's length in seconds, in another container
    cat "$1" "$2" >joined.ts
    "$CAMREC" remux --quiet --overwrite joined.ts joined.mkv 2>/dev/null && ffprobe -v error -show_entries format=duration -of csv=p=0 joined.mkv
}
goes_on() {
    local seconds
    ffmpeg -nostdin -v error -i early.ts -c copy -output_ts_offset 120 -y later.ts
    seconds=$(joined_duration later.ts early.ts)
    awk -v seconds="$seconds" 'BEGIN {exit !(seconds > 3 && seconds < 5)}' || { echo "$seconds s in place of 4"; return 1; }
}
records "joined: two seconds" --device test --no-pace --size 320x240 --fps 30 --frames 60 --encoder software early.ts
check "joined: one that begins earlier continues at once" goes_on

# A raw stream needs none of libavformat's forty libraries.
loads() { # NAME
    LD_DEBUG=files "$CAMREC" --device test --no-pace --frames 5 --overwrite --encoder software "$1" 2>&1 | grep -oE 'file=lib[a-z0-9]+' | sort -u
}
check "libavformat: loaded for a container" grep -qx file=libavformat <(loads loaded.mkv)
has_none() { # FILE
    local found
    found=$(loads "$1") && grep -qx file=libavcodec <<<"$found" && ! grep -x file=libavformat <<<"$found"
}
check "libavformat: not for a raw stream" has_none loaded.h264

# What containers say about the recording: each segment its own time, which its name has, too.
tag() { ffprobe -v error -show_entries "format_tags=$2" -of default=noprint_wrappers=1:nokey=1 "$1"; } # FILE NAME
mkdir dated
dates() { # FORMAT
    local file count=0 name
    camrec --device test --size 320x240 --fps 30 --encoder software --utc --frames 90 --segment 30f --report "dated-$1.json" "dated/%Y-%m-%dT%H:%M:%S.$1" || return 1
    for file in dated/*."$1"; do
        name=$(basename "$file" ".$1") count=$((count + 1))
        [[ $(tag "$file" creation_time) = "${name%-[0-9]}"*.*Z ]] || { echo "$file: $(tag "$file" creation_time)"; return 1; }
        [ "$(tag "$file" model)" = "test picture" ] && [ "$(tag "$file" encoded_by)" = "camrec $("$CAMREC" --version | sed -nE '1s/^camrec ([^ ]+).*/\1/p')" ] || { ffprobe "$file"; return 1; }
    done
    [ $count = 3 ] && begins_with "dated-$1.json" "$(tag "$(ls -tr dated/*."$1" | head -n 1)" creation_time)"
}
begins_with() { # REPORT TIME: the clocks are read twice, so the times may differ by some microseconds
    local said difference
    said=$("$PYTHON" -c 'import json, sys; print(json.load(open(sys.argv[1]))["startTime"])' "$1")
    difference=$(($(date -d "$said" +%s%N) - $(date -d "$2" +%s%N)))
    [ "${difference#-}" -lt 5000000 ] || { echo "the report says $said, the file $2"; return 1; }
}
keeps_date() { # FORMAT
    local first
    first=$(ls -tr dated/*."$1" | head -n 1)
    "$CAMREC" remux "$first" "kept.$1" && [ "$(tag "kept.$1" creation_time)" = "$(tag "$first" creation_time)" ] && [ "$(tag "kept.$1" model)" = "test picture" ] &&
        grep -qE "^  recorded +$(tag "$first" creation_time)$" <<<"$("$CAMREC" inspect "kept.$1")" && "$CAMREC" inspect --json "kept.$1" >kept.json &&
        report kept.json "container.startTime == '$(tag "$first" creation_time)'" 'container.camera == "test picture"'
}
for format in mkv mp4; do
    check "metadata: the capture time, camera and program of each .$format" dates $format
    check "metadata: a remux to .$format keeps them, and inspect shows them" keeps_date $format
done
finish
