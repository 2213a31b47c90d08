"""A run and the store: what earlier runs say is asked before it, and the run is kept after its verdict.

Nothing here changes a verdict. A store that can't be had is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.history.run_record import stored_run
from evalgate.errors import InvalidInput, Unreachable
from evalgate.gate.decision.stability import RUNS_LOOKED_AT, past_outcomes
from evalgate.models.run.chunks import whole
from evalgate.models.store.stability import History
from evalgate.ports.store import Subject
from evalgate.records import replace
from evalgate.reporting.results.history_doc import MOST_RUNS
from evalgate.reporting.results.results_json import load

if TYPE_CHECKING:
    from evalgate.application.history.run_record import Circumstances
    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.models.approvals.approval import Approval
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.evaluation import GoldenEvaluation
    from evalgate.ports import Clock
    from evalgate.ports.store import Store

MOST_TURNED = 300
"""Scenarios of which a run is told how they turned; `evalgate history` tells it of more."""
RESULTS = "results.json"
SHORT = 8
"""Characters of a run's id that people see."""
NOT_STORED = "the run was not stored"


class RunRecorder:
    """The store of one run; None where it was named and can't be had. What went wrong is in `warnings`."""

    def __init__(self, store: Store | None, clock: Clock, around: Circumstances, *warnings: str) -> None:
        self.store = store
        self.warnings = list(warnings)
        self._clock, self._around = clock, around
        self._started = clock.now()

    def load(self, request: JudgeRequest) -> JudgeRequest:
        """The request with what the store remembers."""
        if self.store is None:
            return request
        try:
            approvals = self._approvals(self.store)
            history = history_of(self.store, self._around.history_branch)
            return replace(request, history=history, remembered=approvals)
        except (InvalidInput, Unreachable) as trouble:
            self.warnings.append(f"earlier runs are not told of, and no approval of theirs counts: {trouble}")
            return request

    def save(self, judgement: Judgement) -> str:
        """Keeps the run; what became of it in a sentence, empty where there is nothing to tell.

        The same results of the same workflow run are kept once, and a run that could not begin never.
        """
        if self.store is None:
            return ""
        try:
            return self._kept(self.store, judgement)
        except (InvalidInput, Unreachable) as trouble:
            self.warnings.append(f"{NOT_STORED}: {trouble}")
            return ""
        finally:
            self.store.close()

    def _approvals(self, store: Store) -> tuple[Approval, ...]:
        """Approvals that were given to the store. Those of a comment count by the comment alone."""
        if not self._around.is_approved_by_store:
            return ()
        found = store.approvals.active(self._clock.now().date())
        return tuple(each.approval for each in found if each.provenance.source == "shell")

    def _kept(self, store: Store, judgement: Judgement) -> str:
        if judgement.problems or RESULTS not in judgement.files:
            return ""
        content = whole(judgement.files[RESULTS])
        results = load(content)
        run = stored_run(results, content, self._around, self._started, self._clock.now())
        name = run.facts.id[:SHORT]
        if store.runs.record(run, _evaluations(store, results, run.facts.id)):
            return f"stored in {store.place} as run {name}"
        return f"not stored again in {store.place}: its results are those of run {name}"


def _evaluations(store: Store, results: ResultsDoc, run_id: str) -> list[GoldenEvaluation]:
    """Goldens as the run judged them. The store takes in those that it does not know and changes no other."""
    if not any(each.get("golden") for suite in results["suites"] for each in suite["scenarios"]):
        return []
    from evalgate.application.documents.golden_evaluations import evaluations_of, goldens_of

    known = set(store.goldens.ids())
    for golden in goldens_of(results):
        if golden.id not in known:
            store.goldens.keep(golden)  # somebody else may have been faster
    return evaluations_of(results, run_id)


def history_of(store: Store, branch: str | None) -> History:
    """What a store remembers of a branch, or of all; raises StoreUnreachable.

    A scenario that went one way in all its runs can't be flaky with one more, so nothing is told of it.
    """
    runs = store.runs.trend(Subject(branch=branch), MOST_RUNS - 1)
    turned = store.runs.turned(RUNS_LOOKED_AT, branch=branch)[:MOST_TURNED]
    past = [past_outcomes(key, store.runs.sightings(key, RUNS_LOOKED_AT, branch)) for key in turned]
    return History(branch, tuple(runs), tuple(past))
