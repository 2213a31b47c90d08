"""The completion script of zsh, whose `_arguments` knows options, their help and what excludes what."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.cli.completion.command_words import CommandWords, OptionWords, Value

_SCRIPT = r"""#compdef evalgate
# Completes evalgate in zsh. Written by: evalgate completion zsh

# Ids of scenarios of the last run; none with a character that could change the terminal.
_evalgate_scenarios() {
    local results=.evalgate/results.json
    [[ -f $results && $(wc -c <$results) -lt 1000000 ]] || return 1
    local -a ids
    ids=(${(f)"$(LC_ALL=C grep -oE '"id":"[^"\[:cntrl:]]+","variant":' $results | cut -d '"' -f 4 |
        LC_ALL=C grep -vE $'\xc2[\x80-\x9f]|\xe2\x80|\xe2\x81|\xef\xbb\xbf' | LC_ALL=C sort -u)"})
    compadd -a ids
}

_evalgate_command() {
    local curcontext=$curcontext state line here=$1
    local -a specs actions
    local -A opt_args
    case $here in
@COMMANDS@
    esac
    (($#actions)) && specs+=('1: :->action' '*:: :->rest')
    _arguments -C -s $specs && return
    case $state in
    action) _describe -t verbs verb actions ;;
    rest) _evalgate_command "$here $line[1]" ;;
    esac
}

_evalgate() {
    _evalgate_command evalgate
}

if [[ $funcstack[1] == _evalgate ]]; then
    _evalgate "$@"
else
    compdef _evalgate evalgate
fi"""
_ACTIONS = {"file": "_files", "scenario": "_evalgate_scenarios", "text": " "}


def write_script(commands: Sequence[CommandWords]) -> str:
    """The script: the options, values and actions of each command, as `_arguments` and `_describe` take them."""
    return _SCRIPT.replace("@COMMANDS@", "\n".join(map(_write_command, commands)))


def _write_command(command: CommandWords) -> str:
    specs = [spec for option in command.options for spec in _write_option(option)]
    for number, value in enumerate(command.operands, 1):
        is_last = command.is_repeated and number == len(command.operands)
        specs.append(f"{'*' if is_last else number}:{_write_value('argument', value)}")
    actions = [f"{name}:{_escape(text, ':')}" for name, text in command.actions]
    lines = [f"    {shlex.quote(' '.join(('evalgate', *command.path)))})"]
    for name, values in (("specs", specs), ("actions", actions)):
        if values:
            lines.append(f"        {name}=({' '.join(map(shlex.quote, values))})")
    return "\n".join([*lines, "        ;;"])


def _write_option(option: OptionWords) -> list[str]:
    """The option by each of its names; one that may not be repeated is not offered after any of them."""
    value = f":{_write_value('value', option.value)}" if option.value else ""
    prefix = "*" if option.is_repeatable else f"({' '.join(option.names)})"
    return [f"{prefix}{name}{'=' if value and name.startswith('--') else ''}[{_escape(option.help, '[]')}]{value}"
            for name in option.names]  # fmt: skip


def _write_value(title: str, value: Value) -> str:
    return f"{title}:{_ACTIONS.get(value.kind) or '(' + ' '.join(value.words) + ')'}"


def _escape(text: str, special: str) -> str:
    return re.sub(rf"([\\{re.escape(special)}])", r"\\\1", text)
