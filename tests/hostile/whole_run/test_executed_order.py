"""Calls that one answer asks for are judged in the order in which they ran, where the recording says which was first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate
from span_builders import agent, call_part, chat, genai_message, response_part, tool

from evalgate.adapters.formats.native import reader
from evalgate.adapters.formats.spans.assemble import build
from evalgate.adapters.formats.writers.native import to_native
from evalgate.errors import TraceError
from hostile.suite_edits import suite, write
from hostile.whole_run.executed_calls import otlp

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.trace.trace import Trace

USER = genai_message("user", "Refund order 7, please.")
ASKED = genai_message("assistant", call_part("look", "c1"), call_part("pay", "c2"), finish="tool_call")
RESULTS = [genai_message("tool", response_part("ok", each)) for each in ("c1", "c2")]
ANSWER = genai_message("assistant", "Paid.", finish="stop")
Times = tuple[Any, Any]


def run(look: Times, pay: Times, *, is_below: bool = False) -> Trace:
    """A run that asks for `look` and `pay` at once, which ran from the one to the other millisecond."""
    root = agent(0, 90_000)
    owner = agent(0, 80_000, "helper", parent=root) if is_below else root
    spans = [
        chat(0, 1000, given=[USER], answered=[ASKED], parent=owner),
        tool("pay", *pay, parent=owner, call_id="c2", result="ok"),
        tool("look", *look, parent=owner, call_id="c1", result="ok"),
        chat(50_000, 51_000, given=[USER, ASKED, *RESULTS], answered=[ANSWER], parent=owner),
    ]
    more = [owner, chat(85_000, 86_000, given=[USER], answered=[ANSWER], parent=root)] if is_below else []
    return build([root, *more, *spans])


def names(trace: Trace) -> list[str]:
    return [call["name"] for call in trace.tool_calls]


ASKED_ORDER: dict[str, tuple[Times, Times]] = {
    "one after the other": ((2000, 3000), (3000, 4000)),
    "at once, the second a moment earlier": ((2001, 3000), (2000, 3000)),
    "at once, the second much shorter": ((2500, 9000), (2000, 2501)),
    "from the same moment": ((2000, 3000), (2000, 2100)),
    "in no time at the same moment": ((2000, 2000), (2000, 2000)),
    "without times": ((None, None), (None, None)),
    "without the time of the first": ((None, None), (2000, 3000)),
    "without the time of the second": ((2000, 3000), (None, None)),
    "without the end of the second": ((4000, 5000), (2000, None)),
}
RAN_ORDER: dict[str, tuple[Times, Times]] = {
    "the second before the first": ((5000, 6000), (2000, 3000)),
    "the first as the second ended": ((3000, 6000), (2000, 3000)),
    "the first without an end": ((3000, None), (2000, 2500)),
    "in no time": ((3000, 3000), (2000, 2000)),
}


WITHOUT_TIME = [name for name in ASKED_ORDER if name.startswith("without the time")]
"""Where a sub-agent's call stands last."""


@pytest.mark.parametrize(
    ("name", "is_below"),
    [(name, is_below) for name in ASKED_ORDER for is_below in (False, True) if not (is_below and name in WITHOUT_TIME)],
)
def test_what_ran_at_once_keeps_the_order_asked_for(name: str, is_below: bool) -> None:
    trace = run(*ASKED_ORDER[name], is_below=is_below)
    assert names(trace) == ["look", "pay"]
    assert [call["index"] for call in trace.tool_calls] == [0, 1]


@pytest.mark.parametrize("is_below", [False, True])
@pytest.mark.parametrize("name", RAN_ORDER)
def test_what_ended_before_another_began_was_first(name: str, is_below: bool) -> None:
    trace = run(*RAN_ORDER[name], is_below=is_below)
    assert names(trace) == ["pay", "look"]
    assert len({call["step"] for call in trace.tool_calls}) == 1


def test_many_calls_at_once_are_ordered_in_time() -> None:
    count = 1_000
    asked = genai_message("assistant", *(call_part("f", f"c{each}") for each in range(count)))
    root = agent(0, 9_000_000)
    ran = [tool("f", 2 * (count - at), 2 * (count - at) + 1, parent=root, call_id=f"c{at}") for at in range(count)]
    trace = build([root, chat(0, 1, given=[USER], answered=[asked], parent=root), *ran])
    assert [call["id"] for call in trace.tool_calls] == [f"c{each}" for each in reversed(range(count))]


def test_only_one_of_three_may_have_run_elsewhere() -> None:
    asked = genai_message("assistant", *(call_part("f", f"c{each}", n=each) for each in range(3)))
    root = agent(0, 9000)
    ran = [tool("f", 1000 * at, 1000 * at + 9, parent=root, call_id=f"c{each}") for at, each in enumerate((0, 2, 1), 1)]
    trace = build([root, chat(0, 1, given=[USER], answered=[asked], parent=root), *ran])
    assert [call["id"] for call in reader.build(to_native(trace)).tool_calls] == ["c0", "c2", "c1"]


def test_a_trace_that_is_kept_keeps_the_order() -> None:
    kept = json.loads(json.dumps(to_native(run((5000, 6000), (2000, 3000)))))
    assert names(reader.build(kept)) == ["pay", "look"]
    for call in kept["tool_calls"]:
        del call["started_at"]
    with pytest.raises(TraceError, match="order"):
        reader.build(kept)


@pytest.mark.parametrize(("times", "order", "code"), [((1, 3), ["look", "pay"], 0), ((3, 1), ["look", "pay"], 1)])
def test_a_sequence_follows_what_ran(tmp_path: Path, times: tuple[int, int], order: list[str], code: int) -> None:
    user = {"role": "user", "parts": [{"type": "text", "content": "hi"}]}
    answers = [{"type": "tool_call_response", "id": f"c{number}", "response": "ok"} for number in (1, 2)]
    asked = [{"type": "tool_call", "id": f"c{number}", "name": name} for number, name in enumerate(["look", "pay"], 1)]
    both = {"role": "assistant", "parts": asked, "finish_reason": "tool_call"}
    end = {"role": "assistant", "parts": [{"type": "text", "content": "done"}], "finish_reason": "stop"}
    document = otlp("look", "{}", [([user], both), ([user, both, {"role": "tool", "parts": answers}], end)])
    spans = document["resourceSpans"][0]["scopeSpans"][0]["spans"]
    second = otlp("pay", "{}")["resourceSpans"][0]["scopeSpans"][0]["spans"][2]
    second["attributes"][2]["value"]["stringValue"] = "c2"
    spans.append({**second, "spanId": "0" * 15 + "9"})
    for number, at in zip((2, 4), times, strict=True):
        begin = 17 * 10**17 + at * 1000
        spans[number] |= {"startTimeUnixNano": str(begin), "endTimeUnixNano": str(begin + 500)}
    check = {"type": "tool_sequence", "sequence": order, "required": True}
    write(tmp_path, {"evals/s.yaml": suite(check), "traces/refund.json": document})
    assert evalgate(tmp_path, ["evals/s.yaml"]).code == code
