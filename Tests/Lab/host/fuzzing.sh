#!/bin/bash
# Each reader of untrusted bytes, with the same few inputs every time.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
fuzz=$LAB/../../scripts/fuzz
# Its status reflects findings, as the table does.
"$fuzz" --short >table 2>log || true
tail -n +2 table >targets
check "fuzzing: each target ran" test "$(wc -l <targets)" = "$("$fuzz" --list | wc -l)"
if [ ! -s targets ]; then fail "fuzzing" "$(tail -n 3 log)"; fi
while read -r target executions coverage found; do
    if [ "$found" = none ]; then
        pass "fuzzing: $target, $executions inputs, coverage $coverage"
    else
        fail "fuzzing: $target" "$found"
    fi
done <targets
finish
