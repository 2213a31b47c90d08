"""Which format a recording has: asked of its content, never of its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.trace_formats.fields import keys_of
from evalgate.adapters.trace_formats.signs import (
    benchmarks,
    chat,
    coding_agents,
    frameworks,
    harnesses,
    native,
    platforms,
    spans,
    trajectories,
)
from evalgate.errors import Problem, SettingError, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from evalgate.adapters.trace_formats.shapes import Format

AUTO = "auto"
FORMATS: tuple[Format, ...] = (
    native.NATIVE,
    benchmarks.TAU2,
    benchmarks.TAU2_FOLDER,
    benchmarks.TAU_BENCH,
    harnesses.ATIF,
    harnesses.INSPECT,
    harnesses.ADK,
    harnesses.ADK_EVAL,
    harnesses.ADK_EVALSET,
    trajectories.SWE_AGENT,
    trajectories.MINI_SWE_AGENT,
    trajectories.OPENHANDS,
    trajectories.EXGENTIC,
    trajectories.TOOLBENCH,
    trajectories.SALVO,
    platforms.MANAGED_AGENTS,
    platforms.LANGFUSE,
    platforms.LANGSMITH,
    platforms.OPENAI_AGENTS,
    platforms.OPENAI_AGENTS_STATE,
    spans.OTLP,
    spans.JAEGER,
    spans.SPAN_LIST,
    coding_agents.CLAUDE_CODE,
    coding_agents.CODEX,
    frameworks.PYDANTIC_AI,
    frameworks.VERCEL,
    frameworks.LANGCHAIN,
    frameworks.OPENAI_RESPONSES,
    frameworks.ANTHROPIC,
    chat.OPENAI_CHAT,
)
"""In the order they are asked: who asks for most comes first."""


def named(form: str) -> Format | None:
    """The format of a name, None for `auto`; raises SettingError for a name that no format has."""
    if form == AUTO:
        return None
    for known in FORMATS:
        if known.name == form:
            return known
    import difflib

    names = [AUTO, *(known.name for known in FORMATS)]
    close = difflib.get_close_matches(form[:100].lower().replace("_", "-"), names, n=1)
    hint = f"did you mean {close[0]}?" if close else f"formats: {', '.join(names)}"
    raise SettingError(Problem(f"the format {form[:40]!r} is unknown", hint=hint))


def detect(values: Iterable[Any]) -> Format:
    """The first format that claims one of the values; raises TraceError that says what each would need."""
    seen: list[Any] = []
    best: int | None = None
    for value in values:
        seen.append(value)
        best = _rank(value, best)
        if best == 0:
            break
    if best is not None:
        return FORMATS[best]
    needs = "; ".join(f"{known.name} needs {known.needs}" for known in FORMATS)
    found = keys_of(seen[0]) if seen else "it"
    raise TraceError(f"no format fits {found} (JSON of your own is read by `format: custom`): {needs}")


def claimed_by(value: Any) -> Format | None:
    """The first format that claims the value."""
    rank = _rank(value, None)
    return None if rank is None else FORMATS[rank]


def packed(head: bytes) -> Format | None:
    """The format of a file that is no text, by its first bytes."""
    return next((known for known in FORMATS if known.magic is not None and known.magic(head)), None)


def _rank(value: Any, best: int | None) -> int | None:
    """The place of the first format that claims the value and stands before `best`, else `best`."""
    for rank, known in enumerate(FORMATS[:best]):
        if known.claims(value):
            return rank
    return best
