#!/bin/bash
# Each session property, requested from one real driver on the emulated GPU: runs the unit tests' table on it. Rates are
# read from the calls to libva, because the emulated GPU has no rate control.
# usage: properties.sh radeonsi|iHD [TESTS]      TESTS: the built unit tests; by default the optimised ones if they exist
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
driver=${1:?usage: properties.sh radeonsi|iHD [TESTS]}
repository=$(cd "$LAB/../.." && pwd)
tests=${2:-$repository/.build-optimised/release/camrecPackageTests.xctest}
[ -x "$tests" ] || tests=$repository/.build/debug/camrecPackageTests.xctest
tests=$(readlink -m "$tests")
begin

if ! has_gpu "properties: $driver" "$driver" 'H264.*EncSlice'; then
    : # counted
elif [ ! -x "$tests" ]; then
    fail "properties: $driver" "no unit tests in $tests; build them with swift build --build-tests"
else
    status=0
    # The pictures are not examined.
    CAMREC_PROPERTIES_OF=$driver FAKEGPU_PICTURES=cheap timeout --kill-after=10 600 "$LAB/gpu/run" "$driver" \
        "$tests" --testing-library swift-testing --filter PropertyTableTests --xunit-output unit.xml >unit.log 2>&1 || status=$?
    if [ $status != 0 ]; then grep -a 'recorded an issue' unit.log | cut -c 1-300 || tail -n 20 unit.log; fi
    "$PYTHON" "$LAB/verify/unit_tests.py" "properties: $driver" $status unit*.xml >unit.tally || fail "properties: $driver" "ended with status $status"
    while IFS=$'\t' read -r outcome name reason; do count "$outcome" "$name" "$reason"; done <unit.tally
fi
finish
