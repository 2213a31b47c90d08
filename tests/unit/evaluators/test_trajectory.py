import pytest
from assess_assertion import assess, first_problem
from builders import make_call, make_trace

TRACE = make_trace(calls=["search", "fetch", "search", "answer"])


def graded(metric, reference, trace=TRACE, **settings):
    return assess({"type": "trajectory_score", "metric": metric, "reference": reference, **settings}, trace)


@pytest.mark.parametrize(
    ("metric", "reference", "score"),
    [
        ("precision", ["search", "answer"], 0.5),
        ("recall", ["search", "answer"], 1.0),
        ("recall", ["search", "answer", "cite"], 2 / 3),
        ("f1", ["search", "answer"], 2 / 3),
        ("lcs", ["search", "fetch", "answer"], 0.75),
        ("lcs", ["answer", "search"], 0.25),
        ("exact", ["search", "fetch", "search", "answer"], 1.0),
        ("exact", ["search", "fetch"], 0.0),
        ("in_order", ["search", "search", "answer"], 1.0),
        ("in_order", ["answer", "search"], 0.0),
        ("any_order", ["answer", "search"], 1.0),
        ("any_order", ["answer", "answer"], 0.0),
    ],
)
def test_trajectory_score__is_the_metric(metric, reference, score):
    found = graded(metric, reference, min_score=0.5)
    assert found.score == pytest.approx(score)
    assert found.outcome == ("passed" if score >= 0.5 else "failed")


def test_trajectory_score__needs_everything_by_default():
    assert graded("precision", ["search"]).outcome == "failed"
    assert graded("recall", ["search"]).outcome == "passed"


def test_trajectory_score__allows_for_rounding_of_binary_fractions():
    trace = make_trace(calls=["a", "b", "c"])
    assert graded("precision", ["a"], trace, min_score=0.33333333334).outcome == "passed"
    assert graded("precision", ["a"], trace, min_score=0.3334).outcome == "failed"


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "lcs", "exact", "in_order", "any_order"])
def test_trajectory_score__without_calls_is_zero(metric):
    found = graded(metric, ["search"], make_trace())
    assert (found.outcome, found.score, "; no tool calls, reference" in found.reason) == ("failed", 0.0, True)


def test_trajectory_score__names_score_limit_calls_and_reference():
    assert graded("f1", ["search", "cite"], make_trace(calls=["search", "fetch"])).reason == (
        "f1 0.5, expected at least 1; called `search`, `fetch`, reference `search`, `cite`"
    )


def test_trajectory_score__leaves_out_the_user_simulators_calls():
    trace = make_trace(calls=["search", make_call("toggle", index=1, requestor="user")])
    assert graded("exact", ["search"], trace).score == 1.0


def test_trajectory_score__negated_scores_one_or_zero():
    raw = {"type": "trajectory_score", "metric": "f1", "reference": ["search"]}
    found = assess({"not": raw}, TRACE)
    assert (found.outcome, found.score) == ("passed", 1.0)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"reference": []}, "reference"),
        ({"metric": "accuracy"}, "metric"),
        ({"min_score": 1.1}, "min_score"),
        ({"min_score": -0.1}, "min_score"),
        ({"min_score": True}, "min_score"),
        ({"reference": [{"tool": "search"}]}, "reference"),
    ],
)
def test_trajectory_score__invalid_settings_are_errors_of_the_suite(settings, field):
    raw = {"type": "trajectory_score", "metric": "f1", "reference": ["search"], **settings}
    assert first_problem(raw).path[1] == field
