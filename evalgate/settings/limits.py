"""Limits on what is read and used, and the parser of `name=value` limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalgate.errors import Problem, SettingError
from evalgate.settings.readers import read_lines, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

MB = 1_000_000
MAX_DIGITS = 15


class Limits(Struct, frozen=True):
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
    def is_process_limited(self) -> bool:
        """Whether a separate process must judge, as CPU time or memory is limited."""
        return self.cpu is not None or self.memory is not None


LIMITS: Mapping[str, str] = {
    "suite": "a suite file, default 1MB",
    "record": "one trace record, or a document of several, default 25MB",
    "together": "a file that is read whole, as its lines are one trace, default 100MB",
    "unpacked": "a compressed file, decompressed, default 2GB",
    "messages": "messages, and tool calls, of one trace, default 100000",
    "traces": "all traces of a run together, default none in a shell, 2GB in the Action",
    "cpu": "seconds of CPU time to judge, default none in a shell, 60 in the Action",
    "memory": "memory to judge with, default none in a shell, 1GB in the Action",
}
PROCESS_LIMITS = ("cpu", "memory")
COUNTS = {"messages": 5000, "cpu": 120}
"""The limits that are counts instead of sizes, each with an example."""
_UNITS = {"KB": 1_000, "MB": MB, "GB": 1_000 * MB, "B": 1, "": 1}
IN_ACTION = Limits(traces=2_000 * MB)


def parse_limits(texts: Sequence[str], base: Limits | None = None, *, allowed: Collection[str] = LIMITS) -> Limits:
    """Parses `name=value` texts such as `record=50MB`; raises SettingError with every error."""
    values: dict[str, int] = {}
    problems = []
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        size = _parse_count(value) if name in COUNTS else _parse_size(value)
        if name not in allowed:
            problems.append(Problem(f"unknown limit {name!r}", None, f"known: {', '.join(allowed)}"))
        elif size is None:
            kind, example = (
                ("whole number above 0", f"{name}={COUNTS[name]}") if name in COUNTS else ("size", f"{name}=50MB")
            )
            problems.append(Problem(f"limit {name}: {value!r} is not a {kind}", None, f"for example {example}"))
        else:
            values[name] = size
    if problems:
        raise SettingError(*problems)
    replace_limits: Callable[..., Limits] = replace
    return replace_limits(base or Limits(), **values)


def read_action_limits(text: str) -> Limits:
    """The limits of an input of the Action, one per line; raises a ValueError that continues after its name."""
    try:
        return parse_limits(read_lines(text), IN_ACTION)
    except SettingError as error:
        raise ValueError(f"is invalid: {shorten('; '.join(map(str, error.problems)), 500)}") from None


def _parse_size(text: str) -> int | None:
    digits = text.rstrip("BKMGbkmg")
    unit = _UNITS.get(text[len(digits) :].upper())
    count = _parse_count(digits)
    return None if unit is None or count is None else count * unit


def _parse_count(text: str) -> int | None:
    if not text.isascii() or not text.isdigit() or len(text) > MAX_DIGITS:
        return None
    return int(text) or None
