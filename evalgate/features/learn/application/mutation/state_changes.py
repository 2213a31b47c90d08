"""Changes of what a run left behind: one value more than those that it did change."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from evalgate.features.learn.application.mutation.edits import replace_fields
from evalgate.measures.sequences.differences import find_changes, format_path, list_changes
from evalgate.models.mutation import Mutation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.trace.trace import RunState, Trace

    Path = tuple[str | int, ...]

MOST_CHANGES, MOST_VALUES = 100, 5_000
"""Changes of a run, and values of its state, that are looked at."""


def find_second_records(trace: Trace, change_value: Callable[[Any], Any]) -> Iterator[Mutation]:
    """Yields a change of one value in each object or list that holds a changed one, beside what changed."""
    for at, path in enumerate(_list_untouched(trace.state, change_value)):
        yield Mutation("second_record", at, "", format_path(path))


def change_second_record(trace: Trace, change: Mutation, change_value: Callable[[Any], Any]) -> Trace:
    """The trace whose state has another value there after the run."""
    path = _list_untouched(trace.state, change_value)[change.at]
    state: Any = dict(trace.state or {})
    state["after"] = _replace(state["after"], path, change_value)
    return replace_fields(trace, state=state)


def list_changed_paths(trace: Trace) -> list[str]:
    """What the run changed, as paths for a suite; an entry that was added or removed by its own path."""
    return [format_path(each.path) for each in islice(list_changes(trace.state) or (), MOST_CHANGES)]


def _list_changed(state: RunState | None) -> list[Path]:
    if state is None or "before" not in state or "after" not in state:
        return []
    return [each.path for each in islice(find_changes(state["before"], state["after"]), MOST_CHANGES)]


def _list_untouched(state: RunState | None, change_value: Callable[[Any], Any]) -> list[Path]:
    """The first value that can be changed and was not, in each container above a change; of all without a change."""
    if state is None or "before" not in state or "after" not in state:
        return []
    touched = _list_changed(state)
    above = dict.fromkeys(path[:length] for path in touched for length in range(len(path))) or {(): None}
    leaves = [
        path
        for path, value in islice(_list_leaves(state["after"], ()), MOST_VALUES)
        if change_value(value) != value and not any(path[: len(each)] == each for each in touched)
    ]
    taken = {*above}
    firsts = (next((each for each in leaves if _is_beside(each, container, taken)), None) for container in above)
    return sorted({each for each in firsts if each is not None}, key=leaves.index)


def _is_beside(leaf: Path, container: Path, taken: set[Path]) -> bool:
    """Whether a value is below the container, and below none of the others that hold a change."""
    size = len(container)
    return len(leaf) > size and leaf[:size] == container and leaf[: size + 1] not in taken


def _list_leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    """Yields every value that holds no others, in order."""
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _list_leaves(each, (*path, name))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _list_leaves(each, (*path, index))
    else:
        yield path, value


def _replace(value: Any, path: Sequence[str | int], change_value: Callable[[Any], Any]) -> Any:
    if not path:
        return change_value(value)
    key, rest = path[0], path[1:]
    items: Any = dict(value) if isinstance(value, dict) else list(value)
    items[key] = _replace(items[key], rest, change_value)
    return items
