#!/bin/bash
# What the sources look like: targets, format, scripts.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
cd "$LAB/../.."

# Folders that Package.swift does not name are not built, and nobody would notice.
tests_are_named() {
    local folder status=0
    for folder in Tests/*Tests; do
        grep -q "name: \"$(basename "$folder")\"" Package.swift || { echo "$folder is not in Package.swift" && status=1; }
    done
    return $status
}
# CONTRIBUTING.md has a map of them.
targets_are_described() {
    local folder status=0
    for folder in Sources/*/; do
        grep -q "^|.*\`$(basename "$folder")\`" CONTRIBUTING.md || { echo "$folder is not in CONTRIBUTING.md" && status=1; }
    done
    return $status
}
check "layout: the map names each target" targets_are_described
check "layout: each folder of tests is built" tests_are_named
check "layout: each target names what it imports" "$PYTHON" "$LAB/verify/targets.py" . Tests/Fuzz Tests/Benchmark
check "layout: arrows between targets point down, and the figures are those of today's sources and tables" scripts/figures --check
check "layout: swift format" swift format lint --strict --parallel --recursive Package.swift Sources Tests
# shellcheck disable=SC2046 # no spaces in them
check "layout: shellcheck" shellcheck --severity=warning $(grep -rlE '^#!/bin/bash' scripts .ci debian packaging Tests/Lab --include='*' | grep -v /webcam/guest)
finish
