"""Stores goldens and feedback, and loads goldens by id."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.plain_text import make_visible
from evalgate.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.models.goldens.feedback import Feedback
    from evalgate.models.run.golden import Golden
    from evalgate.ports.store import Goldens, Store


class StoredCounts(NamedTuple):
    """How many goldens were new, changed, or already stored unchanged."""

    created: int
    updated: int
    unchanged: int


def add_goldens(goldens: Sequence[Golden], store: Goldens) -> None:
    """Stores new goldens, all or none; raises SettingError if an id is taken."""
    clean = _distinct(goldens)
    taken = [golden.id for golden in clean if store.get(golden.id) is not None]
    if taken:
        hint = "`goldens update` changes it, `goldens import` imports newer versions"
        raise SettingError(*(Problem(f"golden `{id_}` is stored already", None, hint) for id_ in taken))
    for golden in clean:
        store.create(golden)


def upsert_goldens(goldens: Sequence[Golden], store: Goldens) -> StoredCounts:
    """Stores new goldens, and updates stored ones that differ."""
    counts = [0, 0, 0]
    for golden in _distinct(goldens):
        stored = store.get(golden.id)
        now = store.upsert(golden)
        counts[0 if stored is None else 1 if now.version != stored.version else 2] += 1
    return StoredCounts(*counts)


def stored_golden(golden_id: str, store: Goldens) -> Golden:
    """The golden of that id; raises SettingError, suggesting a similar id."""
    found = store.get(golden_id)
    if found is None:
        raise SettingError(unknown_golden(golden_id, store))
    return found


def unknown_golden(golden_id: str, store: Goldens) -> Problem:
    """The problem that no golden has that id, with a suggestion."""
    ids = store.ids()
    hint = suggest(golden_id, ids) if ids else "it has no goldens; `evalgate goldens add` stores one"
    return Problem(f"the store has no golden `{golden_id}`", None, hint)


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
