"""Untrusted regular expressions: the `regex` module with a time limit, so that none can hang the gate."""

from __future__ import annotations

import re
from contextlib import suppress
from functools import cache, lru_cache
from math import prod
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import regex


def find_required_text(source: str) -> str:
    """Returns the longest run of characters that every match contains; empty if none is found."""
    return longest_run(tokenize_pattern(source) or ())


def longest_run(pieces: Sequence[Token]) -> str:
    """Returns the same for a pattern in tokens. Looks only outside of groups."""
    runs, depth = [""], 0
    for kind, text in pieces:
        depth += (kind == "group") - (kind == "end")
        if depth < 0 or (depth == 0 and kind == "either"):
            return ""
        if depth == 0 and kind == "literal":
            runs[-1] += text[-1]
            continue
        if depth == 0 and kind == "quantifier":
            runs[-1] = runs[-1][:-1]
        runs.append("")
    return max(runs, key=len)


_SYNTAX = r"""
      (?P<literal> [^\\^$.|?*+()\[\]{}] | \\[^A-Za-z0-9] )
    | (?P<quantifier> [*+?] [+?]? | \{\d*,?\d*\} [+?]? )
    | (?P<group> \( (?! [?*] ) | \(\? (?: [:=!>] | <[=!] | P?<[A-Za-z_]\w*> ) )
    | (?P<end> \) )
    | (?P<either> \| )
    | (?P<any> \. | \\[dDsSwWnrt] | \[\^?\]? (?: [^\\\[\]] | \\[^A-Za-z0-9] | \\[dDsSwWnrt] )* \] )
    | (?P<place> [\^$] | \\[bBAZ] )
    """
"""`any` matches one of several characters, `place` matches no character."""

Token = tuple[str, str]
"""Its kind, which is the name of a group above, and its text."""


@cache
def _token_pattern() -> re.Pattern[str]:
    return re.compile(_SYNTAX, re.VERBOSE | re.DOTALL)  # compiled only if a run has patterns


def tokenize_pattern(source: str) -> list[Token] | None:
    """Returns the tokens in order; None for unsupported syntax, such as flags or back-references."""
    found: list[Token] = []
    position = 0
    match = _token_pattern().match
    while position < len(source):
        token = match(source, position)
        if token is None:
            return None
        position = token.end()
        found.append((token.lastgroup or "", token[0]))
    return found


MAX_LENGTH = 2_000
MOST_COMPILED = 1_000
"""Patterns of which the compiled form is kept."""
MAX_COMPILED_STEPS = 100_000
"""Steps of a compiled pattern: the engine unrolls `a{1000}` to a thousand steps before any time limit."""
MAX_UNTIMED_STEPS = 1_000_000
"""Steps of a search, some ms, which a pattern without variable repeats can't exceed and that needs no time limit."""
MAX_SUBJECT = 1_000_000
MAX_SECONDS = 1.0
MAX_SLOW_SECONDS = 5.0
"""Total time of all slow searches of one pattern."""
SLOW_SECONDS = 0.02
"""Seconds from which a search is slow: ordinary patterns never are, on any text."""
QUICK_CHARACTERS = 10_000_000
"""Characters per second that every pattern searches unless it is slow."""

_COUNT = r"(?P<group>[)}]\s*)?\{(?P<least>\d+)(?=[,}])"
_VERBOSE = r"\(\?[A-Za-z0-9]*x"


class PatternError(ValueError):
    """The text is not a regular expression. `position` counts characters from 1."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class PatternFailedError(ValueError):
    """The search exceeded its time limit, or the text is too long to be searched."""


@lru_cache(maxsize=MOST_COMPILED)
def _compile(source: str) -> tuple[regex.Pattern[str], str, int]:
    """The compiled pattern, its required run and untimed length; many assertions of a run have the same pattern."""
    if len(source) > MAX_LENGTH:
        raise PatternError(f"a pattern may have at most {MAX_LENGTH:,} characters, this one has {len(source):,}")
    import regex  # imported only if a run has patterns

    steps, pieces = _estimate_steps(source), tokenize_pattern(source)
    if steps > MAX_COMPILED_STEPS:
        raise PatternError("the repeat counts make this pattern too large")
    is_fixed = pieces is not None and all(map(_has_one_length, pieces))
    untimed_length = MAX_UNTIMED_STEPS // max(steps, 1) if is_fixed else 0
    try:
        return regex.compile(source, cache_pattern=False), longest_run(pieces or ()), untimed_length
    except regex.error as error:
        at = getattr(error, "pos", None)
        raise PatternError("this is not a regular expression", None if at is None else at + 1) from None
    except Exception:  # noqa: BLE001  (RecursionError, OverflowError: the text is untrusted)
        raise PatternError("this is not a regular expression") from None


_TEXTS = ("", "a", "Z", "0", "!?", "\n", "two words.", "<é>", "a line\nand another", "a" * 5_000)
"""Texts of which every pattern that says something does not match one."""


def matches_all(source: str) -> bool:
    """Returns whether the valid pattern matches every text, as `.*` does; one that looks around is not known to."""
    if "(?!" in source or "(?<!" in source:
        return False
    pattern = Pattern(source)
    with suppress(PatternFailedError):
        return all(pattern.is_found_in(text) for text in (*_TEXTS, *re.findall(r"\w+|\W", source)))
    return False


class Pattern:
    """One compiled pattern. Once one search, or all slow ones together, took too long, all further ones fail.

    `required_run` is part of every match; a text without it is not searched.
    """

    __slots__ = ("_compiled", "_exhausted", "_slow_seconds", "required_run", "source", "untimed_length")

    def __init__(self, source: str, slow_seconds: float = MAX_SLOW_SECONDS) -> None:
        self.source = source
        self._compiled, self.required_run, self.untimed_length = _compile(source)
        self._exhausted = False
        self._slow_seconds = slow_seconds

    def is_found_in(self, text: str) -> bool:
        """Returns whether the pattern matches somewhere in `text`. Raises PatternFailedError."""
        if self.required_run not in text:
            return False
        if len(text) <= self.untimed_length:
            return self._compiled.search(text) is not None
        if self._exhausted:
            raise PatternFailedError("the pattern exceeded its time limit earlier in this run")
        if len(text) > MAX_SUBJECT:
            raise PatternFailedError(f"texts of more than {MAX_SUBJECT:,} characters are not searched")
        started = perf_counter()
        try:
            found = self._compiled.search(text, timeout=MAX_SECONDS) is not None
        except TimeoutError:
            self._exhausted = True
            raise PatternFailedError(f"the pattern needs more than {MAX_SECONDS:g} s on this text") from None
        except MemoryError:
            self._exhausted = True
            raise PatternFailedError("the pattern needs more memory than is available") from None
        if perf_counter() - started > SLOW_SECONDS:
            self._count_slow(text)
        return found

    def find_spans(self, text: str) -> list[tuple[int, int]]:
        """Returns start and end of each match, in a text of any length. Raises PatternFailedError."""
        if self.required_run not in text:
            return []
        if self._exhausted:
            raise PatternFailedError("the pattern exceeded its time limit earlier in this run")
        started = thread_time()
        try:
            found = [each.span() for each in self._compiled.finditer(text, timeout=MAX_SECONDS)]
        except (TimeoutError, MemoryError):
            self._exhausted = True
            raise PatternFailedError(f"the pattern needs more than {MAX_SECONDS:g} s on this text") from None
        elapsed = thread_time() - started
        if elapsed > SLOW_SECONDS + len(text) / QUICK_CHARACTERS:
            self._slow_seconds -= elapsed
            self._exhausted = self._slow_seconds < 0
        return found

    def _count_slow(self, text: str) -> None:
        """Repeats a search that seemed slow, and counts its CPU time: a busy machine may be the cause."""
        started = thread_time()
        with suppress(TimeoutError, MemoryError):
            self._compiled.search(text, timeout=MAX_SECONDS)
        if (took := thread_time() - started) > SLOW_SECONDS:
            self._slow_seconds -= took
            self._exhausted = self._slow_seconds < 0


def _has_one_length(token: Token) -> bool:
    """Returns whether a token matches in one way at most: no group, and no quantifier but a count such as `{6}`."""
    kind, text = token
    return kind in ("literal", "any", "place", "either") or (kind == "quantifier" and text[1:-1].isdecimal())


def _estimate_steps(source: str) -> int:
    """Returns an upper bound of the steps that the pattern compiles to, without parsing it.

    Only a count after a group multiplies other counts; in a verbose pattern any count may be after a group.
    """
    if "{" not in source:
        return len(source)
    counts = [(found["group"], int(found["least"])) for found in re.finditer(_COUNT, source)]
    commented = re.search(_VERBOSE, source) is not None
    outer = [least for group, least in counts if group or commented]
    return (len(source) + sum(least for _, least in counts)) * prod(max(1, least) for least in outer)
