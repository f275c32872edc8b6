#!/bin/bash
# Installs the packages that the builds and the other stages need.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
if said=$("$LAB/../../scripts/install-packages" build test distributions 2>&1); then
    pass "packages: installed"
elif [ "$(id -u)" = 0 ]; then
    fail "packages: installed" "$said"
else
    skip "packages: installed" "$said"
fi
finish
