from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from results_builder import a_baseline, a_change, a_reason, a_scenario, a_suite, results
from results_builder import a_trial as a_stored_trial

from evalgate.application.documents.run_documents import run_of
from evalgate.errors import Location, OverLimit, Problem, SettingError, SuiteError
from evalgate.models.comparison.comparison import (
    BaselineDrift,
    BaselineInfo,
    Change,
    ChangedEvaluator,
    Comparison,
    ScenarioKey,
    ScenarioOutcome,
)
from evalgate.models.comparison.decision import Decision, Reason
from evalgate.models.run.run import (
    AssertionResult,
    Run,
    ScenarioResult,
    SuiteResult,
    TraceRef,
    TrialResult,
    UnclaimedTrace,
)
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.results.load_results import load_results
from evalgate.reporting.results.results_json import (
    RunFindings,
    RunOrigin,
    build_invalid_document,
    build_results_document,
    dump_results,
)

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
SECRET = "ghp_" + "a1B2" * 9
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def an_assertion(reason="", evidence=None):
    return AssertionResult("check", "jmespath", "failed", 0.0, 1.0, False, reason, Location("s.yaml", 3, 5), evidence)


def a_trial(number=0, cost=0.5, latency=2.0, tokens=10, assertions=(), **changes):
    trace = TraceRef(f"t{number}", "traces/a.json", "native", "ab" * 32)
    return TrialResult(number, trace, "passed", 1.0, list(assertions), cost, latency, tokens, ["lookup"], **changes)


def a_result(id_, verdict="PASS", score=1.0, trials=(), **changes):
    return ScenarioResult(id_, verdict, score, 0.8, list(trials), **changes)


def document(scenarios, comparison=None, *, decision=None, suites=(), **changes):
    run = Run([SuiteResult("support", "evals/support.yaml", list(scenarios)), *suites], **changes)
    decision = decision or Decision("pass", 0, suite_verdicts={"support": "pass"})
    return build_results_document(run, comparison, decision, RunOrigin("c0ffee", NOW), RunFindings())


def test_summary__verdicts__add_up_to_the_scenarios():
    verdicts = ["PASS", "PASS", "PARTIAL", "FAIL", "HARD_FAIL", "ERROR", "MISSING", "NOT_EVALUABLE"]
    summary = document([a_result(str(i), verdict) for i, verdict in enumerate(verdicts)])["summary"]
    names = ("passed", "partial", "failed", "hard_fails", "errors", "missing", "not_evaluable")
    assert [summary[name] for name in names] == [2, 1, 1, 1, 1, 1, 1]
    assert summary["scenarios"] == 8
    assert summary["pass_rate"] == 0.25


def test_summary__scenario_without_a_score__counts_as_zero():
    summary = document([a_result("a", score=0.9), a_result("b", "MISSING", None)])["summary"]
    assert summary["score"] == 0.45


def test_summary__no_scenarios__has_no_rates():
    summary = document([])["summary"]
    assert (summary["score"], summary["pass_rate"], summary["cost_usd"]) == (None, None, None)


def test_summary__amounts_known__are_summed_without_rounding_noise():
    trials = [a_trial(i, cost=0.1, tokens=10) for i in range(3)]
    summary = document([a_result("a", trials=trials)])["summary"]
    assert summary["cost_usd"] == 0.3
    assert summary["total_tokens"] == 30


def test_summary__one_amount_unknown__makes_the_sum_unknown_and_never_zero():
    trials = [a_trial(0, cost=0.1, tokens=5), a_trial(1, cost=None, tokens=None)]
    summary = document([a_result("a", trials=trials)])["summary"]
    assert summary["cost_usd"] is None
    assert summary["total_tokens"] is None


def test_summary__latencies__are_nearest_ranks_of_known_values():
    trials = [a_trial(i, latency=latency) for i, latency in enumerate([4.0, None, 1.0, 3.0, 2.0])]
    summary = document([a_result("a", trials=trials)])["summary"]
    assert (summary["latency_p50_s"], summary["latency_p95_s"]) == (2.0, 4.0)


def test_summary__changes__are_counted_by_kind_and_removed_ones_separately():
    kinds = ["broken", "regressed", "regressed", "fixed", "improved", "new", "inconclusive", "unchanged"]
    changes = {ScenarioKey("support", str(i), None): Change(kind, "") for i, kind in enumerate(kinds)}
    gone = ScenarioOutcome(ScenarioKey("support", "gone", None), "PASS", 1.0)
    made = document([a_result(str(i)) for i in range(len(kinds))], Comparison(changes, [gone]))
    summary = made["summary"]
    assert (summary["regressions"], summary["improvements"]) == (3, 2)
    assert (summary["broken"], summary["regressed"], summary["fixed"], summary["improved"]) == (1, 2, 1, 1)
    assert (summary["new"], summary["inconclusive"], summary["removed"], summary["scenarios"]) == (1, 1, 1, 8)
    assert made["removed"] == [{"suite": "support", "id": "gone", "variant": None, "verdict": "PASS", "score": 1.0}]
    assert made["suites"][0]["scenarios"][0]["change"]["kind"] == "broken"


def test_summary__skipped_scenarios__are_in_no_other_count():
    suite = SuiteResult("other", "o.yaml", [], skipped=2)
    summary = document([a_result("a")], suites=[suite])["summary"]
    assert (summary["skipped"], summary["scenarios"]) == (2, 1)


def test_document__reason_of_a_scenario__names_suite_scenario_and_variant():
    reason = Reason("hard_fail", "it failed", "support", "a", "v1")
    decision = Decision("fail", 1, [reason, Reason("unreachable", "no response")], suite_verdicts={"support": "fail"})
    made = document([a_result("a", "HARD_FAIL")], decision=decision)
    assert made["reasons"][0] == {
        "code": "hard_fail",
        "message": "it failed",
        "suite": "support",
        "scenario": "a",
        "variant": "v1",
    }
    assert made["reasons"][1] == {"code": "unreachable", "message": "no response"}
    assert (made["verdict"], made["exit_code"], made["suites"][0]["verdict"]) == ("fail", 1, "fail")


def test_document__secrets_anywhere__are_redacted():
    trial = a_trial(
        assertions=[an_assertion(f"got {SECRET}", {"args": {"password": "x", "t": [SECRET]}})], reason=SECRET
    )
    warning = {"code": "w", "message": SECRET, "where": SECRET}
    unclaimed = UnclaimedTrace("support", TraceRef(SECRET, SECRET, "native", None), SECRET)
    made = document([a_result("a", trials=[trial], reason=SECRET)], warnings=[warning], unclaimed=[unclaimed])
    assert SECRET.encode() not in dump_results(made)
    evidence = made["suites"][0]["scenarios"][0]["trials"][0].assertions[0].evidence
    assert evidence == {"args": {"password": "[redacted: field]", "t": ["[redacted: GitHub token]"]}}


def test_document__huge_evidence_and_reason__are_bounded():
    deep = {}
    inner = deep
    for _ in range(100):
        inner["a"] = {"b": [{}] * 500, "c": "x" * 10_000}
        inner = inner["a"]
    trial = a_trial(assertions=[an_assertion("r" * 100_000, deep)])
    assert len(dump_results(document([a_result("a", trials=[trial])]))) < 50_000


def test_document__numbers_out_of_range__are_clamped_or_null():
    trial = a_trial(tokens=10**30, assertions=[an_assertion("", {"n": 10**30, "f": float("inf")})])
    made = json.loads(dump_results(document([a_result("a", trials=[trial])])))
    assertion = made["suites"][0]["scenarios"][0]["trials"][0]["assertions"][0]
    assert assertion["evidence"] == {"n": 2**63 - 1, "f": None}


def test_document__unpaired_surrogates__become_valid_text():
    assert b"a?b" in dump_results(document([a_result("a\ud800b")]))


def test_document__baseline__has_all_its_fields():
    run = Run([SuiteResult("s", "s.yaml", [a_result("a")])])
    info = BaselineInfo("ancestor", "abc", 60, None, 3)
    made = build_results_document(run, None, Decision("pass", 0), RunOrigin(None, NOW, info), RunFindings())
    assert made["baseline"] == {
        "status": "ancestor",
        "sha": "abc",
        "age_seconds": 60,
        "path": None,
        "distance": 3,
        "summary": None,
    }
    assert made["created_at"] == "2026-01-02T03:04:05Z"


def test_invalid_document__every_problem__is_a_reason_with_its_location():
    problems = [Problem("unknown key `x`", Location("s.yaml", 3, 5), "did you mean `y`?"), Problem("no file")]
    made = build_invalid_document(SuiteError(*problems), commit=None, created_at=NOW)
    assert (made["verdict"], made["exit_code"], made["summary"], made["suites"]) == ("invalid", 2, None, [])
    assert made["reasons"] == [
        {
            "code": "invalid_suite",
            "message": "unknown key `x` (did you mean `y`?)",
            "location": LocationDoc("s.yaml", 3, 5),
        },
        {"code": "invalid_suite", "message": "no file", "location": None},
    ]
    assert load_results(dump_results(made)) == made


def test_dump__same_run__gives_the_same_bytes():
    first, second = (dump_results(document([a_result("b"), a_result("a", trials=[a_trial()])])) for _ in range(2))
    assert first == second
    assert first.endswith(b"}\n")


def test_load__dumped_document__is_equal():
    trial = a_trial(assertions=[an_assertion("no", {"a": 1})])
    made = document([a_result("a", trials=[trial], location=Location("s.yaml", 1, 1)), a_result("m", "MISSING", None)])
    assert load_results(dump_results(made)) == made


def test_load__document_of_the_builder__is_accepted():
    made = results(
        [a_suite("s", [a_scenario("a", "FAIL", "broken")])],
        "fail",
        baseline=a_baseline(),
        reasons=[a_reason("broken", "m")],
    )
    assert load_results(dump_results(made)) == made


def test_load__document_without_fields_that_a_later_version_added__is_read():
    made = json.loads(dump_results(document([a_result("a", trials=[a_trial()])])))
    del made["suites"][0]["variants"]
    del made["suites"][0]["scenarios"][0]["trials"][0]["input_tokens"]
    [trial] = run_of(load_results(json.dumps(made).encode())).suites[0].scenarios[0].trials
    assert trial.input_tokens is None


def test_document__variants__are_read_back_unchanged():
    made = document([a_result("a", trials=[a_trial()], variant=SECRET), a_result("a", "MISSING", variant="b")])
    first, second = load_results(dump_results(made))["suites"][0]["variants"]
    assert SECRET not in first["name"]
    assert (first["passed"], first["pass_rate"], first["total_tokens"], first["cost_usd"]) == (
        1,
        1.0,
        10.0,
        0.5,
    )
    assert (second["name"], second["pass_rate"], second["trials"], second["cost_usd"]) == ("b", 0.0, 0, None)


@pytest.mark.parametrize(
    ("drift", "words"),
    [
        ("suites", "baseline.drift is not an object"),
        ({"suites": True, "evaluators": []}, "baseline.drift.found is missing"),
        ({"found": "exact", "suites": 1, "evaluators": []}, "baseline.drift.suites is not true or false"),
        (
            {"found": "exact", "suites": True, "evaluators": [7]},
            "baseline.drift.evaluators[0] is not an object",
        ),
        (
            {"found": "exact", "suites": True, "evaluators": [{"type": "x", "before": None, "now": 1}]},
            "baseline.drift.evaluators[0].before is not a whole number",
        ),
    ],
)
def test_load__drift_of_another_shape__is_refused(drift, words):
    made = json.loads(dump_results(document([a_result("a")])))
    made["baseline"] = a_baseline("drifted", drift=drift)
    with pytest.raises(SettingError, match=re.escape(words)):
        load_results(json.dumps(made).encode())


def test_load__drift__is_read_back_unchanged():
    drift = BaselineDrift("ancestor", has_changed_suites=True, evaluators=[ChangedEvaluator("contains", 1, 2)])
    info = BaselineInfo("drifted", sha="b" * 40, age_seconds=60, distance=2, drift=drift)
    run, decision = Run([SuiteResult("s", "s.yaml", [a_result("a")])]), Decision("pass", 0)
    written = build_results_document(run, None, decision, RunOrigin(None, NOW, info), RunFindings())
    assert load_results(dump_results(written))["baseline"]["drift"] == {
        "found": "ancestor",
        "suites": True,
        "evaluators": [{"type": "contains", "before": 1, "now": 2}],
    }


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("trials", "1", "variants[0].trials is not a whole number"),
        ("correct_tool", {"held": 1}, "variants[0].correct_tool.of is missing"),
        ("cost_usd", 1e300, "variants[0].cost_usd has a value that is not allowed"),
    ],
)
def test_load__variant_of_another_shape__is_refused(name, value, words):
    made = json.loads(dump_results(document([a_result("a", trials=[a_trial()], variant="v")])))
    made["suites"][0]["variants"][0][name] = value
    with pytest.raises(SettingError, match=re.escape(words)):
        load_results(json.dumps(made).encode())


def test_load__unknown_fields__are_ignored():
    made = {**json.loads(dump_results(document([a_result("a")]))), "brand_new": [1]}
    assert load_results(json.dumps(made).encode())["verdict"] == "pass"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (["schema"], "evalgate.other/9", "schema has a value that is not allowed"),
        (["schema"], None, "schema is not text"),
        (["verdict"], "green", "verdict has a value that is not allowed"),
        (["created_at"], "yesterday", "created_at is not an RFC 3339 time"),
        (["created_at"], "2026-01-02T03:04:05", "created_at is not an RFC 3339 time"),
        (["exit_code"], True, "exit_code is not a whole number"),
        (["summary"], None, "summary is null"),
        (["summary", "passed"], "1", "summary.passed is not a whole number"),
        (["suites"], {}, "suites is not a list"),
        (["suites", 0], 7, "suites[0] is not an object"),
        (["suites", 0, "scenarios", 0, "id"], 7, "suites[0].scenarios[0].id is not text"),
        (["suites", 0, "scenarios", 0, "score"], "1", "score is not a number or null"),
        (["suites", 0, "scenarios", 0, "score"], 1e308, "scenarios[0].score has a value that is not allowed"),
        (["suites", 0, "scenarios", 0, "trials", 0, "score"], -1, "trials[0].score has a value that is not allowed"),
        (
            ["suites", 0, "scenarios", 0, "trials", 0, "cost_usd"],
            1e308,
            "cost_usd has a value that is not allowed",
        ),
        (
            ["suites", 0, "scenarios", 0, "pass_rate_interval"],
            [1],
            "pass_rate_interval has a value that is not allowed",
        ),
        (["suites", 0, "scenarios", 0, "change"], [], "change is not an object or null"),
        (
            ["suites", 0, "scenarios", 0, "change", "flags"],
            [1],
            "change.flags[0] is not text",
        ),
        (["suites", 0, "scenarios", 0, "trials", 0, "trace"], None, "trials[0].trace is not an object"),
        (
            ["suites", 0, "scenarios", 0, "trials", 0, "tool_calls"],
            [None],
            "[0] is not text",
        ),
        (
            ["suites", 0, "scenarios", 0, "trials", 0, "assertions", 0, "outcome"],
            1,
            "assertions[0].outcome is not text",
        ),
        (
            ["suites", 0, "scenarios", 0, "trials", 0, "assertions", 0, "location", "line"],
            "1",
            "location.line is not a whole number or null",
        ),
        (["suites", 0, "scenarios", 0, "change", "calls"], [], "change.calls is not an object"),
        (
            ["suites", 0, "scenarios", 0, "change", "calls"],
            {},
            "change.calls.trial_before is missing",
        ),
        (
            ["suites", 0, "scenarios", 0, "change", "calls"],
            {"trial_before": 0, "before": [], "trial": 0, "now": [None]},
            "change.calls.now[0] is not text",
        ),
        (["summary", "cost_usd"], 1e300, "summary.cost_usd has a value that is not allowed"),
        (["summary", "pass_rate"], 1.5, "summary.pass_rate has a value that is not allowed"),
        (["summary", "scenarios"], -1, "summary.scenarios has a value that is not allowed"),
        (["summary", "checks"], [], "summary.checks is not an object"),
        (["summary", "checks", "passed"], "@a", "summary.checks.passed is not a whole number"),
        (["suites", 0, "score"], 1e308, "suites[0].score has a value that is not allowed"),
        (
            ["suites", 0, "scenarios", 0, "change", "score_delta"],
            -1e308,
            "change.score_delta has a value that is not allowed",
        ),
        (["reasons"], [{"code": "x"}], "reasons[0].message is missing"),
        (["warnings"], ["x"], "warnings[0] is not an object"),
    ],
)
def test_load__wrong_shape__names_the_field(path, value, words):
    made = results([a_suite("s", [a_scenario("a", "FAIL", a_change("broken"))])], "fail")
    made = json.loads(dump_results(made))
    target = made
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    with pytest.raises(SettingError) as caught:
        load_results(json.dumps(made).encode(), what="base.json")
    assert "base.json is not a valid evalgate.results/1 document" in str(caught.value)
    assert words in str(caught.value)


def test_load__one_wrong_trial_among_many_good_ones__is_found():
    trials = [a_stored_trial(number) for number in range(4)]
    written = dump_results(results([a_suite("s", [a_scenario(trials=trials)])]))
    for name, value in (("score", "1"), ("trial", True), ("status", None), ("tool_calls", None)):
        document = json.loads(written)
        document["suites"][0]["scenarios"][0]["trials"][2][name] = value
        with pytest.raises(SettingError, match=rf"scenarios\[0\]\.trials\[2\]\.{name} is not"):
            load_results(dump_results(document))
    document = json.loads(written)
    del document["suites"][0]["scenarios"][0]["trials"][3]["trace"]
    with pytest.raises(SettingError, match=r"trials\[3\].trace is missing"):
        load_results(dump_results(document))


def test_load__invalid_json__reports_the_position():
    with pytest.raises(SettingError, match="is not valid JSON: error at line 1, column"):
        load_results(b'{"schema": ')


def test_load__larger_than_allowed__is_over_the_limit():
    with pytest.raises(OverLimit, match="larger than 10 bytes"):
        load_results(b" " * 11, limit=10)


def test_load__more_values_than_allowed__is_over_the_limit():
    with pytest.raises(OverLimit, match="more values"):
        load_results(b"[" + b"[]," * 3_000_000 + b"[]]")
    with pytest.raises(OverLimit, match="more values"):
        load_results(b"[" + b"1," * 15_000_001 + b"1]")


@given(JSON)
def test_load__any_json__is_refused_with_an_evalgate_error(value):
    with pytest.raises(SettingError):
        load_results(json.dumps(value).encode())


@given(st.binary(max_size=60))
def test_load__any_bytes__are_refused_with_an_evalgate_error(data):
    with pytest.raises(SettingError):
        load_results(data)
