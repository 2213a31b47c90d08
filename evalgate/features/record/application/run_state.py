"""What a run left behind, from the state before it and after it: both, their difference, and the files."""

from __future__ import annotations

from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.measures.sequences.differences import ABSENT, find_changes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.features.record.measures.masks import Masks
    from evalgate.features.record.models.state import SeenFile, Snapshot
    from evalgate.measures.sequences.differences import PlaceChange
    from evalgate.models.trace.trace import FileState, RunState

MOST_OPERATIONS = 1_000
"""Operations of a difference; of more, one replaces the whole."""
MOST_TEXT = 2**20
"""Characters of all texts of files together; files that changed come first."""
MOST_LINES = 2_000
"""Lines of a text whose difference is computed."""
NAME = "state"
"""What paths of masks begin with for the state."""


def build_state(before: Snapshot, after: Snapshot, masks: Masks) -> RunState:
    """The state of a trace. Masks hide what they match in it, after the difference was found."""
    for snapshot, when in ((before, "before"), (after, "after")):
        if snapshot.problem is not None:
            return {"outage": f"the state {when} the run can't be read: {snapshot.problem}"}
    state: RunState = {}
    if before.data is not ABSENT and after.data is not ABSENT:
        state["before"], state["after"] = (masks.apply(each.data, NAME) for each in (before, after))
        state["diff"] = _list_operations(before.data, after.data, state["after"])
    if before.files is not None and after.files is not None:
        state["files"] = _compare_files(before.files, after.files, masks)
    return state


def _list_operations(before: Any, after: Any, shown: Any) -> list[dict[str, Any]]:
    """The difference as RFC 6902 writes it, with values as `shown`, the masked state after the run."""
    changes = list(islice(find_changes(before, after), MOST_OPERATIONS + 1))
    if len(changes) > MOST_OPERATIONS:
        return [{"op": "replace", "path": "", "value": shown}]
    return [_write_operation(each, shown) for each in changes]


def _write_operation(change: PlaceChange, shown: Any) -> dict[str, Any]:
    names = (str(each).replace("~", "~0").replace("/", "~1") for each in change.path)
    pointer = "".join(f"/{name}" for name in names)
    if change.after is ABSENT:
        return {"op": "remove", "path": pointer}
    return {"op": "add" if change.before is ABSENT else "replace", "path": pointer, "value": _get(shown, change.path)}


def _get(value: Any, path: Sequence[str | int]) -> Any:
    """What stands at a path, or the text that hides what is above it."""
    for key in path:
        if not isinstance(value, dict | list):
            break
        value = value[key]  # type: ignore[index]
    return value


def _compare_files(before: Mapping[str, SeenFile], after: Mapping[str, SeenFile], masks: Masks) -> dict[str, FileState]:
    """Each file by path, sorted; texts of those that changed are kept before others."""
    paths = sorted({*before, *after})
    found = {path: _compare_file(before.get(path), after.get(path)) for path in paths}
    left = MOST_TEXT
    for path in sorted(paths, key=lambda path: "change" not in found[path]):
        old, new = (side[path].text if path in side else None for side in (before, after))
        left -= len(new or "")
        if new is not None and left >= 0:
            found[path]["text"] = masks.apply(new, "files")
        if "change" in found[path] and old is not None and new is not None and (diff := _diff_texts(old, new, path)):
            found[path]["diff"] = masks.apply(diff, "files")
    return found


def _compare_file(old: SeenFile | None, new: SeenFile | None) -> FileState:
    if new is None:
        return {"change": "removed"} if old is None or old.digest is None else {"change": "removed", "was": old.digest}
    state: FileState = {} if new.kind == "file" else {"kind": new.kind}
    state["bytes"] = new.size
    if new.digest is not None:
        state["sha256"] = new.digest
    if old is None:
        state["change"] = "added"
    elif not _are_same(old, new):
        state["change"] = "changed"
        if old.digest is not None:
            state["was"] = old.digest
    return state


def _are_same(old: SeenFile, new: SeenFile) -> bool:
    is_read = old.digest is not None and new.digest is not None
    shown = (old.digest, new.digest) if is_read else ((old.size, old.touched), (new.size, new.touched))
    return old.kind == new.kind and shown[0] == shown[1]


def _diff_texts(old: str, new: str, path: str) -> str | None:
    before, after = (each.splitlines(keepends=True) for each in (old, new))
    if max(len(before), len(after)) > MOST_LINES:
        return None
    return "".join(unified_diff(before, after, f"a/{path}", f"b/{path}"))
