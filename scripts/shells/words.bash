
# What the above does not know: recording needs no command, and bash splits words at '=' and ':'.
_PROGRAM_words() {
    local -r commands='COMMANDS'
    local -a joined=() words=()
    local rest=${COMP_LINE:0:COMP_POINT} gap word index isOption=yes
    for ((index = 0; index <= COMP_CWORD; index++)); do
        gap=${rest%%[![:space:]]*}
        rest=${rest#"$gap"}
        # The last one ends at the cursor.
        word=${COMP_WORDS[index]}
        ((index < COMP_CWORD)) || word=$rest
        rest=${rest#"$word"}
        if ((index == 0)) || [[ -n $gap ]]; then joined+=("$word"); else joined[-1]+=$word; fi
    done
    for word in "${joined[@]}"; do
        [[ $word != -- ]] || isOption=
        if [[ -n $isOption && $word == --*=* ]]; then words+=("${word%%=*}" "${word#*=}"); else words+=("$word"); fi
    done

    local isCommand=yes
    if ((${#words[@]} > 2)); then
        [[ " $commands " == *" ${words[1]} "* ]] || isCommand=
    elif [[ ${words[1]} == -* || -z $(compgen -W "$commands" -- "${words[1]}") ]]; then
        isCommand=
    fi
    if [[ -n $commands && -z $isCommand ]]; then words=("${words[0]}" record "${words[@]:1}"); fi

    local -a COMP_WORDS=("${words[@]}")
    local -i COMP_CWORD=$((${#words[@]} - 1))
    local COMP_LINE=${words[*]}
    local -i COMP_POINT=${#COMP_LINE}
    local -r current=${words[COMP_CWORD]}
    _PROGRAM "${words[0]}" "$current" "${words[COMP_CWORD - 1]}"

    # Only what follows the last '=' or ':' is replaced.
    local -r settled=${current%"$2"}
    COMPREPLY=("${COMPREPLY[@]#"$settled"}")
    case ${COMPREPLY[0]-} in *= | */) compopt -o nospace ;; esac
}
complete -o filenames -F _PROGRAM_words PROGRAM
