"""An inferred check: an entry of a suite with the reason why it was written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.trace.trace import Trace

Strictness = Literal["loose", "normal", "strict"]
MANY = 3
"""Trials from which what is the same in all is more than chance."""
SURE = 4
"""Trials of a scenario that outweigh what trials of other scenarios show."""


class InferredCheck(NamedTuple):
    """An assertion as it is written; `reason` is empty if it is that of the scenario: all its trials."""

    entry: dict[str, Any]
    reason: str = ""

    @property
    def is_limit(self) -> bool:
        """Whether it limits cost, time or tokens."""
        return str(self.entry.get("type")).endswith("_limit")

    def require(self, *, always: bool = False) -> InferredCheck:
        """The check, required: its failure fails the trial whatever the scenario's threshold. Limits only score.

        With `always` it fails the scenario, whatever its pass rate.
        """
        return self if self.is_limit else self._replace(entry={**self.entry, "required": "always" if always else True})

    def score_only(self) -> InferredCheck:
        """The check, not required: its failure lowers the score."""
        return self._replace(entry={key: value for key, value in self.entry.items() if key != "required"})


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
