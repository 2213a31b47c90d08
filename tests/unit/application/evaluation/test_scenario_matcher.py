"""Which scenario a trace belongs to."""

import pytest
from builders import make_trace
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from evalgate.adapters.suites.yaml_tree import load
from evalgate.application.evaluation.scenario_matcher import EntryIndex, ScenarioMatcher, natural
from evalgate.application.evaluation.suite_evaluation import SuiteEvaluation
from evalgate.application.evaluation.suite_judge import SuiteJudge, resolve_scenario_id
from evalgate.application.evaluation.trajectories import BaselineScenarios
from evalgate.measures.jmespath.query import Query
from evalgate.models.trace.trace import DamagedTrace, TraceLocation
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_suite
from evalgate.suite.suite_file import Defaults


def suite_of(scenarios, folder="evals"):
    text = "version: 1\nsuite: s\ndefaults: {assertions: [{contains: x}]}\nscenarios:\n" + scenarios
    diagnostics = Diagnostics()
    suite, _ = parse_suite(load(text, "s.yaml"), "s.yaml", folder, SharedDefaults(None, Defaults()), diagnostics)
    assert not diagnostics.problems, diagnostics.problems
    return suite


def claim_record(claims, record):
    candidates = claims.candidates(record, record.scenario_id)
    chosen = claims.choose(candidates, record.scenario_id, record.source)
    place = None if chosen is None else candidates[chosen].scenario
    return None if place is None else claims.make_claim(place, record.scenario_id)


def claim_trace(claims, trace):
    claim = claim_record(claims, trace)
    return None if claim is None else claim.id


def list_claims(claims):
    return [claim.id for _, claim in claims.all_claims()]


def test_selected_scenarios__assertions_of_others__are_not_judged():
    judge = SuiteJudge(suite_of("  - id: a\n  - id: b\n"), BaselineScenarios(None), ["a"])
    found = [judge.judge(make_trace(scenario_id=each)).candidates[0].trial for each in ("a", "b")]
    assert [len(trial.assertions) for trial in found] == [1, 0]


def test_exact_id__claims_before_a_glob_listed_earlier():
    claims = ScenarioMatcher(suite_of("  - id: '*'\n  - id: refund\n"))
    assert claim_trace(claims, make_trace(scenario_id="refund")) == "refund"
    assert claim_record(claims, make_trace(scenario_id="refund")).scenario.id == "refund"
    assert claim_record(claims, make_trace(scenario_id="other")).scenario.id == "*"
    assert list_claims(claims) == ["other", "refund"]


def test_globs__claim_in_the_order_of_the_file():
    claims = ScenarioMatcher(suite_of("  - id: 'a-*'\n  - id: 'a*'\n"))
    assert claim_record(claims, make_trace(scenario_id="a-1")).scenario.id == "a-*"
    assert claim_record(claims, make_trace(scenario_id="ab")).scenario.id == "a*"


def test_glob__makes_one_scenario_per_id_in_natural_order():
    claims = ScenarioMatcher(suite_of("  - id: 't*'\n"))
    for name in ("t10", "t2", "t1", "t2"):
        claim_trace(claims, make_trace(scenario_id=name))
    assert list_claims(claims) == ["t1", "t2", "t10"]


def test_glob__without_a_match_is_reported_under_its_pattern_unless_it_is_the_star():
    assert list_claims(ScenarioMatcher(suite_of("  - id: 'a*'\n  - id: '*'\n  - id: named\n"))) == [
        "a*",
        "named",
    ]


def test_match_scenario_id_with_star__gathers_trials_of_one_scenario():
    claims = ScenarioMatcher(suite_of("  - id: all\n    match: {scenario_id: 'run-*'}\n"))
    assert claim_trace(claims, make_trace(scenario_id="run-1")) == "all"
    assert claim_trace(claims, make_trace(scenario_id="run-2")) == "all"
    assert list_claims(claims) == ["all"]


@pytest.mark.parametrize("id_", ["a[1]|b:c?", "x y", "ä"])
def test_id__only_the_star_is_special(id_):
    claims = ScenarioMatcher(suite_of(f"  - id: '{id_}'\n"))
    assert claim_trace(claims, make_trace(scenario_id=id_)) == id_
    assert claim_trace(claims, make_trace(scenario_id="a1|b:c")) is None


def test_match__all_conditions_must_hold():
    claims = ScenarioMatcher(
        suite_of(
            "  - id: eu\n    match: {tags: ['region:eu'], where: \"metadata.trial == `1`\", path: '../traces/*.json'}\n"
        )
    )
    good = make_trace(scenario_id=None, trial=1, path="traces/a.json")
    good.tags = ["region:eu", "x"]
    assert claim_trace(claims, good) == "eu"
    for change in ({"trial": 2}, {"path": "traces/deep/a.json"}):
        other = make_trace(**{"scenario_id": None, "trial": 1, "path": "traces/a.json", **change})
        other.tags = good.tags
        assert claim_trace(claims, other) is None
    good.tags = ["x"]
    assert claim_trace(claims, good) is None


def test_empty_match__is_an_error():
    claims = ScenarioMatcher(suite_of("  - {id: a, match: {}}\n"))
    assert claim_trace(claims, make_trace(scenario_id="b")) is None
    assert claim_trace(claims, make_trace(scenario_id="a")) == "a"


def test_where__that_fails_on_a_trace_does_not_match():
    claims = ScenarioMatcher(suite_of("  - id: a\n    match: {where: 'length(metadata.nothing) > `1`'}\n"))
    assert claim_trace(claims, make_trace()) is None


def test_glob__never_takes_the_id_of_a_named_scenario():
    claims = ScenarioMatcher(suite_of("  - id: refund\n    match: {scenario_id: other}\n  - id: '*'\n"))
    assert claim_trace(claims, make_trace(scenario_id="refund")) is None
    assert claim_trace(claims, make_trace(scenario_id="other")) == "refund"


def test_damaged_record__is_claimed_by_its_id_alone():
    claims = ScenarioMatcher(suite_of("  - id: a\n    match: {where: 'response'}\n  - id: b\n"))
    source = TraceLocation(path="traces/x.json")
    assert claim_record(claims, DamagedTrace("why", source, "x")) is None
    assert claim_record(claims, DamagedTrace("why", source, "x", scenario_id="b")).id == "b"
    assert claim_record(claims, DamagedTrace("why", source, "x", scenario_id="a")) is None


@given(st.permutations(["a1", "a2", "b", "c10", "c9"]))
def test_claims__do_not_depend_on_the_order_of_traces(ids):
    claims = ScenarioMatcher(suite_of("  - id: 'a*'\n  - id: b\n  - id: '*'\n"))
    owners = {name: claim_record(claims, make_trace(scenario_id=name)).scenario.id for name in ids}
    assert owners == {"a1": "a*", "a2": "a*", "b": "b", "c9": "*", "c10": "*"}
    assert list_claims(claims) == ["a1", "a2", "b", "c9", "c10"]


def test_natural_order__puts_two_before_ten_and_sorts_any_ids():
    assert sorted(["10", "2", "a", "a1b10", "a1b2", ""], key=natural) == ["", "2", "10", "a", "a1b2", "a1b10"]


def with_gap(trace):
    trace.gaps = {"calls": "content was not captured: record it"}
    return trace


def damage_of(suite, trace):
    damage = SuiteJudge(suite, BaselineScenarios()).judge(trace).damage
    return damage and damage.reason


def test_where__on_calls_that_may_be_missing_makes_the_record_unreadable():
    suite = suite_of("  - id: a\n    match: {where: 'tool_calls[0]'}\n  - id: b\n")
    reason = damage_of(suite, with_gap(make_trace(calls=["x"], scenario_id=None)))
    lacking = "match.where tool_calls[0]: missing evidence (calls): content was not captured: record it"
    assert reason == f"traces/t1.json: {lacking}"
    decided = with_gap(make_trace(scenario_id="b"))
    assert damage_of(suite, decided) is None, "its id decides before any `where` is asked"
    assert damage_of(suite, make_trace(calls=["x"])) is None


def test_where__that_a_comparison_of_text_with_a_number_decides_makes_the_record_unreadable():
    suite = suite_of("  - id: a\n    match: {where: 'tool_calls[?arguments.amount > `100`]'}\n  - id: b\n")
    reason = damage_of(suite, make_trace(calls=[("refund", {"amount": "5000"})]))
    assert reason is not None
    assert reason.endswith("a comparison of text with a number decides it")
    for amount in (5000, "50", None, "much"):
        assert damage_of(suite, make_trace(calls=[("refund", {"amount": amount})])) is None


def test_where__on_other_evidence_is_decided():
    suite = suite_of("  - id: a\n    match: {where: 'response.content'}\n")
    assert damage_of(suite, with_gap(make_trace())) is None
    assert claim_trace(ScenarioMatcher(suite), with_gap(make_trace())) == "a"


def test_undecided_traces__are_error_results_of_the_suite():
    trace = with_gap(make_trace(calls=["x"], scenario_id="s9"))
    evaluation = SuiteEvaluation(suite_of("  - id: a\n    match: {where: 'tool_calls[0]'}\n"), BaselineScenarios())
    evaluation.add(trace)
    results = {each.id: each for each in evaluation.result().scenarios}
    assert results["traces/t1.json"].verdict == "ERROR"
    assert "missing evidence (calls)" in results["traces/t1.json"].reason
    assert not evaluation.unclaimed


def test_scenario_from__on_calls_that_may_be_missing_is_an_error():
    suite = replace(suite_of("  - id: '*'\n"), scenario_from=Query("tool_calls[0].name"))
    found, scenario_id = resolve_scenario_id(suite, with_gap(make_trace(calls=["x"])))
    assert isinstance(found, DamagedTrace)
    assert found.reason == "scenario_from: missing evidence (calls): content was not captured: record it"
    assert scenario_id is None
    assert resolve_scenario_id(suite, make_trace(calls=["x"]))[1] == "x"


def judge_cached(scenarios, file_name, *, is_damaged=False, form="response-cache"):
    """A cached response in a file of this name: the ids of the scenario that it counts for, and its damage."""
    suite, source = suite_of(scenarios), TraceLocation(f"cache/flat/{file_name}.json", form)
    record = make_trace(scenario_id=file_name)
    if is_damaged:
        record = DamagedTrace("no JSON", source, source.path, scenario_id=file_name)
    record.source = source
    judged = SuiteJudge(suite, BaselineScenarios(None)).judge(record)
    ids = [suite.scenarios[each.candidate.entry].id for each in judged.candidates]
    return ids, None if judged.damage is None else judged.damage.reason


@pytest.mark.parametrize(
    ("ids", "file_name", "claimed"),
    [
        (["a/b"], "a_b", ["a/b"]),
        (["daily:tea/1", "daily"], "daily_tea_1", ["daily:tea/1"]),
        (["a_b"], "a_b", ["a_b"]),
        (["a/c", "a_b"], "a_b", ["a_b"]),
        (["a/c"], "a_b", []),
        (["'*'", "a/b"], "a_b", ["a/b"]),
        (["'a/*'"], "a_b", []),
    ],
)
def test_cached_response__belongs_to_the_id_whose_file_name_it_has(ids, file_name, claimed):
    scenarios = "".join(f"  - id: {each}\n" for each in ids)
    assert judge_cached(scenarios, file_name) == (claimed, None)
    damaged, reason = judge_cached(scenarios, file_name, is_damaged=True)
    assert (damaged, reason) == (claimed, "cache/flat/a_b.json: no JSON".replace("a_b", file_name))
    assert judge_cached("  - id: a/b\n", "a_b", form="native") == ([], None)


def test_cached_response__of_two_ids_is_an_error():
    found, reason = judge_cached("  - id: a/b\n  - id: a_b\n", "a_b")
    assert found == []
    assert reason == (
        "cache/flat/a_b.json: a cached response with this file name may be of `a/b` and `a_b`: rename one"
    )


PATHS = ("metadata.case", "metadata.kind", "metadata.deep.case")
VALUES = ("a", "b", "1", "")


CONDITIONS = st.one_of(
    st.tuples(st.sampled_from(PATHS), st.sampled_from(VALUES)).map("{0[0]} == '{0[1]}'".format),
    st.sampled_from(["metadata.case != 'a'", "metadata.kind == `1`", "metadata.deep", "length(metadata.case) > `0`"]),
)
METADATA = st.fixed_dictionaries(
    {},
    optional={
        "case": st.sampled_from([*VALUES, 1, None, ["a"]]),
        "kind": st.sampled_from([*VALUES, 1]),
        "deep": st.one_of(st.none(), st.just("a"), st.fixed_dictionaries({"case": st.sampled_from([*VALUES, None])})),
    },
)


def suite_with(conditions):
    return suite_of("".join(f'  - id: s{n}\n    match: {{where: "{each}"}}\n' for n, each in enumerate(conditions)))


@given(st.lists(CONDITIONS, min_size=1, max_size=8), st.lists(METADATA, min_size=1, max_size=5))
def test_a_trace_matches_the_same_scenario_as_without_the_index(conditions, found):
    indexed = ScenarioMatcher(suite_with(conditions))
    asked_one_by_one = ScenarioMatcher(suite_with([f"({each}) && `true`" for each in conditions]))
    for metadata in found:
        trace = replace(make_trace(scenario_id=None), metadata=metadata)
        assert claim_trace(indexed, trace) == claim_trace(asked_one_by_one, trace)


@pytest.mark.parametrize(
    ("expression", "equality"),
    [
        ("metadata.case == 'a'", (("metadata", "case"), "a")),
        ("'a' == metadata.case", (("metadata", "case"), "a")),
        ('metadata."a b".c == `"x"`', (("metadata", "a b", "c"), "x")),
        ("metadata.case == `1`", None),
        ("metadata.case != 'a'", None),
        ("metadata.case == metadata.kind", None),
        ("model == 'a'", None),
        ("metadata.cases[0] == 'a'", None),
        ("metadata.case == 'a' && metadata.kind == 'b'", None),
        ("!(metadata.case == 'a')", None),
    ],
)
def test_only_a_plain_path_and_a_text_are_an_equality(expression, equality):
    assert Query(expression).equality == equality


def test_globs_with_other_beginnings__are_not_asked():
    entries = "".join(f"  - id: 'case-{number}*'\n" for number in range(50)) + "  - id: '*-end'\n"
    suite = suite_of(entries)
    index = EntryIndex(suite.scenarios, range(len(suite.scenarios)))
    trace = make_trace(scenario_id="case-12-end")
    found = list(index.find(trace, "case-12-end"))
    assert [suite.scenarios[place].id for place in found] == ["case-1*", "case-12*", "*-end"]
    assert [suite.scenarios[place].id for place in index.find(trace, "c")] == ["*-end"]
    assert list(index.find(trace, None)) == []
