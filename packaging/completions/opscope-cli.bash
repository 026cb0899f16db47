# SPDX-License-Identifier: GPL-3.0-or-later
# Bash completion of opscope-cli: commands, helpers, options and their words are asked from the program's own
# help, so that nothing is listed that is not there.

_opscope_cli_section() {
    # The indented lines below "$1:" in the help on standard input.
    awk -v section="$1:" '$0 == section {inside = 1; next} inside && /^[^ ]|^$/ {exit} inside {print}'
}

_opscope_cli_options() {
    # The options of a command, and of the helper it is given: the help of both.
    local program=$1 command=$2 helper=$3
    {
        # shellcheck disable=SC2086
        "$program" $command --help 2>/dev/null | _opscope_cli_section options
        if [[ -n $helper ]]; then
            "$program" "$command" "$helper" --help 2>/dev/null | _opscope_cli_section options
        fi
    } | grep -oE -- '^ *(-[a-z], )?--[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+' | sort -u
}

_opscope_cli_choices() {
    # The words that option "$4" of a helper takes: what stands behind its help, or true and false.
    local line
    line=$("$1" "$2" "$3" --help 2>/dev/null | _opscope_cli_section options | grep -E -- "^ *$4 ")
    if [[ $line == *"(default true)"* || $line == *"(default false)"* ]]; then
        echo "true false"
    elif [[ $line =~ :\ ([a-z0-9_]+(,\ [a-z0-9_]+)+)$ ]]; then
        echo "${BASH_REMATCH[1]//,/ }"
    fi
}

_opscope_cli() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]}
    local command= helper= words= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} != -* ]]; then
            command=${COMP_WORDS[i]}
            if [[ $command == report || $command == run ]] && ((i + 1 < COMP_CWORD)); then
                helper=${COMP_WORDS[i+1]}
            fi
            break
        fi
    done
    if [[ $cur == -* ]]; then
        words=$(_opscope_cli_options "$program" "$command" "$helper")
    elif [[ -z $command ]]; then
        words=$("$program" --help 2>/dev/null | _opscope_cli_section commands | awk '{print $1}')
    elif [[ $prev == "$command" && ( $command == report || $command == run ) ]]; then
        words="list $("$program" "$command" list 2>/dev/null | awk '/^[a-z]/ {print $1}')"
    elif [[ -n $helper && $prev == --* ]]; then
        words=$(_opscope_cli_choices "$program" "$command" "$helper" "$prev")
    fi
    if [[ -n $words ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}

complete -o filenames -F _opscope_cli opscope-cli
