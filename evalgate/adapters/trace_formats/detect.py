"""Which format a recording has: asked of its content, never of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.trace_formats import native, openai_chat, tau2, tau_bench
from evalgate.adapters.trace_formats.fields import keys_of
from evalgate.errors import Problem, SettingError, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.trace_formats.shapes import Reader

AUTO = "auto"
READERS: tuple[Reader, ...] = (native.READER, tau2.READER, tau_bench.READER, openai_chat.READER)
"""In the order they are asked: who asks for most comes first."""


def named(form: str) -> Reader | None:
    """The reader of a format, None for `auto`; raises SettingError for a name that no format has."""
    if form == AUTO:
        return None
    for reader in READERS:
        if reader.name == form:
            return reader
    import difflib

    names = [AUTO, *(reader.name for reader in READERS)]
    close = difflib.get_close_matches(form[:100].lower().replace("_", "-"), names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"formats: {', '.join(names)}"
    raise SettingError(Problem(f"the format {form[:40]!r} is unknown", hint=hint))


def detect(values: Iterable[Any]) -> Reader:
    """The first reader that claims one of the values; raises TraceError that says what each would need."""
    seen: list[Any] = []
    best: int | None = None
    for value in values:
        seen.append(value)
        for rank, reader in enumerate(READERS[:best]):
            if reader.claims(value):
                best = rank
                break
        if best == 0:
            break
    if best is not None:
        return READERS[best]
    needs = "; ".join(f"{reader.name} needs {reader.needs}" for reader in READERS)
    raise TraceError(f"no format fits {keys_of(seen[0]) if seen else 'it'}: {needs}")
