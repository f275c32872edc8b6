#!/bin/bash
# Runs every command of the documents' pages that need no camera and no look at devices. The other pages' run in the
# guest.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
# shellcheck source=../documents.sh
. "$LAB/documents.sh"
PATH=$(dirname "$CAMREC"):$PATH
export PATH

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
run_pages 50 "${shown[@]}"
begin_page
run_translations 35
cd "$work"
finish
