#!/bin/bash
# Completions in bash, zsh and fish, as someone at a terminal gets them.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
repository=$(cd "$LAB/../.." && pwd)
PATH=$(dirname "$CAMREC"):$(dirname "$CAMPLAY"):$(dirname "$CAMWEB"):$PATH

# What is typed, and what each shell offers: exactly these.
cases() { # NAME|LINE|WORDS, sorted
    local command
    for command in camrec "camrec inspect" "camrec remux" "camrec doctor" camplay camweb; do
        echo "every option of $command|$command --|$(options "$command")"
    done
    cat <<'END'
commands|camrec re|record remux
a command|camrec de|devices
another command|camrec ins|inspect
an option of a recording without its command|camrec --device test --form|--format
the same with it|camrec record --device test --form|--format
sources|camrec --device |one.y4m test
a y4m file|camrec --device on|one.y4m
a folder on the way to one|camrec --device fol|folder
sizes|camrec --device test --size 1|1280x720 1920x1080
formats without a camera|camrec --device test --format |auto
encoders|camrec --encoder |auto software vaapi
a property of a rendition|camrec --listen 9983,s|9983,size=
another one|camrec --listen 9983,size=640x360,c|9983,size=640x360,codec=
rate control|camrec --rate-control |auto cbr cqp icq qvbr vbr
an output|camrec --frames 5 no|notes.txt
an output at once|camrec no|notes.txt
a recording, not another file|camrec remux t|two.mkv
a folder to adopt|camrec adopt f|folder
commands for a recording|camrec ctl socket st|stats stop
a file to play|camplay tw|two.mkv
a folder of settings|camweb --settings fol|folder
a command of camweb|camweb pas|password
decoders|camplay --decoder s|software
an absent camera is passed over in silence|camrec --device /dev/video250 --format |auto
END
    echo "a value after '='|camrec --device=test --encoder=v|--encoder=vaapi"
    echo "a camera's value after '='|camrec --device=test --size=12|--size=1280x720"
}
options() { # COMMAND: as its help shows them, sorted
    # shellcheck disable=SC2086 # a program and its command
    command $1 --help | grep -oE '^  (-[a-z], )?--[a-z-]+(/--[a-z-]+)?' | grep -oE -- '--[a-z-]+' | LC_ALL=C sort -u | paste -sd ' '
}

if ! "$repository/scripts/completions" completions "$CAMREC" "$CAMPLAY" "$CAMWEB" >said 2>&1; then
    fail "completions are made" "$(cat said)"
    finish
    exit
fi
pass "completions are made"
check "completions: the same programs make the same files" eval "'$repository/scripts/completions' again '$CAMREC' '$CAMPLAY' '$CAMWEB' && diff -r completions again"
touch one.y4m two.mkv notes.txt '$(touch ran).y4m'
mkdir folder
for shell in bash zsh fish; do
    if ! command -v $shell >/dev/null; then
        skip "$shell" "no $shell; scripts/install-packages test brings it"
        continue
    fi
    rm -f ran
    cases >cases
    mapfile -t lines < <(cut -d '|' -f 2 cases)
    status=0
    "$PYTHON" "$LAB/verify/shells.py" $shell "$work/completions" "${lines[@]}" >offered 2>said || status=$?
    check "$shell: answers without complaints" eval "[ $status = 0 ] || { cat said; false; }"
    while IFS='|' read -r -u 3 name line wanted && IFS= read -r -u 4 found; do
        check "$shell: $name" eval "[ -n '$wanted' ] && [ '$found' = '$wanted' ] || { echo \"'$line' offers: $found; expected: $wanted\"; false; }"
    done 3<cases 4<offered
    # The file whose name is a command was among those it looked at.
    check "$shell: a file's name is not run" test ! -e ran
done
finish
