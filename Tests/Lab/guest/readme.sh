#!/bin/bash
# In the guest, with a camera at /dev/video0 and an emulated GPU: every command that README.md shows.
# Blocks of the language sh hold them, one a line. Those of scripts/ are run on the host, by scripts/test.
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
repository=$(cd "$LAB/../.." && pwd)
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle

# The checkout, writable, with what the build made on the PATH; whatever the commands write stays here.
mkdir -p /run/readme/{upper,work,checkout}
mount -t tmpfs none /run/readme && mkdir -p /run/readme/{upper,work,checkout}
mount -t overlay overlay -o "lowerdir=$repository,upperdir=/run/readme/upper,workdir=/run/readme/work" /run/readme/checkout
cd /run/readme/checkout
# What scripts/quickstart recorded into the checkout, which no command is to replace.
rm -f out.h264
PATH=$(dirname "$CAMREC"):$PATH
mkdir -p /run/readme/bin
# This is root already, and there is no display.
printf '#!/bin/sh\nexec "$@"\n' >/run/readme/bin/sudo
chmod 755 /run/readme/bin/sudo
export PATH=/run/readme/bin:$PATH SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy
gpu=()
if has_gpu "README: by hardware" iHD; then gpu=("$LAB/gpu/run" iHD); fi

as_shown() { # COMMAND: a recording without an end is stopped as its user would, by Ctrl-C
    timeout --preserve-status --signal=INT --kill-after=20 60 env --default-signal=INT "${gpu[@]}" bash -c "$1" </dev/null
}
found=0
while read -r line; do
    case $line in
        '' | '#'* | scripts/* | ./scripts/* | 'git clone'* | 'cd '*) continue ;;
    esac
    found=$((found + 1))
    check "README: $line" as_shown "$line"
done < <(awk '/^```sh *$/ {inside = 1; next} /^```/ {inside = 0} inside' README.md)
check "README: it shows commands" test $found -ge 3
