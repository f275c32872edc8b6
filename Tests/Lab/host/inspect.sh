#!/bin/bash
# camrec inspect: its report (reference.sh compares that with libavcodec), its checks, conversions and errors, live input, and its page in a browser.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

synthesize() { # FILE FRAMES SIZE RATE OPTIONS...: a test pattern, coded by ffmpeg
    local file=$1 frames=$2 size=$3 rate=$4
    shift 4
    ffmpeg -nostdin -v error -y -f lavfi -i "testsrc2=s=$size:r=$rate" -frames:v "$frames" "$@" "$file"
}
x264() { # FILE FRAMES SIZE RATE PARAMETERS OPTIONS...
    local file=$1 frames=$2 size=$3 rate=$4 parameters=$5
    shift 5
    synthesize "$file" "$frames" "$size" "$rate" "$@" -c:v libx264 -x264-params "threads=1:$parameters"
}
x265() {
    local file=$1 frames=$2 size=$3 rate=$4 parameters=$5
    shift 5
    synthesize "$file" "$frames" "$size" "$rate" "$@" -c:v libx265 -x265-params "log-level=none:pools=1:frame-threads=1:$parameters"
}
finds() { # FILE EXPRESSION...: what the report says
    local file=$1
    shift
    "$CAMREC" inspect --json --nal --headers "$file" >finds.json && report finds.json "$@"
}
has_line() { # TEXT PATTERN
    grep -qE -- "$2" <<<"$1" || { echo "no '$2' in: $1"; return 1; }
}
says_of() { # PATTERN ARGUMENTS...: a line of the summary
    local pattern=$1
    shift
    has_line "$("$CAMREC" inspect "$@")" "$pattern"
}

# What camrec itself records.
for file in own.h264 own.h265; do
    records "inspect: records $file" --device test --size 320x240 --fps 25 --frames 110 --keyframe-interval 20 --encoder software --no-pace --overwrite $file || continue
    check "inspect: $file: counts" finds $file 'accessUnits == 110' 'idrs == 6' 'frameTypes.I == 6' 'frameTypes.P == 104' 'frameTypes.B == 0' \
        'width == 320' 'height == 240' 'frameRate == 25' 'gop.minimum == 20' 'gop.maximum == 20' 'reordering == False' 'len(problems) == 0' \
        "bytes == $(stat -c %s $file)" 'len(units) == nalUnits' 'len(frames) == 110' 'duration == 4.4' 'color.range == "limited"' "len(sei) <= 2"
    check "inspect: $file has the guaranteed shape" says_of '^ok: 110 access units, 6 IDR pictures$' --check $file
done

# Streams of other encoders, with everything unusual.
x264 bframes.h264 250 320x240 25 open-gop=1:keyint=50:bframes=3
x264 interlaced.h264 60 720x576 25 tff=1:slices=4:aud=1 -flags +ildct+ilme
x264 cropped.h264 40 70x50 30000/1001 keyint=15:cqm=jvt -pix_fmt yuv444p10le
x264 colored.h264 20 1280x720 60 fullrange=on:colorprim=bt2020:transfer=bt2020-10:colormatrix=bt2020nc:frame-packing=3 -vf setsar=4/3
x265 bframes.h265 100 320x240 25 bframes=3
x265 cropped.h265 60 318x238 30000/1001 keyint=20 -pix_fmt yuv422p10le
check "inspect: B frames are reordered" finds bframes.h264 'reordering == True' 'frameTypes.B > 50' 'idrs == 1' 'keyframes == 5'
check "inspect: cropping" says_of '70x50 \(cropped from 80x64\)' cropped.h264
check "inspect: an odd rate" says_of '29\.97 frames/s \(30000/1001\)' cropped.h264
check "inspect: the samples' shape" says_of '^  size +1280x720, samples of 4:3$' colored.h264
check "inspect: the samples' shape in the report" finds colored.h264 'sampleAspectRatio == "4:3"' 'not hasattr(color, "alternativeTransfer")'
x265 hlg.h265 10 320x240 25 colorprim=bt2020:transfer=bt2020-10:colormatrix=bt2020nc:atc-sei=18
check "inspect: another transfer by SEI" says_of '^  colour .*transfer BT\.2020, 10 bits; transfer preferred by SEI ARIB STD-B67, HLG$' hlg.h265
check "inspect: another transfer in the report" finds hlg.h265 'color.alternativeTransfer == "ARIB STD-B67, HLG"'
check "inspect: colour in words" says_of 'full range.*BT\.2020' colored.h264
check "inspect: depth and sampling" says_of '4:2:2, 10 bit' cropped.h265
check "inspect: interlaced" says_of '4:2:0, 8 bit, interlaced' interlaced.h264
check "inspect: the encoder's words" says_of 'user_data_unregistered, "x265' bframes.h265
check "inspect: start codes of both lengths" finds bframes.h264 'hasattr(startCodes, "3")' 'hasattr(startCodes, "4")'
# A container's times are right, whatever the stream states.
synthesize varying.mkv 80 160x120 30 -c:v libx264 -g 20 -bf 2 -vf "setpts='if(lt(N,40),N/30,4/3+(N-40)/5)/TB'" -vsync passthrough
check "inspect: a rate that varies" says_of '^  rate +8\.[5-9][0-9]* frames/s on average, varying from [45][.0-9]* to 30\.3, by the container' varying.mkv
check "inspect: and how long that lasts" finds varying.mkv '9.0 < duration < 9.5' '8.5 < frameRate < 8.9' '4 < container.slowestRate < 5.1' \
    '29 < container.fastestRate < 31' 'peakBitRate > 2 * bitRate'
synthesize even.mkv 60 160x120 30 -c:v libx264 -bf 2
check "inspect: an even rate is the stream's" says_of '^  rate +30 frames/s$' even.mkv
check "inspect: and has no bounds" finds even.mkv 'frameRate == 30' 'not hasattr(container, "slowestRate")' '1.99 < duration < 2.01'

check "inspect: one line per unit" says_of '^ +[0-9]+ +4 +[0-9]+  1 slice, ref_idc 2, P, frame_num 1' --nal own.h264
check "inspect: one line per unit in H.265" says_of '^ +[0-9]+ +4 +[0-9]+  1 TRAIL_R, layer 0 temporal 0, [BP], poc_lsb' --nal own.h265
check "inspect: elements in words" says_of '^  matrix_coefficients +[0-9]+ +BT' --headers own.h264
check "inspect: --nal has one line per unit and no more" test "$("$CAMREC" inspect --nal own.h264 | grep -cE '^ +[0-9]+ +4 ')" = "$("$CAMREC" inspect --json own.h264 | "$PYTHON" -c 'import json, sys; print(json.load(sys.stdin)["nalUnits"])')"

# H.265 of a GPU whose P pictures are coded as B slices.
if has_gpu "inspect: iHD's H.265" iHD 'HEVCMain.*EncSlice'; then
    launcher=("$LAB/gpu/run" iHD)
    records "inspect: iHD's H.265" --device test --size 320x240 --frames 40 --encoder vaapi --no-pace --overwrite ihd.h265 &&
        check "inspect: iHD's H.265 is not reordered" finds ihd.h265 'reordering == False' 'accessUnits == 40' 'len(problems) == 0' 'generalizedP == (frameTypes.B > 0)'
    launcher=()
fi

# --check names the first violation with its position in the file.
offends() { # FILE PATTERN
    local status=0 said
    said=$("$CAMREC" inspect --check "$1" 2>&1) || status=$?
    [ $status = 1 ] || { echo "exit code $status in place of 1: $said"; return 1; }
    [ "$(wc -l <<<"$said")" = 1 ] || { echo "more than a line: $said"; return 1; }
    has_line "$said" "$2"
}
cut_out() { # SOURCE FROM TO: the source without these bytes
    head -c "$2" "$1" && tail -c +$(($3 + 1)) "$1"
}
unit_offset() { # FILE TYPE N: where the N-th unit of the type begins, from 1
    "$CAMREC" inspect --nal "$1" | awk -v type="$2" -v n="$3" '$4 == type && ++found == n {print $1; exit}'
}
second_sps=$(unit_offset own.h264 7 2)
second_idr=$(unit_offset own.h264 5 2)
third_p=$(unit_offset own.h264 1 3)
cut_out own.h264 "$second_sps" "$second_idr" >missing.h264
check "check: missing parameter sets" offends missing.h264 "without its parameter sets .*offset $((second_sps + 4))"
cut_out own.h264 "$third_p" $((third_p + 1)) >short.h264
check "check: a start code of 3 bytes" offends short.h264 "start code of exactly 4 bytes .*offset $third_p\b"
{ head -c "$third_p" own.h264 && printf '\0' && tail -c +$((third_p + 1)) own.h264; } >long.h264
check "check: a start code of 5 bytes" offends long.h264 "start code of exactly 4 bytes .*offset $third_p\b"
{ head -c "$third_p" own.h264 && printf '\0\0\0\1\11\60' && tail -c +$((third_p + 1)) own.h264; } >delimiter.h264
check "check: a delimiter" offends delimiter.h264 "no place in the stream .*delimiter at offset $((third_p + 4))"
tail -c +$((third_p + 1)) own.h264 >beginning.h264
check "check: a stream that begins in the middle" offends beginning.h264 'begin here.*offset 4\b'
# The same of H.265, whose SPS is type 33, a picture 1, an IDR 20.
second_vps=$(unit_offset own.h265 32 2)
second_h265_sps=$(unit_offset own.h265 33 2)
second_h265_pps=$(unit_offset own.h265 34 2)
third_trail=$(unit_offset own.h265 1 3)
cut_out own.h265 "$second_vps" "$second_h265_sps" >novps.h265
check "check: H.265 without its video parameter set" offends novps.h265 "did not come.*offset $((second_vps + 4))"
cut_out own.h265 "$second_h265_sps" "$second_h265_pps" >nosps.h265
check "check: H.265 without its sequence parameter set" offends nosps.h265 "did not come.*offset $((second_h265_sps + 4))"
cut_out own.h265 "$third_trail" $((third_trail + 1)) >short.h265
check "check: H.265 with a start code of 3 bytes" offends short.h265 "start code of exactly 4 bytes .*offset $third_trail\b"
{ head -c "$third_trail" own.h265 && printf '\0\0\0\1\106\1\120' && tail -c +$((third_trail + 1)) own.h265; } >delimiter.h265
check "check: H.265 with a delimiter" offends delimiter.h265 "no place in the stream .*delimiter at offset $((third_trail + 4))"
# The type of the third picture, made that of a CRA picture (21).
{ head -c $((third_trail + 4)) own.h265 && printf '\52' && tail -c +$((third_trail + 6)) own.h265; } >cra.h265
check "check: H.265 with a CRA picture" offends cra.h265 "CRA or BLA.*offset $((third_trail + 4))"
check "check: streams of other encoders" offends bframes.h264 'start code of exactly 4 bytes'
check "check: H.265 of others" offends bframes.h265 'start code of exactly 4 bytes'
check_reads_on() { head -c 3000 own.h264 | "$CAMREC" inspect --check - >/dev/null; }
check "check: standard input" check_reads_on

# Unusual streams are read as far as possible.
check "inspect: sets that are still in force are no problem" finds missing.h264 'len(problems) == 0' 'idrs == 6'
check "inspect: missing sets at the beginning" says_of 'offset 0: the stream does not begin with a keyframe' beginning.h264
check "inspect: missing sets" says_of 'offset 0: a slice refers to parameter sets that are not there' beginning.h264
check "inspect: a lost picture" says_of 'offset [0-9]+: frame_num jumps' <(cut_out own.h264 "$third_p" "$(unit_offset own.h264 1 5)")
check "inspect: long start codes" finds long.h264 'accessUnits == 110' 'len(problems) == 0'

# To length-prefixed units and back.
round_trip() { # FILE
    rm -f there.avcc back.raw again.avcc
    "$CAMREC" inspect --avcc there.avcc "$1" >/dev/null && "$CAMREC" inspect --annexb back.raw there.avcc >/dev/null && cmp "$1" back.raw &&
        "$CAMREC" inspect --avcc again.avcc back.raw >/dev/null && cmp there.avcc again.avcc
}
check "avcc: H.264 there and back" round_trip own.h264
check "avcc: H.265 there and back" round_trip own.h265
narrow() {
    "$CAMREC" inspect --avcc - --length-size 2 own.h264 >narrow.avcc && "$CAMREC" inspect --from avcc --length-size 2 --annexb - narrow.avcc | cmp - own.h264
}
check "avcc: lengths of 2 bytes, through pipes" narrow
check "avcc: detected from the content" finds there.avcc 'accessUnits == 110' 'codec == "hevc"'
record_equals() { # FILE FORMAT: the box that ffmpeg writes has the same content
    rm -f record.bin record.mp4
    # ffmpeg treats the first zero of a start code of 4 bytes as the end of the previous parameter set.
    "$PYTHON" -c 'import sys; sys.stdout.buffer.write(open(sys.argv[1], "rb").read().replace(b"\0\0\0\1", b"\0\0\1"))' "$1" >short-codes
    "$CAMREC" inspect --avcc-record record.bin "$1" >/dev/null && ffmpeg -nostdin -v error -f "$2" -i short-codes -c copy record.mp4 &&
        "$PYTHON" -c 'import sys; sys.exit(open("record.bin", "rb").read() not in open("record.mp4", "rb").read())'
}
check "avcc: the avcC record" record_equals own.h264 h264
check "avcc: the hvcC record" record_equals own.h265 hevc
refuses "avcc: a unit too long for its length" 65 'too long for lengths of 8 bits' inspect --avcc small.avcc --length-size 1 own.h264
check "avcc: nothing is left of it" test ! -e small.avcc
refuses "avcc: an existing file" 73 'there\.avcc: already exists.*--overwrite' inspect --avcc there.avcc own.h264
refuses "annexb: another codec's name" 64 'other\.h265: the stream is H\.264; name it \.h264' inspect --annexb other.h265 own.h264
refuses "annexb: a container's name" 64 'raw stream; name it' inspect --annexb other.mp4 own.h264
check "annexb: a refused name leaves no file" bash -c '! ls other.*'
refuses "avcc: the input itself" 73 'own\.h264: .*it is also the input' inspect --annexb own.h264 --overwrite own.h264

# Input that is not a stream, or breaks off.
: >empty.h264
echo "no video in here" >text.h264
ffmpeg -nostdin -v error -y -i bframes.h264 -c copy container.mp4
ffmpeg -nostdin -v error -y -i container.mp4 -c copy container.mkv
head -c 100000 container.mp4 | tail -c 50000 | tr '\0' '\1' >noise.h264
refuses "bad input: an empty file" 65 'offset 0: .*empty' inspect empty.h264
refuses "bad input: text" 65 'offset 0: no H\.264 or H\.265' inspect text.h264
refuses "bad input: noise" 65 'offset 0: no H\.264 or H\.265' inspect noise.h264
records "inspect: an MP4 of another program" inspect container.mp4 && check "inspect: its pictures" has_line "$(cat stdout)" 'an MP4 file, pictures from'
records "inspect: a Matroska file of another program" inspect container.mkv && check "inspect: its pictures too" has_line "$(cat stdout)" 'a Matroska file, pictures from'
mkfifo pipe.mkv
cat container.mkv >pipe.mkv &
refuses "bad input: a container in a pipe" 65 'pipe\.mkv: a container is read from a file' inspect pipe.mkv
wait $! || true
for command in "inspect rtsp://camera/1" "remux rtsp://camera/1 out.mkv"; do
    # shellcheck disable=SC2086 # words
    refuses "bad input: $command" 66 'this command reads files, not addresses' $command
done
refuses "bad input: no such file" 66 'nothing\.h264: no such file' inspect nothing.h264
refuses "bad input: a folder" 66 'is a folder' inspect .
refuses "bad input: options that exclude each other" 64 'check' inspect --check --nal own.h264
size=$(stat -c %s there.avcc)
head -c $((size - 5)) there.avcc >cut.avcc
refuses "bad input: units that break off" 65 'offset [0-9]+: a NAL unit should have' inspect cut.avcc
check "bad input: what was understood comes first" has_line "$(cat stdout)" '109 frames|110 frames'
refuses "bad input: as JSON" 65 'offset [0-9]+: ' inspect --json --nal cut.avcc
check "bad input: the JSON is whole" report stdout 'failure != None' 'accessUnits >= 109'
refuses "inspect: a full disk" 74 'the disk is full' inspect --html /dev/full --overwrite own.h264
cut_short() { # of more than fits into the pipe
    for _ in $(seq 20); do cat bframes.h264; done >film.h264
    [ "$("$CAMREC" inspect --nal film.h264 | wc -c)" -gt 200000 ] || { echo "it fits"; return 1; }
    "$CAMREC" inspect --nal film.h264 | head -n 2 >/dev/null
    test "${PIPESTATUS[0]}" = 0
}
check "inspect: a closed pipe is not a failure" cut_short

# Live: lines come while the stream is still being written, and the summary when it ends or at Ctrl-C.
eventually() { # COMMAND...: within 20 s
    for _ in $(seq 200); do
        "$@" && return
        sleep 0.1
    done
    return 1
}
has_lines() { [ "$(wc -l <live.txt)" -ge "$1" ]; }
live() { # END: close or interrupt
    local status=0 pid
    rm -f live.fifo live.txt && mkfifo live.fifo
    rm -f stderr
    env --default-signal=INT "$CAMREC" inspect --nal - <live.fifo >live.txt 2>stderr &
    pid=$!
    exec 8>live.fifo
    head -c "$second_idr" own.h264 >&8
    eventually has_lines 20 || { echo "no lines while the pipe is open: $(cat live.txt stderr)"; return 1; }
    ! grep -q 'NAL units' live.txt || { echo "the summary came early"; return 1; }
    if [ "$1" = close ]; then exec 8>&-; else kill -INT $pid; fi
    wait $pid || status=$?
    exec 8>&-
    [ $status = 0 ] || { echo "exit code $status: $(cat stderr)"; return 1; }
    grep -q '20 frames in 0.8 s' live.txt || { echo "no summary: $(tail -n 20 live.txt)"; return 1; }
}
check "live: lines come at once, the summary at the end" live close
check "live: Ctrl-C ends it with the summary" live interrupt
recorder() { grep -q '40 frames' <<<"$("$CAMREC" --device test --size 320x240 --frames 40 --encoder software - 2>stderr | "$CAMREC" inspect -)"; }
check "live: camrec's own output" recorder

# The page, in a browser.
browser() { # PAGE ARGUMENTS...
    local page=$1
    shift
    HOME=$work timeout 120 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/browser" --window-size=1400,1500 \
        --force-device-scale-factor=1 --enable-logging=stderr "$@" "file://$work/$page" 2>browser.log
}
looks_right() { # PAGE COLOUR...
    local page=$1
    shift
    rm -f page.png
    browser "$page" --screenshot="$work/page.png" >/dev/null || { echo "the browser failed: $(tail -n 3 browser.log)"; return 1; }
    # The browser's own pages speak there, too.
    ! grep -v 'source: chrome' browser.log | grep -E 'CONSOLE|Uncaught|Refused' || return 1
    "$PYTHON" "$LAB/verify/page.py" page.png "$@"
}
# Names and texts from outside are displayed, nothing more.
name='a<img src=x onerror=document.title=1>.h264'
cp own.h264 "$name"
"$PYTHON" - own.h264 >hostile.h264 <<'END'
import sys
stream = open(sys.argv[1], "rb").read()
text = b"</script><script>document.title='hostile'</script>"
message = b"\x06\x05" + bytes([16 + len(text)]) + b"A" * 16 + text + b"\x80"
place = stream.index(b"\0\0\0\1\x06")
sys.stdout.buffer.write(stream[:place] + b"\0\0\0\1" + message + stream[place:])
END
is_harmless() { # STREAM TITLE TEXT
    rm -f harmless.html
    "$CAMREC" inspect --html harmless.html "$1" >/dev/null && browser harmless.html --dump-dom >dom.html || return 1
    grep -qF "<title>$2" dom.html || { echo "the title is $(grep '<title>' dom.html)"; return 1; }
    grep -qF "$3" dom.html || { echo "the text is not there"; return 1; }
    [ "$(grep -c '<script' dom.html)" = 2 ] && ! grep -q '<img' dom.html
}
if command -v chromium >/dev/null; then
    "$CAMREC" inspect --html page.html bframes.h264 >/dev/null
    check "page: bars of each type at 250 frames" looks_right page.html idr intra predicted bidirectional rate
    "$CAMREC" inspect --html own.html own.h265 >/dev/null
    check "page: H.265" looks_right own.html idr predicted rate
    x264 tiny.h264 250 64x48 25 keyint=50:bframes=2 -crf 35
    for _ in $(seq 800); do cat tiny.h264; done >huge.h264
    "$CAMREC" inspect --html huge.html huge.h264 >huge.txt
    check "page: 200,000 frames are counted" grep -q '200000 frames' huge.txt
    check "page: 200,000 frames stay small" test "$(stat -c %s huge.html)" -le 1500000
    check "page: 200,000 frames" looks_right huge.html idr predicted bidirectional rate
    check "page: a hostile name" is_harmless "$name" 'a&lt;img' 'onerror'
    check "page: hostile user data" is_harmless hostile.h264 hostile.h264 '&lt;/script&gt;'
else
    skip "page: in a browser" "no chromium here"
fi
finish
