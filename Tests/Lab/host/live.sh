#!/bin/bash
# Receivers over TCP while a file is written: many, late, slow and vanishing ones; and a recording that takes commands.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

receivers() { "$PYTHON" "$LAB/verify/receivers.py" "$@"; }
# Noise, which no encoder can compress: what a receiver does not read soon fills its buffer.
ffmpeg -nostdin -v error -f lavfi -i color=gray:s=160x120:r=30,noise=alls=100:allf=t -frames:v 420 -pix_fmt yuv420p noise.y4m
noise=(--device noise.y4m --pace --encoder software)
source=("${noise[@]}")

measured=() # a command that measures the recording
starts() { # ARGUMENTS...: a recording in the background, as $recorder, that listens on $port
    : >log
    timeout --kill-after=5 60 "${measured[@]}" "$CAMREC" "${source[@]}" --verbose "$@" 2>log &
    recorder=$!
    for _ in $(seq 100); do
        port=$(sed -nE 's/^listening on .*:([0-9]+)$/\1/p' log)
        [ -z "$port" ] || return 0
        kill -0 $recorder 2>/dev/null || break
        sleep 0.05
    done
    echo "it does not listen: $(cat log)"
    return 1
}
ends() { # NAME: the recording ends by itself, with exit code 0
    local status=0
    wait $recorder || status=$?
    if [ $status = 0 ]; then pass "$1"; else fail "$1" "exit code $status: $(tail -n 3 log)"; fi
}

if make_distance 2>distance.log; then is_far=yes; else is_far=; fi

# None, few and many, each with its own recording and one more than allowed
measures() { measured=(/usr/bin/time -q -f '%M %U %S %e' -o load); } # kilobytes, and seconds of user, system and in all
alone() {
    mkdir alone && cd alone && measures
    source=(--device ../noise.y4m --pace --encoder software)
    starts --listen 0 --frames 120 --qp 10 many.h264 && wait $recorder
}
many() { # COUNT
    mkdir "many-$1" && cd "many-$1" && measures
    source=(--device ../noise.y4m --pace --encoder software)
    starts --listen 0 --frames 120 --qp 10 --max-clients "$1" --report many.json many.h264 || return
    receivers many "$port" "$1" . && wait $recorder
}
decode_silently() { # FILE...
    local file
    [ $# != 0 ] || { echo "there is none"; return 1; }
    for file; do decodes_silently "$file" || return; done
}
judge() { # COUNT: the results of `many`
    local name="$1 at once" distinct
    cd "many-$1"
    if distinct=$(receivers tail many.h264 good-*.h264); then pass "$name: everybody has everything from an IDR on"; else fail "$name: everybody has everything from an IDR on" "$distinct"; fi
    # shellcheck disable=SC2086 # names without spaces
    check "$name: each stream decodes from its first byte" decode_silently $distinct
    check "$name: the file is complete" is_sound many.h264 --frames 120
    check "$name: the report tells of everybody, and of the one too many" report many.json "outputs[1].receivers == $1" 'outputs[1].refused == 1' "len([r for r in receivers if r.dropped == 0 and r.left == 'the stream ended']) == $1"
    check "$name: one too many is told, if not as one of many events" grep -qE "was refused: there are $1 receivers already|[0-9]+ more receiver events" log
    check "$name: memory is bounded" receivers bounded ../alone/load load "$1" many.h264
    awk -v count="$1" -v bytes="$(stat -c %s many.h264)" '{printf "      %d receivers of %.1f Mbit/s: %.1f MB, %.2f s of CPU in %.1f s\n", count, bytes * 8 / 4e6, $1 / 1e3, $2 + $3, $4}' load
    cd ..
}
(alone) >alone.log 2>&1 &
running=($!)
for count in 1 4 16 64; do
    (many $count) >many-$count.log 2>&1 &
    running+=($!)
done
for count in 0 1 4 16 64; do
    if wait "${running[0]}"; then pass "$count at once: the recording ends"; else fail "$count at once: the recording ends" "$(cat many-$count.log alone.log)"; fi
    running=("${running[@]:1}")
done
for count in 1 4 16 64; do judge $count; done

# A crowd
measures
starts --listen 0.0.0.0:0 --qp 10 --client-timeout 6s --max-clients 32 --report crowd.json crowd.h264
measured=()
mkdir crowd
receivers crowd "$port" crowd &
crowd=$!
ffmpeg -nostdin -v warning -f h264 -i "tcp://127.0.0.1:$port" -c copy -f h264 crowd/ffmpeg.h264 2>ffmpeg.log &
client=$!
if [ -n "$is_far" ]; then
    ip netns exec $far timeout 30 "$PYTHON" -c "
import socket
s = socket.create_connection(('$near_address', $port))
while s.recv(65536): pass" 2>/dev/null &
    lost=$!
    sleep 3
    ip -n $far link set far down
fi
ends "crowd: the recording ends in time"
wait $crowd || fail "crowd: the receivers" "they failed"
wait $client || fail "crowd: ffmpeg's own client" "exit code $?"
check "crowd: ffmpeg's own client reports nothing" test ! -s ffmpeg.log
check "crowd: the file is complete" is_sound crowd.h264 --frames 420
check "crowd: no frame is lost" report crowd.json 'frames.droppedByUs == 0' 'frames.written == frames.encoded' 'outputs[1].lost == 0'
if distinct=$(receivers tail crowd.h264 crowd/good-*.h264); then pass "crowd: sixteen receivers have everything from an IDR on"; else fail "crowd: sixteen receivers have everything from an IDR on" "$distinct"; fi
# shellcheck disable=SC2086 # names without spaces
check "crowd: each of their streams decodes from its first byte" decode_silently $distinct
check "crowd: what ffmpeg received decodes" decodes_silently crowd/ffmpeg.h264
misses_some() { # a receiver that did not read for some seconds
    local missing
    missing=$(receivers part crowd.h264 "$1") || { echo "$missing"; return 1; }
    [ "$missing" -gt 0 ] || { echo "nothing is missing"; return 1; }
    report crowd.json "len([r for r in receivers if r.dropped == $missing]) >= 1"
}
check "crowd: one that stopped reading for 5 s continues at an IDR, and the report has its losses" misses_some crowd/slow.h264
check "crowd: what that one received decodes" decodes_silently crowd/slow.h264
check "crowd: the report lists everybody" report crowd.json 'outputs[1].receivers >= 221' 'len(receivers) == outputs[1].receivers'
check "crowd: it says what happened to each" receivers told crowd.json crowd 6
check "crowd: memory is bounded" receivers bounded alone/load load 32 crowd.h264
if [ -n "$is_far" ]; then
    kill $lost 2>/dev/null || true
    check "crowd: one whose link was cut is closed" report crowd.json "len([r for r in receivers if '$far_address:' in r.peer and r.units > 0 and r.left == 'it stalled for 6 s']) == 1"
else
    skip "crowd: one whose link was cut is closed" "no network namespace: $(tail -n 1 distance.log)"
fi
says_joined() { grep -q ' joined$' log && grep -q ' left after ' log && grep -q 'too slow' log && [ "$(wc -l <log)" -lt 150 ]; }
check "crowd: joins, leaves and drops are reported, up to a limit" says_joined

# Commands
source=(--device test --size 640x360 --encoder software)
# Keyframes come only where they are asked for, also on a slow machine.
starts --listen 0 --duration 60s --keyframe-interval 3000 --max-bitrate 8M --control-socket ctl --report orders.json orders.h264
told() { # PATTERN COMMAND...: a command, and its answer
    local answer pattern=$1
    shift
    answer=$("$CAMREC" ctl ctl "$@") || { echo "status $?: $answer"; return 1; }
    grep -qE -- "$pattern" <<<"$answer" || { echo "no '$pattern' in $answer"; return 1; }
}
soon() { # PATTERN: statistics have it before long
    for _ in $(seq 100); do
        ! told "$1" stats >/dev/null || return 0
        sleep 0.05
    done
    told "$1" stats
}
check "orders: the socket is the owner's alone" test "$(stat -c %a ctl)" = 600
check "orders: statistics" soon '"ok":true.*"keyframes":1,.*"state":"recording"'
check "orders: a keyframe" told '^{"ok":true}$' keyframe
check "orders: it comes" soon '"keyframes":2,'
kill -USR1 "$(pgrep -P $recorder)"
check "orders: SIGUSR1 asks for one, too" soon '"keyframes":3,'
sleep 1
ffmpeg -nostdin -v warning -f h264 -i "tcp://127.0.0.1:$port" -frames:v 5 -c copy -f h264 joined.h264 2>joined.log
check "orders: a receiver far from the next keyframe has one forced" soon '"keyframes":4,'
check "orders: and decodes" decodes_silently joined.h264
check "orders: a bit rate, which libx264 takes without a keyframe" told '^{"keyframeForced":false,"ok":true}$' bitrate 300k
check "orders: a maximum, too" told '^{"keyframeForced":false,"ok":true}$' max-bitrate 600k
below() {
    local answer
    ! answer=$("$CAMREC" ctl ctl max-bitrate 200k) && grep -q 'less than the average of 300000' <<<"$answer"
}
check "orders: no maximum below the average" below
check "orders: a pause" told '^{"ok":true}$' pause
check "orders: it is counted" soon '"paused":[1-9].*"state":"paused"'
check "orders: its end" told '^{"ok":true}$' resume
check "orders: it ends with a keyframe, the first since the receiver's" soon '"keyframes":5,.*"state":"recording"'
refuses "listening: an output in the place of a port" 64 'put --listen after the outputs' "${source[@]}" --frames 1 --listen other.h264
records "listening: without a port" "${source[@]}" --frames 1 --verbose --listen && says "listening: it is 9982" '^listening on 127.0.0.1:9982'
refuses "orders: another recording cannot take the socket" 73 'already listens there' "${source[@]}" --frames 1 --control-socket ctl other.h264
refuses "orders: nor the port" 73 "127.0.0.1:$port: another program uses this port" "${source[@]}" --frames 1 --listen "$port" other.h264
check "orders: neither leaves a file" test ! -e other.h264
refuses "orders: an unknown one" 64 "'dance' is not a command; there are keyframe" ctl ctl dance
refuses "orders: a mistyped one" 64 "'stauts' is not a command; the nearest is 'stats'" ctl ctl stauts
refuses "orders: no rate" 64 "'1' is not a bit rate; expected 1k to 2000M" ctl ctl bitrate 1
refuses "orders: a rate is missing" 64 "'bitrate' needs a rate; expected 1k to 2000M" ctl ctl bitrate
above() {
    local answer
    ! answer=$("$CAMREC" ctl ctl bitrate 900k) && grep -q 'more than --max-bitrate' <<<"$answer"
}
check "orders: no rate above the maximum" above
nonsense() { # invalid, binary and endless lines, after which it still answers
    head -c 100000 /dev/urandom | timeout 5 "$PYTHON" -c '
import socket, sys
with socket.socket(socket.AF_UNIX) as s:
    s.connect("ctl")
    try: s.sendall(sys.stdin.buffer.read())
    except ConnectionError: pass' && told '"state"' stats
}
check "orders: nonsense is harmless" nonsense
check "orders: stop" told '^{"ok":true}$' stop
ends "orders: it ends"
check "orders: the socket is gone" test ! -e ctl
check "orders: the file is sound" is_sound orders.h264
check "orders: the report" report orders.json 'frames.paused > 0' 'encoder.bitRate == 300000' 'encoder.maximumBitRate == 600000' 'encoder.restarts == 0' \
    'frames.captured == frames.encoded + frames.corrupt + frames.droppedByUs + frames.paused + frames.droppedByEncoder + frames.unused'
# libx265 needs another session, and a constant quantiser has no maximum.
limit=60 starts --listen 0 --duration 60s --keyframe-interval 3000 --codec hevc --control-socket ctl --report orders2.json orders.h265
check "orders, H.265: a bit rate takes a keyframe" told '^{"keyframeForced":true,"ok":true}$' bitrate 300k
check "orders, H.265: it comes" soon '"keyframes":2,'
check "orders, H.265: a maximum, too" told '^{"keyframeForced":true,"ok":true}$' max-bitrate 400k
check "orders, H.265: it comes as well" soon '"keyframes":3,'
check "orders, H.265: stop" told '^{"ok":true}$' stop
ends "orders, H.265: it ends"
check "orders, H.265: the file is sound" is_sound orders.h265
check "orders, H.265: the report" report orders2.json 'encoder.bitRate == 300000' 'encoder.maximumBitRate == 400000'
starts --listen 0 --duration 60s --qp 30 --control-socket ctl constant.h264
unlimited() {
    local answer
    ! answer=$("$CAMREC" ctl ctl max-bitrate 4M) && grep -q 'no maximum rate to change' <<<"$answer"
}
check "orders, constant QP: there is no maximum to change" unlimited
check "orders, constant QP: stop" told '^{"ok":true}$' stop
ends "orders, constant QP: it ends"
refuses "orders: nobody there" 69 'no such socket; is a recording running' ctl ctl stats
refuses "orders: no folder for the socket" 73 'no such folder; create it first' "${source[@]}" --frames 1 --control-socket none/ctl other.h264
touch plain
refuses "orders: no socket in place of a file" 73 'not a socket' "${source[@]}" --frames 1 --control-socket plain other.h264

# Connects to a receiver that is late, and breaks the connection once
starts --listen 0 --frames 1
free=$port
wait $recorder || true
mkdir out
: >log
timeout 60 "$CAMREC" "${noise[@]}" --qp 20 --duration 8s --report out.json "tcp://127.0.0.1:$free" out.h264 2>log &
recorder=$!
sleep 1
receivers listen "$free" out || fail "out: the receiver" "it failed"
ends "out: the recording ends"
check "out: the file is complete" is_sound out.h264
check "out: what came before the break is the stream" receivers piece out.h264 out/first.h264
check "out: what came after it begins with an IDR and is the rest" receivers tail out.h264 out/second.h264
check "out: it decodes" decodes_silently out/second.h264
check "out: both connections are reported" report out.json 'len(receivers) == 2' 'receivers[0].units > 0' 'receivers[1].units > 0'
nobody_there() {
    local status=0
    camrec "${source[@]}" --frames 30 "tcp://127.0.0.1:$free" || status=$?
    [ $status = 74 ] && grep -q "warning: tcp://127.0.0.1:$free: no receiver takes the stream" stderr && error_names stderr "tcp://127.0.0.1:$free: no receiver took the stream .*connection refused"
}
check "out: nobody ever there" nobody_there
mkdir early
: >log
timeout 60 "$CAMREC" "${noise[@]}" --qp 20 --duration 5s --report early.json "tcp://127.0.0.1:$free" 2>log &
recorder=$!
receivers listen "$free" early 1 || fail "out: a receiver that leaves for good" "it failed"
ends "out: a receiver that leaves for good is no failure"
check "out: but reported, when it happens and at the end" grep -qE 'warning: tcp://.* left after [0-9]+ frames' log
check "out: with what was not taken" grep -qE 'warning: tcp://127.0.0.1:[0-9]+: [0-9]+ of [0-9]+ frames were not received' log
check "out: the report counts what was taken" report early.json 'outputs[0].written == receivers[0].units' 'outputs[0].receivers == 1' 'outputs[0].lost > 60' 'outputs[0].written + outputs[0].lost == frames.encoded'

# Nothing is left for clients that send commands
check "orders: without descriptors they wait, and are carried out in the end" "$PYTHON" "$LAB/verify/no_descriptors.py" "$CAMREC"

# More clients than there are descriptors
mkdir limits
check "descriptors: clients are refused with the reason, and files lose nothing" "$PYTHON" "$LAB/verify/crowded_descriptors.py" "$CAMREC" 64 150 limits/a.h264 limits.json
check "descriptors: every frame is in a file" report limits.json 'outputs[0].written == 150' 'outputs[0].lost == 0'

# A terminal that was stopped by Ctrl-S
check "terminal: a stopped one holds up neither receivers nor the end" "$PYTHON" "$LAB/verify/stopped_terminal.py" "$CAMREC" stopped.h264
check "terminal: the file is sound" is_sound stopped.h264

# A receiver with nothing to say, as under cron
starts --listen 0 --frames 90 one-way.h264
timeout 20 "$PYTHON" -c "
import socket, sys
s = socket.create_connection(('127.0.0.1', $port))
s.shutdown(socket.SHUT_WR)
while some := s.recv(65536): sys.stdout.buffer.write(some)" >one-way-received.h264
ends "one way: the recording ends"
check "one way: a receiver that ends its half of the connection gets the stream" receivers tail one-way.h264 one-way-received.h264

# SIGUSR1 at any time, even to a program that does not use it
signalled() {
    mkfifo signalled.fifo
    "$CAMREC" inspect - <signalled.fifo >signalled.txt &
    exec 4>signalled.fifo
    until grep -q '^SigBlk:.*[2367abef]..$' /proc/$!/status; do kill -0 $! || return; done
    kill -USR1 $!
    cat one-way.h264 >&4
    exec 4>&-
    wait $!
}
check "signals: SIGUSR1 ends nothing" signalled

records "codec: of the only file" "${source[@]}" --frames 3 --listen 0 --report codec.json codec.h265 &&
    check "codec: one encoder for both" report codec.json 'len(encoders) == 1' "outputs[1].codec == 'hevc'"

# Places: a client that reads a little and never catches up is replaced; each address has a limit.
crawls() { # PORT: takes a part of the stream, but always too little, until it is ended
    exec "$PYTHON" -c 'import socket, sys, time
receiver = socket.socket()
receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
receiver.connect(("127.0.0.1", int(sys.argv[1])))
while receiver.recv(8000): time.sleep(0.02)' "$1"
}
takes() { (exec 3<>"/dev/tcp/127.0.0.1/$1" && timeout 20 head -c "$2" <&3) 2>/dev/null; } # PORT BYTES
are_too_slow() { [ "$(grep -c ' is too slow' log)" -ge "$1" ]; }
crawlers_make_way() {
    local crawlers=() status=0 source=("${noise[@]}")
    starts --listen 0 --max-clients 4 --client-timeout 2s --client-buffer 200ms --qp 10 --report crawl.json crawl.h264 || return
    for _ in 1 2 3 4; do
        crawls "$port" >/dev/null 2>&1 &
        crawlers+=($!)
    done
    await 20 are_too_slow 4 || { echo "not too slow: $(cat log)"; status=1; }
    # Refused at first, it gets a place as soon as another has lagged for two seconds.
    until [ $status = 1 ] || ! kill -0 $recorder 2>/dev/null; do
        takes "$port" 100000 >late.h264 || true
        if [ -s late.h264 ]; then break; fi
    done
    kill "${crawlers[@]}" 2>/dev/null || true
    kill -TERM $recorder 2>/dev/null || true
    wait $recorder || true
    # The log leaves out events if there are many.
    [ -s late.h264 ] || { tail -n 5 log; return 1; }
    report crawl.json "len([r for r in receivers if 'lagged for 2 s' in r.left]) >= 1"
}
check "places: receivers that never catch up are replaced" crawlers_make_way
address_is_limited() {
    local peers=()
    local source=("${noise[@]}")
    ip -n $far link set far up # it was cut
    starts --listen 0.0.0.0:0 --max-clients 4 --qp 30 --overwrite address.h264 || return
    for _ in 1 2 3; do
        ip netns exec $far timeout 30 bash -c 'cat <"/dev/tcp/$1/$2"' bash "$near_address" "$port" >/dev/null 2>&1 &
        peers+=($!)
    done
    await 20 grep -q "$far_address.* was refused: there are 2 receivers from its address already" log || { cat log; return 1; }
    [ "$(takes "$port" 1000 | wc -c)" = 1000 ] || { echo "no place for another: $(cat log)"; return 1; }
    kill -TERM $recorder
    wait $recorder
    kill "${peers[@]}" 2>/dev/null || true
}
if [ -n "$is_far" ]; then check "places: an address gets half of them" address_is_limited; else skip "places: an address gets half of them" "$(tail -n 1 distance.log)"; fi

# A UNIX socket: everyone who may write to it gets the stream.
serves_path() {
    "$CAMREC" "${source[@]}" --frames 150 --listen "unix:$work/live.sock,mode=660" --overwrite path.h264 2>path.log &
    recorder=$!
    await 20 test -S live.sock || { cat path.log; return 1; }
    [ "$(stat -c %a live.sock)" = 660 ] || { echo "mode $(stat -c %a live.sock)"; return 1; }
    "$PYTHON" -c 'import socket, sys
receiver = socket.socket(socket.AF_UNIX)
receiver.connect("live.sock")
while data := receiver.recv(1 << 16): sys.stdout.buffer.write(data)' >from-path.h264 || return 1
    wait $recorder || { cat path.log; return 1; }
    [ ! -e live.sock ] && is_sound from-path.h264
}
check "unix: a receiver gets the stream, and the socket goes" serves_path

# Addresses
refuses "address: not this machine's" 73 '192\.0\.2\.1:9982: this machine has no such address' "${source[@]}" --frames 1 --listen 192.0.2.1
for address in 1:2:3 :9982 9982: '*:9982' ::1 99999; do
    refuses "address: $address" 64 "--listen cannot be '.*': expected a port, with an optional host" "${source[@]}" --frames 1 --listen "$address"
done
for buffer in 61s 50ms 0 1B 100GB 5x; do
    refuses "buffer: $buffer" 64 "'--client-buffer .*': expected a time of 100ms to 60s, or 4kB to 64MB" "${source[@]}" --frames 1 --listen 0 --client-buffer $buffer
done
records "buffer: the least" "${source[@]}" --frames 1 --listen 0 --client-buffer 4kB || true
refuses "unix: a mistyped mode" 64 'only a mode may follow it; write unix:sk,mode=660' "${source[@]}" --frames 1 --listen unix:sk,mdoe=660
refuses "unix: two places" 64 'a path has no comma' "${source[@]}" --frames 1 --listen unix:sk,unix:sk2
refuses "unix: an abstract socket" 64 'write unix:\./@abs' "${source[@]}" --frames 1 --listen unix:@abs
refuses "unix: a path that is too long" 73 'at most 107 bytes' "${source[@]}" --frames 1 --listen "unix:x$(printf '%0107d' 0)"
refuses "orders: not at an abstract socket" 64 'write \./@abs' "${source[@]}" --frames 1 --control-socket @abs other.h264
refuses "listening: twice at one place" 64 '127\.0\.0\.1:9982 is given twice; leave one out' "${source[@]}" --frames 1 --listen 9982 --listen 127.0.0.1:9982
records "listening: at two places" "${source[@]}" --frames 1 --verbose --listen 0 --listen 0.0.0.0:0 && check "listening: it names both" test "$(grep -c '^listening on ' stderr)" = 2
check "unix: nothing was created" test -z "$(find . -name '*sk*' -o -name '*abs*' -o -name 'x0*')"
records "limit of an address: of this machine" "${source[@]}" --frames 1 --listen 0 --max-clients-per-address 2 && says "limit of an address: it has no effect" 'has no effect: 127\.0\.0\.1:0 is open to this machine alone'
records "limit of an address: of the network" "${source[@]}" --frames 1 --listen 0.0.0.0:0 --max-clients-per-address 2 && check "limit of an address: it has an effect" bash -c '! grep -q "no effect" stderr'
refuses "time-out: of nothing" 64 "'--client-timeout <TIME>': expected a time in whole seconds, 1s to 1h" "${source[@]}" --frames 1 --listen 0 --client-timeout 0
refuses "time-out: of seconds" 64 'in whole seconds' "${source[@]}" --frames 1 --listen 0 --client-timeout 1.5s
refuses "address: no address" 64 'tcp://HOST:PORT' "${source[@]}" --frames 1 tcp://
refuses "address: no output at all" 64 'no OUTPUT' "${source[@]}" --frames 1
records "address: loopback is not warned of" "${source[@]}" --frames 3 --listen 0 && check "address: not a word" test ! -s stderr
records "address: the network is" "${source[@]}" --frames 3 --listen 0.0.0.0:0 && says "address: in one line" 'warning: 0\.0\.0\.0:[0-9]+ is open to the network' &&
    check "address: and no other" test "$(wc -l <stderr)" = 1

# Files end, and receivers stay until a signal.
serves_on() {
    starts --listen 0 --frames 60 --serve-on --report serve.json served.h264 --on-segment /bin/true || return 1
    for _ in $(seq 200); do
        ! grep -q 'files have ended' log || break
        sleep 0.05
    done
    # It is finished while the recording goes on.
    grep -qx 'ok: 60 access units, 2 IDR pictures' <<<"$("$CAMREC" inspect --check served.h264)" || { cat log; return 1; }
    timeout 20 "$CAMPLAY" --no-window --frames 30 --once "tcp://127.0.0.1:$port" 2>later.log || { cat later.log; return 1; }
    kill $recorder
    wait $recorder && report serve.json 'outputs[0].written == 60' 'outputs[1].written > 90' 'outputs[1].receivers == 1' 'outputs[1].lost == 0' 'onSegment.started == 1'
}
source=(--device test --size 320x240 --fps 30 --encoder software)
check "serve-on: files end, and receivers stay" serves_on

# The camera is on only while somebody watches, or wants a picture.
state_is() { "$CAMREC" ctl demand stats | grep -q "\"state\":\"$1\""; }
watches() { timeout 30 "$CAMPLAY" --no-window --frames 30 --once "tcp://127.0.0.1:$port" 2>later.log || { cat later.log; return 1; }; }
on_demand() {
    starts --listen 0 --on-demand --linger 1s --control-socket demand --report demand.json || return 1
    await 20 state_is idle && watches && await 20 state_is idle && watches && await 20 state_is idle || { cat log; kill $recorder; return 1; }
    "$CAMREC" ctl demand snapshot wanted.jpg && [ -s wanted.jpg ] && await 20 state_is idle || { cat log; kill $recorder; return 1; }
    kill $recorder
    wait $recorder && report demand.json 'source.turnedOn == 3' 'source.secondsOff > 0' 'source.outages == 0' 'source.secondsLost == 0' \
        'outputs[0].receivers == 2' 'frames.keyframes >= 3' && [ "$(grep -c 'off, because nobody is watching' log)" = 4 ] && ! grep -q warning log ||
        { cat log; return 1; }
}
check "on-demand: off until somebody watches, and off again" on_demand
rests() { # of two renditions, only the small one is watched
    starts --listen unix:whole --listen 0,size=160x120 --on-demand --linger 1s --control-socket rests --report rests.json || return 1
    timeout 30 "$CAMPLAY" --no-window --frames 60 --once --output small.yuv "tcp://127.0.0.1:$port" 2>later.log || { cat later.log log; kill $recorder; return 1; }
    kill $recorder
    wait $recorder && report rests.json 'encoders[0].frames.encoded == 0' 'encoders[1].frames.encoded >= 60' &&
        [ "$(stat -c %s small.yuv)" = $((160 * 120 * 3 / 2 * 60)) ] && ! grep -q warning log || { cat log rests.json; return 1; }
}
check "on-demand: the encoder of a size that nobody watches rests" rests
nobody_comes() {
    starts --listen 0 --on-demand --report nobody.json || return 1
    kill $recorder
    wait $recorder && report nobody.json 'frames.encoded == 0' 'source.turnedOn == 0' && ! grep -q warning log
}
check "on-demand: nobody comes, and that is no failure" nobody_comes
refuses "on-demand: not with a file" 64 '--on-demand is for --listen alone; leave out a.h264' "${source[@]}" --on-demand --listen 0 a.h264
finish
