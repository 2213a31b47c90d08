"""Detects the format of a trace by its content, never by its file name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.adk import ADK, ADK_EVAL, ADK_EVALSET
from evalgate.adapters.formats.anthropic import ANTHROPIC
from evalgate.adapters.formats.atif import ATIF
from evalgate.adapters.formats.autogen import AUTOGEN
from evalgate.adapters.formats.bedrock import BEDROCK
from evalgate.adapters.formats.claude_code import CLAUDE_CODE
from evalgate.adapters.formats.codex import CODEX
from evalgate.adapters.formats.core.fields import describe_shape
from evalgate.adapters.formats.crewai import CREWAI
from evalgate.adapters.formats.cursor import CURSOR
from evalgate.adapters.formats.deepeval import DEEPEVAL
from evalgate.adapters.formats.dspy import DSPY
from evalgate.adapters.formats.exgentic import EXGENTIC
from evalgate.adapters.formats.gemini import GEMINI
from evalgate.adapters.formats.inspect_ai import INSPECT
from evalgate.adapters.formats.langchain import LANGCHAIN
from evalgate.adapters.formats.langfuse import LANGFUSE
from evalgate.adapters.formats.langgraph import LANGGRAPH
from evalgate.adapters.formats.langsmith import LANGSMITH
from evalgate.adapters.formats.litellm import LITELLM
from evalgate.adapters.formats.managed_agents import MANAGED_AGENTS
from evalgate.adapters.formats.mini_swe_agent import MINI_SWE_AGENT
from evalgate.adapters.formats.native import NATIVE
from evalgate.adapters.formats.openai_agents import OPENAI_AGENTS, OPENAI_AGENTS_STATE
from evalgate.adapters.formats.openai_chat import OPENAI_CHAT
from evalgate.adapters.formats.openai_responses import OPENAI_RESPONSES
from evalgate.adapters.formats.openhands import OPENHANDS
from evalgate.adapters.formats.opentelemetry import JAEGER, OTLP, SPAN_LIST
from evalgate.adapters.formats.promptfoo import PROMPTFOO
from evalgate.adapters.formats.pydantic_ai import PYDANTIC_AI
from evalgate.adapters.formats.ragas import RAGAS
from evalgate.adapters.formats.response_cache import RESPONSE_CACHE
from evalgate.adapters.formats.salvo import SALVO
from evalgate.adapters.formats.swe_agent import SWE_AGENT
from evalgate.adapters.formats.tau import TAU2, TAU2_FOLDER, TAU_BENCH
from evalgate.adapters.formats.toolbench import TOOLBENCH
from evalgate.adapters.formats.vercel import VERCEL
from evalgate.errors import Problem, SettingError, TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.adapters.formats.core.format import Format

AUTO = "auto"
NEAREST = 2
FORMATS: tuple[Format, ...] = (
    NATIVE,
    TAU2,
    TAU2_FOLDER,
    TAU_BENCH,
    ATIF,
    INSPECT,
    ADK,
    ADK_EVAL,
    ADK_EVALSET,
    SWE_AGENT,
    MINI_SWE_AGENT,
    OPENHANDS,
    EXGENTIC,
    TOOLBENCH,
    SALVO,
    LITELLM,
    DSPY,
    RESPONSE_CACHE,
    PROMPTFOO,
    DEEPEVAL,
    RAGAS,
    MANAGED_AGENTS,
    LANGFUSE,
    LANGSMITH,
    OPENAI_AGENTS,
    OPENAI_AGENTS_STATE,
    OTLP,
    JAEGER,
    SPAN_LIST,
    CURSOR,
    CLAUDE_CODE,
    CODEX,
    BEDROCK,
    GEMINI,
    LANGGRAPH,
    AUTOGEN,
    CREWAI,
    PYDANTIC_AI,
    VERCEL,
    LANGCHAIN,
    OPENAI_RESPONSES,
    ANTHROPIC,
    OPENAI_CHAT,
)
"""In the order of detection: the format with the most specific check comes first."""


def find_format(form: str) -> Format | None:
    """The format with this name, None for `auto`; raises SettingError for an unknown name."""
    if form == AUTO:
        return None
    for known in FORMATS:
        if known.name == form:
            return known
    import difflib

    names = [known.name for known in FORMATS]
    word = form[:100].lower().replace("_", "-")
    longer = [name for name in names if name.startswith(word)]
    close = difflib.get_close_matches(word, longer or names, n=NEAREST, cutoff=0 if longer else 0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else "docs/traces.md lists all formats"
    raise SettingError(Problem(f"the format {form[:40]!r} is unknown", hint=hint))


def detect_format(values: Iterable[Any]) -> Format:
    """The first format that claims one of the values; raises TraceError with what the nearest formats need."""
    seen: list[Any] = []
    best: int | None = None
    for value in values:
        seen.append(value)
        best = _rank_format(value, best)
        if best == 0:
            break
    if best is not None:
        return FORMATS[best]
    needs = "; ".join(f"{known.name} needs {known.needs}" for known in _find_nearest(seen))
    found = describe_shape(seen[0]) if seen else "it"
    raise TraceError(f"no format matches {found} (use `format: custom` for your own JSON format): {needs}")


def _find_nearest(values: Sequence[Any]) -> list[Format]:
    """The two formats that need most of the names which the first value has; without any the two most general ones."""
    names = _collect_names(values[0]) if values else set()
    needed = {known.name: set(re.findall(r"\w{3,}", known.needs)) & names for known in FORMATS}
    general = [NATIVE.name, OPENAI_CHAT.name]
    ranked = sorted(FORMATS, key=lambda known: (-len(needed[known.name]), known.name not in general))
    return ranked[:NEAREST]


def _collect_names(value: Any) -> set[str]:
    """The keys of an object, of those in it, and of the first of a list."""
    values = [value, *value.values()] if isinstance(value, dict) else [value]
    firsts = [each[0] if isinstance(each, list) and each else each for each in values]
    return {name for each in firsts if isinstance(each, dict) for name in each}


def find_claiming_format(value: Any) -> Format | None:
    """The first format that claims the value."""
    rank = _rank_format(value, None)
    return None if rank is None else FORMATS[rank]


def find_packed_format(head: bytes) -> Format | None:
    """The format of a binary file, by its first bytes."""
    return next((known for known in FORMATS if known.magic is not None and known.magic(head)), None)


def _rank_format(value: Any, best: int | None) -> int | None:
    """The index of the first format before `best` that claims the value, else `best`."""
    for rank, known in enumerate(FORMATS[:best]):
        if known.claims(value):
            return rank
    return best
