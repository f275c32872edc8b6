# What the stages of camweb share: servers and recorders in the background, at addresses of their own.
# shellcheck shell=bash

clients() { "$PYTHON" "$LAB/verify/webclients.py" "$@"; }
background=()
ends() { # ends what still runs, and the lab's own folder
    [ ${#background[@]} = 0 ] || kill "${background[@]}" 2>/dev/null || true
    clean
}
trap ends EXIT

records_live() { # LOG REPORT ADDRESS SOURCE...: a recorder in the background, as $recorder, that listens; its $port
    local log=$1 report=$2 address=$3
    shift 3
    : >"$log"
    "$CAMREC" --encoder software --latency realtime --verbose --listen "$address" --report "$report" --overwrite "$@" 2>"$log" &
    recorder=$!
    background+=("$recorder")
    await 20 grep -q '^listening on ' "$log" || { echo "it does not listen: $(cat "$log")"; return 1; }
    port=$(sed -nE 's/^listening on .*:([0-9]+)$/\1/p' "$log")
}
serves() { # ARGUMENTS...: camweb in the background, as $server, at $page and $web_port
    : >web.log
    "$CAMWEB" --verbose --listen 0 "$@" 2>web.log &
    server=$!
    background+=("$server")
    await 20 grep -q '^serving on ' web.log || { echo "it does not serve: $(cat web.log)"; return 1; }
    page=$(sed -nE 's/^serving on (.*)$/\1/p' web.log)/
    web_port=$(sed -nE 's/^serving on .*:([0-9]+)$/\1/p' web.log)
}
stops() { # NAME PID: a clean end
    local status=0
    kill -TERM "$2" 2>/dev/null || true
    if ! timeout 20 tail --pid="$2" -f /dev/null; then
        fail "$1" "it does not end"
        return
    fi
    wait "$2" || status=$?
    if [ $status = 0 ]; then pass "$1"; else fail "$1" "exit code $status"; fi
}
most_memory() { awk '/^VmHWM/ {print $2}' "/proc/$1/status"; } # PID: kilobytes, so far
