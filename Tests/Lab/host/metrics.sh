#!/bin/bash
# A running recording's metrics, as Prometheus's own tool reads them.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin

promtool=$("$LAB/verify/fetch-promtool") || { fail "metrics: Prometheus's tool is there" "status $?" && exit; }

nobody=tcp://127.0.0.1:1 # a port that no program uses
recording() { # a file whose name needs escapes, a live output, and one that nobody receives
    exec "$CAMREC" --device test --size 320x240 --keyframe-interval 15 --encoder software --listen unix:live --control-socket ctl \
        --duration 60s --report report.json "$nobody" 'a "b" \ c.mkv'
}
recording 2>log &
recorder=$!
value() { # SAMPLE
    grep -F -- "$1 " metrics | sed 's/.* //'
}
file='output="a \"b\" \\ c.mkv"'
has_keyframes() { # COUNT
    "$CAMREC" ctl ctl stats --prometheus >metrics && [ "$(value "camrec_output_keyframes_total{recording=\"ctl\",$file}")" -ge "$1" ]
}
check "metrics: of a recording that runs" await 30 has_keyframes 2
check "metrics: promtool finds nothing wrong" "$promtool" check metrics <metrics
first=$(value 'camrec_captured_frames_total{recording="ctl"}')
check "metrics: no receiver" test "$(value 'camrec_output_receivers{recording="ctl",output="unix:live"}')" = 0
check "metrics: what nobody received is not written" test "$(value "camrec_output_written_frames_total{recording=\"ctl\",output=\"$nobody\"}")" = 0
check "metrics: it is lost" test "$(value "camrec_output_lost_frames_total{recording=\"ctl\",output=\"$nobody\"}")" -gt 0
check "metrics: nobody has connected" test "$(value 'camrec_output_connections_total{recording="ctl",output="unix:live"}')" = 0
# A receiver that reads nothing, for as long as its input is open.
mkfifo hold
"$PYTHON" -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect("live"); sys.stdin.read()' <hold &
exec 3>hold
has_receiver() { has_keyframes 3 && [ "$(value 'camrec_output_receivers{recording="ctl",output="unix:live"}')" = 1 ]; }
check "metrics: a receiver" await 30 has_receiver
check "metrics: it is counted" test "$(value 'camrec_output_connections_total{recording="ctl",output="unix:live"}')" = 1
exec 3>&-
check "metrics: they grow" test "$(value 'camrec_captured_frames_total{recording="ctl"}')" -gt "$first"
timed() { # one frame may be written, and not timed yet
    local written count
    written=$(value "camrec_output_written_frames_total{recording=\"ctl\",$file}") count=$(value "camrec_output_latency_seconds_count{recording=\"ctl\",$file}")
    [ "$count" -ge 30 ] && [ $((written - count)) -ge 0 ] && [ $((written - count)) -le 1 ]
}
check "metrics: each written frame has a latency" timed
near() { # the disk's room, within 1 GB, as others write there, too
    local room
    room=$(($(stat -f -c '%a * %S' .)))
    [ $((room - $1)) -lt 1000000000 ] && [ $(($1 - room)) -lt 1000000000 ]
}
check "metrics: the room on the disk" near "$(value "camrec_output_free_bytes{recording=\"ctl\",$file}")"
"$CAMREC" ctl ctl pause >paused && has_keyframes 3
check "metrics: a pause" test "$(value 'camrec_paused{recording="ctl"}')" = 1
refuses "metrics: of another command" 64 '--prometheus is for stats' ctl ctl keyframe --prometheus
"$CAMREC" ctl ctl stop >stopped
wait $recorder || true
check "metrics: the report agrees" report report.json "frames.captured >= $(value 'camrec_captured_frames_total{recording="ctl"}')"
refuses "metrics: of a recording that has ended" 69 'ctl: ' ctl ctl stats --prometheus
finish
