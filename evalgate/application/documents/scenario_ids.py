"""Finds the scenario whose id a person wrote whole, by its beginning, or as a report cut it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.ids import find_ids, list_ids, suggest_id

if TYPE_CHECKING:
    from collections.abc import Iterable


def choose_id(given: str, known: Iterable[str], message: str, names: Iterable[str] = ()) -> str:
    """The one known id that is meant, else the one of `names`, longer forms of the ids; `message` is for none.

    Raises SettingError if no id begins so, with the nearest one, or if several do.
    """
    ids, longer = set(known), set(names)
    found = find_ids(given, ids) or find_ids(redact(given), ids) or find_ids(given, longer)
    if len(found) == 1:
        return found[0]
    if found:
        raise SettingError(Problem(message, None, f"{len(found):,} begin so: {list_ids(found)}"))
    raise SettingError(Problem(message, None, suggest_id(given, longer or ids)))
