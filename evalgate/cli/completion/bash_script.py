"""The completion script of bash (3.2 or newer, as on macOS)."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.cli.completion.command_words import CommandWords, Value

_SCRIPT = r"""# Completes evalgate in bash. Written by: evalgate completion bash
_evalgate_command() {
    actions='' options='' values='' operands=''
    case $1 in
@COMMANDS@
    esac
}

# Ids of scenarios of the last run, one a line; none with a character that could change the terminal.
_evalgate_scenarios() {
    local results=.evalgate/results.json
    [[ -f $results && $(wc -c <"$results") -lt 1000000 ]] || return
    LC_ALL=C grep -oE '"id":"[^"\[:cntrl:]]+","variant":' "$results" | cut -d '"' -f 4 |
        LC_ALL=C grep -vE $'\xc2[\x80-\x9f]|\xe2\x80|\xe2\x81|\xef\xbb\xbf' | LC_ALL=C sort -u
}

_evalgate() {
    local IFS=$' \t\n' actions options values operands word='' name path='' kind='' ended='' count=0 i rest id quoted
    _evalgate_command ''
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word+=${COMP_WORDS[i]}
        ((i < COMP_CWORD)) || break
        # Bash splits words at = and :, which belong to a word here.
        [[ ${COMP_WORDS[i]} == *[=:] || ${COMP_WORDS[i + 1]} == [=:]* ]] && continue
        if [[ $kind ]]; then
            kind=
        elif [[ $word == -- ]]; then
            ended=1
        elif [[ $word == -* && ! $ended ]]; then
            [[ $values == *" $word="* ]] && kind=${values#*" $word="} && kind=${kind%% *}
        elif [[ " $actions " == *" $word "* ]]; then
            path+=" $word"
            _evalgate_command "$path"
        else
            count=$((count + 1))
        fi
        word=
    done
    local replaced=${word%"${word##*[=:]}"}
    [[ $COMP_WORDBREAKS == *:* ]] || replaced=
    if [[ ! $kind && ! $ended && $word == -*=* ]]; then
        name=${word%%=*} word=${word#*=}
        replaced=${word%"${word##*[=:]}"}
        [[ $values == *" $name="* ]] && kind=${values#*" $name="} && kind=${kind%% *}
    elif [[ ! $kind && ! $ended && $word == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$word"))
        return
    elif [[ ! $kind && $actions ]]; then
        COMPREPLY=($(compgen -W "$actions" -- "$word"))
        return
    fi
    if [[ ! $kind ]]; then
        for rest in $operands; do
            [[ $rest == ... ]] && break
            kind=$rest
            ((count--)) || break
            [[ $operands == *" $rest" ]] && kind=text
        done
    fi
    case $kind in
    file) ;;
    scenario)
        while IFS= read -r id; do
            printf -v quoted %q "$id"
            rest=${word//\\/}
            if [[ $word == [\'\"]* ]]; then # what is quoted already can't hold characters that need other quotes
                [[ $id == *[\'\"\$\`!]* ]] && continue
                quoted=$id rest=${rest:1}
            fi
            [[ $id == "$rest"* ]] && COMPREPLY+=("${quoted#"$replaced"}")
        done < <(_evalgate_scenarios) ;;
    ?*\|*) COMPREPLY=($(compgen -W "${kind//|/ }" -- "$word")) ;;
    *) compopt +o default +o bashdefault 2>/dev/null ;;
    esac
    return 0
}
complete -o bashdefault -o default -F _evalgate evalgate"""


def write_script(commands: Sequence[CommandWords]) -> str:
    """The script: a table of what follows each command, and the function that looks up where the cursor is."""
    return _SCRIPT.replace("@COMMANDS@", "\n".join(map(_write_command, commands)))


def _write_command(command: CommandWords) -> str:
    path = "".join(f" {each}" for each in command.path)
    names = " ".join(name for option in command.options for name in option.names)
    values = "".join(
        f" {name}={_write_value(option.value)}" for option in command.options if option.value for name in option.names
    )
    operands = [*map(_write_value, command.operands), *(["..."] if command.is_repeated else [])]
    fields = {
        "actions": " ".join(name for name, _ in command.actions),
        "options": names,
        "values": values and f"{values} ",
        "operands": "".join(f" {each}" for each in operands),
    }
    assigned = " ".join(f"{name}={shlex.quote(text)}" for name, text in fields.items() if text)
    return f"    {shlex.quote(path)}) {assigned} ;;"


def _write_value(value: Value) -> str:
    return f"{'|'.join(value.words)}|" if value.kind == "words" else value.kind
