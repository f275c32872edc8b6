# Sourced by the scripts that run in the guest: cameras, and checks that are deferred to the host.
# shellcheck shell=bash
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
: "${RESULTS:?this script runs in the guest: Tests/Lab/guest/run SCRIPT}"
work=/run/lab # memory, not the shared folder
mkdir -p $work
# An emulated processor beside a build takes minutes for what takes seconds elsewhere.
: "${limit:=600}"

on_host() { # COMMAND...: run after the guest, in $RESULTS, where decoders are not emulated
    printf '%q ' "$@" >>"$RESULTS/on-host"
    printf '\n' >>"$RESULTS/on-host"
}

# The node of a vivid device, by its name on the card.
vivid_node() { # [KIND]: vid-cap, meta-cap
    local node
    for node in /sys/class/video4linux/video*; do
        if grep -q "^vivid-.*${1:-vid-cap}" "$node/name"; then
            echo "/dev/$(basename "$node")"
            return 0
        fi
    done
    return 1
}

# A still pattern: every program reads the same.
still_picture() { # NODE [PATTERN]
    v4l2-ctl -d "$1" -c horizontal_movement=3 -c vertical_movement=3 -c osd_text_mode=2 -c test_pattern="${2:-0}"
}
