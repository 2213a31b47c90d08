"""Formats of installed packages (entry points): asked after all of ours, in a shell only, and never believed to work.

Their functions may raise anything: an error of `claims` ends the command with one line, one of a reader refuses the
record.
"""

from __future__ import annotations

import re
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.errors import EvalGateError, Problem, SettingError, TraceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.metadata import EntryPoint

    from evalgate.adapters.formats.core.format import Format, Reader

GROUP = "evalgate.formats"
NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_allowed = False


def allow_installed_formats() -> None:
    """Lets this process and its forks read formats of installed packages: what a shell does, and a job never."""
    global _allowed  # noqa: PLW0603  (as sys.path: a fact about the process)
    _allowed = True


def find_installed_formats() -> Sequence[Format]:
    """The formats by name; none unless allowed. Raises SettingError for a package whose format can't be used."""
    return _load_all() if _allowed else ()


@cache
def _load_all() -> tuple[Format, ...]:
    from importlib.metadata import entry_points  # slow to import, so only for what none of our formats claims

    offered = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    return tuple(map(_load, {entry.name: entry for entry in reversed(offered)}.values()))


def _load(entry: EntryPoint) -> Format:
    from evalgate.adapters.formats.core.format import Format

    label = f"installed format {entry.name} ({entry.value})"
    try:
        found = entry.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001  (code of others may raise anything)
        raise SettingError(f"{label} can't be imported ({type(error).__name__})") from None
    if not isinstance(found, Format) or found.own_reader is None or found.name != entry.name:
        hint = f"it must be an evalgate.adapters.formats.base.Format named {entry.name!r} with its `own_reader`"
        raise SettingError(Problem(f"{label} is not a format", None, hint))
    if not NAME.fullmatch(found.name):
        raise SettingError(Problem(f"{label} has no valid name", None, "use small letters, digits, - and _"))
    return replace(
        found,
        claims=_guard(found.claims, lambda error: SettingError(f"{label} can't recognise a file ({error})")),
        magic=None,
        own_reader=_guard_reader(found.own_reader, label),
    )


def _guard_reader(reader: Reader, label: str) -> Reader:
    def refuse(error: str) -> TraceError:
        return TraceError(f"{label} can't read it ({error})")

    return replace(
        reader,
        build=_guard(reader.build, refuse),
        identify=_guard(reader.identify, refuse),
        split=_guard(reader.split, refuse),
        unpack=None,
    )


def _guard(function: Callable[..., Any], refuse: Callable[[str], EvalGateError]) -> Callable[..., Any]:
    """The function; any error of it that is not ours becomes the one that `refuse` makes of its type."""

    @wraps(function)
    def call(*words: Any) -> Any:
        try:
            return function(*words)
        except EvalGateError:
            raise
        except Exception as error:  # noqa: BLE001  (code of others may raise anything)
            raise refuse(type(error).__name__) from None

    return call
