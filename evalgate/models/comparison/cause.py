"""Which of the two changed, the agent or the rules that judge it, for one scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from evalgate.models.run.run import Verdict

CauseKind = Literal[
    "agent", "rules_stricter", "rules_looser", "both", "together", "masked", "outgrown", "unknown"
]
"""Who made a scenario's verdict what it is.

agent: the same under either rules. rules_stricter, rules_looser: the agent is the same. both: each alone
would have done it. together: neither alone would. masked: it passes, but would fail under the rules of the
baseline. outgrown: it fails, but would pass under those. unknown: it changed, and what would tell is not
at hand.
"""


class Cause(NamedTuple):
    """The answer, in a sentence, with the two verdicts that it rests on; None where one can't be told."""

    kind: CauseKind
    message: str
    now_by_old_rules: Verdict | None = None
    before_by_new_rules: Verdict | None = None
