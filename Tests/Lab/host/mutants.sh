#!/bin/bash
# The tests' own tools, and whether each mutant still applies to one place and names a stage that exists.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
check "mutants: each applies, and is to be caught by a stage that exists" "$LAB/../../scripts/mutants" --check
check "mutants and stages: what finds and runs them" "$PYTHON" "$LAB/verify/tools_tests.py"
finish
