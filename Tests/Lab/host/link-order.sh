#!/bin/bash
# Whether the programs have the functions that Sources/camrec/link-order.txt places.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
check "link order: its functions exist" "$LAB/../../scripts/link-order" --check
finish
