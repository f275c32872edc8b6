#!/bin/bash
# The unit tests, each of them a check.
# usage: unit.sh [debug|address|thread]      UNIT_FILTER: only the tests that this regular expression finds
#   debug            in a debug build, as swift test runs them
#   address, thread  the same under the sanitizer of that name
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
cd "$LAB/../.."
case ${1-} in
    '') name="unit tests" options=("${test_options[@]}") ;;
    debug) name="unit tests, debug build" options=() ;;
    address | thread) name="unit tests, $1 sanitizer" options=(--sanitize "$1" --scratch-path ".build-$1") ;;
    *) echo "usage: unit.sh [debug|address|thread]" >&2 && exit 64 ;;
esac
export LSAN_OPTIONS=suppressions=$PWD/Tests/Sanitizers/leaks.supp
if swift build --build-tests "${options[@]}" 2>&1; then
    status=0
    timeout --kill-after=10 1800 swift test --skip-build --parallel ${UNIT_FILTER:+--filter "$UNIT_FILTER"} --xunit-output "$work/unit.xml" \
        "${options[@]}" >"$work/log" 2>&1 || status=$?
    if [ $status != 0 ]; then tail -n 60 "$work/log"; fi
    "$PYTHON" "$LAB/verify/unit_tests.py" "$name" $status "$work"/unit*.xml >"$work/results" || fail "$name" "no report of the tests"
    cat "$work/results" >>"$LAB_TALLY"
    awk -F '\t' '$1 == "fail" {print "FAIL  " $2 ": " $3} {n[$1]++} END {printf "%d passed, %d failed, %d skipped\n", n["pass"], n["fail"], n["skip"]}' "$work/results"
else
    fail "$name" "they do not build"
fi
finish
