#!/bin/bash
# Builds uvccam, makes its pictures and runs a test of it in the guest.
# usage: [VIDEO=FILE] run.sh guest-rates.sh | guest-faults.sh | SCRIPT
set -eu
here=$(cd "$(dirname "$0")" && pwd)
"$here/build" >/dev/null
"$here/../guest/fetch" >/dev/null
script=$1
if [ ! -e "$script" ]; then script=$here/$1; fi
exec "$here/../guest/run" --limit "${LIMIT:-900}" "$script"
