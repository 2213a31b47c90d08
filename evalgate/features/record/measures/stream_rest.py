"""Keeps what the parts of a stream have beside what is read of them: an answer that is no stream would have it too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container

Rest = dict[str, list[Any]]
"""The values of each field, as they came."""


def add_rest(rest: Rest, part: Any, read: Container[str]) -> None:
    """Adds the fields of a part that are not read and hold something else than a number."""
    for key, value in part.items() if type(part) is dict else ():
        if key not in read and value and type(value) in (str, list, dict):
            rest.setdefault(key, []).append(value)


def join_rest(rest: Rest) -> dict[str, Any]:
    """The fields as whole ones: texts joined, all others in one list.

    >>> join_rest({"note": ["a", "b"], "tools": [[{"x": 1}], [{"y": 2}]], "usage": [{"z": 3}]})
    {'note': 'ab', 'tools': [{'x': 1}, {'y': 2}], 'usage': [{'z': 3}]}
    """
    return {key: _join(values) for key, values in rest.items()}


def _join(values: list[Any]) -> Any:
    if all(type(value) is str for value in values):
        return "".join(values)
    return [each for value in values for each in (value if type(value) is list else [value])]
