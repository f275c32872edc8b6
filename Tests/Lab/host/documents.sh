#!/bin/bash
# Runs every command of the documents' pages that need no camera and no look at devices. The other pages' run in the
# guest.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
# shellcheck source=../documents.sh
. "$LAB/documents.sh"
begin
PATH=$(dirname "$CAMREC"):$PATH
export PATH SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy
gpu=()
if [ -e "$LAB/gpu/.build/fakegpu.so" ]; then gpu=("$LAB/gpu/run" iHD); fi

# A checkout for one page: no page replaces or needs another's files.
begin_page() {
    cd "$work"
    rm -rf checkout && mkdir checkout
    git -C "$repository" ls-files -z --cached --others --exclude-standard | tar -C "$repository" -c --null --files-from=- | tar -x -C checkout
    cd checkout
}

shown=()
for page in $(pages); do
    if ! wants_devices "$page"; then shown+=("$page"); fi
done
run_pages "${shown[@]}"
check "documents: pages show commands that need no camera" test ${#shown[@]} -ge 1
cd "$work"
finish
