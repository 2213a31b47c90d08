"""Collects evaluations from a store for an export, and imports an export into a store."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from msgspec.structs import replace

from evalgate.errors import Problem, SettingError
from evalgate.features.store.ports import EVERYTHING
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.goldens import ExportedEvaluation, GoldenSummary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from evalgate.features.store.ports import Store
    from evalgate.models.goldens import Feedback
    from evalgate.models.run.golden import Golden, GoldenEvaluation, Issue, TurnResult


Record = TypeVar("Record")
MOST_NAMED = 20


class EvaluationExport(NamedTuple):
    """The content of an export: evaluations, oldest first, and all goldens."""

    evaluations: Sequence[ExportedEvaluation]
    goldens: Sequence[Golden]


class ImportCounts(NamedTuple):
    """How many evaluations and feedback were new, how many existed, and what was refused or left out."""

    evaluations: int
    feedback: int
    existing: int
    problems: Sequence[Problem]


def collect_export(
    store: Store, *, suite: str | None = None, since: datetime | None = None, until: datetime | None = None
) -> EvaluationExport:
    """The evaluations of a suite and period (from `since`, before `until`), with feedback on them.

    Raises SettingError for a suite that has none.
    """
    if suite is not None:
        _require_suite(suite, store.evaluations.suites())
    goldens = store.goldens.list(EVERYTHING)
    by_id = {golden.id: golden for golden in goldens}
    feedback = _FeedbackIndex(store.feedback.list(EVERYTHING))
    evaluations = store.evaluations.list(EVERYTHING, suite=suite, since=since, until=until)
    found = [
        _build_exported(each, golden, feedback)
        for each in reversed(evaluations)
        if (golden := by_id.get(each.golden_id)) is not None  # else it was deleted meanwhile
    ]
    return EvaluationExport(found, goldens)


def _require_suite(suite: str, known: Sequence[str]) -> None:
    if suite not in known:
        more = f" and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
        hint = f"known: {', '.join(known[:MOST_NAMED])}{more}" if known else "`evalgate run --store-url` stores some"
        raise SettingError(Problem(f"the store has no evaluations of a suite `{suite}`", None, hint))


def import_evaluations(found: Iterable[ExportedEvaluation], store: Store) -> ImportCounts:
    """Stores new evaluations, redacted. What the store refuses is returned as a problem."""
    importer = _EvaluationImporter(store)
    for each in found:
        importer.import_one(each)
    lacking = [_missing_golden_problem(golden_id, count) for golden_id, count in importer.lacking.items()]
    return ImportCounts(importer.evaluations, importer.feedback, importer.existing, [*importer.refused, *lacking])


class _EvaluationImporter:
    """The state of an import."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._goldens = set(store.goldens.ids())
        self._feedback_ids = {each.id for each in store.feedback.list(EVERYTHING)}
        self._runs: dict[str, bool] = {}
        self.evaluations = self.feedback = self.existing = 0
        self.lacking: Counter[str] = Counter()
        self.refused: list[Problem] = []

    def import_one(self, each: ExportedEvaluation) -> None:
        """Imports one evaluation, and feedback on it."""
        evaluation = each.evaluation
        if evaluation.golden_id not in self._goldens:
            self.lacking[evaluation.golden_id] += 1
            return
        if self._store.evaluations.get(evaluation.id) is not None:
            self.existing += 1
        elif not self._refuses(self._store.evaluations.create, self._clean(evaluation)):
            self.evaluations += 1
        for feedback in each.feedback:
            if feedback.id not in self._feedback_ids:
                self._feedback_ids.add(feedback.id)
                if not self._refuses(self._store.feedback.create, _clean_feedback(feedback, self._goldens)):
                    self.feedback += 1

    def _refuses(self, create: Callable[[Record], Record], record: Record) -> bool:
        try:
            create(record)
        except SettingError as error:
            self.refused += error.problems
            return True
        return False

    def _clean(self, evaluation: GoldenEvaluation) -> GoldenEvaluation:
        """The evaluation as stored: without the run id if the run is unknown to this store."""
        run_id = evaluation.run_id
        if run_id is not None and run_id not in self._runs:
            self._runs[run_id] = self._store.runs.get(run_id) is not None
        return replace(
            evaluation,
            run_id=run_id if run_id is not None and self._runs[run_id] else None,
            turns=tuple(map(_clean_turn, evaluation.turns)),
            issues=tuple(map(_clean_issue, evaluation.issues)),
        )


class _FeedbackIndex:
    """All feedback by what it is about, in the order it was given."""

    def __init__(self, feedback: Sequence[Feedback]) -> None:
        self._feedback = feedback
        self._places: dict[tuple[str, str | None], list[int]] = defaultdict(list)
        for place, each in enumerate(feedback):
            self._places["conversation", each.conversation_id].append(place)
            self._places["golden", each.golden_id].append(place)

    def find(self, evaluation: GoldenEvaluation, golden: Golden) -> tuple[Feedback, ...]:
        """Feedback on the judged conversation, by its id or that of its trace, on the golden, and on its source."""
        conversations = (evaluation.conversation_id, evaluation.trace_id, golden.conversation_id)
        subjects = [("golden", golden.id), *(("conversation", id_) for id_ in conversations if id_ is not None)]
        places = {place for subject in subjects for place in self._places.get(subject, ())}
        return tuple(self._feedback[place] for place in sorted(places))


def _build_exported(evaluation: GoldenEvaluation, golden: Golden, feedback: _FeedbackIndex) -> ExportedEvaluation:
    about = GoldenSummary(golden.title, golden.intent, golden.primary_stance, golden.conversation_id)
    return ExportedEvaluation(evaluation, about, feedback.find(evaluation, golden))


def _clean_turn(turn: TurnResult) -> TurnResult:
    return replace(
        turn,
        user_message=_text(turn.user_message),
        actual_response=_text(turn.actual_response),
        golden_response=_text(turn.golden_response),
        retrieved_memories=tuple(redact_value(list(turn.retrieved_memories))),
        tools_invoked=tuple(map(redact, turn.tools_invoked)),
        tool_results=tuple(redact_value(list(turn.tool_results))),
        issues=tuple(map(_clean_issue, turn.issues)),
        evidence=tuple(map(redact, turn.evidence)),
    )


def _clean_issue(issue: Issue) -> Issue:
    return issue._replace(message=redact(issue.message), evidence=_text(issue.evidence))


def _clean_feedback(feedback: Feedback, goldens: set[str]) -> Feedback:
    golden = feedback.golden_id if feedback.golden_id in goldens else None
    return replace(
        feedback, comment=redact(feedback.comment), issues=tuple(map(redact, feedback.issues)), golden_id=golden
    )


def _text(text: str | None) -> str | None:
    return redact(text) if text else text


def _missing_golden_problem(golden_id: str, count: int) -> Problem:
    what = "1 evaluation was" if count == 1 else f"{count:,} evaluations were"
    hint = "`evalgate store goldens export` there and `evalgate store goldens import` here, then import again"
    return Problem(f"{what} left out: the store has no golden `{golden_id}`", None, hint)
