#!/bin/bash
# Streams published on real RTSP servers: GStreamer's and ffmpeg's, which are killed, stopped and restarted meanwhile.
# usage: publish.sh [--full]      --full kills the server ten times
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
full='' rounds=3
if [ "${1-}" = --full ]; then full=yes rounds=10; fi

rtsp() { "$PYTHON" "$LAB/verify/rtsp.py" "$@"; }
free_port() { "$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
is_ready() { grep -q ready "$1"; }
serves() { # FOLDER PORT CODEC [USER:PASSWORD [PEM]]: GStreamer's server, as $server
    mkdir -p "$1" && : >"$1/log"
    "$PYTHON" "$LAB/verify/rtsp.py" serve "$2" "$1" "${@:3}" >"$1/log" 2>&1 &
    server=$!
    await 20 is_ready "$1/log" || { echo "no server: $(cat "$1/log")"; return 1; }
}
taps() { # FOLDER PORT TARGET: what passes from PORT to TARGET
    mkdir -p "$1" && : >"$1/log"
    "$PYTHON" "$LAB/verify/rtsp.py" tap "$2" "$3" "$1" >"$1/log" 2>&1 &
    await 20 is_ready "$1/log" || { echo "no tap: $(cat "$1/log")"; return 1; }
}
in_place() { # NAME COMMAND...: like check, in this shell, whose jobs they are
    if "${@:2}" >said 2>&1; then pass "$1"; else fail "$1" "$(tail -n 4 said)"; fi
}
stop_all() { { jobs -p | xargs -r kill -KILL; wait; } 2>/dev/null || true; }
trap 'stop_all; clean' EXIT
arrived() { # FILE FRAMES: it decodes from its first picture on, and at most the last two were not written before the end
    local frames
    session_decodes "$1" || return
    frames=$(ffprobe -v error -f "$(demuxer "$1")" -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$1")
    [ "$frames" -le "$2" ] && [ "$frames" -ge $(($2 - 2)) ] || { echo "$frames frames in place of $2"; return 1; }
}
arrived_in_groups() { # FILE FRAMES GROUP: the same, but for whole groups before the connection was there: half at most
    local frames missing
    session_decodes "$1" || return
    frames=$(ffprobe -v error -f "$(demuxer "$1")" -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$1")
    missing=$(($2 - frames))
    [ $missing -ge 0 ] && [ $missing -le $(($2 / 2)) ] && [ $((missing % $3)) -le 2 ] || { echo "$frames frames in place of $2"; return 1; }
}
begins_with_keyframe_in() { [ "$(ffprobe -v error -show_entries packet=flags -of csv=p=0 "$1" | sed -n 1p | cut -c 1)" = K ]; }
begins_with_keyframe() { [ "$(ffprobe -v error -f "$(demuxer "$1")" -show_entries packet=flags -of csv=p=0 "$1" | sed -n 1p | cut -c 1)" = K ]; }
source=(--device test --size 640x480 --encoder software)
ffmpeg -nostdin -v error -f lavfi -i color=gray:s=320x240:r=30,noise=alls=100:allf=t -frames:v 300 -pix_fmt yuv420p noise.y4m
# Ten seconds that fill all buffers.
noise=(--device noise.y4m --pace --encoder software --qp 10 --keyframe-interval 30)

# Both codecs, two servers each, and files
first=$(free_port) second=$(free_port) tapped=$(free_port)
for codec in h264 h265; do
    name=$codec
    if [ $codec = h264 ]; then option=h264; else option=hevc; fi
    in_place "$name: a server" serves $codec-1 "$first" $codec
    in_place "$name: a server with a password" serves $codec-2 "$second" $codec alice:sec/ret
    in_place "$name: what passes is seen" taps $codec-tap "$tapped" "$first"
    export CAMREC_PASSWORD=sec/ret
    records "$name: records" "${source[@]}" --codec $option --frames 90 --keyframe-interval 40 --report "$name.json" --verbose \
        "rtsp://127.0.0.1:$tapped/cam" "rtsp://alice@127.0.0.1:$second/cam" "out.$codec"
    unset CAMREC_PASSWORD
    check "$name: the password is nowhere" eval "! grep -rqF sec/ret $name.json stderr stdout"
    await 10 grep -q TEARDOWN $codec-tap/1.requests || true
    check "$name: the packets hold the pictures, byte for byte" cmp "$codec-tap/1.stream" "out.$codec"
    check "$name: they have the times of their capture" rtsp times $codec-tap/1.times 90
    check "$name: the session is ended" grep -q TEARDOWN $codec-tap/1.requests
    # A server writes what it has got when it gets to it.
    check "$name: the server has it" await 10 arrived $codec-1/1.$codec 90
    check "$name: so has the one with a password" await 10 arrived $codec-2/1.$codec 90
    check "$name: the file is complete" is_sound "out.$codec" --frames 90
    check "$name: the report adds up" report "$name.json" 'len([o for o in outputs if o.written == 90 and o.lost == 0]) == 3' "len([r for r in receivers if r.left == 'the stream ended']) == 2"
    stop_all
done

# What a server may say
port=$(free_port)
in_place "refusals: a server" serves refusals "$port" h264 alice:secret
to() { echo "rtsp://${1}127.0.0.1:$port/$2"; }
short=("${source[@]}" --frames 20 --overwrite)
refuses_stream() { # NAME PATTERN OUTPUT: recording goes on, and the reason is said at the end
    local status=0
    camrec "${short[@]}" --report refused.json "$3" refused.h264 || status=$?
    if [ $status != 74 ]; then
        fail "$1" "exit code $status in place of 74: $(tail -n 3 stderr)"
    else
        says "$1" "no receiver took the stream \(.*$2"
    fi
    check "$1: the file is complete" is_sound refused.h264 --frames 20
}
CAMREC_PASSWORD=wrong refuses_stream "wrong password" 'rejects the user or the password; check both' "$(to alice@ cam)"
refuses_stream "no password" 'asks for a password; give the user as' "$(to "" cam)"
refuses_stream "wrong path" 'has no place for this stream; check the path' "$(to alice:secret@ nowhere)"
says "password in the process list" 'warning: anyone on this machine can read the password of rtsp://127'
refuses_stream "token in the process list" 'rejects the user or the password|asks for a password' "$(to "" 'cam?token=secret')"
says "token in the process list" 'warning: anyone on this machine can read the password of rtsp://127'
check "wrong path: the password is not repeated" eval '! grep -q secret stderr refused.json'
stop_all
# A peer that answers otherwise, one that answers nothing, and nobody.
"$PYTHON" -m http.server --bind 127.0.0.1 "$port" >http.log 2>&1 &
await 10 grep -q Serving http.log || true
await 10 bash -c "exec 3<>/dev/tcp/127.0.0.1/$port"
refuses_stream "a web server" 'does not speak RTSP; check the port' "$(to "" cam)"
stop_all
refuses_stream "nobody" 'connection refused; start the other end first' "$(to "" cam)"
"$PYTHON" -c "import socket, time; s = socket.create_server(('127.0.0.1', $port)); print('ready', flush=True); time.sleep(60)" >silent.log &
await 10 is_ready silent.log
short=("${source[@]}" --frames 200 --overwrite)
camrec "${short[@]}" "$(to "" cam)" silent.h264 || true
says "a silent server" 'no answer for 5 s; check the address'
check "a silent server: the file is complete" is_sound silent.h264 --frames 200
stop_all

# Refused before anything begins
refuses "B frames" 64 'takes no B frames, which browsers reject; leave --bframes out' "${source[@]}" --bframes 2 rtsp://127.0.0.1/cam
refuses "no path" 64 'use rtsp://\[USER@\]HOST\[:PORT\]/PATH' "${source[@]}" rtsp://alice:geheim@127.0.0.1
check "no path: the password is not repeated" eval '! grep -q geheim stderr'
refuses "a slash in the password" 64 'with %2F for / and %40 for @ in a password' "${source[@]}" rtsp://alice:12/geheim@127.0.0.1:9/cam
check "a slash in the password: it is not repeated" eval '! grep -qE "geheim|alice" stderr'
refuses "a passphrase that is too short" 64 "its option 'passphrase' has a wrong value" "${source[@]}" 'srt://127.0.0.1:9?passphrase=kurz'
# Two that fail: each is named, what was kept is said once, and both passwords are warned of.
camrec "${source[@]}" --frames 10 'srt://127.0.0.1:1?passphrase=geheimgeheim' 'rtsp://127.0.0.1:1/cam?token=geheim' kept.h264 || true
says "two secrets" 'read the password of srt://127.0.0.1:1 and rtsp://127.0.0.1:1/cam in the process list; put the whole address in a settings file'
check "two failures: each is named" test "$(grep -c 'no receiver took the stream' stderr)" = 2
check "two failures: what was kept is said once" test "$(grep -c 'kept.h264: 10 frames' stderr)" = 1
refuses "twice" 64 'is given twice' "${source[@]}" rtsp://127.0.0.1/cam rtsp://127.0.0.1:554/cam
refuses "twice over SRT" 64 'srt://127.0.0.1:1\?streamid=a is given twice' "${source[@]}" 'srt://127.0.0.1:1?streamid=a' 'srt://127.0.0.1:1?latency=5&streamid=a'
refuses "certificates for nothing" 64 '--ca-file needs an output rtsps://' "${source[@]}" --ca-file a.pem rtsp://127.0.0.1/cam

# Encrypted: only a server that proves who it is gets anything
certificate() { # NAME SUBJECTS [OPTION]...: NAME.crt, and with its key NAME.pem
    local name=$1 subjects=$2
    shift 2
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$name" -addext "subjectAltName=$subjects" "$@" -keyout "$name.key" -out "$name.crt" 2>openssl.log
    cat "$name.key" "$name.crt" >"$name.pem"
}
for name in right another expired; do certificate $name IP:127.0.0.1,DNS:localhost; done
certificate client IP:127.0.0.1 -addext extendedKeyUsage=clientAuth
certificate elsewhere DNS:elsewhere.test,IP:127.0.0.2
# It expires as soon as it is made.
openssl x509 -in expired.crt -signkey expired.key -days 0 -out now.crt 2>openssl.log
cat expired.key now.crt >expired.pem
tls() { echo "rtsps://$1:$port/cam"; }
port=$(free_port)
in_place "TLS: a server" serves tls "$port" h264 alice:geheim right.pem
export CAMREC_PASSWORD=geheim
for name in 127.0.0.1 localhost; do
    # Memory that was freed has other content at once: GnuTLS keeps a pointer to the name.
    GLIBC_TUNABLES=glibc.malloc.tcache_count=0:glibc.malloc.perturb=165 records "TLS: records to $name" "${source[@]}" --frames 90 --keyframe-interval 40 --ca-file right.crt --report tls.json --overwrite "$(tls alice@$name)" tls.mkv
    check "TLS: the report adds up" report tls.json 'outputs[0].written == 90' 'outputs[0].lost == 0' "[r.left for r in receivers] == ['the stream ended']"
done
for number in 1 2; do check "TLS: the server has session $number" await 10 arrived tls/$number.h264 90; done
short=("${source[@]}" --frames 20 --overwrite)
refuses_stream "TLS: the system does not know the issuer" 'the server.s certificate is from an unknown issuer; give the issuer.s certificate' "$(tls alice@127.0.0.1)"
refuses_stream "TLS: plain RTSP to its port" 'closed the connection|does not speak RTSP' "rtsp://alice@127.0.0.1:$port/cam"
stop_all
# To a server that is killed, and to one that is stopped
for signal in KILL STOP; do
    rm -rf tls && in_place "TLS, $signal: a server" serves tls "$port" h264 alice:geheim right.pem
    (camrec "${noise[@]}" --ca-file right.crt --client-timeout 2s --report tls-$signal.json --verbose --overwrite "$(tls alice@127.0.0.1)" tls.h264; echo $? >tls.status) &
    recorder=$!
    grows() { [ -s "tls/$1.h264" ]; }
    check "TLS, $signal: it arrives" await 30 grows 1
    kill -$signal $server
    if [ $signal = STOP ]; then
        check "TLS, STOP: that is noticed, and what it may not have got" await 30 grep -qE 'it stalled for 2 s; the last [0-9]+ bytes may not have arrived' stderr
        kill -CONT $server
    else
        { wait $server; } 2>/dev/null || true
        in_place "TLS, KILL: the server is back" serves tls "$port" h264 alice:geheim right.pem
    fi
    check "TLS, $signal: it arrives again" await 30 grows 2
    wait $recorder
    check "TLS, $signal: the recording ends" grep -qx 0 tls.status
    check "TLS, $signal: the new session begins with a keyframe" begins_with_keyframe tls/2.h264
    check "TLS, $signal: the new session decodes" session_decodes tls/2.h264
    check "TLS, $signal: the file loses nothing" is_sound tls.h264 --frames 300
    check "TLS, $signal: the report adds up" report tls-$signal.json 'outputs[0].receivers == 2' 'outputs[0].written + outputs[0].lost == 300'
    stop_all
done
in_place "TLS: a server with another certificate" serves other "$port" h264 alice:geheim another.pem
short=("${source[@]}" --frames 20 --overwrite --ca-file right.crt)
refuses_stream "TLS: another certificate" 'certificate is from an unknown issuer' "$(tls alice@127.0.0.1)"
stop_all
short=("${source[@]}" --frames 20 --overwrite --ca-file elsewhere.crt)
# This one writes down whatever it is sent before it is refused.
"$PYTHON" - "$port" >received 2>&1 <<'END' &
import socket, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("elsewhere.pem")
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
while True:
    plain, _ = listener.accept()
    try:
        print("received", context.wrap_socket(plain, server_side=True).recv(9999), flush=True)
    except OSError as error:
        print("refused", error, flush=True)
END
await 20 is_ready received
refuses_stream "TLS: a certificate for another name" 'certificate is for another name; use the name that it is for' "$(tls alice@127.0.0.1)"
check "TLS: it was refused before it was told anything" eval "grep -q refused received && ! grep -q received received"
stop_all
in_place "TLS: a server with a client's certificate" serves client "$port" h264 alice:geheim client.pem
short=("${source[@]}" --frames 20 --overwrite --ca-file client.crt)
refuses_stream "TLS: a certificate for clients" 'certificate is not for servers; give the server one' "$(tls alice@127.0.0.1)"
stop_all
in_place "TLS: a server whose certificate has expired" serves expired "$port" h264 alice:geheim expired.pem
short=("${source[@]}" --frames 20 --overwrite --ca-file now.crt)
refuses_stream "TLS: an expired certificate" 'certificate has expired; renew it on the server' "$(tls alice@127.0.0.1)"
stop_all
"$PYTHON" - "$port" >old 2>&1 <<'END' &
import socket, ssl, sys, warnings
warnings.simplefilter("ignore")
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.set_ciphers("ALL:@SECLEVEL=0")
context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
context.load_cert_chain("right.pem")
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("ready", flush=True)
while True:
    try:
        print(context.wrap_socket(listener.accept()[0], server_side=True).version(), flush=True)
    except OSError as error:
        print("refused", error, flush=True)
END
await 20 is_ready old
short=("${source[@]}" --frames 20 --overwrite --ca-file right.crt)
refuses_stream "TLS: an old version" 'no encrypted connection: |closed the connection' "$(tls alice@127.0.0.1)"
check "TLS: an old version is refused" eval "grep -q refused old && ! grep -q ^TLS old"
stop_all
in_place "TLS: a server without TLS" serves plain "$port" h264
refuses_stream "TLS: a server without TLS" 'no encrypted connection: .*; check the port' "$(tls alice@127.0.0.1)"
stop_all
unset CAMREC_PASSWORD
refuses "TLS: no file of certificates" 73 'cannot read none.pem: No such file or directory; check --ca-file' "${source[@]}" --ca-file none.pem "$(tls alice@127.0.0.1)"
mkfifo pipe.pem
truncate -s 5M large.pem
for file in pipe.pem /dev/zero . large.pem; do
    refuses "TLS: certificates from $file" 73 'not a file of certificates in PEM|Is a directory' "${source[@]}" --ca-file $file "$(tls alice@127.0.0.1)"
done

# Killed at random moments, and restarted
port=$(free_port)
frames=$((rounds * 90 + 90))
in_place "killed: a server" serves killed "$port" h264
limit=$((frames / 30 + 60))
(camrec "${source[@]}" --frames $frames --keyframe-interval 40 --report killed.json "rtsp://127.0.0.1:$port/cam" killed.h264; echo $? >killed.status) &
recorder=$!
RANDOM=18
at_any_moment() { sleep "$((RANDOM % 2)).$((RANDOM % 10))"; }
# Where the server's writing was cut off there is no whole picture: it puts a delimiter before each.
whole_pictures_decode() {
    "$PYTHON" - "$1" whole.h264 <<'END'
import sys
stream = open(sys.argv[1], "rb").read()
open(sys.argv[2], "wb").write(stream[:stream.rfind(b"\0\0\0\1\x09")])
END
    decodes_silently whole.h264
}
for ((round = 1; round <= rounds; round++)); do
    grows() { [ -s "killed/$round.h264" ]; }
    check "killed: round $round arrives" await 30 grows
    at_any_moment
    { kill -KILL $server; wait $server; } 2>/dev/null || true
    check "killed: round $round begins with a keyframe" begins_with_keyframe "killed/$round.h264"
    check "killed: round $round decodes" whole_pictures_decode "killed/$round.h264"
    in_place "killed: the server is back" serves killed "$port" h264
done
wait $recorder
check "killed: the recording ends" grep -qx 0 killed.status
check "killed: the last session decodes" session_decodes killed/$((rounds + 1)).h264
check "killed: the file loses nothing" is_sound killed.h264 --frames $frames
check "killed: the report lists the connections and why they ended" report killed.json "outputs[0].receivers == $((rounds + 1))" \
    'outputs[0].written + outputs[0].lost == '$frames "len([r for r in receivers if 'connection' in r.left]) == $rounds" "receivers[-1].left == 'the stream ended'"
stop_all

# Stopped, without being gone
in_place "stopped: a server" serves stopped "$port" h264
(camrec "${noise[@]}" --client-timeout 2s --report stopped.json --verbose "rtsp://127.0.0.1:$port/cam" stopped.h264; echo $? >stopped.status) &
recorder=$!
began() { [ -s stopped/1.h264 ]; }
check "stopped: it arrives" await 30 began
kill -STOP $server
check "stopped: that is noticed" await 30 grep -qE 'it stalled for 2 s' stderr
kill -CONT $server
again() { [ -s stopped/2.h264 ]; }
check "stopped: it goes on" await 30 again
wait $recorder
check "stopped: the recording ends" grep -qx 0 stopped.status
check "stopped: the new session decodes" session_decodes stopped/2.h264
check "stopped: the file loses nothing" is_sound stopped.h264 --frames 300
stop_all

# Another server
timeout 60 ffmpeg -nostdin -v error -rtsp_flags listen -i "rtsp://127.0.0.1:$port/cam" -c copy -f h264 listened.h264 2>listened.log &
listens() { ss -ltn | grep -q ":$port "; }
await 20 listens
records "ffmpeg: records" "${source[@]}" --frames 60 --keyframe-interval 10 "rtsp://127.0.0.1:$port/cam" ffmpeg.h264
wait $! 2>/dev/null || true
check "ffmpeg: it has the pictures" arrived_in_groups listened.h264 60 10

# Over SRT, to its own tool, with and without a passphrase, which is killed and restarted; and over UDP
receives_srt() { # FILE PORT [OPTIONS]
    srt-live-transmit -a no -q "srt://:$2?mode=listener&${3-}" file://con >"$1" 2>srt.log &
    server=$!
    await 10 bash -c "ss -lun | grep :$2"
}
has_packets() { # FILE COUNT
    local packets
    packets=$(ffprobe -v error -f mpegts -count_packets -show_entries stream=nb_read_packets -of csv=p=0 "$1" | sed -n 1p)
    [ "$packets" = "$2" ] || { echo "$packets pictures in place of $2"; return 1; }
}
port=$(free_port)
for codec in h264 hevc; do
    in_place "SRT, $codec: a receiver" receives_srt srt-$codec.ts "$port" "passphrase=geheimgeheim&latency=1500"
    CAMREC_PASSWORD=geheimgeheim records "SRT, $codec: records" "${source[@]}" --codec $codec --frames 90 --report srt.json "srt://127.0.0.1:$port?passphrase=&latency=1500000&streamid=publish:cam:alice:secret" srt.mkv --overwrite
    wait $server 2>/dev/null || true
    # A receiver of SRT discards what it still holds back for its latency when the connection is closed. By itself libsrt
    # closes it a second later.
    # Where the receiver's answer takes longer than a picture, the stream begins with the next keyframe.
    sent=$("$PYTHON" -c 'import json; print(json.load(open("srt.json"))["outputs"][0]["written"])')
    check "SRT, $codec: everything that was sent arrives" has_packets srt-$codec.ts "$sent"
    check "SRT, $codec: that is all after the first keyframes" test "$sent" -ge 30
    check "SRT, $codec: it decodes" decodes_ts srt-$codec.ts
    check "SRT, $codec: it has the file's times" "$PYTHON" "$LAB/verify/rtsp.py" intervals srt-$codec.ts srt.mkv
    check "SRT, $codec: no secret is told" eval '! grep -qE "geheim|secret" srt.json stderr'
done
in_place "SRT: a receiver that wants another passphrase" receives_srt wrong.ts "$port" "passphrase=anotherone"
CAMREC_PASSWORD=geheimgeheim camrec "${source[@]}" --frames 30 "srt://127.0.0.1:$port?passphrase=" wrong.h264 || true
says "SRT: a wrong passphrase is no connection" 'no receiver took the stream \('
check "SRT: libsrt says nothing itself" eval '[ "$(grep -vc ^camrec: stderr)" = 0 ]'
check "SRT: the file is complete" is_sound wrong.h264 --frames 30
stop_all
in_place "SRT, killed: a receiver" receives_srt killed-1.ts "$port"
# That a receiver is gone is noticed after five seconds of silence.
frames=$((rounds * 300 + 120))
limit=$((frames / 30 + 60))
(camrec "${source[@]}" --frames $frames --keyframe-interval 30 --report srt-killed.json "srt://127.0.0.1:$port" srt-killed.h264; echo $? >srt-killed.status) &
recorder=$!
arrives_ts() { [ "$(stat -c %s "$1")" -gt 20000 ]; }
for ((round = 1; round <= rounds; round++)); do
    check "SRT, killed: round $round arrives" await 30 arrives_ts killed-$round.ts
    at_any_moment
    { kill -KILL $server; wait $server; } 2>/dev/null || true
    check "SRT, killed: round $round begins with a keyframe" begins_with_keyframe_in killed-$round.ts
    in_place "SRT, killed: the receiver is back" receives_srt killed-$((round + 1)).ts "$port"
done
check "SRT, killed: it arrives again" await 30 arrives_ts killed-$round.ts
wait $recorder
check "SRT, killed: the recording ends" grep -qx 0 srt-killed.status
check "SRT, killed: the last stream begins with a keyframe" begins_with_keyframe_in killed-$round.ts
check "SRT, killed: the last stream decodes" decodes_ts killed-$round.ts
check "SRT, killed: the file loses nothing" is_sound srt-killed.h264 --frames $frames
check "SRT, killed: the report lists the connections, and what the first may not have got" report srt-killed.json "outputs[0].receivers == $round" \
    "outputs[0].written + outputs[0].lost == $frames" "receivers[0].left.startswith('connection lost')" 'receivers[0].unconfirmedBytes > 0'
stop_all

# What is lost at the end is not delivered, although SRT has not noticed yet that the peer is gone
in_place "SRT, gone at the end: a receiver" receives_srt gone.ts "$port"
rm -f stderr
"$CAMREC" "${source[@]}" --duration 60s --keyframe-interval 30 --report srt-gone.json --overwrite "srt://127.0.0.1:$port" srt-gone.h264 2>stderr &
recorder=$!
check "SRT, gone at the end: it arrives" await 30 arrives_ts gone.ts
{ kill -KILL $server; wait $server; } 2>/dev/null || true
# Pictures go out until the recording ends, after the receiver and before SRT's five seconds of silence.
sleep 1
kill -INT $recorder
wait $recorder || true
says "SRT, gone at the end: that is said" 'left after .*; the last [0-9]+ bytes may not have arrived'
check "SRT, gone at the end: it is in the report" report srt-gone.json "receivers[0].left != 'the stream ended'" 'receivers[0].unconfirmedBytes > 0'
check "SRT, gone at the end: the file is complete" is_sound srt-gone.h264
stop_all

# Nobody waits as long as that at the end, so the receiver drops what it holds back.
in_place "SRT, a long latency: a receiver" receives_srt long.ts "$port" "latency=8000"
records "SRT, a long latency: records" "${source[@]}" --frames 60 --report srt-long.json "srt://127.0.0.1:$port?latency=8000000" srt-long.h264
says "SRT, a long latency: what may be lost is said" 'left after .*; the last [0-9]+ bytes may not have arrived'
check "SRT, a long latency: it is in the report" report srt-long.json 'receivers[0].unconfirmedBytes > 0'
stop_all

# At length, a receiver of SRT that is stopped
if [ -n "$full" ]; then
    in_place "SRT, stopped: a receiver" receives_srt stopped-1.ts "$port"
    (camrec "${source[@]}" --frames 600 --keyframe-interval 30 --report srt-stopped.json --verbose "srt://127.0.0.1:$port" srt-stopped.h264; echo $? >srt-stopped.status) &
    recorder=$!
    check "SRT, stopped: it arrives" await 30 arrives_ts stopped-1.ts
    kill -STOP $server
    check "SRT, stopped: that is noticed" await 30 grep -qE 'connection lost: .*; the last [0-9]+ bytes may not have arrived' stderr
    { kill -KILL $server; wait $server; } 2>/dev/null || true
    in_place "SRT, stopped: another receiver" receives_srt stopped-2.ts "$port"
    check "SRT, stopped: it arrives again" await 30 arrives_ts stopped-2.ts
    wait $recorder
    check "SRT, stopped: the recording ends" grep -qx 0 srt-stopped.status
    check "SRT, stopped: the new stream decodes" decodes_ts stopped-2.ts
    check "SRT, stopped: the file loses nothing" is_sound srt-stopped.h264 --frames 600
    stop_all
fi
# ffmpeg's server, which is killed, and at length also stopped
for signal in KILL ${full:+STOP}; do
    listening() { # FILE: ffmpeg's server, as $server
        timeout 90 ffmpeg -nostdin -v error -rtsp_flags listen -i "rtsp://127.0.0.1:$port/cam" -c copy -flush_packets 1 -f h264 "$1" 2>listened.log &
        server=$!
        await 20 serves
    }
    # It listens no longer once a recording has connected, which may wait for it.
    serves() { ss -tan | grep -qE "^(LISTEN|ESTAB).*[:.]$port "; }
    in_place "ffmpeg, $signal: a server" listening $signal-1.h264
    (camrec "${noise[@]}" --client-timeout 2s --verbose --overwrite "rtsp://127.0.0.1:$port/cam" listened.h264; echo $? >listened.status) &
    recorder=$!
    grows() { [ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt 200000 ]; }
    check "ffmpeg, $signal: it arrives" await 30 grows $signal-1.h264
    at_any_moment
    pkill -$signal -P $server -x ffmpeg
    check "ffmpeg, $signal: that is noticed" await 30 grep -qE 'it stalled for 2 s|connection' stderr
    pkill -KILL -P $server -x ffmpeg || true
    { wait $server; } 2>/dev/null || true
    in_place "ffmpeg, $signal: another server" listening $signal-2.h264
    check "ffmpeg, $signal: it arrives again" await 30 grows $signal-2.h264
    wait $recorder
    check "ffmpeg, $signal: the recording ends" grep -qx 0 listened.status
    { wait $server; } 2>/dev/null || true
    check "ffmpeg, $signal: the new session decodes" decodes_silently $signal-2.h264
    check "ffmpeg, $signal: the file loses nothing" is_sound listened.h264 --frames 300
    stop_all
done

"$PYTHON" "$LAB/verify/rtsp.py" datagrams "$port" udp.ts >udp.log &
receiver=$!
await 10 is_ready udp.log
records "UDP: records" "${source[@]}" --frames 60 --timestamps udp.txt "udp://127.0.0.1:$port" udp.h264
wait $receiver
check "UDP: whole packets, seven at most" grep -qx sound udp.log
check "UDP: everything arrives" has_packets udp.ts 60
check "UDP: it decodes" decodes_ts udp.ts
check "UDP: it has the times of the capture" rtsp ticks udp.ts udp.txt
camrec "${source[@]}" --frames 60 --overwrite --report refused.json "udp://255.255.255.255:$port" refused.h264 || true
says "UDP: a broadcast address without its option" "left after 0 frames, .*Permission denied; if that is a broadcast address, add '.broadcast=1'"
check "UDP: nobody received what the system refused" report refused.json 'outputs[0].written == 0' 'outputs[0].lost == 60'
check "UDP: the file beside it is complete" is_sound refused.h264 --frames 60

# Containers for receivers: late ones begin with a keyframe, and have the pictures' times
for format in ts mkv; do
    rm -f late-*.mkv
    timeout 60 "$CAMREC" "${source[@]}" --frames 150 --keyframe-interval 30 --stream-format $format --listen "$port" live.mkv --overwrite --quiet &
    recorder=$!
    await 20 listens
    for late in 1 2; do
        sleep 1
        timeout 60 ffmpeg -nostdin -v error -i "tcp://127.0.0.1:$port" -c copy -copyts -f matroska "late-$late.mkv" 2>late-$late.log &
    done
    wait $recorder
    wait
    for late in 1 2; do
        check "$format: late receiver $late begins with a keyframe" begins_with_keyframe_in late-$late.mkv
        check "$format: late receiver $late decodes" decodes_container late-$late.mkv
        check "$format: late receiver $late has the file's times" "$PYTHON" "$LAB/verify/rtsp.py" intervals late-$late.mkv live.mkv
    done
done
for codec in h264 hevc; do
    records "go2rtc: $codec on standard output" "${source[@]}" --codec $codec --frames 60 --keyframe-interval 20 -
    check "go2rtc: $codec is as it demands" rtsp demands stdout $codec
done
records "standard output: a transport stream" "${source[@]}" --frames 30 --stream-format ts -
check "standard output: it has the pictures" has_packets stdout 30
refuses "a format without receivers" 64 '--stream-format needs the output -' "${source[@]}" --stream-format ts a.h264

finish
