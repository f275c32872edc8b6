#!/bin/bash
# Runs every command that README.md and the pages under docs/ show, in the guest, with a camera at /dev/video0 and an
# emulated GPU. Blocks of the language sh hold them, one a line. A line that ends in & runs in the background; the next
# one follows as soon as it listens. Those of scripts/ are run on the host, by scripts/test.
# usage: readme.sh [PAGE...]
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
repository=$(cd "$LAB/../.." && pwd)
modprobe vivid n_devs=1 node_types=0x1 input_types=0x0
udevadm settle

PATH=$(dirname "$CAMREC"):$PATH
mkdir -p /run/readme
mount -t tmpfs none /run/readme
mkdir /run/readme/bin
# The guest runs as root, and there is no display.
printf '#!/bin/sh\nexec "$@"\n' >/run/readme/bin/sudo
chmod 755 /run/readme/bin/sudo
export PATH=/run/readme/bin:$PATH SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy
# The pictures' content is checked elsewhere, and takes long on an emulated processor.
export FAKEGPU_PICTURES=cheap
gpu=()
if has_gpu "README: by hardware" iHD; then gpu=("$LAB/gpu/run" iHD); fi

# The checkout, writable, for one page: no page replaces or needs another's files. Like scripts/quickstart's recording,
# the page has nothing to do with what earlier commands left in the checkout.
begin_page() {
    cd /run/readme
    if mountpoint -q checkout; then umount checkout; fi
    rm -rf upper overlay && mkdir -p upper overlay checkout
    mount -t overlay overlay -o "lowerdir=$repository,upperdir=/run/readme/upper,workdir=/run/readme/overlay" checkout
    cd checkout
    rm -f out.h264
}

as_shown() { # COMMAND: a recording without an end is stopped as its user would, by Ctrl-C
    timeout --preserve-status --signal=INT --kill-after=20 60 env --default-signal=INT "${gpu[@]}" bash -c "$1" </dev/null
}

# Who listens, not how many: an earlier command may stop listening meanwhile.
listeners() { ss -Hltx state listening | awk '{print $1, $4, $5}' | sort -u; }
one_more_listens() { [ -n "$(comm -13 <(echo "$1") <(listeners))" ]; } # SINCE

jobs=()
in_background() { # NAME COMMAND
    local before
    before=$(listeners)
    check "$1" as_shown "$2" &
    jobs+=($!)
    await 20 one_more_listens "$before" || true
}

commands() { # PAGE
    awk '/^```sh *$/ {inside = 1; next} /^```/ {inside = 0} inside' "$1"
}

pages=("$@")
if [ ${#pages[@]} = 0 ]; then
    pages=(README.md)
    while read -r page; do pages+=("$page"); done < <(cd "$repository" && find docs -name '*.md' | sort)
fi
found=0
for page in "${pages[@]}"; do
    if [ -z "$(commands "$repository/$page")" ]; then continue; fi
    begin_page
    while read -r line; do
        case $line in
            '' | '#'* | scripts/* | ./scripts/* | 'git clone'* | 'cd '*) continue ;;
        esac
        found=$((found + 1))
        case $line in
            *' &') in_background "${page%.md}: $line" "${line% &}" ;;
            *) check "${page%.md}: $line" as_shown "$line" ;;
        esac
    done < <(commands "$repository/$page")
    for job in "${jobs[@]}"; do wait "$job"; done
    jobs=()
done
check "README: it and its pages show commands" test $found -ge 60
