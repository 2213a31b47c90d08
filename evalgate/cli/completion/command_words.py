"""The words that each command takes, read from its parser: options, their values, positional arguments, actions."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.models.comparison.decision import FailOn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

TEXT_VALUES = frozenset(
    {
        *("A,B", "ADDRESS", "CONVERSATION", "DATE", "DIMENSION", "I/N", "ID", "LIMIT", "MODULE", "N", "NAME"),
        *("NAME=URL", "NAME=VALUE", "REASON", "SCORE", "SEC", "SHA", "SPAN", "TEXT", "TIME", "UUID", "VERB", "WORD"),
    }
)
"""Names of values in the help that are no files: nothing completes them, unless their words are known."""
REPEATED = ("*", "+", argparse.REMAINDER)


class Value(NamedTuple):
    """What completes a value: files, ids of scenarios, `words`, or nothing (text)."""

    kind: Literal["file", "scenario", "words", "text"]
    words: tuple[str, ...] = ()


class OptionWords(NamedTuple):
    """An option: its names, its value if it takes one, whether it may be repeated, and its help."""

    names: Sequence[str]
    value: Value | None
    is_repeatable: bool
    help: str


class CommandWords(NamedTuple):
    """What may follow the words `path`; `operands` are positional, of which the last may be repeated."""

    path: Sequence[str]
    options: Sequence[OptionWords]
    operands: Sequence[Value]
    is_repeated: bool
    actions: Sequence[tuple[str, str]]


def list_commands(parser: argparse.ArgumentParser, formats: Sequence[str]) -> list[CommandWords]:
    """The command of a parser and those below it; `formats` are the names that `--format` takes."""
    return list(_walk(parser, (), {"format": formats, "fail_on": get_args(FailOn), "evaluator": tuple(BUILT_IN_TYPES)}))


def _walk(
    parser: argparse.ArgumentParser, path: tuple[str, ...], words: dict[str, Sequence[str]]
) -> Iterator[CommandWords]:
    options, operands, actions = list[OptionWords](), list[Value](), list[tuple[str, str]]()
    below, is_repeated = list[tuple[str, argparse.ArgumentParser]](), False
    for action in parser._actions:  # noqa: SLF001  (argparse has no other list of them)
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            actions += [(each.dest, each.help or "") for each in action._choices_actions]  # noqa: SLF001
            below += action.choices.items()
        elif action.option_strings:
            value = None if action.nargs == 0 else _value_of(action, words)
            is_repeatable = isinstance(action, argparse._AppendAction)  # noqa: SLF001
            options.append(OptionWords(action.option_strings, value, is_repeatable, _help_of(action)))
        else:
            operands.append(_value_of(action, words))
            is_repeated = action.nargs in REPEATED
    yield CommandWords(path, options, operands, is_repeated, actions)
    for name, each in below:
        yield from _walk(each, (*path, name), words)


def _value_of(action: argparse.Action, words: dict[str, Sequence[str]]) -> Value:
    metavar = str(action.metavar or "")
    if action.choices is not None:
        return Value("words", tuple(map(str, action.choices)))
    if action.dest in words:
        return Value("words", tuple(words[action.dest]))
    if "|" in metavar:
        return Value("words", tuple(metavar.split("|")))
    if action.dest in ("scenario", "scenarios"):
        return Value("scenario")
    return Value("text" if metavar in TEXT_VALUES else "file")


def _help_of(action: argparse.Action) -> str:
    """The help in one line, without the part in brackets, which describes defaults."""
    return (action.help or "").replace("%%", "%").partition(" (")[0]
