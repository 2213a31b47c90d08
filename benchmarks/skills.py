"""Measures which skills are found in recordings: precision and recall against what a person read in them.

    .venv/bin/python benchmarks/skills.py ../shared [LABELS]

A line of `skills.jsonl` names the files of a harness below a folder, which calls load a skill (`loads`: number and
name) and which only ask for one (`tried`: the load failed, or no result is recorded). Containers of tests that are no
recording of a known format are turned into traces here (`as`).
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.bootstrap.sources import build_trace_files
from evalgate.evaluators.kinds.skills.uses import find_skills
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LABELS = Path(__file__).with_name("skills.jsonl")


class Counts(NamedTuple):
    """Of one harness: its traces and calls, and loads that were found and meant."""

    traces: int = 0
    calls: int = 0
    right: int = 0
    wrong: int = 0
    missed: int = 0

    def add(self, other: Counts) -> Counts:
        """Both together."""
        return Counts(*(a + b for a, b in zip(self, other, strict=True)))


def main(arguments: Sequence[str]) -> int:
    """Prints the figures of each harness; 1 if a load was missed or found where none is."""
    root = Path(arguments[0])
    labels = Path(arguments[1]) if len(arguments) > 1 else LABELS
    totals: dict[str, Counts] = defaultdict(Counts)
    for line in labels.read_text(encoding="utf-8").splitlines():
        label = json.loads(line)
        totals[label["harness"]] = totals[label["harness"]].add(measure(root, label))
    for harness, counts in [*sorted(totals.items()), ("all", _sum(totals.values()))]:
        precision = _share(counts.right, counts.right + counts.wrong)
        recall = _share(counts.right, counts.right + counts.missed)
        loads = counts.right + counts.missed
        print(f"{harness:16} {counts.traces:4} traces {counts.calls:5} calls {loads:3} loads   {precision} / {recall}")
    return int(any(each.wrong or each.missed for each in totals.values()))


def measure(root: Path, label: dict[str, Any]) -> Counts:
    """Compares what is found in the traces of a line with what is written there."""
    traces = list(read_traces(root, label))
    if not traces:
        raise SystemExit(f"{label['file']}: no trace")
    for state in ("loads", "tried"):
        wanted = {(number, skill) for number, skill in label.get(state, [])}
        uses = [
            use for trace in traces for use in find_skills(trace).uses if (use.state == "used") == (state == "loads")
        ]
        found = {(use.number, use.skill) for use in uses}
        if found != wanted:
            print(f"  {label['file']} {state}: found {sorted(found, key=str)}, wanted {sorted(wanted)}")
        if state == "loads":
            calls = sum(len(trace.agent_calls) for trace in traces)
            counts = Counts(len(traces), calls, len(found & wanted), len(found - wanted), len(wanted - found))
    return counts


def read_traces(root: Path, label: dict[str, Any]) -> Iterator[Trace]:
    """The traces of the files of a line."""
    if "as" not in label:
        found = build_trace_files(str(root)).read([label["file"]], str(root), "auto")
        yield from (each for each in found if isinstance(each, Trace))
        return
    text = (root / label["file"]).read_text(encoding="utf-8")
    with TemporaryDirectory() as folder:
        Path(folder, "trace.json").write_text(json.dumps(CONTAINERS[label["as"]](text, label.get("part", ""))))
        found = build_trace_files(folder).read(["trace.json"], folder, "auto")
        yield from (each for each in found if isinstance(each, Trace))


def read_contents(text: str, part: str) -> dict[str, Any]:
    """Contents of Gemini under a key."""
    found: dict[str, Any] = json.loads(text)[part]
    return found


def read_answers(text: str, _: str) -> dict[str, Any]:
    """Answers of Gemini that tests of its CLI play, without what its tools returned."""
    asked = {"role": "user", "parts": [{"text": "tell a joke"}]}
    chunks = [chunk for line in text.splitlines() for chunk in json.loads(line)["response"]]
    return {"contents": [asked, *(chunk["candidates"][0]["content"] for chunk in chunks if "candidates" in chunk)]}


def read_ai_sdk(text: str, _: str) -> dict[str, Any]:
    """A stream of the AI SDK: each call with its arguments, then its output or its error."""
    calls: dict[str, dict[str, Any]] = {}
    for chunk in json.loads(text):
        call = calls.setdefault(chunk.get("toolCallId", ""), {})
        if chunk["type"] == "tool-input-available":
            call |= {"name": chunk["toolName"], "arguments": chunk["input"]}
        elif chunk["type"] in ("tool-output-available", "tool-output-error"):
            call |= {"result": chunk.get("output", chunk.get("errorText")), "failed": chunk["type"].endswith("error")}
    return build_native(call for call in calls.values() if "name" in call)


def read_acp(text: str, _: str) -> dict[str, Any]:
    """Updates of the Agent Client Protocol; the outputs of tools were cut out of the recording."""
    calls: dict[str, dict[str, Any]] = {}
    for event in json.loads(text):
        update = event["payload"].get("update", event["payload"])
        call = calls.setdefault(update.get("id", ""), {})
        if update.get("type") == "tool_call":
            call |= {"name": update["name"], "arguments": update.get("input") or {}}
        elif update.get("type") == "tool_result":
            call |= {"result": update["output"] or "[cut]", "failed": update["isError"]}
    return build_native(call for call in calls.values() if "name" in call)


def build_native(calls: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """A native trace of calls with their results."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "begin"}]
    for number, call in enumerate(calls):
        request = {"id": str(number), "name": call["name"], "arguments": call["arguments"]}
        messages.append({"role": "assistant", "content": None, "tool_calls": [request]})
        if "result" in call:
            failure = {"is_error": True} if call["failed"] else {}
            messages.append({"role": "tool", "tool_call_id": str(number), "content": call["result"], **failure})
    return {
        "schema": "evalgate.trace/1",
        "trace_id": "t",
        "messages": [*messages, {"role": "assistant", "content": "."}],
    }


CONTAINERS = {"contents": read_contents, "answers": read_answers, "ai_sdk": read_ai_sdk, "acp": read_acp}


def _sum(counts: Iterable[Counts]) -> Counts:
    total = Counts()
    for each in counts:
        total = total.add(each)
    return total


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "   -"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
