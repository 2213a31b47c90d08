"""Items of OpenAI's Responses API: the input of a run that called no tool is recognized by its answer."""

from __future__ import annotations

import json

import pytest
from fakes.files import MemoryFiles

from evalgate.adapters.formats.open.trace_files import TraceFiles

ANSWER = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Done.", "annotations": []}],
}
EARLIER = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]


@pytest.mark.parametrize(
    "items",
    [
        [{"role": "user", "content": "Refund 42."}, {"id": "msg_1", "status": "completed", **ANSWER}],
        [{"role": "user", "content": [{"type": "input_text", "text": "Refund 42."}]}, ANSWER],
        [*EARLIER, {"role": "user", "content": "Refund 42."}, ANSWER],
    ],
)
def test_a_run_without_calls_is_read_as_the_docs_write_it(items):
    """`result.to_input_list()` then has messages only, which have no type of this API."""
    run = {"input": items, "final_output": "Done.", "scenario_id": "refund"}
    (trace,) = TraceFiles(MemoryFiles({"a.json": json.dumps(run).encode()})).read(["a.json"], "")
    assert (trace.source.format, trace.scenario_id, trace.response["content"]) == (
        "openai-responses",
        "refund",
        "Done.",
    )
    assert (trace.tool_calls, trace.gaps) == ([], {})
    assert [each["role"] for each in trace.messages][-2:] == ["user", "assistant"]
