"""The texts of a trace that hold one value, and what the agent did with it before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.measures.provenance.trace_texts import SourceText


class HeldText(NamedTuple):
    """A text that holds a value, and whether an earlier argument of the agent held it (`is_echo`).

    `is_own_answer`: it is the result of the call that passed the value. `was_written`: an earlier call that changes
    something passed it, so that a result may only give back what the agent wrote.
    """

    text: SourceText
    is_echo: bool
    is_own_answer: bool
    was_written: bool


def keep_first(listed: Sequence[SourceText], passed: Collection[int]) -> Iterator[HeldText]:
    """Of the texts that hold a value the first user's, the first of the system, the first of each tool and sort.

    `passed` are the calls that passed the value in another form.
    """
    own = {text.call for text in listed if text.kind == "own"}
    first_own = min((text.group for text in listed if text.kind == "own"), default=None)
    written = [each.group for each in listed if each.kind == "own" and each.changes]
    first_written = min(written, default=None)
    seen = set[tuple[Any, ...]]()
    for text in sorted(listed, key=lambda each: (each.turn, each.call)):
        is_result = text.kind == "result"
        is_after = first_own is not None and first_own < text.group
        is_own_answer = is_result and (text.call in own or text.call in passed)
        is_echo = is_own_answer or (is_result and is_after)
        was_written = is_result and first_written is not None and first_written < text.group
        found = HeldText(text, is_echo, is_own_answer, was_written)
        key = (text.kind, text.tool, text.is_failure, *found[1:])
        if key not in seen:
            seen.add(key)
            yield found
