"""Whether today's suites only have more scenarios than those of a baseline: what both judge, they judge alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


def only_adds_scenarios(kept: bytes | None, today: Mapping[str, Any], judged: Collection[tuple[str, str]]) -> bool:
    """Whether suites differ from those that a baseline keeps by added suites and scenarios only.

    An added scenario has an id, and judges nothing that the baseline judged: `judged` has names of suites with ids of
    scenarios, and no scenario has other conditions, whose traces it could take. False if the baseline keeps no suites.
    """
    try:
        before = orjson.loads(kept or b"")
        places = [[each["path"] for each in document["suites"]] for document in (before, today)]
        old, new = ({each["path"]: each["suite"] for each in document["suites"]} for document in (before, today))
        same = all(before[name] == today[name] for name in ("project", "project_path"))
        in_order = [path for path in places[1] if path in old] == places[0]
        return same and in_order and all(_only_adds(old[path], new[path], judged) for path in old)
    except (orjson.JSONDecodeError, AttributeError, KeyError, TypeError):
        return False


def _only_adds(old: Mapping[str, Any], new: Mapping[str, Any], judged: Collection[tuple[str, str]]) -> bool:
    if {**old, "scenarios": None} != {**new, "scenarios": None}:
        return False
    added = _list_added(old["scenarios"], new["scenarios"])
    if added is None or any("match" in each for each in new["scenarios"]):
        return False
    ids = [each["id"] for each in added]
    return all(type(id_) is str and "*" not in id_ and (old["suite"], id_) not in judged for id_ in ids)


def _list_added(old: Sequence[Any], new: Sequence[Any]) -> list[Any] | None:
    """What a list has more than another, whose items it has in the same order; None if it does not."""
    added, left = [], list(reversed(old))
    for each in new:
        if left and each == left[-1]:
            left.pop()
        else:
            added.append(each)
    return None if left else added
