#!/bin/bash
# Memory, descriptors and threads of recordings of an unpaced source, briefly.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
if has_gpu "soak" radeonsi; then
    check "soak, briefly: memory, descriptors and threads stay as they are" "$PYTHON" "$LAB/soak/soak.py" --short 1 "$CAMREC" "$work"
fi
finish
