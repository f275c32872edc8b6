#!/bin/bash
# The libraries, as another package uses them: by a tagged version, with the programs of Examples/.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
repository=$(cd "$LAB/../.." && pwd)

# A version of this checkout as it is, also where something is not committed yet.
git clone --quiet --no-local "$repository" camrec
git -C "$repository" diff --binary HEAD | git -C camrec apply --index --allow-empty
git -C camrec -c user.name=lab -c user.email=lab@localhost commit --quiet --allow-empty --message "What is tested"
git -C camrec tag 99.0.0
cp -r camrec/Examples application
sed -i "s|\.package(name: \"camrec\", path: \"\.\.\")|.package(url: \"file://$PWD/camrec\", exact: \"99.0.0\")|" application/Package.swift
check "library: the application depends on a version" grep -q 99.0.0 application/Package.swift
# … and on versions of other packages that camrec's own builds do not use.
[ -d "$repository/.build/checkouts" ] || (cd "$repository" && swift package resolve >/dev/null 2>&1)
others=
for package in swift-argument-parser swift-nio; do
    git clone --quiet --bare "$repository/.build/checkouts/$package" "$package.git"
    version=$(git -C "$package.git" tag --sort=-version:refname | grep -E '^[0-9]+\.[0-9]+\.[0-9]+$' | sed -n 1p)
    git -C "$package.git" tag "${version%.*}.999" "$version^{commit}"
    (cd application && swift package config set-mirror --original "https://github.com/apple/$package" --mirror "file://$(realpath "../$package.git")" >/dev/null)
    others+=", .package(url: \"https://github.com/apple/$package\", exact: \"${version%.*}.999\")"
done
sed -i "s|dependencies: \[camrec\]|dependencies: [camrec$others]|" application/Package.swift

builds() { (cd application && swift build -c "$1" 2>&1) >"build-$1" || { grep -E 'error|warning' "build-$1" | head -n 5; return 1; }; }
example() { "application/.build/release/$1" "${@:2}"; }

if ! builds release; then
    fail "library: an application is built with a version of the libraries" "$(tail -n 5 build-release)"
    finish
fi
pass "library: an application is built with a version of the libraries"
uses_others() { [ "$(grep -c '"version" : ".*\.999"' application/Package.resolved)" = 2 ]; }
check "library: … with versions of other packages that camrec itself does not use" uses_others
# A debug build of an application has the libraries' debug build, too. The compiler checks the same sources again.
[ -z "${CAMREC_LIBRARY_DEBUG:-}" ] || check "library: and in debug" builds debug

run() { example "$@" >output 2>&1 || { cat output; return 1; }; }
check "library: the first 200 frames" run FirstFrames first.h264
check "library: … with a keyframe every 60, in the promised shape" is_sound first.h264 --frames 200 --keyframe-interval 60

mkdir pictures
receives() { [ "$(example Receiver h264 pictures <first.h264 2>&1 | tee output)" = "200 pictures, 0 losses" ] || { cat output; return 1; }; }
check "library: a receiver decodes all of them" receives
saves() { [ "$(cd pictures && echo *)" = '0.png 100.png' ]; }
check "library: … and saves every hundredth" saves
gray() { ffmpeg -v error -i "$1" -vf "${3:-null}" -frames:v 1 -f rawvideo -pix_fmt gray "$2"; }
resembles() {
    gray first.h264 expected.gray 'select=eq(n\,100)' && gray pictures/100.png saved.gray && python3 - <<'END'
expected, saved = (open(name, "rb").read() for name in ("expected.gray", "saved.gray"))
assert len(expected) == len(saved) > 0
assert sum(abs(a - b) for a, b in zip(expected, saved)) / len(saved) < 4
END
}
check "library: … as the pictures that they are" resembles

check "library: an animation of a program's own" run Animation animation.mp4
moves() {
    [ "$(ffprobe -v error -select_streams v -count_frames -show_entries stream=nb_read_frames,width,height,r_frame_rate -of csv=p=0 animation.mp4)" = 640,360,25/1,100 ] || return 1
    # The bar of frame 50 begins at column 300.
    ffmpeg -v error -i animation.mp4 -vf 'select=eq(n\,50),format=gray,crop=640:1:0:180' -frames:v 1 -f rawvideo -pix_fmt gray row.gray &&
        python3 -c 'row = open("row.gray", "rb").read(); assert min(row[306:334]) > 180 and max(row[:290]) < 90 and max(row[350:]) < 90, list(row[280:360])'
}
check "library: … of 100 pictures, in which the bar moves" moves

check "library: tasks that record the test picture" run AsyncPipeline tasks.h264
asks() {
    is_sound tasks.h264 --frames 100 || return 1
    # A second of 30 pictures between keyframes, as near as a busy machine keeps it.
    ffprobe -v error -show_entries frame=key_frame -of csv=p=0 tasks.h264 | awk -F, '$1 == 1 { print NR - 1 }' >keyframes
    awk 'NR == 1 && $1 != 0 || NR == 2 && ($1 < 10 || $1 > 60) { exit 1 } END { exit NR < 2 }' keyframes || { cat keyframes; return 1; }
}
check "library: … in which a keyframe came where one was asked for" asks

check "library: a raw stream with lengths in place of start codes, and back" run LengthPrefixed first.h264 samples.avcc avcC back.h264
comes_back() {
    cmp first.h264 back.h264 && ffmpeg -v error -i first.h264 -c copy -y first.mp4 && python3 - <<'END'
config, file, samples = (open(name, "rb").read() for name in ("avcC", "first.mp4", "samples.avcc"))

def parsed(record):
    """What a record with one set of each kind says. ffmpeg's PPS has the zero of the next start code."""
    sets, position = [], 5
    for _ in range(2):
        length = int.from_bytes(record[position + 1 : position + 3], "big")
        sets.append((record[position], record[position + 3 : position + 3 + length].rstrip(b"\0")))
        position += 3 + length
    return record[:5], sets, record[position:]

start = file.index(b"avcC")
record = file[start + 4 : start - 4 + int.from_bytes(file[start - 4 : start], "big")]
assert parsed(config) == parsed(record), f"not ffmpeg's record: {config.hex()}, {record.hex()}"
position = 0
while position < len(samples):
    position += 4 + int.from_bytes(samples[position : position + 4], "big")
assert position == len(samples), "the lengths do not end with the file"
END
}
check "library: … is the stream that it was, with ffmpeg's record" comes_back

sends() {
    python3 - <<'END'
import socket, subprocess
server = socket.create_server(("127.0.0.1", 0))
sender = subprocess.Popen(["application/.build/release/Sender", "127.0.0.1", str(server.getsockname()[1])])
connection, _ = server.accept()
with open("sent.h265", "wb") as file:
    while file.tell() < 200_000:
        file.write(connection.recv(65536))
connection.close()
assert sender.wait(timeout=30) != 0, "it goes on without a receiver"
END
    ffprobe -v error -show_entries frame=pict_type,key_frame -of csv=p=0 sent.h265 | head -n 25 | awk -F, '$1 == 1 { print NR - 1 }' | paste -sd' ' >keyframes
    grep -qx '0 10' keyframes || { cat keyframes; return 1; }
}
check "library: a sender's extra keyframe is where it was asked for" sends
finish
