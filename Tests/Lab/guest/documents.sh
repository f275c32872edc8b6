#!/bin/bash
# Runs every command of the documents' pages that want a camera or a look at devices, with a camera at /dev/video0 and
# an emulated GPU. The other pages' run on the host.
# usage: documents.sh [PAGE...]
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
# shellcheck source=../documents.sh
. "$LAB/documents.sh"
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle

PATH=$(dirname "$CAMREC"):$PATH
mkdir -p /run/documents
mount -t tmpfs none /run/documents
mkdir /run/documents/bin
# The guest runs as root.
printf '#!/bin/sh\nexec "$@"\n' >/run/documents/bin/sudo
chmod 755 /run/documents/bin/sudo
export PATH=/run/documents/bin:$PATH
# The pictures' content is checked elsewhere, and takes long on an emulated processor.
export FAKEGPU_PICTURES=cheap

# The checkout, writable, for one page: no page replaces or needs another's files. Like scripts/quickstart's recording,
# the page has nothing to do with what earlier commands left in the checkout.
begin_page() {
    cd /run/documents
    if mountpoint -q checkout; then umount checkout; fi
    rm -rf upper overlay && mkdir -p upper overlay checkout
    mount -t overlay overlay -o "lowerdir=$repository,upperdir=/run/documents/upper,workdir=/run/documents/overlay" checkout
    cd checkout
    rm -f out.h264
}

shown=("$@") least=1
if [ ${#shown[@]} = 0 ]; then
    least=50
    for page in $(pages); do
        if wants_devices "$page"; then shown+=("$page"); fi
    done
fi
run_pages $least "${shown[@]}"
