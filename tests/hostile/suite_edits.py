"""Failing pull requests, and edits of their suites and project alone that try to make them pass."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

Files = dict[str, Any]
"""Documents by path; what is not a text is written as JSON."""
PROJECT, SUITE = "evalgate.yaml", "evals/support.yaml"
FAIL_ON = ["hard_fail", "broken", "below_threshold", "regression"]


class PullRequest(NamedTuple):
    """The files of the base branch, and the traces that the pull request's agent recorded instead."""

    base: Files
    failing: Files

    def head(self) -> Files:
        """The files of the pull request before an edit."""
        return deepcopy({**self.base, **self.failing})


class Edit(NamedTuple):
    """A change of the suite or project of one failing pull request."""

    name: str
    pull_request: str
    change: Callable[[Files], object]


def write(folder: Path, files: Files) -> None:
    """Writes all files below an empty folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def trace(answer: str, scenario: str = "refund", tools: tuple[str, ...] = ("lookup", "refund"), **more: Any) -> Files:
    """A trace in which the agent calls the tools one by one, then answers."""
    messages: list[Any] = [{"role": "user", "content": "my money, please"}]
    for number, name in enumerate(tools):
        call = {"id": f"c{number}", "name": name, "arguments": {"order": 7}}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "done"},
        ]
    messages.append({"role": "assistant", "content": answer})
    return {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages, **more}


def project(**more: Any) -> Files:
    """A project of all suites in `evals`."""
    return {"version": 1, "suites": ["evals/**/*.yaml"], "policy": {"fail_on": FAIL_ON}, **more}


def suite(*checks: Any, scenario: Files | None = None, **more: Any) -> Files:
    """A suite of one scenario."""
    entry = {"id": "refund", "assertions": list(checks), **(scenario or {})}
    return {"version": 1, "suite": "support", "traces": ["../traces/*.json"], "scenarios": [entry], **more}


SAYS = {"contains": "refunded", "required": True}
CALLS = {"type": "tool_sequence", "sequence": ["lookup", "refund"], "required": True}
GOOD, BAD = trace("You are refunded"), trace("No", tools=("delete_account",))
METERED = {"model": "m-large", "usage": {"input_tokens": 100_000, "output_tokens": 10_000}}
GOLDEN = {
    "id": "refund",
    "user_messages": ["my money, please"],
    "golden_responses": ["Order 7 is refunded."],
    "required_tool_usage": ["lookup", "refund"],
}


def log(answer: str, tools: tuple[str, ...] = ("lookup", "refund"), **more: Any) -> Files:
    """A trace of an own format."""
    calls = [{"name": name, "arguments": {"order": 7}, "result": "done"} for name in tools]
    return {"case": "refund", "question": "my money, please", "answer": answer, "steps": calls, **more}


def trials(*answers: str) -> Files:
    """Several trials of one scenario in one file."""
    lines = [json.dumps(trace(each, trial=number)) for number, each in enumerate(answers)]
    return {"traces/all.jsonl": "\n".join(lines) + "\n"}


OWN_FORMAT = {
    "scenario_id": "case",
    "input": "question",
    "response": "answer",
    "cost_usd": "spent",
    "tool_calls": {"path": "steps"},
}
EVENTS = {
    "lines": "run",
    "scenario_id": "[0].case",
    "type_field": "kind",
    "types": {"user": "asked", "assistant": "answered", "call": "did", "ignore": ["timer"]},
    "join": {"call_id": "id", "result_id": "id"},
    "message": {"content": "text"},
    "tool_calls": {"name": "tool"},
}


def events(answer: str, tools: tuple[str, ...] = ("lookup", "refund")) -> str:
    """A trace of an own format: events, one a line."""
    lines = [
        {"case": "refund", "kind": "asked", "text": "my money, please"},
        *({"kind": "did", "id": number, "tool": name, "result": "done"} for number, name in enumerate(tools)),
        {"kind": "answered", "text": answer},
    ]
    return "".join(f"{json.dumps(line)}\n" for line in lines)


LIMITS = {"cost": {"max_increase": 0.2}, "latency": {"max_increase": 0.2}, "tokens": {"max_increase": 0.2}}
COPIES = {"good/refund.json": GOOD, "evals/good/traces/refund.json": GOOD}
PULL_REQUESTS: dict[str, PullRequest] = {
    "wrong answer and tools": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(SAYS, CALLS, {"type": "forbidden_tools", "tools": ["delete_*"], "required": True}),
            "traces/refund.json": GOOD,
            **COPIES,
        },
        {"traces/refund.json": BAD},
    ),
    "globs of the project": PullRequest(
        {
            PROJECT: project(defaults={"traces": ["traces/*.json"], "assertions": [SAYS], "threshold": 0.9}),
            SUITE: {"version": 1, "suite": "support", "scenarios": [{"id": "refund", "assertions": [CALLS]}]},
            "traces/refund.json": GOOD,
            **COPIES,
        },
        {"traces/refund.json": BAD},
    ),
    "ids by a glob": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(SAYS, scenario={"id": "*"}),
            "traces/refund.json": GOOD,
            "traces/greet.json": trace("refunded", "greet"),
        },
        {"traces/refund.json": BAD},
    ),
    "half of the checks": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite({"contains": "refunded"}, {"contains": "order"}),
            "traces/refund.json": trace("The order is refunded"),
        },
        {"traces/refund.json": trace("The order is not found")},
    ),
    "a graded score": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite({"type": "recorded_score", "name": "reward", "min": 0.4}, threshold=0.4),
            "traces/refund.json": trace("refunded", scores={"reward": 1.0}),
        },
        {"traces/refund.json": trace("refunded", scores={"reward": 0.5})},
    ),
    "a computed cost": PullRequest(
        {
            PROJECT: project(prices={"m-*": {"input": 1.0, "output": 4.0}}),
            SUITE: suite({"type": "cost_limit", "max_usd": 0.2, "required": True}),
            "traces/refund.json": trace("refunded", model="m-small", usage={"input_tokens": 900, "output_tokens": 80}),
        },
        {
            "traces/refund.json": trace(
                "refunded", model="m-small", usage={"input_tokens": 900_000, "output_tokens": 80}
            )
        },
    ),
    "a cost that grows": PullRequest(
        {
            PROJECT: project(
                prices={"m-*": {"input": 1.0, "output": 4.0}},
                policy={"fail_on": FAIL_ON, "regression": {"cost": LIMITS["cost"]}},
            ),
            SUITE: suite(SAYS),
            "traces/refund.json": trace("refunded", model="m-small", usage={"input_tokens": 900, "output_tokens": 80}),
        },
        {"traces/refund.json": trace("refunded", model="m-small", usage={"input_tokens": 9_000, "output_tokens": 80})},
    ),
    "time and tokens that grow": PullRequest(
        {
            PROJECT: project(policy={"fail_on": FAIL_ON, "regression": LIMITS}),
            SUITE: suite(SAYS),
            "traces/refund.json": trace(
                "refunded", latency_seconds=1, cost_usd=0.1, usage={"input_tokens": 900, "output_tokens": 80}
            ),
        },
        {
            "traces/refund.json": trace(
                "refunded", latency_seconds=9, cost_usd=0.9, usage={"input_tokens": 9_000, "output_tokens": 80}
            )
        },
    ),
    "an own format": PullRequest(
        {
            PROJECT: project(policy={"fail_on": FAIL_ON, "regression": {"cost": LIMITS["cost"]}}),
            SUITE: suite(SAYS, CALLS, format="custom", custom=OWN_FORMAT),
            "traces/refund.json": log("refunded", spent=0.1),
        },
        {"traces/refund.json": log("No", ("delete_account",), spent=0.1)},
    ),
    "an own format, a wrong answer": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(SAYS, format="custom", custom=OWN_FORMAT),
            "traces/refund.json": log("refunded", spent=0.1),
        },
        {"traces/refund.json": log("No", spent=0.1)},
    ),
    "an own format, a wrong tool": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(
                {"type": "forbidden_tools", "tools": ["delete_*"], "required": True}, format="custom", custom=OWN_FORMAT
            ),
            "traces/refund.json": log("refunded", spent=0.1),
        },
        {"traces/refund.json": log("refunded", ("lookup", "delete_account"), spent=0.1)},
    ),
    "events, a wrong tool": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(
                {"type": "forbidden_tools", "tools": ["delete_*"], "required": True}, format="custom", custom=EVENTS
            ),
            "traces/refund.json": events("refunded"),
        },
        {"traces/refund.json": events("refunded", ("lookup", "delete_account"))},
    ),
    "an own format that costs more": PullRequest(
        {
            PROJECT: project(policy={"fail_on": FAIL_ON, "regression": {"cost": LIMITS["cost"]}}),
            SUITE: suite(SAYS, format="custom", custom=OWN_FORMAT),
            "traces/refund.json": log("refunded", spent=0.1),
        },
        {"traces/refund.json": log("refunded", spent=0.9)},
    ),
    "one of four trials": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(
                {"contains": "refunded"},
                traces=["../traces/*.jsonl"],
                scenario={"trials": {"min": 4, "min_pass_rate": 1.0}},
            ),
            **trials("refunded", "refunded", "refunded", "refunded"),
        },
        trials("refunded", "No", "refunded", "refunded"),
    ),
    "two variants": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(
                SAYS,
                variants={"a": {"match": {"tags": ["v:a"]}}, "b": {"match": {"tags": ["v:b"]}}},
            ),
            "traces/a.json": trace("refunded", tags={"v": "a"}),
            "traces/b.json": trace("refunded", tags={"v": "b"}),
        },
        {"traces/b.json": trace("No", tags={"v": "b"})},
    ),
    "a broken file": PullRequest(
        {PROJECT: project(), SUITE: suite(SAYS), "traces/refund.json": GOOD},
        {"traces/refund.json": '{"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": ['},
    ),
    "stale traces": PullRequest(
        {
            PROJECT: project(policy={"fail_on": ["hard_fail", "stale_evidence"], "freshness": {"max_age": "7d"}}),
            SUITE: suite(SAYS),
            "traces/refund.json": trace("refunded", started_at="2027-01-14T00:00:00Z"),
        },
        {"traces/refund.json": trace("refunded", started_at="2026-01-14T00:00:00Z")},
    ),
    "a golden": PullRequest(
        {
            PROJECT: project(),
            SUITE: {"version": 1, "suite": "support", "traces": ["../traces/*.json"], "goldens": [GOLDEN]},
            "traces/refund.json": trace("Order 7 is refunded."),
        },
        {"traces/refund.json": trace("No", tools=())},
    ),
    "two suites": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(SAYS),
            "evals/billing.yaml": {**suite(CALLS), "suite": "billing", "traces": ["../bills/*.json"]},
            "traces/refund.json": GOOD,
            "bills/refund.json": GOOD,
        },
        {"bills/refund.json": BAD},
    ),
    "what nothing could judge": PullRequest(
        {
            PROJECT: project(policy={"fail_on": [*FAIL_ON, "not_evaluable"], "min_evaluated": 1}),
            SUITE: suite(SAYS, {"type": "latency_limit", "max_seconds": 3, "required": True}),
            "traces/refund.json": trace("refunded", latency_seconds=1),
        },
        {"traces/refund.json": trace("refunded")},
    ),
    "a record of the wrong scenario": PullRequest(
        {
            PROJECT: project(),
            SUITE: suite(SAYS, scenario_from="metadata.custom.case"),
            "traces/refund.json": trace("refunded", metadata={"case": "refund"}),
            "traces/other.json": trace("refunded", metadata={"case": "other"}),
        },
        {"traces/refund.json": trace("No", metadata={"case": "refund"})},
    ),
}


def put(*place: Any, file: str = SUITE) -> Callable[[Files], object]:
    """Sets the value at a place of a document; the last of `place` is the value."""
    *way, last, value = place

    def change(files: Files) -> None:
        target = files[file]
        for step in way:
            target = target[step] if isinstance(target, list) else target.setdefault(step, {})
        target[last] = value

    return change


def drop(*place: Any, file: str = SUITE) -> Callable[[Files], object]:
    """Removes a key or an entry of a list."""
    *way, last = place

    def change(files: Files) -> None:
        target = files[file]
        for step in way:
            target = target[step]
        del target[last]

    return change


def add(*place: Any, file: str = SUITE) -> Callable[[Files], object]:
    """Appends the last of `place` to the list at the rest of it."""
    *way, value = place

    def change(files: Files) -> None:
        target = files[file]
        for step in way:
            target = target.setdefault(step, []) if isinstance(target, dict) else target[step]
        target.append(value)

    return change


def both(*changes: Callable[[Files], object]) -> Callable[[Files], object]:
    """Several changes in one edit."""

    def change(files: Files) -> None:
        for each in changes:
            each(files)

    return change


def move(old: str, new: str) -> Callable[[Files], object]:
    """Moves a file."""

    def change(files: Files) -> None:
        files[new] = files.pop(old)

    return change


def of_project(*place: Any) -> Callable[[Files], object]:
    """Sets a value of the project."""
    return put(*place, file=PROJECT)


def check(number: int, *place: Any) -> Callable[[Files], object]:
    """Sets a value of an assertion of the first scenario."""
    return put("scenarios", 0, "assertions", number, *place)


def scenario(*place: Any) -> Callable[[Files], object]:
    """Sets a value of the first scenario."""
    return put("scenarios", 0, *place)


TRIVIAL = {"type": "not_empty", "weight": 50}


def edits() -> Iterator[Edit]:
    """Every edit."""
    for name, changes in EDITS.items():
        yield from (Edit(what, name, change) for what, change in changes.items())


EDITS: dict[str, dict[str, Callable[[Files], object]]] = {
    "wrong answer and tools": {
        "traces: good copies": put("traces", ["../good/*.json"]),
        "traces: good copies as well": put("traces", ["../traces/*.json", "../good/*.json"]),
        "traces: a single good file": put("traces", ["../good/refund.json"]),
        "traces: nothing": put("traces", ["../none/*.json"]),
        "traces: below the suite": put("traces", ["good/traces/*.json"]),
        "suite moved to a folder with good traces": both(
            put("traces", ["traces/*.json"]),
            move(SUITE, "evals/good/support.yaml"),
            of_project("suites", ["evals/**/*.yaml"]),
        ),
        "suite moved, its globs as they were": both(
            lambda files: files.update({"evals/traces/refund.json": GOOD}),
            move(SUITE, "evals/good/support.yaml"),
            of_project("suites", ["evals/**/*.yaml"]),
        ),
        "suite moved, nothing else": both(
            lambda files: files.update({"evals/traces/refund.json": GOOD}), move(SUITE, "evals/good/support.yaml")
        ),
        "suite renamed": put("suite", "support2"),
        "suite renamed to letters that look alike": put("suite", "suppоrt"),  # noqa: RUF001  a Cyrillic o
        "suite left out by the project": both(
            lambda files: files.update({"evals/x.yaml": {**suite(TRIVIAL), "suite": "x"}}),
            of_project("suites", ["evals/x*.yaml"]),
        ),
        "suite removed": both(
            lambda files: files.pop(SUITE),
            lambda files: files.update({"evals/x.yaml": {**suite(TRIVIAL), "suite": "x"}}),
        ),
        "format: one that reads less": both(
            put("format", "openai-chat"), scenario("optional", True), scenario("allow_errors", True)
        ),
        "format: custom constants": both(
            put("format", "custom"),
            put(
                "custom",
                {
                    "scenario_id": "scenario_id",
                    "response": "'refunded'",
                    "tool_calls": {"path": '`[{"name":"lookup"},{"name":"refund"}]`'},
                },
            ),
        ),
        "format of the project: custom constants": of_project(
            "defaults",
            {
                "format": "custom",
                "custom": {
                    "scenario_id": "'refund'",
                    "response": "'refunded'",
                    "tool_calls": {"path": '`[{"name":"lookup"},{"name":"refund"}]`'},
                },
            },
        ),
        "scenario_from: one id for all": both(
            put("scenario_from", "'other'"),
            add("scenarios", {"id": "other", "assertions": [TRIVIAL]}),
            scenario("optional", True),
        ),
        "scenario optional, its trace unmatched": both(scenario("optional", True), scenario("match", {"path": "x"})),
        "scenario optional, its id another": both(scenario("optional", True), scenario("id", "refund2")),
        "match: a path of no trace": both(scenario("match", {"path": "good/*"}), add("traces", "../good/*.json")),
        "match: where another thing holds": both(
            scenario("match", {"where": "contains(response.content, 'refunded')"}), add("traces", "../good/*.json")
        ),
        "match: tags that no trace has": both(scenario("match", {"tags": ["x"]}), scenario("optional", True)),
        "scenario renamed": scenario("id", "refund-old"),
        "scenario replaced by a glob": both(scenario("id", "ref*"), scenario("assertions", [TRIVIAL])),
        "scenario removed": put(
            "scenarios",
            [{"id": "other", "optional": True, "assertions": [TRIVIAL]}, {"id": "*", "assertions": [TRIVIAL]}],
        ),
        "scenario moved to another suite": both(
            lambda files: files.update(
                {"evals/x.yaml": {**deepcopy(files[SUITE]), "suite": "x", "traces": ["../good/*.json"]}}
            ),
            put("scenarios", [{"id": "*", "assertions": [TRIVIAL]}]),
        ),
        "a decoy claims the trace": put(
            "scenarios",
            [
                {"id": "decoy", "match": {"scenario_id": "refund", "path": "../traces/*"}, "assertions": [TRIVIAL]},
                {"id": "refund", "assertions": [SAYS], "optional": True},
            ],
        ),
        "checks removed": scenario("assertions", [TRIVIAL]),
        "checks replaced by a weaker pattern": scenario("assertions", [{"regex": ".", "required": True}]),
        "checks negated": both(
            check(0, {"not": SAYS}),
            check(1, {**CALLS, "negate": True}),
            check(2, {"not": {"type": "forbidden_tools", "tools": ["delete_*"]}, "required": True}),
        ),
        "checks below any_of": scenario("assertions", [{"any_of": [{"contains": "refunded"}, {"type": "not_empty"}]}]),
        "checks in a group with another": scenario(
            "assertions",
            [{"any_of": [{"contains": "refunded"}, {"type": "not_empty"}], "required": True}],
        ),
        "checks as one of many": scenario(
            "assertions", [{"at_least": {"k": 1, "of": [{"contains": "refunded"}, {"type": "not_empty"}]}}]
        ),
        "checks under a condition": scenario(
            "assertions", [{"when": {"contains": "refunded"}, "then": [{"contains": "refunded"}]}, TRIVIAL]
        ),
        "checks without weight": both(
            *(check(number, "required", False) for number in range(3)),
            *(check(number, "weight", 0) for number in range(3)),
            add("scenarios", 0, "assertions", TRIVIAL),
        ),
        "checks not required, diluted": both(
            *(check(number, "required", False) for number in range(3)), add("scenarios", 0, "assertions", TRIVIAL)
        ),
        "sequence optional": both(
            check(1, "sequence", [{"tool": "lookup", "optional": True}, "*"]),
            check(0, {"regex": ".", "required": True}),
            check(2, "tools", ["nothing"]),
        ),
        "sequence by globs": both(
            check(1, "sequence", ["*"]), check(0, {"contains": "N", "required": True}), check(2, "tools", ["drop_*"])
        ),
        "quarantined": put("quarantine", [{"scenario": "*", "reason": "x", "until": "2027-02-01"}]),
        "quarantined, judged by another": both(
            put("quarantine", [{"scenario": "refund", "reason": "x", "until": "2027-02-01"}]),
            add("scenarios", {"id": "*", "assertions": [TRIVIAL]}),
            add("traces", "../evals/good/traces/*"),
        ),
        "fail_on of the project: one word": of_project("policy", {"fail_on": ["stale_evidence"]}),
        "fail_on: the default": drop("policy", file=PROJECT),
        "policy of the suite ignores weakenings": both(
            put("policy", {"on_weakening": "ignore"}), scenario("assertions", [TRIVIAL])
        ),
        "policy of the project ignores weakenings": both(
            of_project("policy", {"fail_on": FAIL_ON, "on_weakening": "ignore"}), scenario("assertions", [TRIVIAL])
        ),
        "threshold: 0 without required checks": both(
            put("threshold", 0), *(check(number, "required", False) for number in range(3))
        ),
        "variants, one of which is good": both(
            add("traces", "../good/*.json"),
            put("variants", {"good": {"match": {"path": "../good/*"}}}),
        ),
        "redact: the scenario's id": both(
            of_project("redact", {"patterns": [{"name": "x", "regex": "refund"}]}), scenario("assertions", [TRIVIAL])
        ),
    },
    "globs of the project": {
        "defaults.traces: good copies": of_project("defaults", "traces", ["good/*.json"]),
        "traces of the suite: good copies": put("traces", ["../good/*.json"]),
        "project moved next to good traces": both(
            move(PROJECT, "evals/good/evalgate.yaml"),
            lambda files: files["evals/good/evalgate.yaml"].update(suites=["../*.yaml"]),
        ),
        "defaults.assertions: none": both(of_project("defaults", "assertions", []), scenario("assertions", [TRIVIAL])),
        "defaults.threshold: 0": both(
            of_project("defaults", "threshold", 0),
            of_project("defaults", "assertions", [{"contains": "refunded"}]),
            check(0, "required", False),
        ),
        "defaults.scenario_from: other": both(
            of_project("defaults", "scenario_from", "'x'"), scenario("optional", True)
        ),
        "defaults.format: another": both(
            of_project("defaults", "format", "openai-chat"), scenario("optional", True), scenario("allow_errors", True)
        ),
    },
    "ids by a glob": {
        "an exact id with another check": put(
            "scenarios", [{"id": "refund", "assertions": [TRIVIAL]}, {"id": "*", "assertions": [SAYS]}]
        ),
        "the glob narrowed": scenario("id", "gr*"),
        "the glob below one that claims all": put(
            "scenarios", [{"id": "r*", "assertions": [TRIVIAL]}, {"id": "*", "assertions": [SAYS]}]
        ),
        "all traces as trials of one": scenario("match", {"scenario_id": "greet"}),
        "where: only good answers": scenario("match", {"where": "contains(response.content, 'refunded')"}),
        "traces: only the good file": put("traces", ["../traces/greet.json"]),
        "traces: a class of letters": put("traces", ["../traces/[a-q]*.json"]),
        "scenario_from: the id of a good one": put("scenario_from", "'greet'"),
    },
    "half of the checks": {
        "easy checks added": add("scenarios", 0, "assertions", TRIVIAL),
        "easy checks added to defaults": put("defaults", {"assertions": [TRIVIAL]}),
        "easy checks added to the project": of_project("defaults", {"assertions": [TRIVIAL]}),
        "one check weighs less": check(0, "weight", 0.01),
        "the other weighs more": check(1, "weight", 100),
        "threshold lowered": scenario("threshold", 0.5),
        "threshold of the project": of_project("defaults", {"threshold": 0.5}),
        "a missing field is skipped": check(0, {"path": "metadata.none", "contains": "refunded", "on_missing": "skip"}),
        "another field is read": check(0, {"path": "messages[0].content", "contains": "refunded"}),
        "ignoring case": check(0, {"type": "icontains", "value": "REFUND"}),
        "a shorter text": check(0, "contains", ""),
    },
    "a graded score": {
        "an easy check added": add("scenarios", 0, "assertions", TRIVIAL),
        "another score": check(0, {"type": "recorded_score", "name": "other", "min": 0.0}),
        "regression.threshold: 1": of_project("policy", "regression", {"threshold": 1.0}),
        "regression asks for evidence": of_project("policy", "regression", {"require_evidence": True}),
        "regression.pair_by": of_project("policy", "regression", {"pair_by": "trial", "require_evidence": True}),
        "regression not in fail_on": of_project("policy", "fail_on", ["hard_fail", "broken", "below_threshold"]),
        "a suite's regression policy": put("policy", {"regression": {"threshold": 0.9}}),
        "scored as passed": check(0, {"path": "scores.reward", "gte": 0.4}),
    },
    "a computed cost": {
        "prices: 0": of_project("prices", {"m-*": {"input": 0, "output": 0}}),
        "prices: lower": of_project("prices", {"m-*": {"input": 0.01, "output": 4.0}}),
        "prices: an alias before": of_project(
            "prices", {"m-s*": {"input": 0, "output": 0}, "m-*": {"input": 1.0, "output": 4.0}}
        ),
        "prices of the suite: 0": put("prices", {"*": {"input": 0, "output": 0}}),
        "prices: unknown, skipped": both(
            of_project("prices", {"m-*": None}),
            check(0, {"type": "cost_limit", "max_usd": 0.2, "on_missing": "skip"}),
            add("scenarios", 0, "assertions", TRIVIAL),
        ),
        "limit raised": check(0, "max_usd", 2),
    },
    "a cost that grows": {
        "redact: the name of the price table": of_project("redact", {"patterns": [{"name": "x", "regex": "[0-9]+"}]}),
        "prices: 0": of_project("prices", {"m-*": {"input": 0, "output": 0}}),
        "prices: unknown": of_project("prices", {"m-*": None}),
        "prices: input for nothing": of_project("prices", {"m-*": {"input": 0, "output": 4.0}}),
        "limit raised": of_project("policy", "regression", {"cost": {"max_increase": 20}}),
        "limit removed": of_project("policy", "regression", {}),
    },
    "time and tokens that grow": {
        "limits raised": of_project("policy", "regression", {name: {"max_increase": 99} for name in LIMITS}),
        "limits ask for evidence": of_project("policy", "regression", {**LIMITS, "require_evidence": True}),
        "limits of the suite": put("policy", {"regression": {name: {"max_increase": 99} for name in LIMITS}}),
        "read without figures": both(
            put("format", "custom"), put("custom", {"scenario_id": "scenario_id", "messages": "messages"})
        ),
    },
    "an own format": {
        "response: a constant": both(
            put("custom", "response", "'refunded'"),
            put("custom", "tool_calls", "path", '`[{"name":"lookup"},{"name":"refund"}]`'),
        ),
        "response: another field": both(
            put("custom", "response", "'refunded'"),
            put("custom", "tool_calls", {"path": "steps", "name": "'lookup'"}),
            check(1, "sequence", ["lookup"]),
        ),
        "scenario_id: another": both(put("custom", "scenario_id", "'other'"), scenario("optional", True)),
        "records: none": both(put("custom", "records", "`[]`"), scenario("optional", True)),
        "format: auto": both(put("format", "auto"), drop("custom"), scenario("optional", True)),
        "metadata of constants": both(
            put("custom", "metadata", '`{"ok": "refunded"}`'),
            check(0, {"path": "metadata.custom.ok", "contains": "refunded", "required": True}),
            check(1, {"type": "tool_calls", "max": 9}),
        ),
    },
    "an own format, a wrong answer": {
        "response: a constant": put("custom", "response", "'refunded'"),
        "response: a constant before the answer": put("custom", "response", "join(' ', ['refunded', answer])"),
        "response: another if it is wrong": put(
            "custom", "response", "contains(answer, 'refunded') && answer || 'refunded'"
        ),
        "messages: constants": put("custom", "messages", '`[{"role": "assistant", "content": "refunded"}]`'),
        "format of the project, with constants": both(
            drop("custom"), of_project("defaults", {"custom": {**OWN_FORMAT, "response": "'refunded'"}})
        ),
        "another scenario's id": both(
            put("custom", "scenario_id", "answer == 'No' && 'other' || case"),
            scenario("optional", True),
            add("scenarios", {"id": "*", "assertions": [TRIVIAL]}),
        ),
        "records: good ones": both(
            put("custom", "records", "[@][?contains(answer, 'refunded')]"),
            scenario("optional", True),
            add("traces", "../good/*.json"),
            lambda files: files.update({"good/a.json": log("refunded")}),
        ),
    },
    "an own format, a wrong tool": {
        "name of calls: a constant": put("custom", "tool_calls", "name", "'lookup'"),
        "calls: none": put("custom", "tool_calls", "path", "`[]`"),
        "calls: only good ones": put("custom", "tool_calls", "path", "steps[?name!='delete_account']"),
        "calls: another place": put("custom", "tool_calls", "path", "calls"),
        "calls: unknown, check skipped": both(
            drop("custom", "tool_calls"),
            check(0, {"type": "forbidden_tools", "tools": ["delete_*"], "on_missing": "skip"}),
            add("scenarios", 0, "assertions", TRIVIAL),
        ),
    },
    "events, a wrong tool": {
        "types: calls are ignored": put(
            "custom", "types", {"user": "asked", "assistant": "answered", "ignore": ["did"]}
        ),
        "types: calls are ignored, others named": put(
            "custom", "types", {"user": "asked", "assistant": "answered", "call": "other", "ignore": "*"}
        ),
        "types: calls are answers": put("custom", "types", {"user": "asked", "assistant": ["answered", "did"]}),
        "types: some calls": both(
            put("custom", "type_field", "tool == 'delete_account' && 'timer' || kind"),
            put("custom", "message", "tool_calls", "tool_calls"),
        ),
        "items: some": put("custom", "items", "[?tool != 'delete_account']"),
        "lines: a run each": both(
            put("custom", "lines", "trace"),
            put("custom", "items", "[@]"),
            put("custom", "scenario_id", "case"),
            scenario("optional", True),
        ),
        "run_id: another": both(
            put("custom", "run_id", "tool == 'delete_account' && 'b' || 'a'"),
            put("custom", "scenario_id", "[?case].case | [0]"),
            scenario("optional", True),
        ),
        "name of calls: a constant": put("custom", "tool_calls", "name", "'lookup'"),
    },
    "an own format that costs more": {
        "cost: a constant": put("custom", "cost_usd", "`0.1`"),
        "cost: not read": drop("custom", "cost_usd"),
    },
    "one of four trials": {
        "min_pass_rate lowered": scenario("trials", {"min": 4, "min_pass_rate": 0.5}),
        "min_pass_rate removed": scenario("trials", {"min": 4}),
        "min_pass_k instead": scenario("trials", {"min": 4, "min_pass_k": {"k": 1, "of": 4}}),
        "match: good trials only": both(
            scenario("match", {"where": "contains(response.content, 'refunded')"}),
            scenario("trials", {"min": 3, "min_pass_rate": 1.0}),
        ),
        "match: good trials only, min as it was": scenario(
            "match", {"where": "contains(response.content, 'refunded')"}
        ),
        "a decoy claims the bad trial": put(
            "scenarios",
            [
                {
                    "id": "decoy",
                    "match": {"scenario_id": "refund", "where": "!contains(response.content, 'refunded')"},
                    "assertions": [TRIVIAL],
                },
                {"id": "refund", "trials": {"min": 3, "min_pass_rate": 1.0}, "assertions": [{"contains": "refunded"}]},
            ],
        ),
        "scenario_from: the bad trial's id": both(
            put("scenario_from", "contains(response.content, 'refunded') && 'refund' || 'other'"),
            scenario("trials", {"min": 3, "min_pass_rate": 1.0}),
        ),
    },
    "two variants": {
        "the failing variant removed": drop("variants", "b"),
        "the failing variant renamed": both(
            put("variants", {"a": {"match": {"tags": ["v:a"]}}, "c": {"match": {"tags": ["v:a"]}}})
        ),
        "the failing variant matches good traces": put("variants", "b", {"match": {"tags": ["v:a"]}}),
        "the first variant takes all": put(
            "variants", {"a": {"match": {"tags": []}}, "b": {"match": {"tags": ["v:b"]}}}
        ),
        "variants of the scenario: none": both(scenario("variants", {}), scenario("match", {"tags": ["v:a"]})),
        "the scenario optional": both(scenario("optional", True), put("variants", "b", {"match": {"tags": ["v:x"]}})),
    },
    "a broken file": {
        "errors allowed": scenario("allow_errors", True),
        "the file not read": both(put("traces", ["../none/*.json"]), scenario("optional", True)),
        "errors allowed, optional": both(
            scenario("allow_errors", True), scenario("optional", True), scenario("threshold", 0)
        ),
        "read by another format": both(put("format", "otlp"), scenario("optional", True)),
    },
    "stale traces": {
        "max_age raised": of_project("policy", "freshness", {"max_age": "99w"}),
        "freshness removed": of_project("policy", {"fail_on": ["hard_fail", "stale_evidence"]}),
        "stale evidence not in fail_on": of_project("policy", "fail_on", ["hard_fail"]),
        "freshness of the suite": put("policy", {"freshness": {"max_age": "99w"}}),
        "times not read": both(
            put("format", "custom"),
            put(
                "custom", {"scenario_id": "scenario_id", "messages": "messages", "started_at": "'2027-01-14T00:00:00Z'"}
            ),
        ),
    },
    "a golden": {
        "redact: every word": of_project("redact", {"patterns": [{"name": "x", "regex": "[a-z]{5,}"}]}),
        "another golden answer": put("goldens", 0, "golden_responses", ["No"]),
        "no tools required": both(
            put("goldens", 0, "required_tool_usage", []), put("goldens", 0, "golden_responses", ["No"])
        ),
        "tools not evaluated": both(
            put("goldens", 0, "evaluate_tools", False),
            put("goldens", 0, "evaluate_completeness", False),
            put("goldens", 0, "evaluate_accuracy", False),
        ),
        "settings: dimensions off": put(
            "golden", {"evaluate_tools": False, "evaluate_completeness": False, "evaluate_accuracy": False}
        ),
        "settings: passing_score 0": put("golden", {"passing_score": 0, "warning_threshold": 0}),
        "settings: warning_threshold 0": put("golden", {"warning_threshold": 0}),
        "settings: weights": put(
            "golden",
            {
                "weights": {
                    "identity": 1,
                    "memory": 0,
                    "tools": 0,
                    "tone": 0,
                    "refusal": 0,
                    "accuracy": 0,
                    "completeness": 0,
                }
            },
        ),
        "critical issues allowed": of_project("policy", "critical_issue_threshold", 99),
        "golden removed": both(drop("goldens"), put("scenarios", [{"id": "refund", "assertions": [TRIVIAL]}])),
        "golden matches nothing": both(put("goldens", 0, "match", {"path": "x"}), put("goldens", 0, "optional", True)),
        "golden in a file of another folder": both(
            put("goldens", [{"file": "other/*.json"}]),
            lambda files: files.update(
                {"evals/other/g.json": {**GOLDEN, "golden_responses": ["No"], "required_tool_usage": []}}
            ),
        ),
    },
    "two suites": {
        "the failing suite reads the other's traces": put("traces", ["../traces/*.json"], file="evals/billing.yaml"),
        "the failing suite left out": of_project("suites", ["evals/support.yaml"]),
        "the failing suite merged into the other": both(lambda files: files.pop("evals/billing.yaml")),
        "names swapped": both(put("suite", "billing"), put("suite", "support", file="evals/billing.yaml")),
        "globs swapped": both(
            put("traces", ["../bills/*.json"]),
            put("traces", ["../traces/*.json"], file="evals/billing.yaml"),
            check(0, "contains", "No"),
        ),
    },
    "what nothing could judge": {
        "min_evaluated lowered, check skipped": both(
            of_project("policy", {"fail_on": FAIL_ON}),
            check(1, {"type": "latency_limit", "max_seconds": 3, "on_missing": "skip"}),
        ),
        "check skipped": check(1, {"type": "latency_limit", "max_seconds": 3, "on_missing": "skip"}),
    },
    "a record of the wrong scenario": {
        "scenario_from dropped": both(drop("scenario_from"), scenario("optional", True)),
        "scenario_from: another field": both(put("scenario_from", "metadata.custom.none"), scenario("id", "*")),
        "scenario_from: the good one's id": both(
            put("scenario_from", "'refund'"), scenario("match", {"path": "../traces/other.json"})
        ),
    },
}
