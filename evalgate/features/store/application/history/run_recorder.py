"""Loads history from the store before a run, and saves the run after its verdict.

Nothing here changes a verdict. An unavailable store is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalgate.errors import InvalidInput, Unreachable
from evalgate.features.store.application.history.run_record import build_stored_run
from evalgate.features.store.ports import Subject
from evalgate.gate.decision.stability import STABILITY_RUNS, collect_outcomes
from evalgate.models.history.stability import RunHistory
from evalgate.models.run.chunks import join_chunks
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.rulings_doc import MAX_RUNS

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.features.store.application.history.run_record import RunContext
    from evalgate.features.store.ports import Store
    from evalgate.models.approvals.approval import Approval
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.golden import GoldenEvaluation
    from evalgate.ports import Clock


MAX_UNSTEADY = 300
"""Number of unsteady scenarios loaded for a run; `evalgate history` shows more."""
RESULTS = "results.json"
SHORT = 8
"""How many characters of a run's id are shown."""
NOT_STORED = "the run was not stored"


class RunRecorder:
    """The store for one run; None if it was named but is unavailable. Problems go to `warnings`.

    A store that does not exist yet is created by `create` when a run is saved: one that can't start creates nothing.
    """

    def __init__(
        self,
        store: Store | None,
        clock: Clock,
        context: RunContext,
        *warnings: str,
        create: Callable[[], Store] | None = None,
    ) -> None:
        self.store = store
        self.warnings = list(warnings)
        self._create = create
        self._clock, self._context = clock, context
        self._started = clock.now()

    def load(self, request: JudgeRequest) -> JudgeRequest:
        """Adds history and approvals from the store to the request."""
        if self._create is not None:
            return replace(request, history=RunHistory(self._context.history_branch, (), ()))
        if self.store is None:
            return request
        try:
            approvals = self._approvals(self.store)
            history = history_of(self.store, self._context.history_branch)
            inputs = replace(request.approvals, remembered=approvals)
            return replace(request, history=history, approvals=inputs)
        except (InvalidInput, Unreachable) as trouble:
            self.warnings.append(f"the history and the stored approvals are not available: {trouble}")
            return request

    def save(self, judgement: Judgement) -> str:
        """Saves the run; returns a phrase for the log, empty if there is nothing to report.

        The same results of the same workflow run are saved once; a run that could not start, or that judged only
        some scenarios, is not saved.
        """
        try:
            if self._create is not None and _is_whole(judgement):
                self.store = self._create()
            return "" if self.store is None else self._save(self.store, judgement)
        except (InvalidInput, Unreachable) as trouble:
            self.warnings.append(f"{NOT_STORED}: {trouble}")
            return ""
        finally:
            if self.store is not None:
                self.store.close()

    def _approvals(self, store: Store) -> tuple[Approval, ...]:
        """Approvals given in the store. Those from comments count only through their comment."""
        if not self._context.is_approved_by_store:
            return ()
        found = store.approvals.active(self._clock.now().date())
        return tuple(each.approval for each in found if each.provenance.source == "shell")

    def _save(self, store: Store, judgement: Judgement) -> str:
        if not _is_whole(judgement) or RESULTS not in judgement.files:
            return ""
        content = join_chunks(judgement.files[RESULTS])
        results = load_results(content)
        run = build_stored_run(results, content, self._context, self._started, self._clock.now())
        name = run.facts.id[:SHORT]
        if store.runs.record(run, _evaluations(store, results, run.facts.id)):
            return f"stored in {store.display_url} as run {name}"
        return f"not stored again in {store.display_url}: run {name} has the same results"


def _is_whole(judgement: Judgement) -> bool:
    """Whether it judged what the suites ask for."""
    return not judgement.problems and "selection" not in judgement.results


def _evaluations(store: Store, results: ResultsDoc, run_id: str) -> list[GoldenEvaluation]:
    """The run's evaluations of goldens. Goldens unknown to the store are added; others stay unchanged."""
    if not any(each.get("golden") for suite in results["suites"] for each in suite["scenarios"]):
        return []
    from evalgate.application.documents.golden_documents import evaluations_of, goldens_of

    known = set(store.goldens.ids())
    for golden in goldens_of(results):
        if golden.id not in known:
            store.goldens.upsert(golden)  # another process may have added it meanwhile
    return evaluations_of(results, run_id)


def history_of(store: Store, branch: str | None) -> RunHistory:
    """The stored history of a branch, or of all; raises StoreUnreachable.

    A scenario with the same outcome in all its runs can't become flaky with one more, so it is left out.
    """
    runs = store.runs.trend(Subject(branch=branch), MAX_RUNS - 1)
    unsteady = store.runs.find_unsteady(STABILITY_RUNS, branch=branch)[:MAX_UNSTEADY]
    past = [collect_outcomes(key, store.runs.sightings(key, STABILITY_RUNS, branch)) for key in unsteady]
    return RunHistory(branch, tuple(runs), tuple(past))
