"""The cause of a scenario's change: the agent, the rules that judge it, or both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from evalgate.models.run.run import Verdict

CauseKind = Literal[
    "agent", "rules_stricter", "rules_looser", "both", "together", "masked", "outgrown", "unknown"
]
"""The cause of a scenario's change of verdict.

agent: the same change under either rules. rules_stricter, rules_looser: the agent did not change. both:
either change alone would have caused it. together: only both together cause it. masked: it passes, but would
fail by the baseline's rules. outgrown: it fails, but would pass by the baseline's rules. unknown: it changed,
and the data to find the cause is missing.
"""


class Cause(NamedTuple):
    """The cause, in one sentence, with the two verdicts it was derived from; None if unknown."""

    kind: CauseKind
    message: str
    now_by_old_rules: Verdict | None = None
    before_by_new_rules: Verdict | None = None
