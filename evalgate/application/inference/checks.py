"""An inferred check: an entry of a suite with the reason why it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.trace.trace import Trace

Strictness = Literal["loose", "normal", "strict"]
MANY = 3
"""Trials from which what is the same in all is more than chance."""


class InferredCheck(NamedTuple):
    """An assertion as it is written; `is_active` is False for a suggestion in a comment.

    `reason` is empty if it is that of the scenario: all its trials.
    """

    entry: dict[str, Any]
    reason: str = ""
    is_active: bool = True

    @property
    def is_limit(self) -> bool:
        """Whether it limits cost, time or tokens."""
        return str(self.entry.get("type")).endswith("_limit")

    def require(self) -> InferredCheck:
        """The check, required: its failure fails the trial whatever the scenario's threshold.

        A required check can't be skipped where its tool is not called, so that becomes a condition.
        """
        entry = self.entry
        if "on_missing" in entry:
            then = {key: value for key, value in entry.items() if key != "on_missing"}
            entry = {"when": {"type": "tool_called", "tool": entry["tool"]}, "then": [then]}
        return self._replace(entry={**entry, "required": True})


def require_from_many(check: InferredCheck, trials: Sequence[Trace]) -> InferredCheck:
    """Requires what was the same in many trials; what one or two show only scores."""
    return check.require() if len(trials) >= MANY else check


def choose_one(tools: Iterable[str]) -> str | dict[str, list[str]]:
    """A step of a sequence that any of these tools makes.

    >>> choose_one({"b", "a"}), choose_one(["a"])
    ({'one_of': ['a', 'b']}, 'a')
    """
    names = sorted(tools)
    return names[0] if len(names) == 1 else {"one_of": names}
