"""How much is read at most, and how people say so."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MB = 1_000_000
MAX_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes that are read at most. `traces` holds for a whole run; None is no limit."""

    suite: int = MB
    record: int = 25 * MB
    traces: int | None = None


LIMITS: Mapping[str, str] = {
    "suite": "a suite file, default 1MB",
    "record": "one trace record, or a document of several, default 25MB",
    "traces": "all traces of a run together, default none in a shell, 2GB in the Action",
}
_UNITS = {"KB": 1_000, "MB": MB, "GB": 1_000 * MB, "B": 1, "": 1}
IN_ACTION = Limits(traces=2_000 * MB)


def limits_from(given: Sequence[str], base: Limits | None = None) -> Limits:
    """Limits from `name=value` texts such as `record=50MB`; raises SettingError with every mistake."""
    values: dict[str, int] = {}
    problems = []
    for text in given:
        name, _, value = text.partition("=")
        size = _size(value)
        if name not in LIMITS:
            problems.append(Problem(f"unknown limit {name!r}", None, f"known: {', '.join(LIMITS)}"))
        elif size is None:
            problems.append(Problem(f"limit {name}: {value!r} is no size", None, "for example record=50MB"))
        else:
            values[name] = size
    if problems:
        raise SettingError(*problems)
    changed: Callable[..., Limits] = replace
    return changed(base or Limits(), **values)


def _size(text: str) -> int | None:
    digits = text.rstrip("BKMGbkmg")
    unit = _UNITS.get(text[len(digits) :].upper())
    if unit is None or not digits.isascii() or not digits.isdigit() or len(digits) > MAX_DIGITS:
        return None
    return int(digits) * unit or None
