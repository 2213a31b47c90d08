"""Collects evaluations from a store for an export, and imports an export into a store."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from evalgate.errors import Problem, SettingError
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.models.goldens.exported_evaluation import About, Exported
from evalgate.ports.store import EVERYTHING
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime

    from evalgate.models.goldens.feedback import Feedback
    from evalgate.models.run.evaluation import GoldenEvaluation, Issue, TurnResult
    from evalgate.models.run.golden import Golden
    from evalgate.ports.store import Store


Record = TypeVar("Record")


class Gathered(NamedTuple):
    """The content of an export: evaluations, oldest first, and all goldens."""

    found: Sequence[Exported]
    goldens: Sequence[Golden]


class TakenIn(NamedTuple):
    """How many evaluations and feedback were new, how many existed, and what was refused or left out."""

    evaluations: int
    feedback: int
    known: int
    problems: Sequence[Problem]


def gather(
    store: Store, *, suite: str | None = None, since: datetime | None = None, until: datetime | None = None
) -> Gathered:
    """The evaluations of a suite and period (from `since`, before `until`), with feedback on them."""
    goldens = store.goldens.list(EVERYTHING)
    by_id = {golden.id: golden for golden in goldens}
    said = _by_subject(store.feedback.list(EVERYTHING))
    evaluations = store.evaluations.list(EVERYTHING, suite=suite, since=since, until=until)
    found = [
        _exported(each, golden, said)
        for each in reversed(evaluations)
        if (golden := by_id.get(each.golden_id)) is not None  # else it was deleted meanwhile
    ]
    return Gathered(found, goldens)


def take_in(found: Iterable[Exported], store: Store) -> TakenIn:
    """Stores new evaluations, redacted. What the store refuses is returned as a problem."""
    taking = _Taking(store)
    for each in found:
        taking.take(each)
    lacking = [_lack(golden_id, count) for golden_id, count in taking.lacking.items()]
    return TakenIn(taking.evaluations, taking.feedback, taking.known, [*taking.refused, *lacking])


class _Taking:
    """The state of an import."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._goldens = set(store.goldens.ids())
        self._said = {each.id for each in store.feedback.list(EVERYTHING)}
        self._runs: dict[str, bool] = {}
        self.evaluations = self.feedback = self.known = 0
        self.lacking: Counter[str] = Counter()
        self.refused: list[Problem] = []

    def take(self, each: Exported) -> None:
        """Imports one evaluation, and feedback on it."""
        evaluation = each.evaluation
        if evaluation.golden_id not in self._goldens:
            self.lacking[evaluation.golden_id] += 1
            return
        if self._store.evaluations.get(evaluation.id) is not None:
            self.known += 1
        elif not self._refuses(self._store.evaluations.create, self._clean(evaluation)):
            self.evaluations += 1
        for said in each.feedback:
            if said.id not in self._said:
                self._said.add(said.id)
                if not self._refuses(self._store.feedback.create, _clean_feedback(said, self._goldens)):
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


def _by_subject(said: Iterable[Feedback]) -> dict[tuple[str, str], list[Feedback]]:
    found: dict[tuple[str, str], list[Feedback]] = defaultdict(list)
    for each in said:
        found["conversation", each.conversation_id].append(each)
        if each.golden_id is not None:
            found["golden", each.golden_id].append(each)
    return found


def _exported(
    evaluation: GoldenEvaluation, golden: Golden, said: dict[tuple[str, str], list[Feedback]]
) -> Exported:
    about = About(golden.title, golden.intent, golden.primary_stance, golden.conversation_id)
    words = [*said.get(("golden", golden.id), ())]
    if golden.conversation_id is not None:
        words += said.get(("conversation", golden.conversation_id), ())
    return Exported(evaluation, about, tuple({each.id: each for each in words}.values()))


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


def _clean_feedback(said: Feedback, goldens: set[str]) -> Feedback:
    golden = said.golden_id if said.golden_id in goldens else None
    return replace(
        said, comment=redact(said.comment), issues=tuple(map(redact, said.issues)), golden_id=golden
    )


def _text(text: str | None) -> str | None:
    return redact(text) if text else text


def _lack(golden_id: str, count: int) -> Problem:
    what = "1 evaluation was" if count == 1 else f"{count:,} evaluations were"
    hint = "`evalgate goldens export` there and `evalgate goldens import` here, then import again"
    return Problem(f"{what} left out: the store has no golden `{golden_id}`", None, hint)
