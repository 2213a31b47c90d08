"""What a trace says stands in a reason only as a marked part, so that no output shows it as EvalGate's words."""

import json
import re

import pytest
from assertion_examples import ALL
from assess_assertion import compile_assertion
from builders import make_call, make_trace

from evalgate.measures.text.plain_text import split_parts
from evalgate.reporting.text.sentences import escape_sentence

HOSTILE = "HOSTILE `x` @octocat [y](https://evil.example) <b> | \n\n# z"
EXAMPLES = [
    *ALL,
    {"type": "allowed_tools", "tools": ["a"]},
    {"type": "forbidden_tools", "tools": ["*"]},
    {"type": "max_tool_errors", "max": 0},
    {"type": "no_loops", "max_repeats": 1},
    {"type": "tool_sequence", "sequence": ["a", {"tool": "*", "args": {"q": 1}}], "mode": "exact"},
    {"type": "tool_called", "tool": "never"},
    {"path": "tool_calls[0].name", "eq": "a"},
    {"type": "output_numeric", "operator": "eq", "target": 1},
    {"type": "is_json", "schema": {"type": "array"}},
]


def make_hostile_trace(answer):
    calls = [make_call(HOSTILE, {"q": HOSTILE, HOSTILE: 1}) for _ in range(3)]
    return make_trace(calls, answer, finish_reason=HOSTILE, scores={"s": 0.1})


@pytest.mark.parametrize("raw", EXAMPLES, ids=str)
@pytest.mark.parametrize("answer", [HOSTILE, json.dumps({HOSTILE: HOSTILE})], ids=["text", "json"])
def test_reason__words_of_the_trace__are_marked_parts(raw, answer):
    reason = compile_assertion(raw).assess(make_hostile_trace(answer)).reason
    assert "HOSTILE" not in "".join(split_parts(reason)[::2])
    assert "HOSTILE" not in re.sub(r"(?<!`)(`+) .*? \1(?!`)", "", escape_sentence(reason, 2_000))
