"""What a tracer dropped for a limit of its own may have been a call: such a span is no evidence that there was none."""

from __future__ import annotations

import json
from typing import Any

import pytest
from span_builders import agent, call_part, chat, genai_message, span, tool
from span_containers import (
    envelope,
    jaeger,
    log,
    logs,
    otlp_span,
    plain_span,
    protobuf,
    rows,
    snake,
    tags,
)

from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.spans.span import SpanEvent
from evalgate.models.trace.trace import Trace
from hostile.recorded_calls import read

USER, ANSWER = genai_message("user", "hi"), genai_message("assistant", "done")
CONTAINERS = ["otlp", "otlp-snake", "otlp-protobuf", "span-list", "span-list-snake", "jaeger"]
CHAT = 1
SNAKE = {"attributes": "dropped_attributes_count", "events": "dropped_events_count"}
CAMEL = {"attributes": "droppedAttributesCount", "events": "droppedEventsCount", "links": "droppedLinksCount"}


def record(container: str, what: str, number: int, place: int = CHAT) -> Trace:
    """The trace of a whole run in a container whose span at this place lacks so many attributes or events."""
    fields = [{CAMEL[what]: number} if at == place else {} for at in range(4)]
    spans = [otlp_span(row, **more) for row, more in zip(rows(), fields, strict=True)]
    document: Any = envelope(*spans)
    if container == "otlp-snake":
        document = snake(document)
    elif container.startswith("span-list"):
        named = SNAKE if container.endswith("snake") else CAMEL
        document = [plain_span(row, **({named[what]: number} if at == place else {})) for at, row in enumerate(rows())]
    elif container == "jaeger":
        document = jaeger()
        document["data"][0]["spans"][place]["tags"] += tags({f"otel.{SNAKE[what]}": number})
    content = protobuf(document) if container == "otlp-protobuf" else json.dumps(document).encode()
    (found,) = read(content)
    assert isinstance(found, Trace), found
    return found


@pytest.mark.parametrize("container", CONTAINERS)
def test_dropped_attributes_make_calls_incomplete(container: str) -> None:
    if container == "otlp-protobuf":
        pytest.importorskip("opentelemetry.proto")
    gaps = record(container, "attributes", 3).gaps
    assert gaps["calls"].startswith(
        "the tracer dropped 3 attributes of the span `chat m-1`: raise OTEL_SPAN_ATTRIBUTE_COUNT"
    )
    assert set(gaps) == {"calls", "messages"}
    assert record(container, "attributes", 0).gaps == {}


def test_what_holds_no_calls_may_be_dropped() -> None:
    assert record("otlp", "links", 3).gaps == {}
    assert record("otlp", "events", 3).gaps == {}
    tools = 2
    assert record("otlp", "attributes", 3, tools).gaps == {}


def run(**dropped: Any) -> dict[str, str]:
    """The gaps of a run whose spans lack something, by their names."""
    root = agent(0, 90)
    asked = genai_message("assistant", call_part("look", "c1"))
    spans = {
        "root": root,
        "chat": chat(0, 1, given=[USER], answered=[asked], parent=root),
        "tool": tool("look", 2, 3, parent=root, call_id="c1", result="ok"),
        "lone": tool("pay", 4, 5, parent=root),
        "http": span("GET /", 2, 3, parent=root, attributes={"http.request.method": "GET"}),
        "chain": span("c", 2, 3, parent=root, attributes={"openinference.span.kind": "CHAIN", "llm.x": 1}),
        "nameless": span("n", 2, 3, parent=root, attributes={"gen_ai.tool.description": "x"}),
    }
    for name, found in dropped.items():
        spans[name].dropped = found
    return dict(build(list(spans.values())).gaps)


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("root", {"calls", "messages"}),
        ("chat", {"calls", "messages"}),
        ("nameless", {"calls", "messages"}),
        ("lone", {"arguments", "results"}),
        ("tool", set()),
        ("http", set()),
        ("chain", set()),
    ],
)
def test_a_span_lacks_what_it_may_have_held(name: str, kinds: set[str]) -> None:
    assert set(run(**{name: (1, 0)})) - set(run()) == kinds


def test_events_count_where_the_tracer_writes_messages_to_them() -> None:
    root, request = agent(0, 90), chat(0, 1, given=[USER], answered=[ANSWER])
    request.parent_id, request.dropped = root.span_id, (0, 2)
    assert build([root, request]).gaps == {}
    root.events = [SpanEvent("gen_ai.user.message", None, {"content": "hi"})]
    assert build([root, request]).gaps["calls"].startswith("the tracer dropped 2 events of the span `chat gpt-4o`")


def test_attributes_of_events_and_of_log_records_count() -> None:
    event = {"name": "gen_ai.choice", "timeUnixNano": "1", "droppedAttributesCount": 1}
    spans = [otlp_span(row, **({"events": [event]} if at == CHAT else {})) for at, row in enumerate(rows())]
    entry = log("gen_ai.choice", {"index": 1, "message": {"content": "x"}}, droppedAttributesCount=1)
    whole = [otlp_span(row) for row in rows()]
    for document in ([envelope(*spans)], [envelope(*whole), logs(entry)]):
        (found,) = read(b"\n".join(json.dumps(each).encode() for each in document))
        assert isinstance(found, Trace)
        assert "dropped 1 event of the span" in found.gaps["calls"]
