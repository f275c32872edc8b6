    # Recording needs no command.
    local -ar commands=(COMMANDS)
    if (( CURRENT > 2 )); then
        local -ir is_command="${commands[(Ie)${words[2]}]}"
    else
        # Unquoted, so that each word is compared.
        local -ar begun=(${(M)commands:#${(b)PREFIX}*})
        local -ir is_command="${#begun}"
    fi
    if (( ${#commands} && ! is_command )); then
        words=("${words[1]}" record "${(@)words[2,-1]}")
        (( CURRENT++ ))
    fi

