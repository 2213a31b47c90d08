"""Loads history from the store before a run, and saves the run after its verdict.

Nothing here changes a verdict. An unavailable store is a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.application.documents.run_documents import identify_agent, pool_trials
from evalgate.errors import InvalidInput, Unreachable
from evalgate.features.store.application.history.run_record import build_stored_run
from evalgate.features.store.ports import Page, Subject
from evalgate.gate.decision.stability import STABILITY_RUNS, collect_outcomes
from evalgate.models.history.stability import FEWEST_RUNS, RunHistory, ScenarioCount, TrialCounts
from evalgate.models.run.chunks import join_chunks
from evalgate.ports.outputs import RESULTS, Delivered, DeliveryNote, Rendered
from evalgate.ports.store import RunStore
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.rulings_doc import MAX_RUNS
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date

    from evalgate.errors import Problem
    from evalgate.features.store.application.history.run_record import RunContext
    from evalgate.features.store.ports import Store
    from evalgate.models.approvals.approval import Approval, StoredApproval
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.models.run.golden import GoldenEvaluation
    from evalgate.ports import Clock
    from evalgate.ports.outputs import OutputSettings, OutputSource, RunSubject


MAX_UNSTEADY = 300
"""Number of unsteady scenarios loaded for a run; `evalgate store history` shows more."""
MOST_BYTES = 64_000_000
"""Size of all results that are read at once."""
SHORT = 8
"""How many characters of a run's id are shown."""
NOT_STORED = "the run was not stored"
UNNAMED = "{} in {} count in no repository, because they name none and the store has several (docs/store.md)"


class RunRecorder(RunStore):
    """The store for one run; None if it was named but is unavailable. Problems go to `warnings`.

    A store that does not exist yet is created by `create` when a run is saved: one that can't start creates nothing.
    `sentence` is how the log says where the run was stored.
    """

    name = "store"
    delivers = RESULTS
    is_late = True

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
        self.sentence = "{}"
        self._create = create
        self._clock, self._context = clock, context
        self._started = clock.now()

    def load(self) -> tuple[RunHistory | None, Sequence[Approval]]:
        """The history and the approvals of the store; nothing if it is not available."""
        if self._create is not None:
            return RunHistory(self._context.history_branch, (), ()), ()
        if self.store is None:
            return None, ()
        try:
            approvals = self._approvals(self.store)
            return history_of(self.store, self._context.history_branch), approvals
        except (InvalidInput, Unreachable) as trouble:
            self.warnings.append(f"the history and the stored approvals are not available: {trouble}")
            return None, ()

    def load_runs(self, branch: str | None) -> Sequence[ResultsDoc]:
        """The last runs, of a branch or all, oldest first, as many as fit into `MOST_BYTES`."""
        return [] if self.store is None else list_results(self.store, branch)

    def prepare(self, settings: OutputSettings, environ: Mapping[str, str]) -> Any:  # noqa: ARG002
        """The store is open already, for the history."""
        return True

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """It saves the results."""
        return Rendered(None)

    def is_allowed(self, content: Content, results: ResultsDoc, subject: RunSubject, options: Any) -> bool:  # noqa: ARG002
        """The results are checked as such."""
        return True

    def deliver(self, content: Content, results: ResultsDoc) -> Delivered:
        """Saves the run and closes the store.

        The same results of the same workflow run are saved once; a run that could not start, or that judged only
        some scenarios, is not saved.
        """
        message = self._try_to_save(content, results)
        notes = [DeliveryNote("detail", self.sentence.format(message))] if message else []
        return Delivered(notes=[*notes, *(DeliveryNote("warning", each) for each in self.warnings)])

    def _try_to_save(self, content: Content, results: ResultsDoc) -> str:
        is_whole = results["verdict"] != "invalid" and "selection" not in results
        try:
            if self._create is not None and is_whole:
                self.store = self._create()
            return "" if self.store is None or not is_whole else self._save(self.store, join_chunks(content))
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
        found = list_shell_approvals(store, self._clock.now().date())
        own = list_own(found, store, self._context.repository)
        unnamed = sum(each.provenance.repository is None for each in found) if len(own) < len(found) else 0
        if unnamed and self._context.repository is not None:
            self.warnings.append(UNNAMED.format(pluralize(unnamed, "approval"), store.display_url))
        return tuple(each.approval for each in own)

    def _save(self, store: Store, content: bytes) -> str:
        results = load_results(content)
        run = build_stored_run(results, content, self._context, self._started, self._clock.now())
        name = run.facts.id[:SHORT]
        if store.runs.record(run, self._evaluations(store, results, run.facts.id)):
            return f"stored in {store.display_url} as run {name}"
        return f"not stored again in {store.display_url}: run {name} has the same results"

    def _evaluations(self, store: Store, results: ResultsDoc, run_id: str) -> list[GoldenEvaluation]:
        """The run's evaluations of goldens. Goldens unknown to the store are added; others stay unchanged.

        Those of a golden whose id another repository has are left out: they are of another conversation.
        """
        if not any(each.get("golden") for suite in results["suites"] for each in suite["scenarios"]):
            return []
        from evalgate.application.documents.golden_documents import evaluations_of, goldens_of

        known = set(store.goldens.ids())
        taken: dict[str, Problem] = {}
        for golden in goldens_of(results):
            problem = None if golden.id in known else store.goldens.find_taken(golden.id)
            if problem is not None:
                taken[golden.id] = problem
            elif golden.id not in known:
                store.goldens.upsert(golden)  # another process may have added it meanwhile
        if taken:
            first = next(iter(taken.values()))
            self.warnings.append(f"the evaluations of {pluralize(len(taken), 'golden')} are not stored: {first}")
        return [each for each in evaluations_of(results, run_id) if each.golden_id not in taken]


def list_shell_approvals(store: Store, today: date) -> list[StoredApproval]:
    """The approvals in force, of every repository, but those of comments, which count only through their comment."""
    return [each for each in store.approvals.active(today) if each.provenance.source == "shell"]


def list_own(approvals: Sequence[StoredApproval], store: Store, repository: str | None) -> list[StoredApproval]:
    """Those that count in a repository: in a store of several repositories only those that name it."""
    return [each for each in approvals if not store.is_shared or each.provenance.repository == repository]


def list_results(store: Store, branch: str | None) -> list[ResultsDoc]:
    """The results of the last runs, oldest first; raises StoreUnreachable."""
    found: list[ResultsDoc] = []
    left = MOST_BYTES
    for facts in store.runs.list(Page(MAX_RUNS), branch=branch):
        run = store.runs.get(facts.id)
        left -= 0 if run is None else len(run.results)
        if left < 0:
            break
        if run is not None:
            found.append(load_results(run.results))
    return found[::-1]


def history_of(store: Store, branch: str | None) -> RunHistory:
    """The stored history of a branch, or of all; raises StoreUnreachable.

    A scenario with the same outcome in all its runs can't become flaky with one more, so it is left out.
    """
    runs = store.runs.trend(Subject(branch=branch), MAX_RUNS - 1)
    unsteady = store.runs.find_unsteady(STABILITY_RUNS, branch=branch)[:MAX_UNSTEADY]
    past = [collect_outcomes(key, store.runs.sightings(key, STABILITY_RUNS, branch)) for key in unsteady]
    documents = list_results(store, branch) if len(runs) >= FEWEST_RUNS else []
    return RunHistory(branch, tuple(runs), tuple(past), count_trials(documents))


def count_trials(documents: Sequence[ResultsDoc]) -> TrialCounts | None:
    """The trials of the newest rules and agent in these runs, oldest first; None if they do not note their rules."""
    rules = documents[-1].get("history", {}).get("rules") if documents else None
    if rules is None:
        return None
    same = [each for each in documents if each.get("history", {}).get("rules") == rules]
    agents = list(map(identify_agent, same))
    chosen = [each for each, agent in zip(same, agents, strict=True) if agent == agents[-1]]
    counts = [
        ScenarioCount(key, sum(each.status == "passed" for each in trials), len(trials))
        for key, trials in pool_trials(chosen).items()
    ]
    return TrialCounts(rules, len(chosen), tuple(counts))
