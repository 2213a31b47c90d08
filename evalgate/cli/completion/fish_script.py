"""The completion script of fish: one `complete` per option, value and action."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.cli.completion.command_words import CommandWords, OptionWords, Value

_SCRIPT = r"""# Completes evalgate in fish. Written by: evalgate completion fish

# Ids of scenarios of the last run; none with a character that could change the terminal.
function __evalgate_scenarios
    set -l results .evalgate/results.json
    test -f $results; and test (wc -c <$results) -lt 1000000; or return
    string match -rag '"id":"([^"\\\\[:cntrl:]]+)","variant":' <$results |
        string match -rv '[\x{80}-\x{9f}\x{2000}-\x{206f}\x{feff}]' | sort -u
end

# Whether the words before the cursor name this command.
function __evalgate_at
    set -l here evalgate
    for word in (commandline -opc)[2..]
        contains -- "$here $word" @PATHS@
        and set here "$here $word"
    end
    test "$here" = "$argv"
end

complete -c evalgate -f
@COMMANDS@"""


def write_script(commands: Sequence[CommandWords]) -> str:
    """The script: conditions by command, and what may follow each."""
    paths = " ".join(_quote(_path(command)) for command in commands if command.path)
    lines = "\n".join(line for command in commands for line in _write_command(command))
    return _SCRIPT.replace("@PATHS@", paths).replace("@COMMANDS@", lines)


def _write_command(command: CommandWords) -> Iterator[str]:
    start = f"complete -c evalgate -n {_quote(f'__evalgate_at {_path(command)}')}"
    for option in command.options:
        yield f"{start}{_write_option(option)}"
    for name, text in command.actions:
        yield f"{start} -a {name} -d {_quote(text)}"
    for value in dict.fromkeys(command.operands):
        if value.kind != "text":
            yield f"{start}{_write_value(value)}"


def _write_option(option: OptionWords) -> str:
    names = "".join(f" -{'l' if name.startswith('--') else 's'} {name.lstrip('-')}" for name in option.names)
    value = "" if option.value is None else f" -r{_write_value(option.value)}"
    return f"{names}{value} -d {_quote(option.help)}"


def _write_value(value: Value) -> str:
    if value.kind == "scenario":
        return " -f -a '(__evalgate_scenarios)'"
    if value.kind == "words":
        return f" -f -a {_quote(' '.join(value.words))}"
    return " -F" if value.kind == "file" else " -f"


def _path(command: CommandWords) -> str:
    return " ".join(("evalgate", *command.path))


def _quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
