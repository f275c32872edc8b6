# shellcheck shell=bash
# Recordings in the guest that faults strike, and what the faults cost. Sourced after faults.sh.
# shellcheck disable=SC2154 # kept and status are set there

measured() { # FOLDER FAULT OPTIONS...: the folder's content shows what the fault cost
    local number='' times=() files=()
    while [ -e "$1/out$number.h264" ]; do
        times+=(--times "$1/times$number.txt")
        files+=("$1/out$number.h264")
        number=$((number - 1)) # out.h264, out-1.h264 ...
    done
    trial "$2" --block 0 --report "$1/report.json" "${times[@]}" "${@:3}" "${files[@]}"
}
on_host eval "$(declare -f measured)"

# --- a recording, in the background
launcher=() camera=() rate=
recording() { # FOLDER OPTIONS...: returns when pictures come
    folder=$1
    mkdir "$folder"
    "${launcher[@]}" "$CAMREC" "${camera[@]}" --report "$folder/report.json" --timestamps "$folder/times.txt" "${@:2}" "$folder/out.h264" 2>"$folder/stderr" &
    recorder=$!
    await 60 pictures_beyond 5 || fail "$folder" "no pictures: $(tail -n 2 "$folder/stderr")"
}
pictures_beyond() { # COUNT
    local lines
    { mapfile -t lines <"$folder/times.txt"; } 2>/dev/null && [ ${#lines[@]} -gt $(($1 + 1)) ]
}
goes_on() { # [PICTURES]: until more come than were on their way through the driver's buffers and the encoder
    local lines
    mapfile -t lines <"$folder/times.txt"
    await 90 pictures_beyond $((${#lines[@]} + ${1:-12})) || fail "$folder" "it goes on no more: $(tail -n 2 "$folder/stderr")"
}
finished() { # asks for the end, leaves the exit code in $status, and keeps what there is
    ended TERM
    mv "$folder" "$RESULTS/$kept/"
}

strikes() { # FOLDER FAULT TIMES COMMAND OPTIONS...: at random moments of one recording, each of which costs something
    local number
    recording "$1" "${recorded[@]}"
    for ((number = 0; number < $3; number++)); do
        for_a_while 0 1000
        $4
        goes_on
    done
    finished
    on_host measured "$kept/$1" "$2" --status $status --rate $rate --made "$3" "${@:5}"
    on_host settle "$2"
}
recorded=() # options of the next recordings

lasts() { # FOLDER FAULT PICTURES OPTIONS...: for all of a recording
    recording "$1" "${recorded[@]}"
    goes_on "$3"
    finished
    on_host measured "$kept/$1" "$2" --status $status --rate $rate "${@:4}"
    on_host settle "$2"
}

halt() {
    kill -STOP $recorder
    for_a_while 500 4000
    kill -CONT $recorder
}
