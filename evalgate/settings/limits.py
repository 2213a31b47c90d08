"""Limits on what is read and used, and the parser of `name=value` limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.errors import Problem, SettingError
from evalgate.records import dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

MB = 1_000_000
MAX_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Limits:
    """Maximum bytes to read; `messages` is a count. `traces` is for the whole run; None means no limit.

    `cpu` (seconds) and `memory` (bytes) limit the judge's process; None means the default of shell or Action.
    """

    suite: int = MB
    record: int = 25 * MB
    together: int = 100 * MB
    unpacked: int = 2_000 * MB
    messages: int = 100_000
    traces: int | None = None
    cpu: int | None = None
    memory: int | None = None

    @property
    def bounds_process(self) -> bool:
        """Whether a separate process must judge, as CPU time or memory is limited."""
        return self.cpu is not None or self.memory is not None


LIMITS: Mapping[str, str] = {
    "suite": "a suite file, default 1MB",
    "record": "one trace record, or a document of several, default 25MB",
    "together": "a file that is read whole, as its lines are one recording, default 100MB",
    "unpacked": "a packed file, unpacked, default 2GB",
    "messages": "messages, and tool calls, of one trace, default 100000",
    "traces": "all traces of a run together, default none in a shell, 2GB in the Action",
    "cpu": "seconds of CPU time to judge, default none in a shell, 60 in the Action",
    "memory": "memory to judge with, default none in a shell, 1GB in the Action",
}
PROCESS = ("cpu", "memory")
"""The limits on the judge's process."""
COUNTS = {"messages": 5000, "cpu": 120}
"""The limits that are counts instead of sizes, each with an example."""
_UNITS = {"KB": 1_000, "MB": MB, "GB": 1_000 * MB, "B": 1, "": 1}
IN_ACTION = Limits(traces=2_000 * MB)


def limits_from(
    given: Sequence[str], base: Limits | None = None, *, known: Collection[str] = LIMITS
) -> Limits:
    """Parses `name=value` texts such as `record=50MB`; raises SettingError with every mistake."""
    values: dict[str, int] = {}
    problems = []
    for text in given:
        name, _, value = (part.strip() for part in text.partition("="))
        size = _count(value) if name in COUNTS else _size(value)
        if name not in known:
            problems.append(Problem(f"unknown limit {name!r}", None, f"known: {', '.join(known)}"))
        elif size is None:
            kind, example = (
                ("number", f"{name}={COUNTS[name]}") if name in COUNTS else ("size", f"{name}=50MB")
            )
            problems.append(Problem(f"limit {name}: {value!r} is no {kind}", None, f"for example {example}"))
        else:
            values[name] = size
    if problems:
        raise SettingError(*problems)
    changed: Callable[..., Limits] = replace
    return changed(base or Limits(), **values)


def _size(text: str) -> int | None:
    digits = text.rstrip("BKMGbkmg")
    unit = _UNITS.get(text[len(digits) :].upper())
    count = _count(digits)
    return None if unit is None or count is None else count * unit


def _count(text: str) -> int | None:
    if not text.isascii() or not text.isdigit() or len(text) > MAX_DIGITS:
        return None
    return int(text) or None
