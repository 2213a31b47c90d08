"""Parses the arguments of a verb: options may come between its positional arguments, and typos get a suggestion."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING, Any, NoReturn

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

OTHER_WORDS = {
    "check": "validate",
    "diff": "compare",
    "eval": "run",
    "inspect": "show",
    "lint": "validate",
    "list": "traces",
    "ls": "traces",
    "test": "run",
    "types": "evaluators",
    "why": "explain",
}
"""Verbs of other tools that mean one of EvalGate's, though they are spelt differently."""
MIN_BEGINNING = 3
"""Letters with which a word begins that is meant by its beginning."""
_OPTION = re.compile(r"-{1,2}[A-Za-z]")


class VerbParser(argparse.ArgumentParser):
    """Reports wrong usage in one line, exit code 2. No abbreviated flags: new flags would break scripts."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings, allow_abbrev=False)
        self.color = False  # Python 3.14 colours help by rules of its own

    def error(self, message: str) -> NoReturn:
        """Raises SettingError instead of printing the usage."""
        raise SettingError(Problem(message, None, f"see {self.prog} --help"))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parses with the options of a verb first: argparse gives all positional arguments to the first run of them."""
        words = list(args or ())
        arguments, left = super().parse_known_args(words if self._subparsers else self._sort(words), namespace)
        if left:
            raise self._unknown_words_error(left)
        return arguments, left

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        hint = suggest_word(str(value), known)
        remedy = f"did you mean {hint}?" if hint else f"choose from {', '.join(known)}"
        if action.dest != "verb":
            raise argparse.ArgumentError(action, f"invalid choice: {value!r} ({remedy})")
        remedy = f"did you mean {hint}?" if hint else f"see {self.prog} --help"
        raise SettingError(Problem(f"evalgate has no verb {str(value)[:40]!r}", None, remedy))

    def _sort(self, words: Sequence[str]) -> list[str]:
        """Options with their values first, then positional arguments; raises SettingError for an unknown option."""
        options, positional, unknown = list[str](), list[str](), list[str]()
        remaining = iter(words)
        for word in remaining:
            if word == "--":
                positional += remaining
            elif not _OPTION.match(word):
                positional.append(word)
            elif (takes_value := self._takes_value(word)) is None:
                unknown.append(word)
            else:
                options += [word, *([self._next_value(word, remaining)] if takes_value else [])]
        if unknown and not {"-h", "--help"}.intersection(options):
            raise self._unknown_words_error(unknown)
        return [*options, *(["--"] if any(map(_OPTION.match, positional)) else []), *positional]

    def _next_value(self, option: str, remaining: Iterator[str]) -> str:
        """The word after an option; without one, argparse would take the first positional argument for its value."""
        value = next(remaining, None)
        if value is None:
            self.error(f"argument {option}: expected one argument")
        return value

    def _takes_value(self, word: str) -> bool | None:
        """Whether the next word is the value of this option; None if there is no such option."""
        name, is_assigned, _ = word.partition("=")
        known = self._option_string_actions
        if name in known:
            return known[name].nargs != 0 and not is_assigned
        if word.startswith("--"):
            return None
        for position, letter in enumerate(word[1:], 2):  # such as -qo FILE and -oFILE
            if (action := known.get(f"-{letter}")) is None:
                return None
            if action.nargs != 0:
                return position == len(word)
        return False

    def _unknown_words_error(self, unknown: Sequence[str]) -> SettingError:
        names = [word.partition("=")[0] for word in unknown]
        near = suggest_word(names[0], self._option_string_actions)
        hint = f"did you mean {near}?" if near else f"see {self.prog} --help"
        noun = "argument" if len(names) == 1 else "arguments"
        return SettingError(Problem(f"unrecognized {noun} {', '.join(names)}", None, hint))


def suggest_word(word: str, known: Iterable[str]) -> str | None:
    """The known word that a misspelt one is nearest to, or that another tool calls so; None without one.

    The hyphens of options make no two words alike.
    """
    import difflib

    names = {name.lstrip("-"): name for name in known}
    other = names.get(OTHER_WORDS.get(word, ""))
    wanted = word.lstrip("-")[:100]
    close = difflib.get_close_matches(wanted, names, n=1)
    if not close:  # such as --out for --output-dir
        begun = [name for name in names if len(wanted) >= MIN_BEGINNING and name.startswith(wanted)]
        close = begun if len(begun) == 1 else []
    return other or next((names[each] for each in close), None)
