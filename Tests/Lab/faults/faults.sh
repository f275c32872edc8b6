# Sourced by the scripts in this folder, after lib.sh: injects faults, and measures what each cost and whether it was survived.
# shellcheck shell=bash disable=SC2034,SC2154 # what is set here is used there, and the other way round
#
# Each injected fault is a trial: a line of JSON in $LAB_FAULTS. `scripts/faults` makes a table of them.

LAB_FAULTS=${LAB_FAULTS:-${work:-$RESULTS}/faults.lines}
LAB_SEED=${LAB_SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$LAB_SEED # bash's generator, begun here: the same seed gives the same moments
export LAB_FAULTS LAB_SEED
touch "$LAB_FAULTS"
short=
if [ "${1-}" = --short ]; then short=yes; fi

times() { # FULL SHORT: how often a fault is made
    if [ -n "$short" ]; then echo "$2"; else echo "$1"; fi
}

draw() { # MIN MAX: a random number, in $drawn; a subshell would not move the generator on
    drawn=$(($1 + (RANDOM * 32768 + RANDOM) % ($2 - $1 + 1)))
}

for_a_while() { # LEAST MOST: some milliseconds, by chance
    draw "$1" "$2"
    read -rt "$((drawn / 1000)).$(printf %03d $((drawn % 1000)))" <> <(:) || true # never says anything
}

now() { cut -d ' ' -f 1 /proc/uptime; } # seconds, of a clock that nobody sets
since() { awk -v before="$1" '{print $1 - before}' /proc/uptime; }

# What a fault cost, measured in the pictures that can be decoded; see verify/faults.py for the options.
trial() { # FAULT OPTIONS... [FILE...]
    "$PYTHON" "$LAB/verify/faults.py" trial --part "$part" --fault "$@" >>"$LAB_FAULTS" || fail "$1" "it cannot be measured"
}

settle() { # FAULT: passes where each of its trials was survived
    check "$1" "$PYTHON" "$LAB/verify/faults.py" settle --part "$part" --fault "$1" "$LAB_FAULTS"
}

# A recording in the background, in its own folder, which is the working folder until the next one.
start() { # ARGUMENTS...
    cd "$work" && rm -rf run && mkdir run && cd run || exit
    "${launcher[@]}" "$CAMREC" --report report.json "$@" 2>stderr </dev/null &
    recorder=$!
}

holds() { # BYTES PATTERN: the existing files of this name have this many bytes
    # shellcheck disable=SC2086 # a pattern
    [ "$(cat $2 2>/dev/null | wc -c)" -ge "$1" ]
}

grows() { # PATTERN: more is written than there is now
    local before
    # shellcheck disable=SC2086 # a pattern
    before=$(cat $1 2>/dev/null | wc -c)
    await 30 holds $((before + 1)) "$1"
}

is_over() { ! kill -0 "$1" 2>/dev/null; }

ended() { # [SIGNAL]: the recording's exit code in $status; one that does not end is killed
    if [ -n "${1-}" ]; then kill "-$1" "$recorder" || true; fi
    await "${limit:-60}" is_over "$recorder" || kill -KILL "$recorder"
    status=0
    wait "$recorder" || status=$?
} 2>/dev/null # bash tells of processes that were killed

built() { # NAME OPTIONS...: this folder's NAME.c as a program or a library, in $built
    built=$LAB_CACHE/faults/$1
    mkdir -p "$LAB_CACHE/faults"
    [ "$built" -nt "$LAB/faults/$1.c" ] || gcc -std=gnu11 -O1 -Wall -Wextra -o "$built" "$LAB/faults/$1.c" "${@:2}"
}

in_guest() { # what both sides of a guest share; recordings are kept in $RESULTS/$kept
    echo "seed of the random moments: $LAB_SEED"
    on_host . "$LAB/faults/faults.sh"
    on_host eval "part=${part@Q}"
    kept=faults
    mkdir -p "$RESULTS/$kept"
}
