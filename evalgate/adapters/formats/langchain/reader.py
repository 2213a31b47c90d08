"""Reads LangChain messages: a list, or the state of a graph with its `messages`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.run import MeteredConversation, open_record
from evalgate.adapters.formats.core.builder.side_fields import identify_by_side_fields
from evalgate.adapters.formats.core.fields import do_each, listing
from evalgate.adapters.formats.core.format import EACH, Reader, Shape, split_each
from evalgate.adapters.formats.langchain import is_langchain
from evalgate.adapters.formats.messages.known_fields import LANGCHAIN_FIELDS, PART_FIELDS, ROLE_FIELDS
from evalgate.adapters.formats.messages.langchain import add_message

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


def build(record: Any) -> Trace:
    """Builds one conversation; each answer of a model has its usage."""
    fields = open_record(record, "messages")
    key = "messages" if fields.get("messages") is not None else "output"
    conversation = MeteredConversation()
    do_each(listing(fields.get(key), key), key, lambda message: add_message(conversation, message))
    return conversation.build_trace(fields, "langchain")


WRAPPERS: tuple[tuple[str, ...], ...] = ((), ("data",), ("kwargs",))
SHAPES = (
    *(Shape((name, EACH), LANGCHAIN_FIELDS) for name in ("messages", "output")),
    *(Shape((name, EACH, *way), ROLE_FIELDS) for name in ("messages", "output") for way in WRAPPERS[1:]),
    *(Shape((name, EACH, *way, "content", EACH), PART_FIELDS) for name in ("messages", "output") for way in WRAPPERS),
)
READER = Reader(
    build=build, identify=identify_by_side_fields, split=split_each(is_langchain), shapes=SHAPES, is_of_one_agent=True
)
