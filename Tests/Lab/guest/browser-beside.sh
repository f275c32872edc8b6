#!/bin/bash
# On the host, beside browser.sh in the guest: what a browser shows of the guest's two cameras.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
cd "${RESULTS:?run starts this}"
page=http://127.0.0.1:${port:?run starts this}/
await 600 bash -c '[ -e ready ] || [ -e over ]' || true
if [ ! -e ready ]; then
    fail "browser: the guest's cameras" "they did not start"
    exit
fi
web() { "$PYTHON" "$LAB/verify/web.py" "$@"; }
check "browser: both cameras, by their content" web vivid "$page" door yard --screenshot both.png
check "browser: both cameras, dark" web vivid "$page" door yard --dark --screenshot both-dark.png
check "browser: brightness changes the live picture, and the recording of two minutes ago" web brightness "$page" door --size 1200x1300 --screenshot door.png
touch seen
