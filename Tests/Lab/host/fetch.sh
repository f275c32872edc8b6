#!/bin/bash
# Fetches what other stages work with, which then need no network, and builds what they share.
# usage: fetch.sh [gpu|guest|webcam]      nothing: the small things, for one stage each
# What this machine cannot have is skipped, with all stages that need it; what does not compile is a failure.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
unavailable=75 # for scripts/test: the stages that need this one are skipped, too

fetches() { # NAME COMMAND...
    local name=$1 said
    shift
    if said=$("$@" 2>&1); then
        pass "$name"
    elif grep -q ' error: ' <<<"$said"; then # the compiler's
        fail "$name" "$said"
    else
        skip "$name" "$said"
        missing=yes
    fi
}
missing=
case ${1-} in
    gpu) if [ "$(uname -m)" = x86_64 ]; then check "emulated GPU: fetched and built" "$LAB/gpu/fetch"; else skip "emulated GPU" "it is for x86-64" && missing=yes; fi ;;
    guest)
        if command -v qemu-system-x86_64 >/dev/null; then
            fetches "guest: a kernel" "$LAB/guest/fetch"
        else
            skip "guest: a kernel" "no qemu-system-x86_64; scripts/install-packages test brings it" && missing=yes
        fi
        ;;
    webcam) fetches "webcam: built, with pictures" "$LAB/webcam/build" ;;
    '')
        fetches "arm64: libraries" "$LAB/arm64/fetch"
        fetches "scenes: people walking" "$LAB/scenes/fetch"
        fetches "metrics: Prometheus's tool" "$LAB/verify/fetch-promtool"
        missing=
        ;;
esac
finish
[ -z "$missing" ] || exit $unavailable
