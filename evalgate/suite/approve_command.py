"""`/evalgate approve SCENARIO [until DATE] because REASON`: parses the first line of a comment, strictly.

Anybody may write a comment, so nothing is guessed: a line that is not exactly this is ignored or refused.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from typing import NamedTuple

COMMAND = "/evalgate"
USAGE = f"write `{COMMAND} approve SCENARIO [until 2026-12-31] because REASON`, or `all` for SCENARIO"
LONGEST_LINE = 1_000
LONGEST_NAME = 512
LONGEST_REASON = 500
HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"})
"""Categories of characters that are invisible, or that set the direction of the others."""
_BREAK = re.compile("\r\n|[\n\r]")
_QUOTED = re.compile(r"(`+)(?!`) ?(.+?) ?(?<!`)\1(?!`)(?= |$)")
_PLAIN = re.compile(r"[^ `]+(?= |$)")
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TAIL = re.compile(r"(?: +until +(?P<until>[^ ]+))? +because +(?P<reason>[^ ].*)")


class ApproveCommand(NamedTuple):
    """What a person approves. `scenario` is None for all that fail, `until` if no day is given."""

    scenario: str | None
    until: date | None
    reason: str


def parse_command(body: str) -> ApproveCommand | str | None:
    """The command of a comment; a text that explains why it is refused; None if the comment has none.

    Only the comment's first line counts: in a quote, a code block or further down people only write about
    commands.
    """
    line = _BREAK.split(body[: LONGEST_LINE + 1], maxsplit=1)[0].rstrip(" \t")
    if line != COMMAND and not line.startswith(f"{COMMAND} "):
        return None
    if len(line) > LONGEST_LINE:
        return f"its first line is longer than {LONGEST_LINE:,} characters"
    if any(unicodedata.category(character) in HIDDEN_CATEGORIES for character in line):
        return "its first line contains invisible characters"
    verb, _, rest = line[len(COMMAND) :].strip(" ").partition(" ")
    if verb != "approve":
        return f"`{COMMAND}` has no such command: {USAGE}"
    return _parse_approval(rest.strip(" "))


def _parse_approval(rest: str) -> ApproveCommand | str:
    quoted = _QUOTED.match(rest)
    name_match = quoted or _PLAIN.match(rest)
    if name_match is None:
        return f"it names no scenario: {USAGE}"
    name = quoted[2] if quoted else name_match[0]
    tail = _TAIL.fullmatch(rest, name_match.end())
    if tail is None:
        return f"`because REASON` must follow the scenario: {USAGE}"
    problem, until = _find_problem(name, tail["reason"]), _parse_day(tail["until"])
    if problem is not None or isinstance(until, str):
        return problem or str(until)
    is_all = quoted is None and name == "all"
    return ApproveCommand(None if is_all else name, until, tail["reason"])


def _find_problem(name: str, reason: str) -> str | None:
    if "*" in name:
        return "an approval has no wildcards: name one scenario, or write `all`"
    if len(name) > LONGEST_NAME:
        return f"a scenario's name has at most {LONGEST_NAME} characters"
    return f"the reason is longer than {LONGEST_REASON} characters" if len(reason) > LONGEST_REASON else None


def _parse_day(text: str | None) -> date | str | None:
    if text is None:
        return None
    if _DAY.fullmatch(text):
        try:
            return date.fromisoformat(text)
        except ValueError:
            pass
    return "the date after `until` must be valid, such as 2026-12-31"
