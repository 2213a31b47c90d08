"""From a judge request to the finished results."""

import pytest
from builders import make_trace
from fakes.core import MemoryBaselines, make_tools
from request_builder import make_request

from evalgate.adapters.progress import SilentProgress
from evalgate.application.action.step_outputs import outputs_of
from evalgate.application.evaluation.evaluate import TraceChoice, evaluate
from evalgate.application.judge.judge import judge
from evalgate.errors import OverLimit
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.run.chunks import join_chunks
from evalgate.models.trace.trace import DamagedTrace, TraceLocation
from evalgate.ports import Baseline
from evalgate.suite.suite_file import PolicyEntry

STAR = (
    "version: 1\nsuite: s\ntraces: [t]\nscenarios: [{id: '*', assertions: [{contains: yes please, required: true}]}]\n"
)
SOFT = STAR.replace(", required: true", "")
NAMED = STAR.replace("'*'", "a")


def good(scenario="a", **given):
    return make_trace(scenario_id=scenario, response="yes please", **given)


def bad(scenario="a", **given):
    return make_trace(scenario_id=scenario, response="no", **given)


def damaged(scenario=None, fallback="traces/x.json"):
    return DamagedTrace("the file is no JSON", TraceLocation(path="traces/x.json"), fallback, scenario_id=scenario)


def run(suite, *traces, request=None, **given):
    return judge(request or make_request(), make_tools(suite, traces=traces, **given)).results


def verdicts(results):
    return {each["id"]: each["verdict"] for suite in results["suites"] for each in suite["scenarios"]}


def codes(results):
    return [reason["code"] for reason in results["reasons"]]


def test_every_required_check_holds__passes():
    results = run(STAR, good("a"), good("b"))
    assert (results["verdict"], results["exit_code"], verdicts(results)) == (
        "pass",
        0,
        {"a": "PASS", "b": "PASS"},
    )


def test_a_required_check_fails__fails_the_gate():
    results = run(STAR, good("a"), bad("b"))
    assert (results["verdict"], results["exit_code"], codes(results)) == ("fail", 1, ["hard_fail"])
    assert results["reasons"][0]["scenario"] == "b"


def test_a_check_that_is_not_required_fails__passes_and_reports_it():
    judgement = judge(make_request(), make_tools(SOFT, traces=[good("a"), bad("b")]))
    assert judgement.exit_code == 0
    assert b"passed, but 1 scenario" in judgement.files["comment.md"]


def test_trials__one_good_trace_never_hides_a_bad_one():
    results = run(STAR, good("a", trial=0), bad("a", trial=1), good("a", trial=2, trace_id="t2"))
    scenario = results["suites"][0]["scenarios"][0]
    assert (scenario["verdict"], scenario["n"]) == ("HARD_FAIL", 3)
    assert [trial.status for trial in scenario["trials"]] == ["passed", "hard_fail", "passed"]


@pytest.mark.parametrize(
    ("traces", "numbers"),
    [
        ([good(trial=2, trace_id="x"), good(trial=0, trace_id="y")], [(0, "y"), (2, "x")]),
        ([good(trial=0, trace_id="x"), good(trial=0, trace_id="y")], [(0, "x"), (1, "y")]),
        ([good(trace_id="x"), good(trial=1, trace_id="y")], [(0, "x"), (1, "y")]),
    ],
)
def test_trials__are_numbered_as_recorded_or_as_read(traces, numbers):
    trials = run(STAR, *traces)["suites"][0]["scenarios"][0]["trials"]
    assert [(trial.trial, trial.trace.id) for trial in trials] == numbers


@pytest.mark.parametrize(
    "times",
    [
        ("2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.5Z", "2026-01-01T00:00:00Z"),
    ],
)
def test_trials__without_numbers_are_sorted_by_time(times):
    late, early = good(trace_id="late"), good(trace_id="early")
    late.started_at, early.started_at = times
    trials = run(STAR, late, early)["suites"][0]["scenarios"][0]["trials"]
    assert [trial.trace.id for trial in trials] == ["early", "late"]


def test_a_named_scenario_without_trace__is_missing_and_fails():
    results = run(NAMED, good("z"))
    assert (verdicts(results), results["exit_code"]) == ({"a": "MISSING"}, 1)


def test_a_named_scenario_without_any_trace__is_missing_and_can_not_be_judged():
    results = run(NAMED)
    assert (verdicts(results), results["exit_code"], codes(results)) == ({"a": "MISSING"}, 3, ["no_traces"])


def test_the_star_without_any_trace__can_not_be_judged():
    results = run(STAR)
    assert (results["verdict"], results["exit_code"], codes(results)) == ("cannot_judge", 3, ["no_traces"])


def test_an_optional_scenario_without_trace__is_counted_as_skipped_only():
    suite = NAMED.replace("{id: a", "{id: b, optional: true, assertions: [{contains: x}]}, {id: a")
    results = run(suite, good("a"))
    assert (results["summary"]["scenarios"], results["summary"]["skipped"]) == (1, 1)


def test_an_unclaimed_trace__is_listed():
    results = run(NAMED, good("a"), good("z"))
    assert [each["scenario_id"] for each in results["unclaimed"]] == ["z"]


def test_a_damaged_record__is_a_separate_scenario_that_no_glob_claims():
    results = run(STAR, good("a"), damaged())
    assert (verdicts(results), results["exit_code"]) == ({"a": "PASS", "traces/x.json": "ERROR"}, 1)
    scenario = results["suites"][0]["scenarios"][1]
    assert scenario["trials"][0].reason == "traces/x.json: the file is no JSON"
    assert (scenario["n"], scenario["pass_rate"]) == (1, 0.0)
    assert scenario["pass_rate_interval"] == [0.0, pytest.approx(0.793, abs=0.001)]


def test_a_damaged_record__with_a_readable_id_is_a_trial_of_that_scenario():
    results = run(NAMED, good("a"), damaged("a"))
    assert verdicts(results) == {"a": "ERROR"}


def test_a_damaged_file__named_after_a_scenario_is_its_trial():
    results = run(NAMED, damaged(fallback="a"))
    assert verdicts(results) == {"a": "ERROR"}


def test_allow_errors__keeps_a_damaged_trial_as_zero():
    suite = SOFT.replace("{id: '*'", "{id: a, allow_errors: true, threshold: 0.5")
    results = run(suite, good("a"), damaged("a"))
    scenario = results["suites"][0]["scenarios"][0]
    assert (scenario["verdict"], scenario["score"]) == ("PASS", 0.5)


def test_scenario_from__decides_the_id_where_it_finds_one():
    suite = STAR.replace("scenarios:", "scenario_from: metadata.custom.case\nscenarios:")
    tagged = good("ignored")
    tagged.metadata = {"case": 7}
    assert verdicts(run(suite, tagged, good("b"))) == {"7": "PASS", "b": "PASS"}


def test_scenario_from__that_finds_no_text_is_an_error():
    suite = STAR.replace("scenarios:", "scenario_from: metadata.custom.case\nscenarios:")
    wrong = good("b", path="traces/b.json")
    wrong.metadata = {"case": ["b"]}
    assert verdicts(run(suite, wrong)) == {"traces/b.json": "ERROR"}


@pytest.mark.parametrize(
    ("suite", "part"),
    [
        (STAR.replace("contains", "contain"), "did you mean `contains`?"),
        (STAR.replace("traces: [t]\n", ""), "has no `traces`"),
        (STAR.replace("traces: [t]", "traces: [t]\nformat: nativ"), "did you mean `native`?"),
    ],
)
def test_invalid_input__exits_with_2_and_reports_nothing_as_a_result(suite, part):
    judgement = judge(make_request(), make_tools(suite, traces=[good()]))
    assert (judgement.exit_code, judgement.results["verdict"]) == (2, "invalid")
    assert sorted(judgement.files) == ["comment.md", "results.json", "summary.md"]
    assert any(part in str(problem) for problem in judgement.problems)
    assert judgement.results["summary"] is None
    assert judgement.results["suites"] == []


def test_more_scenarios_than_a_run_may_have__are_over_the_limit():
    tools = make_tools(STAR, STAR.replace("suite: s", "suite: t"), traces=[good("a"), good("b")])
    configuration = tools.suites.load([])

    def evaluated(most):
        return evaluate(configuration, tools.traces, TraceChoice(), SilentProgress(), lambda _: None, most)

    assert len(evaluated(4).suites) == 2
    with pytest.raises(OverLimit, match="4 scenarios were found, a run may have at most 3"):
        evaluated(3)


def test_traces_of_the_request__replace_those_of_a_suite_that_names_none():
    assert run(STAR.replace("traces: [t]\n", ""), good(), request=make_request(traces=["x"]))["exit_code"] == 0


def test_fail_on__of_the_request_wins_over_project_over_suite():
    suite = SOFT + "policy: {fail_on: [below_threshold]}\n"
    assert run(suite, bad())["exit_code"] == 1
    assert run(suite, bad(), policy=PolicyEntry(fail_on=["hard_fail"]))["exit_code"] == 0
    project = PolicyEntry(fail_on=["below_threshold"])
    assert run(SOFT, bad(), policy=project, request=make_request(fail_on=["hard_fail"]))["exit_code"] == 0


@pytest.mark.parametrize(("words", "part"), [(["hard_fial"], "did you mean `hard_fail`?"), ([], "report-only")])
def test_fail_on__with_an_unknown_word_is_invalid(words, part):
    judgement = judge(make_request(fail_on=words), make_tools(STAR, traces=[good()]))
    assert judgement.exit_code == 2
    assert part in str(judgement.problems[0])


def test_report_only__keeps_verdict_and_reasons_but_returns_zero():
    results = run(STAR, bad(), request=make_request(report_only=True))
    assert (results["verdict"], results["exit_code"], codes(results)) == ("fail", 0, ["hard_fail"])


def test_report_only__never_excuses_invalid_input():
    assert run("version: 2\n", request=make_request(report_only=True))["exit_code"] == 2


def baseline_of(*traces):
    return judge(make_request(), make_tools(STAR, traces=traces)).results


def against(before, *traces, request=None, status="given", manifest=None):
    baselines = MemoryBaselines()
    baselines.put("b", Baseline(before, manifest))
    request = request or make_request(baseline=BaselineInfo(status, path="b"), baseline_required=True)
    return run(STAR, *traces, request=request, baselines=baselines)


def kinds(results):
    return {each["id"]: each["change"]["kind"] for suite in results["suites"] for each in suite["scenarios"]}


def test_baseline__changes_are_named_scenario_by_scenario():
    results = against(baseline_of(good("a"), bad("b"), good("c")), bad("a"), good("b"), good("d"))
    assert kinds(results) == {"a": "broken", "b": "fixed", "d": "new"}
    assert [each["id"] for each in results["removed"]] == ["c"]
    assert results["baseline"]["status"] == "given"


def test_new_hard_fail__does_not_block_for_what_failed_before():
    request = make_request(baseline=BaselineInfo("given", path="b"), fail_on=["new_hard_fail"])
    assert against(baseline_of(bad("a")), bad("a"), request=request)["exit_code"] == 0
    assert against(baseline_of(good("a")), bad("a"), request=request)["exit_code"] == 1


def manifest_of(suite, *traces, commit=None):
    tools = make_tools(suite, traces=traces)
    judge(make_request(commit=commit), tools)
    (parts,) = tools.baselines.written.values()
    return parts.manifest


def found_with(manifest, status="ancestor", **info):
    request = make_request(baseline=BaselineInfo(status, path="b", distance=2, **info))
    return against(baseline_of(good()), good(), request=request, manifest=manifest)


def test_baseline__found_under_the_same_rules_keeps_its_status():
    baseline = found_with(manifest_of(STAR, good()))["baseline"]
    assert (baseline["status"], baseline["distance"]) == ("ancestor", 2)
    assert "drift" not in baseline


def test_baseline__found_under_other_suites_is_called_drifted():
    results = found_with(manifest_of(SOFT, good()))
    baseline = results["baseline"]
    assert (baseline["status"], baseline["distance"]) == ("drifted", 2)
    assert baseline["drift"] == {"found": "ancestor", "suites": True, "evaluators": []}
    assert outputs_of(results, {})["baseline-drift"] == "suites"


def test_baseline__found_with_another_version_of_an_evaluator_that_is_used_is_called_drifted():
    manifest = manifest_of(STAR, good())
    manifest["evaluators"] = {**manifest["evaluators"], "jmespath": 7, "cost_limit": 9}
    results = found_with(manifest, "exact")
    assert results["baseline"]["drift"] == {
        "found": "exact",
        "suites": False,
        "evaluators": [{"type": "jmespath", "before": 7, "now": 4}],
    }
    assert outputs_of(results, {})["baseline-drift"] == "evaluators"


@pytest.mark.parametrize("evaluators", [{}, None, {"jmespath": "2"}, {"jmespath": True}, []])
def test_baseline__versions_that_can_not_be_compared_are_not_drift(evaluators):
    manifest = {**manifest_of(STAR, good()), "evaluators": evaluators}
    assert found_with(manifest)["baseline"]["status"] == "ancestor"


def test_baseline__given_by_path_is_never_drifted():
    results = against(baseline_of(good()), good(), manifest=manifest_of(SOFT, good()))
    assert (results["baseline"]["status"], outputs_of(results, {})["baseline-drift"]) == ("given", "")


def test_baseline__of_another_commit_than_its_runs_is_refused():
    manifest = manifest_of(STAR, good(), commit="a" * 40)
    results = found_with(manifest, sha="b" * 40)
    assert results["baseline"]["status"] == "refused"
    assert "bbbbbbb was made for another commit" in results["warnings"][0]["message"]
    assert found_with(manifest, sha="a" * 40)["baseline"]["status"] == "ancestor"


def test_baseline__of_a_tag_is_refused():
    manifest = {**manifest_of(STAR, good(), commit="a" * 40), "branch": "refs/tags/main"}
    results = found_with(manifest, sha="a" * 40)
    assert results["baseline"]["status"] == "refused"
    assert "aaaaaaa was made for a tag" in results["warnings"][0]["message"]
    assert found_with({**manifest, "branch": "main"}, sha="a" * 40)["baseline"]["status"] == "ancestor"


def test_baseline__named_but_missing_is_invalid():
    request = make_request(baseline=BaselineInfo("given", path="gone"), baseline_required=True)
    assert run(STAR, good(), request=request)["exit_code"] == 2


def test_baseline__found_but_damaged_is_a_warning_and_no_baseline():
    results = run(STAR, good(), request=make_request(baseline=BaselineInfo("exact", path="gone")))
    assert (results["exit_code"], results["baseline"]["status"]) == (0, "refused")
    assert "no baseline gone" in results["warnings"][0]["message"]


@pytest.mark.parametrize(("fail_on", "code"), [(["hard_fail"], 0), (["regression"], 4), (["no_baseline"], 4)])
def test_baseline__unreachable_matters_only_if_the_decision_needs_it(fail_on, code):
    request = make_request(baseline=BaselineInfo("unreachable"), fail_on=fail_on)
    assert run(STAR, good(), request=request)["exit_code"] == code


def test_baseline_zip__holds_results_suites_manifest_and_every_trace():
    tools = make_tools(STAR, traces=[good(trace_id="x"), bad("b", trace_id="y")])
    judgement = judge(make_request(commit="c0ffee", branch="main", run_id="7"), tools)
    (parts,) = tools.baselines.written.values()
    assert judgement.baseline_zip == "out/baseline.zip"
    assert (parts.manifest["commit"], parts.manifest["branch"], parts.manifest["run"]) == (
        "c0ffee",
        "main",
        "7",
    )
    assert join_chunks(parts.results) == join_chunks(judgement.files["results.json"])
    assert tools.baselines.kept == ["x", "y"]


def test_baseline_zip__is_not_made_if_not_requested():
    tools = make_tools(STAR, traces=[good()])
    assert judge(make_request(make_baseline_zip=False), tools).baseline_zip is None
    assert tools.baselines.written == {}


def test_two_runs__give_identical_output():
    traces = [good("a"), bad("b"), damaged()]
    first, second = (judge(make_request(), make_tools(STAR, traces=traces)) for _ in range(2))
    assert first.files == second.files


def warned(trace, code, message):
    trace.warnings = [{"code": code, "message": message, "where": "cost"}]
    return trace


def test_warnings_of_traces__are_reported_once_with_a_count():
    traces = [warned(good(f"s{n}", path=f"{n}.json"), "zero_cost", "cost 0 with tokens") for n in range(3)]
    (warning,) = run(STAR, *traces)["warnings"]
    assert warning["message"] == "cost 0 with tokens (and in 2 more traces)"
    assert warning["where"] == "0.json cost"


def test_warnings_of_traces__one_of_two_parts_of_a_trace_counts_it_once():
    trace = warned(good(), "missing_evidence", "not recorded")
    trace.warnings += [{**trace.warnings[0], "where": "calls"}]
    (warning,) = run(STAR, trace)["warnings"]
    assert warning["message"] == "not recorded"


def test_warnings_of_traces__a_long_tail_is_counted():
    traces = [warned(good(f"s{n}"), "unknown_field", f"unknown field f{n}") for n in range(60)]
    warnings = run(STAR, *traces)["warnings"]
    assert len(warnings) == 51
    assert warnings[-1]["message"] == "10 more warnings of this kind"


def test_checks__are_counted_by_outcome_and_never_mixed():
    suite = (
        "version: 1\nsuite: s\ntraces: [t]\nscenarios: [{id: '*', assertions: [{contains: yes}, {contains: nope},"
        " {type: cost_limit, max_usd: 1}, {when: {contains: nope}, then: [{contains: x}]},"
        " {path: 'length(`1`)', eq: 1}]}]\n"
    )
    assert run(suite, good())["summary"]["checks"] == {
        "passed": 1,
        "failed": 1,
        "not_evaluable": 1,
        "skipped": 1,
        "error": 1,
    }
