#!/bin/bash
# Each session property, requested from one real driver on the emulated GPU: runs the unit tests' table on it. Rates are
# read from the calls to libva, because the emulated GPU has no rate control.
# usage: properties.sh radeonsi|iHD [TESTS]      TESTS: the built unit tests, if not those of build.sh
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
driver=${1:?usage: properties.sh radeonsi|iHD [TESTS]}
repository=$(cd "$LAB/../.." && pwd)
tests=$(readlink -m "${2:-$repository/$test_build/camrecPackageTests.xctest}")
begin

if ! has_gpu "properties: $driver" "$driver" 'H264.*EncSlice'; then
    : # counted
elif [ ! -x "$tests" ]; then
    fail "properties: $driver" "no unit tests in $tests; build them with Tests/Lab/host/build.sh"
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
