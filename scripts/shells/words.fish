# Recording needs no command.
function __PROGRAM_tokens
    # 'commandline -C' fails where 'complete -C' asks.
    if test "$argv[1]" = -tC
        string length -- "$(commandline -ct)"
        return
    end
    set -l tokens (__PROGRAM_typed_tokens $argv)
    set -l commands COMMANDS
    set -l first (commandline -opc)[2]
    set -l begun (commandline -ct)
    if string match -q -- '-p*' $argv[1]; and test (count $commands) -gt 0
        if test -n "$first"; and not contains -- $first $commands
            set tokens $tokens[1] record $tokens[2..]
        else if test -z "$first" -a -n "$begun"; and not string match -q -- "$begun*" $commands
            set tokens $tokens[1] record $tokens[2..]
        end
    end
    printf '%s\n' $tokens
end

