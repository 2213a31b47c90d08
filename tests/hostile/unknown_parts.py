"""Where the project's recording of each format gets a part that no reader knows, and that may hold a call."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from trace_table import RECORDINGS

from evalgate.adapters.formats.open.detect import FORMATS
from hostile.calls_in_sessions import SIDE

if TYPE_CHECKING:
    from collections.abc import Iterator

FIELDS = {
    "adk": "events.[] events.[].content events.[].content.parts.[]",
    "adk-eval": "eval_case_results.[].session_details.events.[]",
    "ag-ui": "input.messages.[] type=TEXT_MESSAGE_START",
    "anthropic": "[] [].content.[]",
    "atif": "steps.[] steps.[].observation",
    "autogen": "messages.[] messages.[].contents.[] response.messages.[] state.in_memory.messages.[]",
    "bedrock": "output.message output.message.content.[] messages.[] messages.[].content.[]",
    "claude-code": "message message.content.[]",
    "claude-managed-agents": "type=agent.message type=agent.thinking",
    "codex": "item payload.type=message payload.type=function_call payload.content.[]",
    "copilot": "type=assistant.message data.toolRequests.[]",
    "crewai": "tasks_output.[] tasks_output.[].messages.[]",
    "cursor": "message message.content.[] tool_call",
    "deepeval": "testCases.[] toolSpans.[] llmSpans.[] agentSpans.[]",
    "dspy": "messages.[] outputs.[] history.[]",
    "exgentic": "action",
    "gemini": "[] [].parts.[] request.contents.[] response.candidates.[]",
    "gemini-cli": "messages.[] messages.[].content.[] toolCalls.[] type=gemini",
    "inspect": "samples.[].messages.[] samples.[].messages.[].content.[]",
    "jaeger": "data.[].spans.[]",
    "langchain": "[] [].data [].data.content.[]",
    "langfuse": "observations.[]",
    "langgraph": "checkpoint.channel_values.messages.[] values.messages.[]",
    "langsmith": "[] [].inputs.messages.[] [].inputs.messages.[].[].kwargs [].outputs.generations.[].[].message.kwargs",
    "litellm": "messages.[] response response.choices.[].message",
    "mini-swe-agent": "messages.[]",
    "native": "messages.[] messages.[].tool_calls.[]",
    "openai-agents": "object=trace.span span_data",
    "openai-agents-state": "session_items.[].raw_item generated_items.[].raw_item generatedItems.[].rawItem",
    "openai-chat": "messages.[] messages.[].content.[]",
    "openai-responses": "[] [].content.[] output.[]",
    "opencode": "messages.[] messages.[].info messages.[].parts.[] part",
    "openhands": "[] history.[]",
    "openhands-v1": "kind=MessageEvent llm_message",
    "otlp": "resourceSpans.[].scopeSpans.[].spans.[]",
    "pi": "message message.content.[]",
    "promptfoo": "results.results.[] results.results.[].response",
    "pydantic-ai": "[] [].parts.[]",
    "ragas": "user_input.[]",
    "response-cache": "content=*",
    "salvo": "messages.[]",
    "span-list": "[]",
    "swe-agent": "trajectory.[] history.[]",
    "tau-bench": "[].traj.[]",
    "tau2": "simulations.[].messages.[]",
    "tau2-folder": "ticks.[]",
    "toolbench": "answer_generation.train_messages.[].[]",
    "vally": "trajectory trajectory.events.[] trajectory.events.[].data",
    "vercel": "[] [].parts.[] steps.[]",
}
"""By format, the objects that get an unknown field; `[]` is each entry of a list, `kind=x` an object with that field.

A format that is not listed here gets one at each of its reader's shapes.
"""
KINDS = {
    "ag-ui": "type=TEXT_MESSAGE_START",
    "claude-code": "message.content.[].type=text",
    "claude-managed-agents": "type=agent.message",
    "codex": "item.type=reasoning payload.type=reasoning type=turn_context",
    "copilot": "type=assistant.message",
    "gemini-cli": "type=gemini",
    "langfuse": "observations.[].type=GENERATION observations.[].type=AGENT",
    "langsmith": "[].run_type=chain [].run_type=llm",
    "openai-agents": "span_data.type=custom span_data.type=agent",
    "opencode": "messages.[].parts.[].type=text",
    "openhands-v1": "kind=ConversationStateUpdateEvent",
    "pi": "message.content.[].type=text",
    "vally": "trajectory.events.[].type=assistant_message",
}
"""By format, the objects of known kinds that become ones of a kind that no reader knows."""


class Edit(NamedTuple):
    """An object of a recording that gets the part, and the field that is set to an unknown kind."""

    form: str
    place: str
    kind_key: str = ""


def list_places() -> dict[str, list[str]]:
    """By format, the objects that get an unknown field."""
    others = {form.name: form.reader.shapes for form in FORMATS if form.name not in FIELDS}
    stated = {name: [".".join(shape.path) for shape in shapes] for name, shapes in others.items() if shapes}
    return {name: places.split() for name, places in FIELDS.items()} | stated


def list_edits() -> Iterator[Edit]:
    """Every edit of the two tables."""
    for form, places in list_places().items():
        yield from (Edit(form, place) for place in places)
    for form, places in KINDS.items():
        yield from (Edit(form, place, place.rpartition("=")[0].rpartition(".")[2]) for place in places.split())


def list_edited(edit: Edit, part: Any = SIDE, at: int = -1) -> Iterator[bytes]:
    """The recordings of the format, each with the part at one place: the last such one of a file, or another."""
    for path in sorted((RECORDINGS / edit.form).rglob("*")):
        documents = load(path.read_bytes()) if path.is_file() else []
        found = [steps for steps, value in walk(documents) if matches(edit.place, steps, value)]
        for steps in [found[at]] if found else []:
            edited = copy.deepcopy(documents)
            changed = edited
            for step in steps:
                changed = changed[step]
            changed["side"] = part
            if edit.kind_key:
                changed[edit.kind_key] = "side"
            yield b"\n".join(map(orjson.dumps, edited))


def load(content: bytes) -> list[Any]:
    """The document of a file, or those of its lines."""
    try:
        return [orjson.loads(content)]
    except orjson.JSONDecodeError:
        return [orjson.loads(line) for line in content.splitlines() if line.strip()]


def walk(value: Any, steps: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every value with the steps to it."""
    yield steps, value
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from walk(each, (*steps, key))


def matches(place: str, steps: tuple[Any, ...], value: Any) -> bool:
    """Whether the object at these steps within a file is at the place."""
    if not isinstance(value, dict) or not steps:
        return False
    path, _, wanted = place.partition("=")
    parents, _, key = path.rpartition(".") if wanted else (path, "", "")
    found = ".".join("[]" if isinstance(step, int) else str(step) for step in steps[1:])
    return found == parents and (not wanted or (key in value and wanted in ("*", value[key])))
