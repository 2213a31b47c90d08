"""Detects the format of a trace by its content, never by its file name."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalgate.adapters.formats.core.fields import describe_shape
from evalgate.adapters.formats.open.installed import find_installed_formats
from evalgate.errors import Problem, SettingError, TraceError, UnknownFormatError
from evalgate.suite.models import FilteredForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.adapters.formats.core.format import Format
    from evalgate.suite.models import Form, Ignored

AUTO = "auto"
JSON_STARTS = (b"{", b"[")
NEAREST = 2
MIN_NAMES, MIN_SHARE = 2, 2 / 3
ALWAYS, MOST_FIELDS = "", 60
LISTED = {
    "native.NATIVE": "schema",
    "tau.TAU2": "simulations",
    "tau.TAU2_FOLDER": "tasks termination_reason",
    "tau.TAU_BENCH": "traj",
    "atif.ATIF": "schema_version",
    "inspect_ai.INSPECT": "eval",
    "adk.ADK": "author events",
    "adk.ADK_EVAL": "eval_case_results evalCaseResults",
    "adk.ADK_EVALSET": "eval_cases evalCases",
    "swe_agent.SWE_AGENT": "history",
    "mini_swe_agent.MINI_SWE_AGENT": "trajectory_format info",
    "openhands.OPENHANDS": "metrics",
    "openhands.OPENHANDS_V1": "kind",
    "exgentic.EXGENTIC": "session_id",
    "toolbench.TOOLBENCH": "answer_generation",
    "salvo.SALVO": "tool_calls_made turns",
    "litellm.LITELLM": "call_type standard_logging_object",
    "dspy.DSPY": "kwargs history",
    "response_cache.RESPONSE_CACHE": "usage_metadata",
    "promptfoo.PROMPTFOO": "promptIdx results",
    "deepeval.DEEPEVAL": "",
    "ragas.RAGAS": "user_input dataset samples",
    "managed_agents.MANAGED_AGENTS": "id data",
    "langfuse.LANGFUSE": "observations traceId data",
    "langsmith.LANGSMITH": "run_type post patch runs",
    "openai_agents.OPENAI_AGENTS": "object data spans",
    "openai_agents.OPENAI_AGENTS_STATE": "$schemaVersion",
    "opentelemetry.OTLP": "resourceSpans resource_spans batches resourceLogs resource_logs trace result",
    "opentelemetry.JAEGER": "data traceID",
    "opentelemetry.SPAN_LIST": "data spans trace_id traceId traceID context spanContext span_context context.trace_id",
    "cursor.CURSOR": "subtype",
    "claude_code.CLAUDE_CODE": "leafUuid subtype message loglines messages",
    "codex.CODEX": "type events items",
    "gemini_cli.GEMINI_CLI": "projectHash timestamp",
    "copilot.COPILOT": "parentId",
    "opencode.OPENCODE": "info type",
    "pi.PI": "cwd message",
    "ag_ui.AG_UI": "runId toolCallName messageId",
    "vally.VALLY": "stimulus",
    "bedrock.BEDROCK": "stopReason response message scope request messages",
    "gemini.GEMINI": "candidates promptFeedback prompt_feedback response contents history request",
    "langgraph.LANGGRAPH": "channel_values values checkpoint",
    "autogen.AUTOGEN": """
        contents source content agent_states message_thread llm_context state chat_message_store_state messages response
    """,
    "crewai.CREWAI": "raw timestamp events",
    "pydantic_ai.PYDANTIC_AI": "messages all_messages new_messages",
    "vercel.VERCEL": "steps messages",
    "langchain.LANGCHAIN": "messages output",
    "openai_responses.OPENAI_RESPONSES": "object output messages input items",
    "anthropic.ANTHROPIC": "stop_reason response messages",
    "openai_chat.OPENAI_CHAT": "messages choices",
}
"""Each format's package and its name there in the order of detection: the one with the most specific check first.

Beside it the fields of which an object has at least one if the format claims it, so that few formats are imported and
asked about each line; none for a format that is asked about every object.
"""
_NAMES = list(LISTED)


@cache
def _load(listed: str) -> Format:
    package, name = listed.split(".")
    found: Format = getattr(import_module(f"evalgate.adapters.formats.{package}"), name)
    return found


class Formats:
    """All formats in the order of detection, those of installed packages last.

    Each is imported when it is needed, as most runs read one.
    """

    def __iter__(self) -> Iterator[Format]:
        parts = (lambda: map(_load, LISTED), find_installed_formats)
        return chain.from_iterable(part() for part in parts)

    def __getitem__(self, rank: int) -> Format:
        """The format at this place of the order."""
        return _load(_NAMES[rank]) if rank < len(LISTED) else find_installed_formats()[rank - len(LISTED)]


FORMATS = Formats()


def find_format(form: str) -> Format | None:
    """The format with this name, None for `auto`; raises SettingError for an unknown name."""
    if form == AUTO:
        return None
    found = get_format(form)
    if found is not None:
        return found
    import difflib

    names = [known.name for known in FORMATS]
    word = form[:100].lower().replace("_", "-")
    longer = [name for name in names if name.startswith(word)]
    close = difflib.get_close_matches(word, longer or names, n=NEAREST, cutoff=0 if longer else 0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known: {', '.join(names)}"
    raise SettingError(Problem(f"the format {form[:40]!r} is unknown", hint=hint))


def get_format(name: str | None) -> Format | None:
    """The format with this name; None if there is none."""
    return next((known for known in FORMATS if known.name == name), None)


class FormatChoice(Struct, frozen=True):
    """The format in which files are read, None to detect it, and what is left out of their records."""

    format: Format | None
    ignored: Ignored | None = None


def choose(form: Form) -> FormatChoice:
    """How files are read; raises SettingError for a format that does not exist."""
    if isinstance(form, str):
        return FormatChoice(find_format(form))
    if isinstance(form, FilteredForm):
        return replace(choose(form.form), ignored=form.ignored)
    from evalgate.adapters.formats.custom.reader import make_format

    return FormatChoice(leave_out(make_format(form), form.ignored))


def leave_out(found: Format, ignored: Ignored | None) -> Format:
    """The format, with a reader that does not see the ignored fields."""
    if ignored is None or not ignored.paths:
        return found
    from evalgate.adapters.formats.open.ignored import filter_format  # few suites ignore any

    return filter_format(found, ignored)


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
    if seen and _is_cassette(seen[0]):
        raise TraceError("this is a cassette, not a trace: `evalgate record --cache read` replays it to a trace")
    from evalgate.adapters.formats.open.foreign import describe_foreign  # only where a trace can't be read

    found = f"no format matches {describe_shape(seen[0]) if seen else 'it'}"
    foreign = describe_foreign(seen)
    if foreign is not None:
        raise TraceError(f"{found}: {foreign}")
    nearest = _find_nearest(seen)
    needs = "; ".join(f"{known.name} needs {known.needs}" for known in nearest)
    advice = "(for your own JSON format use `format: custom`: `evalgate init --format-help FILE` prints a mapping)"
    raise UnknownFormatError(f"{found} {advice}{': ' if needs else ''}{needs}", [known.name for known in nearest])


def _is_cassette(value: Any) -> bool:
    from evalgate.models.results.document_names import EXCHANGE_SCHEMA  # only where a trace can't be read

    return isinstance(value, dict) and value.get("schema") == EXCHANGE_SCHEMA


def _find_nearest(values: Sequence[Any]) -> list[Format]:
    """At most two formats of whose named fields the first value has at least two, and two thirds: the most first."""
    names = _collect_names(values[0]) if values else set()
    found: list[tuple[float, Format]] = []
    for known in FORMATS:
        needed = set(re.findall(r"`(\w+)`", known.needs))
        share = len(needed & names) / max(len(needed), 1)
        if len(needed & names) >= MIN_NAMES and share >= MIN_SHARE:
            found.append((share, known))
    return [known for _, known in sorted(found, key=lambda each: -each[0])][:NEAREST]


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
    if head.startswith(JSON_STARTS):
        return None
    return next((known for known in FORMATS if known.magic is not None and known.magic(head)), None)


def _rank_format(value: Any, best: int | None) -> int | None:
    """The index of the first format before `best` that claims the value, else `best`."""
    for rank in list_asked(value):
        if best is not None and rank >= best:
            break
        if FORMATS[rank].claims(value):
            return rank
    return best


def list_asked(value: Any) -> Iterator[int]:
    """The indexes of the formats that may claim the value, in the order of detection."""
    if not isinstance(value, dict):
        yield from range(len(LISTED))
    else:
        find = _find_ranks if len(value) <= MOST_FIELDS else _find_ranks.__wrapped__
        yield from find(tuple(value))
    yield from range(len(LISTED), len(LISTED) + len(find_installed_formats()))


@lru_cache(maxsize=1_024)
def _find_ranks(fields: tuple[str, ...]) -> list[int]:
    """The indexes of the formats that may claim an object; few sets of fields are in the lines of a run."""
    ranks = _get_ranks_by_field()
    return sorted({rank for field in (ALWAYS, *fields) for rank in ranks.get(field, ())})


@cache
def _get_ranks_by_field() -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for rank, fields in enumerate(LISTED.values()):
        for field in fields.split() or [ALWAYS]:
            found.setdefault(field, []).append(rank)
    return found
