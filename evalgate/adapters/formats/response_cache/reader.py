"""Reads the cached response of a model: the one answer to a scenario's prompt, in a file named after the scenario."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import MeteredConversation, answer_beside_last_call, open_record
from evalgate.adapters.formats.core.fields import text
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, no_identity
from evalgate.adapters.formats.core.provider_response import LANGCHAIN_USAGE
from evalgate.adapters.formats.core.usage import finish_reason
from evalgate.adapters.formats.messages.known_fields import LANGCHAIN_FIELDS, PART_FIELDS
from evalgate.adapters.formats.messages.roles import read_message_as
from evalgate.errors import TraceError
from evalgate.models.trace.trace import MAX_ID_LENGTH, Trace

NO_PROMPT = "the cache holds the answer only, not the prompt"
SUFFIXES = (".gz", ".json")


def build(record: Any) -> Trace:
    """Builds one trace; the prompt and what the tools returned are not recorded."""
    document = open_record(record)
    chat = MeteredConversation()
    chat.add_messages(read_message_as("assistant", document))
    details = document.get("response_metadata")
    details = details if isinstance(details, dict) else {}
    recorded = document.get("usage_metadata")
    usage = LANGCHAIN_USAGE.read_if_counted(recorded, "usage_metadata") if recorded else None
    if usage is None and not document.get("content") and not document.get("tool_calls"):
        raise TraceError("it records nothing: no text, no tool call and no tokens")
    model = text(details.get("model_name") or document.get("model"), "model")
    chat.add_llm_call(usage, model=model, response_id=text(document.get("id"), "id"))
    trace = chat.build_trace()
    answer_beside_last_call(trace)
    trace.trace_id = text(document.get("id"), "id") or ""
    trace.finish_reason = finish_reason(text(details.get("finish_reason"), "response_metadata.finish_reason"))
    add_gap(trace, "messages", NO_PROMPT)
    return trace


def read_path(path: str) -> tuple[str | None, str | None]:
    """The scenario, which names the file, and the variant, which names its folder."""
    *folders, name = path.split("/")
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name[:MAX_ID_LENGTH] or None, folders[-1] if folders and folders[-1] not in (".", "..") else None


SHAPES = (Shape((), LANGCHAIN_FIELDS), Shape(("content", EACH), PART_FIELDS))
READER = Reader(build=build, identify=no_identity, shapes=SHAPES, read_path=read_path)
