#!/bin/bash
# A live stream in common players: exactly the commands that docs/guide/live.md and servers.md show, on a virtual
# display.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
if ! command -v Xvfb >/dev/null; then
    skip "players" "no Xvfb; install xvfb"
    finish
    exit
fi
unset WAYLAND_DISPLAY
export SDL_AUDIODRIVER=dummy
trap 'kill $(jobs -p) 2>/dev/null || true; clean' EXIT

# Two alternating pictures, which show whether a player continues.
source="smptehdbars=s=320x240:r=30,format=yuv420p"
mkfifo pictures.y4m
ffmpeg -nostdin -v error -f lavfi -i "$source" -frames:v 1 positive.png
ffmpeg -nostdin -v error -f lavfi -i "$source,negate" -frames:v 1 negative.png
sends() { # CODEC [OPTION]...: a recording of them in the background, on $port
    ffmpeg -nostdin -v quiet -f lavfi -i "$source,negate=enable='mod(floor(t/2),2)'" -f yuv4mpegpipe -y pictures.y4m &
    : >log
    timeout --kill-after=5 100 "$CAMREC" --device pictures.y4m --pace --encoder software --codec "$1" --listen 0 --verbose "${@:2}" 2>log &
    recorder=$!
    until port=$(sed -nE 's/^listening on .*:([0-9]+)$/\1/p' log) && [ -n "$port" ]; do kill -0 $recorder; sleep 0.05; done
}
within() { # SECONDS COMMAND...: tries until it succeeds
    local end=$((SECONDS + $1)) said
    shift
    until said=$("$@" 2>&1); do
        [ $SECONDS -lt $end ] || { echo "$said"; return 1; }
        sleep 0.1
    done
}
shows() { # PICTURE
    ffmpeg -nostdin -v error -y -f x11grab -draw_mouse 0 -video_size 640x480 -i "$DISPLAY" -frames:v 1 screen.png &&
        "$PYTHON" "$LAB/verify/screen.py" screen.png "$work/$1.png"
}
guide() { # PROGRAM: the line of the guide by which it plays a live stream, with the actual port
    grep -E "^$1 .*(:|port=)9982" "$LAB/../../docs/guide/live.md" | sed -E "s/(:|port=)9982/\1$port/"
}
# The same for a transport stream, which needs no options.
plain() { # PROGRAM
    local command
    command=$(grep -oE "\`$1 [^\`]*HOST[^\`]*9982[^\`]*\`" "$LAB/../../docs/guide/servers.md" | sed -n 1p)
    sed "s/\`//g; s/HOST/127.0.0.1/; s/9982/$port/" <<<"$command"
}
as_hevc() { sed 's/h264parse ! avdec_h264/h265parse ! avdec_h265/; s/h264/hevc/'; }
plays() { # NAME COMMAND: in its own folder and on its own display
    local screen player name="players: $1"
    mkdir "$1" && cd "$1"
    # A display that is not reset when its last window closes.
    Xvfb -displayfd 3 -noreset -screen 0 640x480x24 -nolisten tcp 3>display 2>/dev/null &
    screen=$!
    until [ -s display ]; do kill -0 $screen; sleep 0.05; done
    DISPLAY=:$(cat display)
    export DISPLAY
    # Without a shell in between, so that the signal stops the player.
    bash -c "exec $2" </dev/null >log 2>&1 &
    player=$!
    check "$name shows it" within 20 shows positive
    check "$name goes on" within 20 shows negative
    kill $player 2>/dev/null || fail "$name" "it ended: $(tail -n 2 log)"
    wait $player 2>/dev/null || true
    kill $screen
}

for codec in h264 hevc ts; do
    if [ $codec = ts ]; then sends h264 --stream-format ts; else sends $codec; fi
    running=()
    if [ $codec = h264 ]; then
        bash -c "exec $(guide ffmpeg)" </dev/null >ffmpeg.log 2>&1 &
        saver=$!
    fi
    for program in ffplay gst-launch-1.0 vlc; do
        if ! command -v $program >/dev/null; then
            skip "players: $program, $codec" "it is not installed"
            continue
        fi
        case $codec in
            h264) command=$(guide $program) ;;
            hevc) command=$(guide $program | as_hevc) ;;
            ts) command=$(plain $program) ;;
        esac
        # VLC refuses root, and here it needs no window but the picture's.
        if [ $program = vlc ]; then
            mkdir -p -m 777 home
            command="setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=$work/home c$command"
        fi
        plays "$program, $codec" "$command" &
        running+=($!)
    done
    for job in "${running[@]}"; do wait "$job" || fail "players: $codec" "one of them could not be tried"; done
    kill "$(pgrep -P $recorder)"
    wait $recorder || fail "players: the recording, $codec" "$(cat log)"
done
wait $saver || fail "players: ffmpeg, which saves" "$(tail -n 2 ffmpeg.log)"
has_pictures() { [ "$(picture_hashes received.mkv | wc -l)" -gt 100 ]; }
check "players: what ffmpeg saved plays" has_pictures
finish
