"""The same generated runs in six formats, as their producers write them: sizes of messages and results are real ones.

python benchmarks/shapes.py NAME FOLDER COUNT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import traces

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Run = Mapping[str, Any]
    Message = Mapping[str, Any]

POLICY = 6_000
"""Characters that the system prompt of a recorded support agent has beyond that of `traces.py`."""
START = "2026-11-23T10:00:{:02d}Z"


def runs(count: int) -> list[dict[str, Any]]:
    """Runs of `traces.py` whose system prompt has the length of a real policy."""
    policy = traces.prose(traces.Draw(0), POLICY)
    found = [traces.trace(number) for number in range(count)]
    for run in found:
        run["messages"][0]["content"] += f" {policy}"
    return found


def tau_bench(run: Run, number: int) -> dict[str, Any]:
    """A result of tau-bench: messages of the chat API, with a reward."""
    info = {"task": {"user_id": f"user_{number}", "actions": [], "instruction": run["messages"][1]["content"]}}
    talk = [openai_message(each) for each in run["messages"]]
    return {"task_id": run["scenario_id"], "reward": 1.0, "info": info, "traj": talk, "trial": 0}


def openai_message(message: Message) -> dict[str, Any]:
    """A message of the chat API, whose arguments are a text."""
    if message["role"] == "tool":
        return {key: message[key] for key in ("role", "tool_call_id", "content")}
    found = {"role": message["role"], "content": message["content"]}
    if calls := message.get("tool_calls"):
        found["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for call in calls
        ]
    return found


def openai_chat(run: Run, _: int) -> dict[str, Any]:
    """A stored request of the chat API, as a logging proxy keeps it."""
    return {
        "model": run["model"],
        "messages": [openai_message(each) for each in run["messages"]],
    }


def tau2(run: Run, number: int) -> dict[str, Any]:
    """A simulation of tau2-bench: each turn with its usage and the provider's answer."""
    messages = []
    for turn, each in enumerate(run["messages"][1:]):
        found = {
            "role": each["role"],
            "content": each["content"],
            "turn_idx": turn,
            "timestamp": START.format(turn)[:-1],
        }
        if each["role"] == "tool":
            found |= {"id": each["tool_call_id"], "requestor": "assistant", "error": False}
        else:
            raw = {"finish_reason": "stop", "index": 0, "message": openai_message(each)}
            calls = [dict(call, requestor="assistant") for call in each.get("tool_calls", ())]
            usage = {"completion_tokens": 40, "prompt_tokens": 3_500}
            found |= {"tool_calls": calls or None, "cost": 0.002, "usage": usage, "raw_data": raw}
        messages.append(found)
    return {
        "id": f"simulation-{number}",
        "task_id": run["scenario_id"],
        "start_time": START.format(0)[:-1],
        "end_time": START.format(59)[:-1],
        "duration": 59.0,
        "termination_reason": "user_stop",
        "agent_cost": run["cost_usd"],
        "reward_info": {"reward": 1.0},
        "trial": 0,
        "messages": messages,
    }


def atif(run: Run, number: int) -> dict[str, Any]:
    """A trajectory of the agent trajectory interchange format: each call beside what it returned."""
    results = {each["tool_call_id"]: each["content"] for each in run["messages"] if each["role"] == "tool"}
    steps = []
    for each in run["messages"]:
        if each["role"] == "tool":
            continue
        source = {"assistant": "agent"}.get(each["role"], each["role"])
        step = {"step_id": len(steps) + 1, "timestamp": START.format(len(steps)), "source": source}
        step["message"] = each["content"] or ""
        if calls := each.get("tool_calls"):
            step["tool_calls"] = [
                {"tool_call_id": call["id"], "function_name": call["name"], "arguments": call["arguments"]}
                for call in calls
            ]
            found = [{"source_call_id": call["id"], "content": results[call["id"]]} for call in calls]
            step["observation"] = {"results": found}
        steps.append(step)
    agent = {"name": "support", "version": "1.0.0", "model_name": run["model"]}
    figures = {"total_cost_usd": run["cost_usd"], "total_steps": len(steps)}
    session = f"{run['scenario_id']}-{number}"
    return {
        "schema_version": "ATIF-v1.4",
        "session_id": session,
        "agent": agent,
        "steps": steps,
        "final_metrics": figures,
    }


def otlp(run: Run, number: int) -> dict[str, Any]:
    """OpenTelemetry spans of an instrumented agent: a request repeats all messages before it, a call has a span."""
    trace_id = f"{number + 1:032x}"
    spans = [otlp_span(trace_id, 1, "invoke_agent support", {"gen_ai.operation.name": "invoke_agent"})]
    spans[0]["attributes"].append(otlp_attribute("evalgate.scenario.id", run["scenario_id"]))
    before: list[Message] = []
    for each in run["messages"]:
        if each["role"] == "assistant":
            figures = {"gen_ai.usage.input_tokens": 3_500, "gen_ai.usage.output_tokens": 40}
            asked, answered = [otlp_message(one) for one in before], [otlp_message(each) | {"finish_reason": "stop"}]
            talk = {"gen_ai.input.messages": json.dumps(asked), "gen_ai.output.messages": json.dumps(answered)}
            model = {"gen_ai.operation.name": "chat", "gen_ai.response.model": run["model"]}
            spans.append(otlp_span(trace_id, len(spans) + 1, "chat small-1", model | figures | talk))
        if each["role"] == "tool":
            call = next(one for one in before[-1].get("tool_calls", ()) if one["id"] == each["tool_call_id"])
            asked_for = {"gen_ai.tool.name": call["name"], "gen_ai.tool.call.id": call["id"]}
            values = {
                "gen_ai.tool.call.arguments": json.dumps(call["arguments"]),
                "gen_ai.tool.call.result": each["content"],
            }
            operation = {"gen_ai.operation.name": "execute_tool"}
            spans.append(
                otlp_span(trace_id, len(spans) + 1, f"execute_tool {call['name']}", operation | asked_for | values)
            )
        before.append(each)
    resource = {"attributes": [otlp_attribute("service.name", "support")]}
    scope = {"name": "opentelemetry.instrumentation.genai", "version": "0.1"}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": scope, "spans": spans}]}]}


def otlp_span(trace_id: str, number: int, name: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    """A span below the first one; each takes a second."""
    times = {"startTimeUnixNano": str(number * 10**9), "endTimeUnixNano": str((number + 1) * 10**9)}
    parent = {} if number == 1 else {"parentSpanId": f"{1:016x}"}
    found = [otlp_attribute(key, value) for key, value in attributes.items()]
    return {
        "traceId": trace_id,
        "spanId": f"{number:016x}",
        **parent,
        "name": name,
        "kind": 1,
        **times,
        "attributes": found,
    }


def otlp_attribute(key: str, value: str | int) -> dict[str, Any]:
    """An attribute in the JSON of the protocol."""
    return {"key": key, "value": {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}}


def otlp_message(message: Message) -> dict[str, Any]:
    """A message in the parts of the semantic conventions."""
    if message["role"] == "tool":
        part = {"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]}
        return {"role": "tool", "parts": [part]}
    parts = [{"type": "text", "content": message["content"]}] if message["content"] else []
    parts += [dict(call, type="tool_call") for call in message.get("tool_calls", ())]
    return {"role": message["role"], "parts": parts}


def write_lines(folder: Path, found: list[Any]) -> None:
    """One file with a JSON document a line."""
    folder.joinpath("traces.jsonl").write_text("".join(json.dumps(each) + "\n" for each in found), encoding="utf-8")


def write_files(folder: Path, found: list[Any]) -> None:
    """A file for each document, indented as a library writes it."""
    for number, each in enumerate(found):
        folder.joinpath(f"trace-{number:06d}.json").write_text(json.dumps(each, indent=2), encoding="utf-8")


def write_list(folder: Path, found: list[Any]) -> None:
    """One file with a list of documents."""
    folder.joinpath("results.json").write_text(json.dumps(found, indent=4), encoding="utf-8")


def write_simulations(folder: Path, found: list[Any]) -> None:
    """One file of results as tau2-bench writes it."""
    document = {"timestamp": START.format(0), "info": {}, "tasks": [], "simulations": found}
    folder.joinpath("results.json").write_text(json.dumps(document, indent=4), encoding="utf-8")


SHAPES: dict[str, tuple[Callable[[Run, int], Any], Callable[[Path, list[Any]], None]]] = {
    "native": (lambda run, _: run, write_lines),
    "openai_chat": (openai_chat, write_lines),
    "tau_bench": (tau_bench, write_list),
    "tau2_bench": (tau2, write_simulations),
    "atif": (atif, write_files),
    "otlp": (otlp, write_files),
}
"""What makes a document of a run, and how such documents lie in files."""


def write(name: str, folder: Path, count: int) -> None:
    """Writes `count` runs in a format into an empty folder."""
    build, write_documents = SHAPES[name]
    folder.mkdir(parents=True)
    write_documents(folder, [build(run, number) for number, run in enumerate(runs(count))])


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
