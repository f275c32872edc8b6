#!/bin/bash
# In the guest: what a second of sound costs in processor time and memory, beside `ffmpeg -f alsa`, from the same card in one
# run. Prints a table; nothing is checked but that all of them record.
# usage: sound-cost.sh [ROUNDS]      3 unless given; by hand, on a machine that does nothing else; 0 for memory alone
set -euo pipefail
# shellcheck source=guest.sh
. "$(dirname "${BASH_SOURCE[0]}")/guest.sh"
cd "$work"
modprobe snd-aloop pcm_substreams=1
udevadm settle
microphone=plughw:CARD=Loopback,DEV=1
ffmpeg -nostdin -v error -re -f lavfi -i 'anoisesrc=r=48000:a=0.1' -ac 2 -f alsa plughw:CARD=Loopback,DEV=0 2>feeder.log &
feeder=$!
sleep 5
pictures=(--device test --size 160x120 --fps 5 --pace --encoder software --latency realtime)
seconds_of() { # COMMAND...: user and system time
    local begun
    begun=$(mktemp)
    /usr/bin/time -o "$begun" -f '%U %S' "$@" >/dev/null 2>>cost.log || { cat cost.log; return 1; }
    awk '{print $1 + $2}' "$begun"
}
row() { # NAME COMMAND...: with SECONDS for the length; what 40 s cost more than 10 do, for each second
    local name=$1 short long
    shift
    short=$(seconds_of "${@//SECONDS/10}")
    long=$(seconds_of "${@//SECONDS/40}")
    awk -v name="$name" -v short="$short" -v long="$long" 'BEGIN {printf "%-44s %7.1f ms\n", name, (long - short) / 30 * 1000}'
}
for ((round = 1; round <= ${1:-3}; round++)); do
    echo "round $round: processor time for each second"
    row 'camrec, pictures alone' "$CAMREC" "${pictures[@]}" --duration SECONDSs --overwrite silent.mkv
    row 'camrec --audio: the same, and AAC of two channels' "$CAMREC" "${pictures[@]}" --audio-device "$microphone" --duration SECONDSs --overwrite loud.mkv
    row 'ffmpeg -f alsa: AAC of two channels' ffmpeg -nostdin -v error -y -f alsa -channels 2 -sample_rate 48000 -i "$microphone" -t SECONDS -c:a aac -b:a 128k alone.mkv
done
# Where the kernel always uses huge pages, each table of a library's may take 2 MB.
echo madvise >/sys/kernel/mm/transparent_hugepage/enabled
memory() { # NAME OPTIONS...
    "$CAMREC" "${pictures[@]}" "${@:2}" --duration 25s --overwrite memory.mkv 2>>cost.log &
    local recorder=$!
    sleep 18
    awk -v name="$1" '/^Anonymous/ {printf "%-44s %7d kB of its own\n", name, $2}' /proc/$recorder/smaps_rollup
    if [ "$1" = 'camrec, pictures alone' ]; then ! grep -q asound /proc/$recorder/maps; fi
    wait $recorder
}
memory 'camrec, pictures alone'
for codec in aac opus flac; do memory "camrec --audio --audio-codec $codec" --audio-device "$microphone" --audio-codec $codec; done
# What libasound2-plugins has ALSA load: PulseAudio's library, whether a server runs or not.
mkdir plain
[ ! -d /etc/alsa/conf.d ] || mount --bind plain /etc/alsa/conf.d
for codec in aac opus flac; do memory "the same, ALSA without plugins: $codec" --audio-device "$microphone" --audio-codec $codec; done
kill $feeder
pass "sound: its cost"
