"""Finds the scenario whose id a person wrote whole, by its beginning, or as a report cut it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.ids import find_ids, list_ids, suggest_id

if TYPE_CHECKING:
    from collections.abc import Iterable


def choose_id(given: str, known: Iterable[str], place: str) -> str:
    """The one known id that is meant; `place` names what has the ids.

    Raises SettingError if no id begins so, with the nearest one, or if several do.
    """
    ids = set(known)
    found = find_ids(given, ids) or find_ids(redact(given), ids)
    if len(found) == 1:
        return found[0]
    message = f"{place} no scenario `{given}`"
    if found:
        raise SettingError(Problem(message, None, f"{len(found):,} begin so: {list_ids(found)}"))
    raise SettingError(Problem(message, None, suggest_id(given, ids)))
