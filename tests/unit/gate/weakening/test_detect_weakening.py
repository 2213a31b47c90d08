"""Weakenings of a suite: every kind, and what must never be reported as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.gate.weakening.detect_weakening import find_weakenings
from evalgate.gate.weakening.weaker_evidence import find_removed_scenarios
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.results.document_names import SUITES_SCHEMA
from evalgate.scoring.wording import describe_weakening
from evalgate.suite.baseline_suites import parse_baseline_suites

CHECK = {"contains": "refund"}


def configuration(*suites, **project):
    entries = [{"path": f"{each['suite']}.yaml", "suite": each} for each in suites]
    found = parse_baseline_suites({"schema": SUITES_SCHEMA, "project": project, "suites": entries})
    assert found is not None
    assert not found.unread, found.unread
    return found.configuration


def suite(*checks, name="s", scenario=None, **more):
    entry = {"id": "a", "assertions": list(checks or [CHECK]), **(scenario or {})}
    return {"version": 1, "suite": name, "scenarios": [entry], **more}


def compare_suites(old, new, **scenarios):
    return find_weakenings(configuration(old), configuration(new), scenarios)


def kinds(old, new, **scenarios):
    return [each.kind for each in compare_suites(old, new, **scenarios)]


def of_checks(old, new):
    """Kinds of weakening if one check is replaced by another; None is a missing check."""
    other = {"type": "not_empty"}
    return kinds(suite(*[each for each in (old, other) if each]), suite(*[each for each in (new, other) if each]))


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({"threshold": 0.9}, {"threshold": 0.8}, "threshold_lowered"),
        ({"threshold": 0.9}, {}, "threshold_lowered"),
        ({}, {"optional": True}, "scenario_optional"),
        ({}, {"allow_errors": True}, "errors_allowed"),
        ({}, {"run_status": "any"}, "run_status_widened"),
        ({}, {"opaque": ["flights"]}, "opaque_added"),
        ({"opaque": ["flights"]}, {"opaque": ["flights-*", "flights"]}, "opaque_added"),
        ({"opaque": ["flights-a"]}, {"opaque": ["flights-*"]}, "opaque_added"),
        ({"trials": {"min": 3}}, {"trials": {"min": 2}}, "trials_lowered"),
        ({"trials": {"min_pass_rate": 0.5}}, {}, "trials_lowered"),
        (
            {"trials": {"min_pass_k": {"k": 2, "of": 3}}},
            {"trials": {"min_pass_k": {"k": 1, "of": 3}}},
            "trials_lowered",
        ),
    ],
)
def test_a_requirement_of_a_scenario__is_weaker_in_one_direction_only(before, after, kind):
    old, new = suite(scenario=before), suite(scenario=after)
    assert kinds(old, new) == [kind]
    assert kinds(new, old) == []


@pytest.mark.parametrize(
    ("before", "after", "move"),
    [
        ({}, {"lookups": ["pay"]}, "tools.lookups: not listed -> pay"),
        ({"lookups": ["pay"]}, {"lookups": ["send", "pay", "book"]}, "tools.lookups: not listed -> send, book"),
        ({"lookups": ["berth_a"]}, {"lookups": ["berth_*"]}, "tools.lookups: not listed -> berth_*"),
        ({"changing": ["get_ticket"]}, {}, "tools.changing: get_ticket -> not listed"),
        ({"changing": ["get_ticket"]}, {"lookups": ["get_ticket"]}, "tools.lookups: not listed -> get_ticket"),
        ({"changing": ["get_*"]}, {"changing": ["get_ticket"]}, "tools.changing: get_* -> not listed"),
        (
            {"lookups": ["a_*"], "changing": ["a_b"]},
            {"lookups": ["a_*", "a_b"], "changing": ["a_b*"]},
            "tools.lookups: not listed -> a_b",
        ),
    ],
)
def test_a_tool_that_becomes_a_look_up_is_a_weakening(before, after, move):
    old, new = (suite(tools=each) for each in (before, after))
    [found] = compare_suites(old, new)
    assert (found.kind, found.suite, found.scenario) == ("lookup_added", "s", None)
    assert describe_weakening(found) == f"a tool now counts as a look-up, which changes nothing: {move}"
    assert kinds(new, new) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"lookups": ["pay"]}, {}),
        ({"lookups": ["pay"]}, {"changing": ["pay"]}),
        ({"lookups": ["berth_*"]}, {"lookups": ["berth_a"]}),
        ({}, {"changing": ["get_ticket"]}),
        ({"changing": ["get_ticket"]}, {"changing": ["get_*"]}),
        ({"lookups": ["a", "b"]}, {"lookups": ["b", "a"]}),
    ],
)
def test_a_tool_that_no_longer_is_a_look_up_weakens_nothing(before, after):
    assert kinds(suite(tools=before), suite(tools=after)) == []


def test_a_look_up_that_the_project_lists_for_all_suites_is_a_weakening_of_each():
    listed = {"version": 1, "suites": ["*.yaml"], "defaults": {"tools": {"lookups": ["pay"]}}}
    project = {**listed, "defaults": {}}
    old, new = (configuration(suite(), suite(name="t"), **each) for each in (project, listed))
    found = find_weakenings(old, new, {})
    assert [(each.kind, each.suite) for each in found] == [("lookup_added", "s"), ("lookup_added", "t")]
    assert find_weakenings(new, old, {}) == []


REQUIRED = {**CHECK, "required": True}
ALWAYS = {**CHECK, "required": "always"}
RATE = {"trials": {"min_pass_rate": 0.9}}
ONE_OF_TWO = {"trials": {"min_pass_k": {"k": 1, "of": 2}}}
EVERY = {"trials": {"min_pass_k": {"k": 2, "of": 2}}}


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        (suite(REQUIRED), suite(REQUIRED, scenario=RATE), "required in every trial", "trials.min_pass_rate: 0.9"),
        (suite(REQUIRED), suite(REQUIRED, scenario=ONE_OF_TWO), "required in every trial", "trials.min_pass_k: 1 of 2"),
        (suite(REQUIRED, CHECK, scenario=EVERY), suite(REQUIRED, CHECK, scenario=RATE), None, None),
        (suite(REQUIRED, scenario=RATE), suite(REQUIRED, scenario=ONE_OF_TWO), "trials.min_pass_rate: 0.9", None),
    ],
)
def test_a_pass_rate_that_lets_required_checks_fail__is_weaker(old, new, before, after):
    found = compare_suites(old, new)
    assert {each.kind for each in found} == {"trials_lowered"}
    if before:
        assert (found[0].baseline, found[0].current) == (before, after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (suite(CHECK), suite(CHECK, scenario=RATE)),  # nothing is required
        (suite(REQUIRED), suite(REQUIRED, scenario=EVERY)),  # every trial must pass still
        (suite(REQUIRED), suite(REQUIRED, scenario={"trials": {"min_pass_rate": 1}})),
        (suite(REQUIRED), suite(ALWAYS, scenario=RATE)),
        (suite(ALWAYS), suite(ALWAYS, scenario=RATE)),
        (suite(CHECK), suite(REQUIRED, scenario=RATE)),
        (suite(REQUIRED), suite(ALWAYS)),
    ],
)
def test_a_pass_rate_under_which_no_required_check_may_fail__weakens_nothing(old, new):
    assert compare_suites(old, new) == []


@pytest.mark.parametrize(
    ("new", "kind", "after"), [(REQUIRED, "check_loosened", "true"), (CHECK, "check_optional", "false")]
)
def test_a_check_that_was_always_required__is_weaker_if_it_no_longer_is(new, kind, after):
    (found,) = compare_suites(suite(ALWAYS), suite(new))
    assert (found.kind, found.baseline, found.current) == (kind, "required: always", f"required: {after}")


def test_a_group_that_was_always_required__is_weaker_if_it_no_longer_is():
    group = {"all_of": [CHECK, {"type": "not_empty"}]}
    assert kinds(suite({**group, "required": "always"}), suite({**group, "required": True})) == ["check_loosened"]


def siblings(*tools, **more):
    """A suite with a negative scenario and one that expects each of the tools."""
    positive = [{"id": tool, "expected_tool": tool} for tool in tools]
    return {"version": 1, "suite": "s", "scenarios": [{"id": "talk", "expected_tool": None}, *positive], **more}


@pytest.mark.parametrize(
    ("old", "new", "before", "after"),
    [
        (siblings("a", "b"), siblings("a"), '["a","b"]', '["a"]'),
        (siblings("a*"), siblings("ab"), '["a*"]', '["ab"]'),
        (siblings(), siblings("a"), '["*"]', '["a"]'),  # any call was forbidden
    ],
)
def test_a_tool_that_siblings_no_longer_forbid__is_a_weakening_of_the_negative_scenario(old, new, before, after):
    found = [each for each in compare_suites(old, new) if each.scenario == "talk"]
    assert [(each.kind, each.baseline, each.current) for each in found] == [
        ("check_loosened", f"tool: {before}", f"tool: {after}")
    ]
    assert [each for each in compare_suites(new, old) if each.scenario == "talk"] == []


@pytest.mark.parametrize(
    ("before", "after", "kinds"),
    [
        ({"tool": ["a", "b"]}, {"tool": "b"}, ["check_loosened"]),
        ({"tool": ["c", "b"]}, {}, ["check_loosened"]),  # a sibling expects c
        ({"tool": "b"}, {}, ["check_replaced"]),
        ({"tool": "b"}, {"tool": ["b", "c"]}, []),
    ],
)
def test_a_tool_that_the_project_no_longer_forbids__is_a_weakening(before, after, kinds):
    old, new = (configuration(siblings("c"), version=1, suites=["*.yaml"], defaults=each) for each in (before, after))
    assert [each.kind for each in find_weakenings(old, new, {})] == kinds


LOOSER = [
    ({"type": "cost_limit", "max_usd": 0.5}, {"type": "cost_limit", "max_usd": 1.5}),
    ({"type": "latency_limit", "max_seconds": 3}, {"type": "latency_limit", "max_seconds": 4}),
    ({"type": "turn_limit", "max_turns": 3}, {"type": "turn_limit", "max_turns": 4}),
    ({"type": "token_limit", "max_total": 9, "max_input": 5}, {"type": "token_limit", "max_total": 9}),
    ({"type": "min_length", "min": 9}, {"type": "min_length", "min": 8}),
    ({"type": "max_length", "max": 9}, {"type": "max_length", "max": 10}),
    ({"type": "no_loops", "max_repeats": 2}, {"type": "no_loops"}),
    ({"type": "recorded_score", "name": "r"}, {"type": "recorded_score", "name": "r", "min": 0.5}),
    ({"path": "metadata.turn_count", "lt": 5}, {"path": "metadata.turn_count", "lte": 5}),
    ({"path": "metadata.turn_count", "eq": 3}, {"path": "metadata.turn_count", "gte": 3}),
    ({"path": "metadata.turn_count", "gte": 3}, {"path": "metadata.turn_count", "exists": True}),
    ({"path": "response.content", "length": 3}, {"path": "response.content", "length": {"gte": 1, "lte": 3}}),
    ({"path": "metadata.model", "in": ["a"]}, {"path": "metadata.model", "in": ["a", "b"]}),
    ({"path": "metadata.model", "not_in": ["a", "b"]}, {"path": "metadata.model", "not_in": ["a"]}),
    ({"path": "metadata.model", "not_in": ["a", "b"]}, {"path": "metadata.model", "ne": "b"}),
    ({"contains": "refunded"}, {"contains": "refund"}),
    ({"not": {"contains": "no"}}, {"not": {"contains": "no way"}}),
    ({"type": "icontains", "value": "OKAY"}, {"type": "icontains", "value": "ok"}),
    ({"type": "starts_with", "value": "ab"}, {"type": "starts_with", "value": "a"}),
    ({"type": "ends_with", "value": "ab"}, {"type": "ends_with", "value": "b"}),
    ({"type": "contains_all", "values": ["a", "b"]}, {"type": "contains_all", "values": ["a"]}),
    ({"type": "contains_any", "values": ["a"]}, {"type": "contains_any", "values": ["a", "b"]}),
    ({"type": "forbidden_tools", "tools": ["x_*", "y"]}, {"type": "forbidden_tools", "tools": ["x_*"]}),
    ({"type": "allowed_tools", "tools": ["x"]}, {"type": "allowed_tools", "tools": ["x", "y"]}),
    ({"type": "finish_reason", "in": ["stop"]}, {"type": "finish_reason", "in": ["stop", "length"]}),
    ({"type": "tool_calls", "tool": "x", "exactly": 2}, {"type": "tool_calls", "tool": "x", "min": 2}),
    ({"type": "tool_calls", "max_tool_calls": 5}, {"type": "tool_calls", "max_tool_calls": 6}),
    ({"type": "tool_sequence", "sequence": ["a", "b"]}, {"type": "tool_sequence", "sequence": ["b"]}),
    (
        {"type": "tool_sequence", "sequence": ["a"], "mode": "exact"},
        {"type": "tool_sequence", "sequence": ["a"]},
    ),
    (
        {"type": "tool_sequence", "sequence": ["a", "b"]},
        {"type": "tool_sequence", "sequence": ["a", "b"], "mode": "any_order"},
    ),
    (
        {"type": "trajectory_score", "metric": "f1", "reference": ["a"]},
        {"type": "trajectory_score", "metric": "f1", "reference": ["a"], "min_score": 0.5},
    ),
    ({"all_of": [{"contains": "a"}, {"contains": "b"}]}, {"all_of": [{"contains": "a"}]}),
    ({"any_of": [{"contains": "a"}]}, {"any_of": [{"contains": "a"}, {"contains": "b"}]}),
    (
        {"at_least": {"k": 2, "of": [{"contains": "a"}, {"contains": "b"}]}},
        {"at_least": {"k": 1, "of": [{"contains": "a"}, {"contains": "b"}]}},
    ),
]


@pytest.mark.parametrize(("old", "new"), LOOSER)
def test_an_ordered_requirement__is_loosened_in_one_direction_only(old, new):
    assert set(of_checks(old, new)) == {"check_loosened"}
    assert of_checks(new, old) == []


@pytest.mark.filterwarnings("error")
def test_steps_with_arguments__are_compared_without_a_warning():
    old, new = ({"type": "tool_sequence", "sequence": [{"tool": "a", "args": {"id": id_}}]} for id_ in (1, 2))
    assert (of_checks(old, old), of_checks(old, new)) == ([], ["check_replaced"])


@pytest.mark.parametrize(("old", "new"), LOOSER)
def test_a_check_kept_next_to_a_looser_one__is_not_a_weakening(old, new):
    assert of_checks(old, old) == []
    assert kinds(suite(old), suite(new, old)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"regex": "refund [0-9]+"}, {"regex": ".*"}),
        ({"path": "metadata.a", "contains": "ab"}, {"path": "metadata.a", "contains": "a"}),
        ({"type": "equals", "value": "x"}, {"type": "equals", "value": "y"}),
        ({"contains": "a"}, {"not": {"contains": "a"}}),
        ({"type": "recorded_score", "name": "r"}, {"type": "recorded_score", "name": "q"}),
        ({"type": "tool_called", "tool": "x"}, {"type": "tool_called", "tool": "y"}),
        (
            {"type": "similarity", "metric": "bleu", "reference": "x", "min_score": 1},
            {"type": "similarity", "metric": "bleu", "reference": "y", "min_score": 1},
        ),
    ],
)
def test_a_check_with_another_condition__is_reported_as_replaced_in_both_directions(old, new):
    assert of_checks(old, new) == ["check_replaced"]
    assert of_checks(new, old) == ["check_replaced"]


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [
        ({**CHECK, "required": True}, CHECK, "check_optional"),
        (CHECK, {**CHECK, "on_missing": "skip"}, "check_skippable"),
        ({**CHECK, "weight": 2}, CHECK, "weight_lowered"),
        (CHECK, {**CHECK, "weight": 0}, "weight_lowered"),
        (CHECK, None, "check_removed"),
    ],
)
def test_a_common_option_of_checks__is_weaker_in_one_direction_only(before, after, kind):
    assert of_checks(before, after) == [kind]
    assert of_checks(after, before) == []


def test_a_removed_check_of_weight_zero__is_not_a_weakening():
    assert of_checks({**CHECK, "weight": 0}, None) == []


def test_a_removed_duplicate__is_not_a_weakening():
    assert kinds(suite(CHECK, CHECK), suite(CHECK)) == []


def test_weights_that_are_halved_together__weaken_nothing():
    heavy = [{**CHECK, "weight": 4}, {"type": "not_empty", "weight": 2}]
    light = [{**CHECK, "weight": 2}, {"type": "not_empty", "weight": 1}]
    assert kinds(suite(*heavy), suite(*light)) == []


def test_another_spelling_of_the_same_check__weakens_nothing():
    spelt = {"type": "jmespath", "expression": "response.content", "operator": "contains", "value": "refund"}
    assert kinds(suite(CHECK), suite(spelt)) == []
    assert (
        kinds(suite({"path": "metadata.turn_count", "le": 3}), suite({"path": "metadata.turn_count", "lte": 3})) == []
    )
    moved = {**suite({"type": "not_empty"}), "defaults": {"assertions": [CHECK]}}
    assert kinds(suite(CHECK, {"type": "not_empty"}), moved) == []


def test_a_weakening__has_the_check_and_both_values():
    (found,) = compare_suites(
        suite({"type": "cost_limit", "max_usd": 0.5}), suite({"type": "cost_limit", "max_usd": 2})
    )
    assert (found.suite, found.scenario, found.baseline, found.current) == (
        "s",
        "a",
        "max_usd: 0.5",
        "max_usd: 2.0",
    )
    assert found.location.file == "s.yaml"


def many(threshold):
    entries = [{"id": id_, "assertions": [CHECK]} for id_ in ("a", "b", "c")]
    return {"version": 1, "suite": "s", "threshold": threshold, "scenarios": entries}


def test_a_weakening_of_several_scenarios__is_reported_once():
    (found,) = compare_suites(many(0.9), many(0.7))
    assert (found.kind, found.scenario, found.scenarios) == ("threshold_lowered", None, 3)


def test_a_scenario_matched_by_a_glob__is_compared_with_the_entry_that_matches_it_now():
    old = {"version": 1, "suite": "s", "scenarios": [{"id": "*", "threshold": 0.9, "assertions": [CHECK]}]}
    new = {
        "version": 1,
        "suite": "s",
        "scenarios": [*old["scenarios"], {"id": "x", "threshold": 0.1, "assertions": [CHECK]}],
    }
    assert kinds(old, new) == []
    (found,) = compare_suites(old, new, s=["x", "y"])
    assert (found.kind, found.scenario) == ("threshold_lowered", "x")


POLICIES = [
    ({"fail_on": ["hard_fail", "broken"]}, {"fail_on": ["hard_fail"]}, "fail_on_dropped"),
    ({"fail_on": ["hard_fail"]}, {"fail_on": ["new_hard_fail"]}, "fail_on_dropped"),
    ({}, {"regression": {"threshold": 0.1}}, "tolerance_widened"),
    ({}, {"regression": {"alpha": 0.01}}, "tolerance_widened"),
    ({}, {"regression": {"require_evidence": True}}, "tolerance_widened"),
    ({}, {"regression": {"correction": "bh"}}, "tolerance_widened"),
    ({"regression": {"correction": "bh"}}, {"regression": {"correction": "holm"}}, "tolerance_widened"),
    ({"regression": {"cost": {"max_increase": 0.1}}}, {}, "tolerance_widened"),
    (
        {"regression": {"tokens": {"max_increase": 0.1}}},
        {"regression": {"tokens": {"max_increase": 0.2}}},
        "tolerance_widened",
    ),
    ({}, {"validity": {"max_not_measured": 0.5}}, "tolerance_widened"),
    ({"validity": {"max_not_measured": 0.1}}, {}, "tolerance_widened"),
    ({"empty_globs": "fail"}, {"empty_globs": "warn"}, "tolerance_widened"),
    ({"min_evaluated": 0.9}, {"min_evaluated": 0.8}, "evidence_lowered"),
    ({"freshness": {"require": "head"}}, {}, "freshness_loosened"),
    ({"freshness": {"max_age": "7d"}}, {"freshness": {"max_age": "2w"}}, "freshness_loosened"),
    ({"freshness": {"watch": ["a", "b"]}}, {"freshness": {"watch": ["a"]}}, "freshness_loosened"),
    ({}, {"on_weakening": "ignore"}, "warning_lowered"),
    ({"on_weakening": "fail"}, {}, "warning_lowered"),
]


@pytest.mark.parametrize(("before", "after", "kind"), POLICIES)
@pytest.mark.parametrize("is_project", [False, True])
def test_a_policy__is_weaker_in_one_direction_only(before, after, kind, is_project):
    if is_project:
        sides = [configuration(suite(), version=1, suites=["s.yaml"], policy=each) for each in (before, after)]
    else:
        sides = [configuration(suite(policy=each)) for each in (before, after)]
    found = find_weakenings(*sides, {})
    assert [(each.kind, each.suite) for each in found] == [(kind, None if is_project else "s")]
    assert find_weakenings(*reversed(sides), {}) == []


def test_a_fail_on_word_covered_by_another__may_be_removed():
    old, new = {"fail_on": ["broken", "new_hard_fail"]}, {"fail_on": ["regression", "hard_fail"]}
    assert kinds(suite(policy=old), suite(policy=new)) == []


def gone(old, new, *keys, counts=None):
    return [
        (each.kind, each.suite, each.scenario, each.variant, each.scenarios)
        for each in find_removed_scenarios(keys, old, new, counts or {})
    ]


def test_a_scenario_without_an_entry__is_removed():
    old = configuration(many(0.8))
    assert gone(old, configuration(suite())) == [
        ("scenario_removed", "s", "b", None, 1),
        ("scenario_removed", "s", "c", None, 1),
    ]


def test_a_scenario_that_a_glob_no_longer_matches__is_removed_also_with_unknown_suites():
    star = {"version": 1, "suite": "s", "scenarios": [{"id": "*", "assertions": [CHECK]}]}
    key = ScenarioKey("s", "x", None)
    for old in (configuration(star), None):
        assert gone(old, configuration(star), key) == [("scenario_removed", "s", "x", None, 1)]


def test_a_scenario_now_covered_by_a_glob__is_not_removed():
    star = {"version": 1, "suite": "s", "scenarios": [{"id": "*", "assertions": [CHECK]}]}
    assert gone(configuration(suite()), configuration(star)) == []


def test_a_removed_suite__is_reported_once_with_its_scenarios():
    old, new = configuration(many(0.8), suite(name="t")), configuration(suite(name="t"))
    keys = [ScenarioKey("s", id_, None) for id_ in "abc"]
    assert gone(old, new, *keys, counts={"s": 3}) == [("suite_removed", "s", None, None, 3)]


def test_a_new_suite__weakens_nothing():
    both = configuration(suite(), suite(name="t"))
    assert find_weakenings(configuration(suite()), both, {}) == []
    assert gone(configuration(suite()), both) == []


checks = st.sampled_from([each for pair in LOOSER for each in pair] + [CHECK, {"regex": "x"}])
suites = st.builds(
    lambda found, threshold, weight, flags: suite(
        *({**each, "weight": weight, **flags} for each in found), threshold=threshold
    ),
    st.lists(checks, min_size=1, max_size=6),
    st.sampled_from([0.5, 0.8, 1.0]),
    st.sampled_from([1, 2, 0.5]),
    st.sampled_from([{}, {"required": True}, {"on_missing": "skip"}]),
)


@given(suites)
def test_a_suite_compared_with_itself__has_no_weakening(each):
    assert compare_suites(each, each) == []


@given(suites, st.lists(checks, max_size=3), st.sampled_from([0.0, 0.1]), st.permutations(range(6)))
def test_a_stricter_suite__has_no_weakening(each, more, raised, order):
    (entry,) = each["scenarios"]
    written = entry["assertions"]
    shuffled = [written[place] for place in order if place < len(written)]
    stricter = {
        **each,
        "threshold": min(1.0, each["threshold"] + raised),
        "scenarios": [{**entry, "assertions": [*more, *shuffled]}],
    }
    assert compare_suites(each, stricter) == []
