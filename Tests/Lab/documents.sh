# Sourced by the scripts that run what README.md and the pages under docs/ show. Blocks of the language sh hold the
# commands, one a line. A line that ends in & runs in the background; the next one follows as soon as it listens. Those
# of scripts/ are run by scripts/test. Pages that want a camera or a look at devices run in the guest.
# shellcheck shell=bash

repository=$(cd "$LAB/../.." && pwd)
export SDL_VIDEODRIVER=dummy SDL_AUDIODRIVER=dummy # there is no display
gpu=()
if has_gpu "documents: by hardware" iHD; then gpu=("$LAB/gpu/run" iHD); fi

pages() { # the paths of those that show commands
    local page
    while read -r page; do
        if [ -n "$(commands "$page")" ]; then echo "$page"; fi
    done < <(cd "$repository" && echo README.md && find docs -name '*.md' | sort)
}

commands() { # PAGE
    awk '/^```sh *$/ {inside = 1; next} /^```/ {inside = 0} inside' "$repository/$1" | grep -vE '^($|#|(\./)?scripts/|git clone|cd )' || true
}

wants_devices() { # PAGE
    commands "$1" | grep -qE '/dev/|camrec (devices|doctor|snapshot)'
}

as_shown() { # COMMAND: a recording without an end is stopped as its user would, by Ctrl-C
    timeout --preserve-status --signal=INT --kill-after=20 60 env --default-signal=INT "${gpu[@]}" bash -c "$1" </dev/null
}

# Who listens, not how many: an earlier command may stop listening meanwhile.
translations() { # what coming-from.md has for other programs' commands; the first column is theirs
    awk -F '|' '/^\| `/ {print $3}' "$repository/docs/guide/coming-from.md" | grep -oE '`cam(rec|play|web) [^`]*`' | tr -d '`'
}

with_test_picture() { # COMMAND: the same with the test picture as the camera
    local command=${1//\/dev\/video0/test}
    case $command in
        'camrec devices'* | 'camrec remux'* | 'camrec inspect'*) ;;
        *--device*) ;;
        'camrec snapshot '*) command="camrec snapshot --device test ${command#camrec snapshot }" ;;
        'camrec '*) command="camrec --device test ${command#camrec }" ;;
    esac
    echo "${command/#camrec --/camrec --encoder software --}"
}

as_translated() { # COMMAND CODE: one without an end is stopped by Ctrl-C
    local status=0
    timeout --preserve-status --signal=INT --kill-after=20 3 env --default-signal=INT bash -c "exec $1" </dev/null || status=$?
    [ $status = "$2" ] || { echo "exit code $status"; return 1; }
}

run_translations() { # LEAST
    local line found=0 code
    while read -r line; do
        found=$((found + 1)) code=0
        # Nobody takes the stream.
        case $line in *rtsp://*) code=74 ;; esac
        check "coming from: $line" as_translated "$(with_test_picture "$line")" $code
    done < <(translations)
    check "documents: other programs' commands are translated" test $found -ge "$1"
}

listeners() { ss -Hltx state listening | awk '{print $1, $4, $5}' | sort -u; }
one_more_listens() { [ -n "$(comm -13 <(echo "$1") <(listeners))" ]; } # SINCE

in_background() { # NAME COMMAND
    local before
    before=$(listeners)
    check "$1" as_shown "$2" &
    jobs+=($!)
    await 20 one_more_listens "$before" || true
}

run_pages() { # LEAST PAGE...: each in a checkout of its own, which begin_page makes; together they have so many commands
    local page line job jobs=() least=$1 found=0
    shift
    for page; do
        begin_page
        while read -r line; do
            found=$((found + 1))
            case $line in
                *' &') in_background "${page%.md}: $line" "${line% &}" ;;
                *) check "${page%.md}: $line" as_shown "$line" ;;
            esac
        done < <(commands "$page")
        for job in "${jobs[@]}"; do wait "$job"; done
        jobs=()
    done
    check "documents: pages show commands" test $found -ge "$least"
}
