# SPDX-License-Identifier: GPL-3.0-or-later
# Bash completion of opscope-cli: commands, options and report names are asked from the program's own help.

_opscope_cli_section() {
    # The first words of the indented lines below "$1:" in the help on standard input.
    awk -v section="$1:" '$0 == section {inside = 1; next} inside && /^[^ ]|^$/ {exit} inside {print}'
}

_opscope_cli() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]} command= i
    COMPREPLY=()
    for ((i = 1; i < COMP_CWORD; i++)); do
        if [[ ${COMP_WORDS[i]} != -* ]]; then
            command=${COMP_WORDS[i]}
            break
        fi
    done
    if [[ $cur == -* ]]; then
        # shellcheck disable=SC2086
        local options
        options=$("$program" $command --help 2>/dev/null | _opscope_cli_section options | grep -oE -- '--[a-z0-9-]+' | sort -u)
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    elif [[ -z $command ]]; then
        local commands
        commands=$("$program" --help 2>/dev/null | _opscope_cli_section commands | awk '{print $1}')
        mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$cur")
    elif [[ $command == report && $prev == report ]]; then
        local names
        names="list $("$program" report list 2>/dev/null | awk '/^[a-z]/ {print $1}')"
        mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    fi
}

complete -o filenames -F _opscope_cli opscope-cli
