"""Reads Codex: the events of `codex exec --json`, and rollouts of its sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.codex import ROLLOUT_LINES, list_codex_lines
from evalgate.adapters.formats.codex.exec_events import Execution
from evalgate.adapters.formats.codex.rollout import Rollout
from evalgate.adapters.formats.core.builder.evidence_gaps import note_unknown
from evalgate.adapters.formats.core.builder.llm_calls import add_failed_call, build_model_error, measure_user_wait
from evalgate.adapters.formats.core.builder.raw_message import conversation_from_messages
from evalgate.adapters.formats.core.builder.run_end import mark_incomplete
from evalgate.adapters.formats.core.fields import do_each
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity
from evalgate.adapters.formats.core.strict_json import require_shallow
from evalgate.adapters.formats.messages.known_fields import ITEM_FIELDS, PART_FIELDS
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = "codex"
STARTED = "thread.started"
SESSION = "session_meta"


def split(documents: Any) -> Sequence[Any]:
    """Splits a file into runs; each begins with its thread or session line."""
    runs: list[list[Any]] = [[]]
    for document in documents:
        for line in list_codex_lines(document) or [document]:
            kind = line.get("type") if isinstance(line, dict) else None
            if kind in (STARTED, SESSION) and runs[-1]:
                runs.append([])
            runs[-1].append(line)
    return [run for run in runs if run]


def build(record: Any) -> Trace:
    """Builds one run. Codex records no cost, and the prompt only in rollouts."""
    require_shallow(record)
    is_rollout = not any(_is_event(line) for line in record)
    run: Rollout | Execution = Rollout() if is_rollout else Execution()
    do_each(record, "lines", run.add)
    trace = _build_trace(run)
    note_unknown(trace, run.unknown)
    return trace


def _is_event(line: Any) -> bool:
    kind = line.get("type") if isinstance(line, dict) else None
    return isinstance(kind, str) and kind not in ROLLOUT_LINES and kind.startswith(("thread.", "turn.", "item."))


def _build_trace(run: Rollout | Execution) -> Trace:
    from evalgate.adapters.formats.core.builder.run_end import warn_of_missing_results

    conversation = conversation_from_messages(run.messages)
    trace = Trace(
        run.id or "",
        conversation.messages,
        conversation.calls,
        conversation.get_response(),
        conversation_id=run.id,
        agent={"name": NAME, "framework": NAME, **({"version": run.version} if run.version else {})},
        provider=run.provider,
        model=run.model,
        usage=run.usage,
        llm_calls=run.llm_calls,
        metadata=run.metadata,
        warnings=[*conversation.list_warnings(), *warn_of_missing_results(conversation.calls)],
    )
    trace.latency = measure_user_wait(conversation.messages)
    times = [message["timestamp"] for message in trace.messages if message["timestamp"] is not None]
    trace.started_at, trace.ended_at = (min(times), max(times)) if times else (None, None)
    if not trace.messages and run.error is None:
        problem = "the lines record tokens but no messages"
        trace.warnings.append({"code": "content_not_captured", "message": problem, "where": "messages"})
    if run.error is not None:
        trace.status, trace.error = "error", {"type": run.error_type, "message": run.error}
        add_failed_call(trace, build_model_error(run.error_cause, run.error, run.error_status))
    elif run.incomplete_reason is not None:
        mark_incomplete(trace, run.incomplete_reason)
    return trace


SHAPES = (
    Shape((EACH, "payload", "content", EACH), PART_FIELDS),
    Shape((EACH, "item"), ITEM_FIELDS | {"changes", "items", "result", "receiver_thread_ids", "agents_states"}),
)
READER = Reader(build=build, identify=no_identity, split=split, shapes=SHAPES)
