#!/bin/bash
# What camrec has in C, built for arm64 and run under qemu-user: conversions, and the layouts that the kernel expects.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
repository=$(cd "$LAB/../.." && pwd)
sources=$repository/Sources

# Swift's CChar is UInt8 there, and this machine cannot compile Swift for it.
check "arm64: no Swift takes a C character for signed" eval '! grep -rnE "(CChar|UInt8)(\.init)?\(bitPattern" "$sources" "$repository"/Tests --include="*.swift"'
check "arm64: no Swift knows how large a page is" eval '! grep -rnE "[pP]age\w* = (4096|0x1000|4 << 10)" "$sources" "$repository"/Tests --include="*.swift"'

for tool in aarch64-linux-gnu-gcc qemu-aarch64; do
    if ! command -v $tool >/dev/null; then
        skip "arm64" "no $tool; scripts/install-packages test brings it"
        finish
        exit
    fi
done
if ! root=$("$LAB/arm64/fetch" 2>said); then
    skip "arm64" "$(tail -n 1 said)"
    finish
    exit
fi
libraries=$root/usr/lib/aarch64-linux-gnu

# The kernel's and libc's headers are those of the cross compiler.
build_arm64() { # OPTIONS...
    aarch64-linux-gnu-gcc -O2 -Wall -Wextra -Werror -idirafter "$root/usr/include" -idirafter "$root/usr/include/aarch64-linux-gnu" \
        -idirafter "$root/usr/include/libdrm" "$@" \
        -L "$libraries" -Wl,-rpath-link,"$libraries" -Wl,-rpath-link,"$root/lib/aarch64-linux-gnu"
}
run_arm64() { # PROGRAM, with variables before it
    qemu-aarch64 -L /usr/aarch64-linux-gnu -E "LD_LIBRARY_PATH=$libraries:$root/lib/aarch64-linux-gnu" "$@"
}
conversions=(-I "$sources/CYUV/include" "$LAB/arm64/conversions.c" "$sources"/CYUV/*.c)
layouts=(-I "$sources/CV4L2/include" "$LAB/arm64/layouts.c")
conversion_libraries=(-lyuv -ljpeg -lv4lconvert)

compiles() { # FOLDER: its C
    local file
    for file in "$1"/*.c; do build_arm64 -c -I "$1/include" -I "$sources/CFFmpeg/include" -I /usr/include/freetype2 -o compiled.o "$file" || return; done
}
for folder in $(find "$sources" -name '*.c' -printf '%h\n' | sort -u); do
    check "arm64: $(basename "$folder") compiles" compiles "$folder"
done

equal_layouts() {
    build_arm64 "${layouts[@]}" -o layouts.arm64 && run_arm64 layouts.arm64 >layouts.arm64.txt || return
    gcc -O2 "${layouts[@]}" -o layouts.here && ./layouts.here >layouts.here.txt || return
    diff layouts.here.txt layouts.arm64.txt
}
check "arm64: ioctl numbers carry their structures' sizes, and all is where this machine has it" equal_layouts

# What the Swift sources call of libyuv is converted here.
covers_libyuv() {
    local functions name
    functions=$(nm -D --undefined-only "$CAMREC" | awk '{print $2}' | grep -E '^[A-Z][A-Za-z0-9]+(Plane|To[A-Z0-9]+)$')
    [ -n "$functions" ] || { echo "$CAMREC calls nothing of libyuv"; return 1; }
    for name in $functions; do grep -q "\"$name\"" "$LAB/arm64/conversions.c" || { echo "no $name"; return 1; }; done
}
check "arm64: every function of libyuv that camrec calls is tried" covers_libyuv

if ! said=$(build_arm64 "${conversions[@]}" -o conversions.arm64 "${conversion_libraries[@]}" 2>&1); then
    fail "arm64: conversions are built" "$said"
    finish
    exit
fi
pass "arm64: conversions are built"
check "arm64: libyuv is within 1 of its C reference, RGB exact" eval 'run_arm64 conversions.arm64 >arm64.txt'
check "arm64: libjpeg equals its C reference" eval 'run_arm64 -E JSIMD_FORCENONE=1 conversions.arm64 >plain.txt && diff plain.txt arm64.txt'
equal_references() {
    gcc -O2 "${conversions[@]}" -o conversions.here "${conversion_libraries[@]}" && ./conversions.here >here.txt || return
    [ "$(wc -l <here.txt)" -gt 20 ] && diff here.txt arm64.txt
}
check "arm64: the references equal this machine's" equal_references
finish
