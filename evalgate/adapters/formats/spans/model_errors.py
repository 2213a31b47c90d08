"""Reads why a model call failed from its spans."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.adapters.formats.spans.aggregate import ModelCall
    from evalgate.adapters.formats.spans.tree import SpanNode
    from evalgate.models.trace.trace import ModelError


def find_model_error(call: ModelCall) -> ModelError | None:
    """Why a model call failed: what its spans record, the outermost first; None if the outermost did not fail."""
    nodes = sorted(call.nodes, key=lambda node: node.rank)
    if not _has_failed(nodes[0]):
        return None
    failed = [node for node in nodes if _has_failed(node)]
    messages = [node.facts.error_message or node.span.status_message for node in failed]
    return {
        "type": next((node.facts.error_type for node in failed if node.facts.error_type), None),
        "message": next(filter(None, messages), None),
        "status_code": next((node.facts.error_status for node in failed if node.facts.error_status), None),
    }


def sort_failed_last(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """The calls by start; the one that ended last is last if it failed, since nothing followed it."""
    last = max(calls, key=lambda call: (call.end, call.start), default=None)
    if last is None or find_model_error(last) is None:
        return list(calls)
    return [*(call for call in calls if call is not last), last]


def _has_failed(node: SpanNode) -> bool:
    return node.span.has_failed or node.facts.error_type is not None
