#!/bin/bash
# What scripts/release checks, and the commit that a build names.
set -euo pipefail
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"
begin
repository=$(cd "$LAB/../.." && pwd)
export GIT_AUTHOR_NAME=lab GIT_AUTHOR_EMAIL=lab@example.org GIT_COMMITTER_NAME=lab GIT_COMMITTER_EMAIL=lab@example.org

# A release of its own, in a copy of what is in this folder now.
mkdir copy
git -C "$repository" ls-files -z --cached --others --exclude-standard | tar -C "$repository" --null --ignore-failed-read -T - -c 2>/dev/null | tar -C copy -x
cd copy
version=$(sed -nE 's/.*static let current = "([^"]+)".*/\1/p' Sources/CamCommandLine/Version.swift)
sed -i "0,/^## .*/s//## [$version] – 2026-01-31/" CHANGELOG.md
git init -q && git add -A && git commit -qm "A release" && git tag -a -m "A release" "v$version"
fails_only() { # NAME: of the quick checks
    local said status=0
    said=$(scripts/release --quick 2>&1) || status=$?
    [ $status = 1 ] && [ "$(grep -c '^FAIL' <<<"$said")" = 1 ] && grep -q "^FAIL  $1" <<<"$said" || { echo "status $status: $said"; return 1; }
}
check "release: a release is one" scripts/release --quick
# Not one line more: how long it may be is another check.
sed -i '$s/$/ And more./' README.md
check "release: a change is seen" fails_only checkout
git checkout -q README.md
git tag -d "v$version" >/dev/null
check "release: a missing tag is seen" fails_only tag
sed -i "0,/^## .*/s//## [Unreleased]/" CHANGELOG.md
git commit -qam "Not a release" && git tag -a -m "Not a release" "v$version"
check "release: a changelog without the version is seen" fails_only changelog
git reset -q --hard HEAD~ && git tag -d "v$version" >/dev/null
echo '[nowhere](nowhere.md)' >>docs/rates.md
git commit -qam "A broken link" && git tag -a -m "A broken link" "v$version"
check "release: a broken link is seen" fails_only "documents: links"

# The commit: given to the build, or in the files of an archive, or not known.
names_commit() { # EXPECTED FOLDER [OPTION]...
    local expected=$1 folder=$2 found
    shift 2
    echo 'int puts(const char *); const char *cbuild_commit(void); int main(void) { return puts(cbuild_commit()) < 0; }' >"$work/main.c"
    gcc -Wall -Wextra -Werror -I "$folder/Sources/CBuild/include" "$@" -o "$work/main" "$work/main.c" "$folder/Sources/CBuild/CBuild.c" || return
    found=$("$work/main")
    [ "$found" = "$expected" ] || { echo "'$found' in place of '$expected'"; return 1; }
}
mkdir "$work/archive"
git archive HEAD Sources/CBuild | tar -C "$work/archive" -x
check "commit: none in a checkout whose build is given none" names_commit '' .
check "commit: the given one" names_commit 0123-dirty . '-DCAMREC_COMMIT="0123-dirty"'
check "commit: an archive's own" names_commit "$(git rev-parse HEAD)" "$work/archive"
check "commit: the given one in an archive" names_commit 0123 "$work/archive" '-DCAMREC_COMMIT="0123"'
cd "$work"
finish
