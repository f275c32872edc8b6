#!/bin/bash
# The manual pages: whether they are well-formed, have every option, and show nothing of the Markdown they are made of.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
repository=$(cd "$LAB/../.." && pwd)

manual() { SOURCE_DATE_EPOCH=1700000000 "$repository/scripts/manual" "$1" "$CAMREC" "$CAMPLAY" "$CAMWEB"; }
page() { mandoc -Tascii -O width=100 "pages/$1" | sed 's/.\x08//g'; }
section() { sed -n "/^$1\$/,/^[A-Z]/p" | sed 1d; }
options() { "$@" --help | grep -oE '^  (-[a-z], )?--[a-z-]+(/--[a-z-]+)?' | grep -oE -- '--[a-z-]+' | grep -vE '^--(help|version)$'; }
describes_all_options() { # PAGE COMMAND...: each is a term, with an explanation
    local page=$1 said option names status=0
    shift
    said=$(page "$page" | section OPTIONS)
    names=$(options "$@")
    [ -n "$names" ] || { echo "no options in the help"; return 1; }
    for option in $names; do
        grep -A 1 -E -- "^ {7}(--[a-z-]+, )*$option(, --[a-z-]+)*( |$)" <<<"$said" | grep -qE '[A-Za-z].* [A-Za-z]' || { echo "no $option" && status=1; }
    done
    return $status
}
describes_all_keys() {
    local said key status=0
    said=$(page camrec.conf.5 | section KEYS)
    for key in $(options "$CAMREC" | grep -vE '^--(no-pace|settings)$'); do
        grep -qE "^ {7}${key#--} [^ ]" <<<"$said" || { echo "no ${key#--}" && status=1; }
    done
    grep -qE '^ +output OUTPUT' <<<"$said" && return $status
}
describes_all_exit_codes() {
    local said code
    said=$(page camrec.1 | section 'EXIT STATUS')
    for code in $(grep -oE '= [0-9]+$' "$repository/Sources/CamCommandLine/ExitStatus.swift" | tr -d '= '); do
        grep -qE "^ +$code +[a-z]" <<<"$said" || { echo "no $code"; return 1; }
    done
}
fits_a_screen() { # PROGRAM: its -h, while --help has more
    local lines
    lines=$("$1" -h | tee short | wc -l)
    [ "$lines" -gt 20 ] && [ "$lines" -le 40 ] && [ "$(wc -L <short)" -le 80 ] && [ "$("$1" --help | wc -l)" -gt "$lines" ] || { echo "$lines lines"; return 1; }
}
has_topics() { # PROGRAM: each that its -h names has a text
    local topic topics
    "$1" help nothing 2>said && return 1
    topics=$(sed 's/.*topics are //; s/,//g' said)
    for topic in $topics; do
        "$1" help "$topic" | grep -q . || { echo "nothing on $topic"; return 1; }
    done
}
leads_somewhere() { # PAGE: the pages that it names are there
    local other
    for other in $(page "$1" | grep -oE 'cam[a-z@.-]+\([158]\)' | tr -d ')' | tr '(' .); do
        [ -e "pages/$other" ] || { echo "no $other"; return 1; }
    done
}
has_no_markup() {
    local found
    found=$(page "$1" | grep -E '`|\*\*|\]\(|^#|&lt;' | grep -vE '^ +# ' || true)
    [ -z "$found" ] || { echo "$found"; return 1; }
}
# A section that a page of docs/ no longer has is missed, not left out.
misses_section() {
    local said
    mkdir -p copy/Sources/CamCommandLine && cp -r "$repository"/{scripts,docs,README.md,CHANGELOG.md} copy/ && cp "$repository/Sources/CamCommandLine/Version.swift" copy/Sources/CamCommandLine/
    sed -i 's/^## Precedence$/## Preference/' copy/docs/reference/settings.md
    ! said=$(copy/scripts/manual elsewhere "$CAMREC" "$CAMPLAY" 2>&1) && grep -q "no section 'Precedence'" <<<"$said" || { echo "$said"; return 1; }
}

for program in "$CAMREC" "$CAMPLAY" "$CAMWEB"; do
    check "help: -h of $(basename "$program") fits a screen" fits_a_screen "$program"
    check "help: the topics of $(basename "$program")" has_topics "$program"
done
check "help: it is wrapped to the terminal" test "$(COLUMNS=60 "$CAMREC" help sound | wc -L)" -le 60
if ! command -v mandoc >/dev/null; then
    skip "manual" "no mandoc; scripts/install-packages test brings it"
    finish
    exit
fi
if ! manual pages >said 2>&1; then
    fail "manual: pages are made" "$(tail -n 3 said)"
    finish
    exit
fi
pass "manual: pages are made"
check "manual: mandoc has nothing to say" mandoc -Tlint pages/*
check "manual: groff has nothing to say" eval 'said=$(groff -ww -man -Tutf8 pages/* 2>&1 >/dev/null); [ -z "$said" ] || { echo "$said"; false; }'
check "manual: the same sources make the same pages" eval 'manual again && diff -r pages again'
check "manual: the date is the given one" grep -q '^\.TH "CAMREC" 1 "2023-11-14"' pages/camrec.1
dates_of_commit() {
    local day
    day=$(date --utc --date="@$(git -C "$repository" log -1 --format=%ct)" +%F)
    "$repository/scripts/manual" undated "$CAMREC" "$CAMPLAY" "$CAMWEB" && grep -q "^\.TH \"CAMREC\" 1 \"$day\"" undated/camrec.1
}
check "manual: otherwise that of the last commit" dates_of_commit
check "manual: a section that is gone from docs/ is missed" misses_section
for name in record devices inspect remux doctor; do
    check "manual: every option of camrec $name" describes_all_options camrec-$name.1 "$CAMREC" $name
done
check "manual: every option of camplay" describes_all_options camplay.1 "$CAMPLAY"
check "manual: every option of camweb" describes_all_options camweb.1 "$CAMWEB"
check "manual: every key of a settings file" describes_all_keys
check "manual: every exit code" describes_all_exit_codes
for file in pages/*; do
    name=$(basename "$file")
    check "manual: $name has no Markdown in it" has_no_markup "$name"
    check "manual: $name names pages that exist" leads_somewhere "$name"
done
finish
