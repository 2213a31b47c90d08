"""Stores goldens, feedback and regression suites, and finds the goldens that a suite names."""

from __future__ import annotations

from collections import Counter
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.features.store.ports import EVERYTHING
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.plain_text import make_visible
from evalgate.models.goldens import RegressionSuite

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.features.store.ports import Goldens, RegressionSuites, Store
    from evalgate.models.goldens import Feedback
    from evalgate.models.run.golden import Golden


class StoredCounts(NamedTuple):
    """How many goldens were new, changed, or already stored unchanged."""

    created: int
    updated: int
    unchanged: int


def add_goldens(goldens: Sequence[Golden], store: Goldens) -> None:
    """Stores new goldens, all or none; raises SettingError if an id is taken."""
    clean = _distinct(goldens)
    stored = [golden.id for golden in clean if store.get(golden.id) is not None]
    hint = "`goldens update` changes it, `goldens import` imports newer versions"
    _refuse(clean, store, *(Problem(f"golden `{id_}` is stored already", None, hint) for id_ in stored))
    for golden in clean:
        store.create(golden)


def upsert_goldens(goldens: Sequence[Golden], store: Goldens) -> StoredCounts:
    """Stores new goldens, and updates stored ones that differ; none if another repository has the id of one."""
    counts = [0, 0, 0]
    clean = _distinct(goldens)
    _refuse(clean, store)
    for golden in clean:
        stored = store.get(golden.id)
        now = store.upsert(golden)
        counts[0 if stored is None else 1 if now.version != stored.version else 2] += 1
    return StoredCounts(*counts)


def _refuse(goldens: Sequence[Golden], store: Goldens, *problems: Problem) -> None:
    """Raises SettingError for these problems and for each id that another repository has."""
    taken = [problem for golden in goldens if (problem := store.find_taken(golden.id)) is not None]
    if problems or taken:
        raise SettingError(*problems, *taken)


def stored_golden(golden_id: str, store: Goldens) -> Golden:
    """The golden of that id; raises SettingError, suggesting a similar id."""
    found = store.get(golden_id)
    if found is None:
        raise SettingError(unknown_golden(golden_id, store))
    return found


def unknown_golden(golden_id: str, store: Goldens) -> Problem:
    """The problem that no golden has that id, with a suggestion, or that it is of another repository."""
    ids = store.ids()
    hint = suggest(golden_id, ids) if ids else "it has no goldens; `evalgate store goldens add` stores one"
    return store.find_taken(golden_id) or Problem(f"the store has no golden `{golden_id}`", None, hint)


def add_feedback(feedback: Feedback, store: Store) -> Feedback:
    """Stores feedback, redacted; raises SettingError for a golden that is not stored."""
    if feedback.golden_id is not None:
        stored_golden(feedback.golden_id, store.goldens)
    clean = replace(feedback, comment=redact(feedback.comment), issues=_redact_texts(feedback.issues))
    return store.feedback.create(clean)


def _distinct(goldens: Sequence[Golden]) -> list[Golden]:
    """The goldens, redacted; raises SettingError for duplicate ids or ids with invisible characters."""
    unseen = [golden.id for golden in goldens if not can_be_seen(golden.id)]
    if unseen:
        raise SettingError(*(Problem(f"the id {id_!a} contains invisible characters") for id_ in unseen))
    counts = Counter(golden.id for golden in goldens)
    twice = [id_ for id_, count in counts.items() if count > 1]
    if twice:
        raise SettingError(*(Problem(f"two goldens have the id `{id_}`") for id_ in twice))
    return [without_secrets(golden) for golden in goldens]


def can_be_seen(golden_id: str) -> bool:
    """Whether an id looks on screen as it is stored: no control or invisible characters, not blank."""
    return bool(golden_id.strip()) and make_visible(golden_id) == golden_id and not {"\n", "\t"} & set(golden_id)


def without_secrets(golden: Golden) -> Golden:
    """The golden as stored: secrets in its texts are redacted."""
    return replace(
        golden,
        title=redact(golden.title),
        description=redact(golden.description),
        secondary_stances=_redact_texts(golden.secondary_stances),
        required_memory_recall=_redact_texts(golden.required_memory_recall),
        required_tool_usage=_redact_texts(golden.required_tool_usage),
        required_refusal=_redact_texts(golden.required_refusal),
        user_messages=_redact_texts(golden.user_messages),
        golden_responses=_redact_texts(golden.golden_responses),
        tags=_redact_texts(golden.tags),
    )


def _redact_texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(redact, texts))


MAX_NAME, MAX_TEXT, MOST_ITEMS = 200, 10_000, 1_000
MOST_ISSUES = 1_000_000


def check_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a suite, checked; raises SettingError for invalid values."""
    for name, value in fields.items():
        texts = value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()
        most = MAX_TEXT if name == "description" else MAX_NAME
        if len(texts) > MOST_ITEMS or any(len(text) > most for text in texts):
            raise SettingError(f"the {name.replace('_', ' ')} of a suite may have at most {most:,} characters")
        if any(not text.strip() for text in texts) and name != "description":
            raise SettingError(f"the {name.replace('_', ' ')} must not be empty")
    score, issues = fields.get("passing_score", 0.0), fields.get("critical_issue_threshold", 0)
    if not (isfinite(score) and 0 <= score <= 1):
        raise SettingError(f"--passing-score must be a number from 0 to 1, not {score:g}")
    if not 0 <= issues <= MOST_ISSUES:
        raise SettingError(f"--critical-issues must be a whole number of at least 0, not {issues}")
    return dict(fields)


def add_suite(name: str, fields: Mapping[str, Any], store: Store) -> RegressionSuite:
    """Stores a new suite; raises SettingError if it names no goldens, or one that is not stored."""
    if not 0 < len(name.strip()) <= MAX_NAME:
        raise SettingError(f"the name of a suite must have 1 to {MAX_NAME} characters")
    if not can_be_seen(name):
        raise SettingError(f"the name {name!a} contains invisible characters")
    return store.suites.create(_validate_suite(RegressionSuite(name, **fields), store.goldens))


def change_suite(name: str, fields: Mapping[str, Any], store: Store) -> RegressionSuite:
    """Replaces the given fields; raises SettingError like `add_suite`."""
    if not fields:
        hint = "see evalgate store goldens suite update --help"
        raise SettingError(Problem("no change was given", None, hint))
    return store.suites.update(_validate_suite(replace(stored_suite(name, store.suites), **fields), store.goldens))


def stored_suite(name: str, store: RegressionSuites) -> RegressionSuite:
    """The regression suite of that name; raises SettingError, suggesting a similar name."""
    found = store.get(name)
    if found is None:
        raise SettingError(unknown_suite(name, store))
    return found


def unknown_suite(name: str, store: RegressionSuites) -> Problem:
    """The problem that no suite has that name, with a suggestion, or that it is of another repository."""
    names = [suite.name for suite in store.list(EVERYTHING)]
    hint = suggest(name, names) if names else "it has no suites; `evalgate store goldens suite add` stores one"
    return store.find_taken(name) or Problem(f"the store has no regression suite `{name}`", None, hint)


def goldens_of(suite: RegressionSuite, store: Goldens) -> Sequence[Golden]:
    """The goldens that a suite names, as stored now."""
    return store.select(suite.golden_ids, suite.golden_tags, suite.golden_intents)


def _validate_suite(suite: RegressionSuite, store: Goldens) -> RegressionSuite:
    if not (suite.golden_ids or suite.golden_tags or suite.golden_intents):
        hint = "use --golden, --tag or --intent"
        raise SettingError(Problem("a regression suite must select goldens", None, hint))
    known = set(store.ids()) if suite.golden_ids else set()
    lacking = [id_ for id_ in suite.golden_ids if id_ not in known]
    if lacking:
        raise SettingError(*(unknown_golden(id_, store) for id_ in lacking))
    return replace(suite, description=redact(suite.description), tags=tuple(map(redact, suite.tags)))
