"""Signs of what tracing platforms and agent services export."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.trace_formats.shapes import Format, first_object

RUN_KEYS = frozenset({"run_type", "dotted_order"})
ROW_TYPES = (
    *("GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN"),
    *("RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL"),
)
SESSION_CALL = "client.beta.sessions."
SESSION_DOMAINS = ("user.", "agent.", "session.", "span.")


def is_langfuse_trace(value: Any) -> bool:
    """True for an export of one trace: its observations beside it or within it."""
    if not isinstance(value, dict) or not isinstance(value.get("observations"), list):
        return False
    trace = value.get("trace", value)
    return isinstance(trace, dict) and "id" in trace and ("timestamp" in trace or "trace" in value)


def is_langfuse_row(value: Any) -> bool:
    """True for one observation, which names its trace."""
    if not isinstance(value, dict) or "startTime" not in value:
        return False
    return isinstance(value.get("traceId"), str) and value.get("type") in ROW_TYPES


def _claims_langfuse(value: Any) -> bool:
    first = first_object(value)
    if isinstance(first.get("data"), list):
        first = first_object(first["data"])
    return is_langfuse_trace(first) or is_langfuse_row(first)


def is_langsmith_run(value: Any) -> bool:
    """True for one run."""
    return isinstance(value, dict) and "id" in value and isinstance(value.get("run_type"), str)


def is_langsmith_batch(value: Any) -> bool:
    """True for what the SDK sends: runs that begin, and what is told of them later."""
    if not isinstance(value, dict) or not (isinstance(value.get("post"), list) or "patch" in value):
        return False
    runs = [*_list(value.get("post")), *_list(value.get("patch"))]
    return bool(runs) and isinstance(runs[0], dict) and "trace_id" in runs[0] and "dotted_order" in runs[0]


def _claims_langsmith(value: Any) -> bool:
    first = first_object(value)
    return (
        is_langsmith_run(first)
        or is_langsmith_batch(first)
        or is_langsmith_run(first_object(first.get("runs")))
    )


def _claims_openai_agents(value: Any) -> bool:
    first = first_object(value)
    items = first.get("data")
    if isinstance(items, list):
        first = first_object(items)
    held = first_object(first.get("spans"))
    if held.get("object") == "trace.span":
        first = held
    kind = first.get("object")
    if kind == "trace.span":
        return isinstance(first.get("span_data"), dict) and "trace_id" in first
    return kind == "trace" and "workflow_name" in first


def _claims_agents_state(value: Any) -> bool:
    known = isinstance(value, dict) and "$schemaVersion" in value
    return known and "original_input" in value and "current_agent" in value


def session_event(value: Any) -> dict[str, Any] | None:
    """The event of a managed agent's session that a line holds, bare or as it was received."""
    if isinstance(value, list) and len(value) == 2 and isinstance(value[0], str):  # noqa: PLR2004
        value = value[1] if value[0].startswith(SESSION_CALL) else None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        return None
    has_id = str(value.get("id", "")).startswith(("sevt_", "sesn_"))
    known = value["type"] == "session" or value["type"].startswith(SESSION_DOMAINS)
    return value if has_id and known else None


def _claims_managed_agents(value: Any) -> bool:
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        value = value["data"]
    if session_event(value) is not None:
        return True
    return isinstance(value, list) and bool(value) and session_event(value[0]) is not None


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


LANGFUSE = Format(
    name="langfuse",
    needs="a trace with `observations` (`trace` beside or around)",
    claims=_claims_langfuse,
    module="readers.langfuse",
    together=True,
)
LANGSMITH = Format(
    name="langsmith",
    needs="runs with `id` and `run_type`, or `post` and `patch`",
    claims=_claims_langsmith,
    module="readers.langsmith",
    together=True,
)
OPENAI_AGENTS = Format(
    name="openai-agents",
    needs="`trace` and `trace.span` objects with `span_data`",
    claims=_claims_openai_agents,
    module="readers.openai_agents",
    together=True,
)
OPENAI_AGENTS_STATE = Format(
    name="openai-agents-state",
    needs="`$schemaVersion`, `original_input` and `current_agent`",
    claims=_claims_agents_state,
    module="readers.openai_agents_state",
)
MANAGED_AGENTS = Format(
    name="claude-managed-agents",
    needs="events of a session (`sevt_...`), bare or as received",
    claims=_claims_managed_agents,
    module="readers.managed_agents",
    together=True,
)
