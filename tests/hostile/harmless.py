"""Input that looks odd and is fine: each must be accepted."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from hostile.hostile_case import GOOD, HEAD, PASSES, SUITE, Case, answer, checks, nest_list, trace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHARED_CHECKS = "- {id: a, assertions: &x [{contains: ok}]}\n" + "".join(
    f"- {{id: b{number}, assertions: *x}}\n" for number in range(15)
)


def cases() -> Iterator[Case]:
    """Every harmless input."""
    for name, suite in SUITES.items():
        yield Case(f"harmless-{name}", PASSES, suite)
    for name, content in TRACES.items():
        yield Case(f"harmless-{name}", PASSES, traces=partial(_one, content))
    for number, file in enumerate(("\u2603 \xe9.jsonl", "a b.jsonl", "a'b.jsonl", "UPPER.JSONL", "no-suffix")):
        yield Case(f"harmless-name-{number}", PASSES, traces=partial(_one, GOOD, file))
    for number, check in enumerate(CHECKS):
        yield Case(f"harmless-check-{number}", PASSES, checks(f"{{{check}, required: true}}"))
    ids = ["a", *(f"b{number}" for number in range(15))]
    shared = b"".join(trace(scenario_id=each) for each in ids)
    yield Case("harmless-shared-checks", PASSES, f"{HEAD}scenarios:\n{SHARED_CHECKS}", partial(_one, shared))
    name = "a[b] | c: d"
    entry = f"scenarios: [{{id: '{name}', assertions: [{{contains: ok}}]}}]\n"
    yield Case("harmless-id", PASSES, HEAD + entry, partial(_one, trace(scenario_id=name)))
    named = "".join(f"- {{id: s{number}, assertions: [{{contains: ok}}]}}\n" for number in range(500))
    many = b"".join(trace(scenario_id=f"s{number}") for number in range(500))
    yield Case("harmless-500-scenarios", PASSES, f"{HEAD}scenarios:\n{named}", partial(_one, many))


def _one(content: bytes, name: str = "t.jsonl") -> Mapping[str, bytes]:
    return {name: content}


SUITES = {
    "plain": SUITE,
    "words": SUITE.replace("suite: s", "suite: \xdcbersicht \u8a66\u9a13 \U0001f389"),
    "comment": f"# hello\n{SUITE}",
    "threshold": f"threshold: 0.5\n{SUITE}",
    "whole-threshold": f"threshold: 1\n{SUITE}",
    "description": f"description: 'ask @octocat <b>'\n{SUITE}",
    "quoted-number": SUITE.replace("suite: s", "suite: '1'"),
    "trials": SUITE.replace("assertions", "trials: {min: 1, min_pass_rate: 1.0}, assertions"),
    "policy": f"{SUITE}policy: {{fail_on: [hard_fail, below_threshold], min_evaluated: 0.5}}\n",
}
TRACES = {
    "markup": answer("ok <b>@octocat</b> | x ``` y"),
    "uuid": trace(scenario_id="123e4567-e89b-12d3-a456-426614174000"),
    "long-text": answer("ok " + "x" * 2_000_000),
    "a-thousand": b"".join(trace(scenario_id=f"s{number}") for number in range(1_000)),
    "no-cost": trace(cost_usd=0),
    "whole-seconds": trace(latency_seconds=1),
    "windows-lines": GOOD.replace(b"\n", b"\r\n"),
    "no-last-line-end": GOOD.strip(),
    "indented": json.dumps(json.loads(GOOD), indent=2).encode(),
    "depth": trace(metadata={"x": nest_list(50)}),
    "openai": json.dumps({"messages": json.loads(GOOD)["messages"]}).encode(),
    "commit": trace(commit="a" * 40),
    "nulls": trace(cost_usd=None, latency_seconds=None, usage=None),
    "tags": trace(tags={"tools": "flat", "lang": "de"}),
    "emoji": answer("ok \U0001f468\u200d\U0001f469\u200d\U0001f467"),
    "blank-lines": b"\n" + GOOD + b"\n\n",
}
CHECKS = [
    "regex: '(?<!n)o(?=k)'",
    "contains: ok, weight: 0.5",
    "path: 'length(tool_calls)', lte: 1",
    "path: '@', matches_schema: {type: object, required: [response]}",
    "path: response.content, in: [ok, fine]",
    "not: {contains: sorry}",
    "type: not_empty",
    "type: output_contains, value: sorry, negate: true",
    "type: output_contains, pattern: '(?i)OK'",
    "path: tool_calls, eq: []",
]
