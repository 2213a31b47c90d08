"""HTML pages of runs for tests: a hostile one, and one of many scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from builders import make_call, make_trace
from msgspec.structs import replace
from results_builder import a_change, a_reason, a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.features.page.reporting.page_builder import PageBuilder
from evalgate.features.page.reporting.trace_block import encode_trace_block
from evalgate.models.comparison.comparison import Cause

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.trace.trace import Trace

LIMIT = 10_000_000
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "]]><img src=x onerror=alert(1)>",
    '"><b onclick=x>',
    "' onfocus=x '",
    "\u202etxet\u2066 z\u200be \ufeff \U000e0041",
    "\ud800 \x00\x1b]8;;https://evil.example\x07",
    "javascript:alert(1)",
    "{{ 7 * 7 }} {% raw %}",
    "s0",
    "x" * 5_000_000,
]


def a_run(text: str = "text") -> Any:
    behaviour = {
        "trial_before": 0,
        "trial": 0,
        "first": {"turn": 1, "what": "calls", "before": 1, "now": None},
        "steps": [
            {
                "kind": "removed",
                "name": text,
                "before": {"turn": 1, "call": 1},
                "now": None,
                "arguments": text,
                "changes": [{"path": text, "before": text, "now": None}],
                "changes_left": 1,
            }
        ],
        "steps_left": 1,
        "said": [{"turn": 1, "who": "user", "before": text, "now": text}],
        "response": [{"kind": "gone", "text": text}, {"kind": "come", "text": text}],
        "figures": [{"name": "score", "before": 1.0, "now": 0.0}],
        "status": {"before": text, "now": text},
    }
    change = a_change("broken", behaviour=behaviour, cause=Cause("agent", text, None, None))
    check = an_assertion(text, "failed", reason=text, evidence={text: text})
    trial = a_trial(0, "failed", assertions=[check, an_assertion("other")], reason=text)
    issue = {"category": "tone", "severity": "critical", "message": text, "evidence": text, "turn": 0}
    golden = {"title": text, "version": 1, "level": None, "regression_status": None, "moves": [], "issues": [issue]}
    scenario = a_scenario(text, "FAIL", change, trials=[trial], n=1, reason=text, variant=text, golden=golden)
    reason = a_reason("no_baseline", text)
    warning = {"code": "w", "message": text, "where": None}
    run = {"at": text, "commit": text, "verdict": text, "score": 0.5, "pass_rate": None, "cost_usd": None}
    flaky = {"suite": text, "scenario": text, "variant": text, "runs": 2, "passed": 1, "flips": 1, "since": text}
    return results(
        [a_suite(text, [scenario], "fail")],
        "fail",
        warnings=[warning],
        command=text,
        reasons=[reason],
        approvals=[an_approval(text)],
        history={"branch": text, "runs": [run, run], "flaky": [{**flaky, "new": True}], "flaky_left": 0},
    )


def an_approval(text: str) -> dict[str, Any]:
    """An active approval of the scenario of this name."""
    names = ("suite", "scenario", "variant", "assertion", "reason", "who", "until", "message")
    fixed = {"change": None, "limit": None, "trace": [], "days_left": 3, "status": "active", "location": None}
    return {**dict.fromkeys(names, text), **fixed}


def a_trace(text: str = "text") -> Trace:
    """A trace whose texts, names and values are all this text."""
    return make_trace([make_call(text, {text: text}, result=text)], text, user=text, trace_id=text, model=text)


def a_page(document: Any, traces: Mapping[str, Trace], limit: int | None = LIMIT) -> str:
    """The page of the document with these traces, by the paths of their trials."""
    builder = PageBuilder(document, limit)
    for path, trace in traces.items():
        builder.add((path, None, None), encode_trace_block(trace))
    return builder.build(has_traces=True).html


def a_small_page(text: str = "text") -> str:
    """The page of one broken scenario in which every text is this one."""
    return a_page(a_run(text), {"traces/0.json": a_trace(text)})


def a_large_run(scenarios: int, trials: int = 3, checks: int = 12) -> Any:
    """Every tenth scenario is broken: one of its calls is missing."""
    return results(
        [a_suite("many", [_scenario(number, trials, checks) for number in range(scenarios)], "fail")], "fail"
    )


def _scenario(number: int, trials: int, checks: int) -> dict[str, Any]:
    is_broken = number % 10 == 0
    status = "failed" if is_broken else "passed"
    names = [f"call tool_{check}" for check in range(checks)]
    found = [
        a_trial(
            trial,
            status,
            trace=replace(a_trial().trace, path=f"traces/{number}-{trial}.json"),
            tool_calls=[f"tool_{check}" for check in range(checks)],
            assertions=[
                an_assertion(name, "failed" if is_broken and check == 5 else "passed")
                for check, name in enumerate(names)
            ],
        )
        for trial in range(trials)
    ]
    change = a_change("broken", behaviour=_difference(checks)) if is_broken else a_change("unchanged")
    return a_scenario(f"task-{number:05}", "FAIL" if is_broken else "PASS", change, trials=found, n=trials)


def _difference(calls: int) -> dict[str, Any]:
    steps = [
        {
            "kind": "removed" if number == 5 else "same",
            "name": f"tool_{number}",
            "before": {"turn": 1, "call": number + 1},
            "now": None if number == 5 else {"turn": 1, "call": number + (number < 5)},
            "arguments": "{}",
            "changes": [],
            "changes_left": 0,
        }
        for number in range(calls)
    ]
    return {
        "trial_before": 0,
        "trial": 0,
        "first": {"turn": 1, "what": "calls", "before": 6, "now": None},
        "steps": steps,
        "steps_left": 0,
        "said": [],
        "response": [{"kind": "kept", "text": "Done."}],
        "figures": [],
    }


def a_long_trace(calls: int = 12, words: int = 30) -> Trace:
    """A trace of calls in which some durations are unknown."""
    made = [
        make_call(f"tool_{number}", {"id": number}, index=number, result="result " * words) for number in range(calls)
    ]
    for call in made[::2]:
        call["duration_ms"] = 100.0
    return make_trace(made, "Done.", user="Please do it. " * words)


def a_large_page(scenarios: int, limit: int | None = LIMIT, trace: Trace | None = None) -> str:
    """The page of such a run, with as many conversations as fit into it."""
    document = a_large_run(scenarios)
    builder = PageBuilder(document, limit)
    block = encode_trace_block(trace or a_long_trace())
    for suite in document["suites"]:
        for scenario in suite["scenarios"]:
            for trial in scenario["trials"]:
                place = (trial.trace.path, None, None)
                if builder.wants(place):
                    builder.add(place, block)
    return builder.build(has_traces=True).html


def a_step(kind: str, name: str, before: int | None = None, now: int | None = None, **changes: Any) -> dict[str, Any]:
    """A step of a difference, with the numbers of its call in the baseline and now."""
    sides = [None if number is None else {"turn": 2, "call": number} for number in (before, now)]
    fixed = {"arguments": "{}", "changes": [], "changes_left": 0}
    return {**fixed, "kind": kind, "name": name, "before": sides[0], "now": sides[1], **changes}
