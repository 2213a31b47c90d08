"""Reads LangSmith runs. Entry points: `LANGSMITH`, `reader`."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.format import Format, first_object


def is_langsmith_run(value: Any) -> bool:
    """True for one run."""
    return isinstance(value, dict) and "id" in value and isinstance(value.get("run_type"), str)


def is_langsmith_batch(value: Any) -> bool:
    """True for a batch of the SDK: new runs (`post`) and their updates (`patch`)."""
    if not isinstance(value, dict) or not (isinstance(value.get("post"), list) or "patch" in value):
        return False
    runs = [*_list(value.get("post")), *_list(value.get("patch"))]
    return bool(runs) and isinstance(runs[0], dict) and "trace_id" in runs[0] and "dotted_order" in runs[0]


def _claims_langsmith(value: Any) -> bool:
    first = first_object(value)
    return is_langsmith_run(first) or is_langsmith_batch(first) or is_langsmith_run(first_object(first.get("runs")))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


LANGSMITH = Format(
    name="langsmith",
    needs="runs with `id` and `run_type`, or `post` and `patch`",
    claims=_claims_langsmith,
    module="langsmith.reader",
    joins_lines=True,
)
