#!/bin/bash
# The programs, built for arm64 by scripts/cross and run under qemu-user, and what that script refuses.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
repository=$(cd "$LAB/../.." && pwd)
bin=$repository/.build-arm64/release
sysroot=$LAB_CACHE/cross/arm64/camrec.artifactbundle/arm64/sysroot

cross() { "$repository/scripts/cross" "$@" >"$work/stdout" 2>"$work/stderr"; }
refuses_to_cross() { # NAME CODE PATTERN ARGUMENTS...: one line on standard error, and nothing is made
    check "$1" said_in_one_line "${@:2}"
    check "$1, and makes nothing" test ! -e "$work/cache/cross/compiler"
    rm -rf "$work/cache" "$work/instead"
}
said_in_one_line() { # CODE PATTERN ARGUMENTS...
    local code=0
    PATH=$work/instead:$PATH CAMREC_LAB_CACHE=$work/cache cross "${@:3}" || code=$?
    [ $code = "$1" ] && [ "$(wc -l <"$work/stderr")" = 1 ] && grep -qE -- "$2" "$work/stderr" || { echo "exit code $code: $(cat "$work/stderr")"; return 1; }
}
instead() { # PROGRAM SCRIPT: what the next refusal runs in its place; $real is the program itself
    mkdir -p instead
    printf '#!/bin/bash\nreal=%s\n%s\n' "$(command -v "$1")" "$2" >"instead/$1"
    chmod +x "instead/$1"
}
refuses_to_cross "cross: an unknown architecture is refused" 64 '^usage: ' riscv64
instead id 'if [ "$*" = -u ]; then echo 65534; else exec $real "$@"; fi'
refuses_to_cross "cross: without root it says so" 1 '^cross: needs root' arm64
if [ "$(id -u)" != 0 ]; then
    skip "cross" "needs root for debootstrap and chroot"
    finish
    exit
fi
if ! apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2>/dev/null | grep -q .; then
    skip "cross" "this machine's apt has no source of Debian's packages"
    finish
    exit
fi

instead df 'echo Avail; echo 100'
refuses_to_cross "cross: a full disk is refused" 1 '^cross: .*: 100 MB are free and [0-9]+ MB needed; ' arm64
instead apt-get "if [ \"\$1\" = indextargets ]; then echo file:$work/mirror/; else exec \$real \"\$@\"; fi"
refuses_to_cross "cross: a mirror without unstable is refused" 1 '^cross: file:.*: no list of Debian unstable \(sid\), which has the compiler: ' arm64
instead apt-cache 'case $2 in *:arm64) echo "  Candidate: 6.2.2-1+b3" ;; *) echo "  Candidate: 6.2.3-1" ;; esac'
refuses_to_cross "cross: a runtime of another version is refused" 1 '^cross: swiftlang: the compiler in the archive is 6.2.3-1, the runtime for arm64 is 6.2.2-1, ' arm64
instead apt-cache 'case $2 in *:amd64) echo "  Candidate: 6.2.3-1" ;; esac'
refuses_to_cross "cross: no runtime is refused" 1 '^cross: .*: Debian unstable has no swiftlang for arm64; ' arm64

if ! cross arm64; then
    fail "cross: the programs are built" "$(grep -m 1 -A 3 'error:' stderr || tail -n 3 stderr)"
    finish
    exit
fi
pass "cross: the programs are built"
runs_there() { # PROGRAM: its header names arm64, and it has Swift's libraries in it
    readelf --file-header "$1" | grep -q 'Machine: *AArch64' && ! readelf --dynamic "$1" | grep -E 'RPATH|RUNPATH|libswift|libFoundation' &&
        ! readelf --sections "$1" | grep -F ' .symtab'
}
for program in camrec camplay camweb; do check "cross: $program is for arm64, stripped, and needs no Swift" runs_there "$bin/$program"; done
check "cross: a second run succeeds" cross arm64
check "cross: … and makes nothing" eval '! grep -E "cross: makes|Compiling|Linking" stderr'

if ! command -v qemu-aarch64 >/dev/null; then
    skip "cross: recordings" "no qemu-aarch64; scripts/install-packages test brings it"
    finish
    exit
fi
# Not -L, which puts the sysroot before every path from the root.
launcher=(qemu-aarch64 "$sysroot/usr/lib/ld-linux-aarch64.so.1" --library-path "$sysroot/usr/lib/aarch64-linux-gnu")
CAMREC=$bin/camrec
for codec in h264 h265; do
    if records "cross: records $codec" --device test --size 320x240 --encoder software --no-pace --frames 30 out.$codec; then
        check "cross: $codec is sound to this machine's ffmpeg" is_sound out.$codec --frames 30
        check "cross: $codec has its size" has_properties out.$codec width=320 height=240
        records "cross: inspects $codec" inspect --check out.$codec
    fi
done
if records "cross: records a container" --device test --size 320x240 --encoder software --no-pace --frames 30 out.mkv; then
    check "cross: the container is sound to this machine's ffmpeg" decodes_container out.mkv
fi
check "cross: camplay plays" "${launcher[@]}" "$bin/camplay" --no-window --output out.yuv out.h264
check "cross: camplay plays each frame" test "$(stat -c %s out.yuv)" = $((320 * 240 * 3 / 2 * 30))
check "cross: camweb starts" "${launcher[@]}" "$bin/camweb" --version
finish
