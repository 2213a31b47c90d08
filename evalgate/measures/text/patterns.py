"""Regular expressions of strangers: the `regex` module with a time limit, so that none can hang the gate."""

from __future__ import annotations

import re
from contextlib import suppress
from math import prod
from time import perf_counter, thread_time

from evalgate.measures.text.pattern_tokens import tokens
from evalgate.measures.text.required_text import longest_run
from evalgate.measures.text.search_work import free_length

MAX_LENGTH = 2_000
MAX_UNROLLED = 100_000
"""Steps of a compiled pattern: the engine writes `a{1000}` out as a thousand steps before any time limit."""
MAX_SUBJECT = 1_000_000
MAX_SECONDS = 1.0
MAX_SLOW_SECONDS = 5.0
"""What all slow searches of one pattern may take together."""
SLOW = 0.02
"""Seconds from which a search is slow: patterns as people write them are not, on any text."""
QUICK = 10_000_000
"""Characters a second that any pattern gets through which is not slow."""

_COUNT = r"(?P<group>[)}]\s*)?\{(?P<least>\d+)(?=[,}])"
_VERBOSE = r"\(\?[A-Za-z0-9]*x"


class PatternError(ValueError):
    """The text is no regular expression. `position` counts characters from 1."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.position = position


class PatternFailedError(ValueError):
    """The search passed its time limit or the text is too long to be searched."""


class Pattern:
    """One compiled pattern. Once a search, or all slow ones together, took too long, every further one fails.

    `required` is text without which nothing matches; a text that lacks it is not searched. `free` is the
    length up to which no text can take long.
    """

    __slots__ = ("_compiled", "_exhausted", "_slow_seconds", "free", "required", "source")

    def __init__(self, source: str, slow_seconds: float = MAX_SLOW_SECONDS) -> None:
        if len(source) > MAX_LENGTH:
            raise PatternError(f"a pattern may have {MAX_LENGTH:,} characters, this has {len(source):,}")
        import regex  # a run without patterns does not pay for it

        if _unrolled(source) > MAX_UNROLLED:
            raise PatternError("the counts in this pattern make it too large")
        pieces = tokens(source)
        self.source, self.required, self.free = source, longest_run(pieces or ()), free_length(pieces)
        self._exhausted = False
        self._slow_seconds = slow_seconds
        try:
            self._compiled = regex.compile(source, cache_pattern=False)
        except regex.error as error:
            at = getattr(error, "pos", None)
            raise PatternError("this is no regular expression", None if at is None else at + 1) from None
        except Exception:  # noqa: BLE001  (RecursionError, OverflowError: the text is a stranger's)
            raise PatternError("this is no regular expression") from None

    def found_in(self, text: str) -> bool:
        """True where the pattern matches somewhere in `text`. Raises PatternFailedError."""
        if self.required not in text:
            return False
        if len(text) <= self.free:
            return self._compiled.search(text) is not None
        if self._exhausted:
            raise PatternFailedError("the pattern passed its time limit earlier in this run")
        if len(text) > MAX_SUBJECT:
            raise PatternFailedError(f"a text of more than {MAX_SUBJECT:,} characters is not searched")
        started = perf_counter()
        try:
            found = self._compiled.search(text, timeout=MAX_SECONDS) is not None
        except TimeoutError:
            self._exhausted = True
            raise PatternFailedError(f"the pattern needs more than {MAX_SECONDS:g} s on this text") from None
        except MemoryError:
            self._exhausted = True
            raise PatternFailedError("the pattern needs more memory than there is") from None
        if perf_counter() - started > SLOW:
            self._count_slow(text)
        return found

    def places_in(self, text: str) -> list[tuple[int, int]]:
        """Where it matches, from and to, in a text of any length. Raises PatternFailedError."""
        if self.required not in text:
            return []
        if self._exhausted:
            raise PatternFailedError("the pattern passed its time limit earlier in this run")
        started = thread_time()
        try:
            found = [each.span() for each in self._compiled.finditer(text, timeout=MAX_SECONDS)]
        except (TimeoutError, MemoryError):
            self._exhausted = True
            raise PatternFailedError(f"the pattern needs more than {MAX_SECONDS:g} s on this text") from None
        took = thread_time() - started
        if took > SLOW + len(text) / QUICK:
            self._slow_seconds -= took
            self._exhausted = self._slow_seconds < 0
        return found

    def _count_slow(self, text: str) -> None:
        """Counts a search that seemed slow by its CPU time: on a busy machine the clock runs on meanwhile."""
        started = thread_time()
        with suppress(TimeoutError, MemoryError):
            self._compiled.search(text, timeout=MAX_SECONDS)
        if (took := thread_time() - started) > SLOW:
            self._slow_seconds -= took
            self._exhausted = self._slow_seconds < 0


def _unrolled(source: str) -> int:
    """No less than the steps that the pattern compiles to, without parsing it.

    Only the count behind a group repeats other counts; in a pattern with comments any count may be such.
    """
    if "{" not in source:
        return len(source)
    counts = [(found["group"], int(found["least"])) for found in re.finditer(_COUNT, source)]
    commented = re.search(_VERBOSE, source) is not None
    outer = [least for group, least in counts if group or commented]
    return (len(source) + sum(least for _, least in counts)) * prod(max(1, least) for least in outer)
