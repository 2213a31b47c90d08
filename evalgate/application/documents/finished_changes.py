"""Reads the changes of a finished run back from its results document."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from evalgate.models.comparison.comparison import Change, ScenarioKey

if TYPE_CHECKING:
    from evalgate.models.comparison.comparison import ChangeFlag, ChangeKind
    from evalgate.models.results.results import ChangeDoc, ResultsDoc
    from evalgate.models.run.run import Verdict


def changes_of(document: ResultsDoc) -> dict[ScenarioKey, Change]:
    """Changes by scenario, with the fields a decision needs."""
    return {
        ScenarioKey(suite["suite"], scenario["id"], scenario["variant"]): _change(change)
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        if (change := scenario["change"]) is not None
    }


def _change(document: ChangeDoc) -> Change:
    return Change(
        cast("ChangeKind", document["kind"]),
        document["reason"],
        document["score_delta"],
        cast("list[ChangeFlag]", list(document["flags"])),
        list(document["increases"]),
        cast("Verdict | None", document["previous_verdict"]),
    )
