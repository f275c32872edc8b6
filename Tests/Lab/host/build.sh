#!/bin/bash
# The one build that the unit tests and the programs of a basic run share.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
cd "$LAB/../.."
if swift build --build-tests "${test_options[@]}" 2>&1; then pass "build: programs and unit tests"; else fail "build: programs and unit tests" "status $?"; fi
finish
