"""Stale traces: each reason, what is not reported, and the decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_run, make_scenario, make_trial

from evalgate.gate.comparison.freshness import find_staleness, mark_stale
from evalgate.gate.decision.decide import decide
from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.weakening import FreshnessContext
from evalgate.models.run.run import TraceRef
from evalgate.suite.policy import FreshnessPolicy, Policies, Policy

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HEAD, OTHER = "a" * 40, "b" * 40
PRESENT = FreshnessContext(NOW, frozenset({HEAD}))


def trace(**origin):
    return TraceRef("t", "traces/t.json", "native", None, **origin)


def find_reason(policy, present=PRESENT, watched=None, **origin):
    return find_staleness(trace(**origin), FreshnessPolicy(**policy), present, watched)


def test_a_policy_without_requirements_accepts_any_trace():
    assert find_reason({}) is None
    assert find_reason({"require": "any"}, commit=OTHER) is None


@pytest.mark.parametrize("commit", [HEAD, HEAD[:7], HEAD.upper(), HEAD[:12]])
def test_a_trace_of_the_judged_commit_is_fresh(commit):
    assert find_reason({"require": "head"}, commit=commit) is None


@pytest.mark.parametrize("commit", [OTHER, HEAD[:6], "b" + HEAD, "", "a"])
def test_a_trace_of_another_commit_is_stale(commit):
    message = find_reason({"require": "head"}, commit=commit)
    assert message == f"recorded at commit {commit[:7]}, expected aaaaaaa"


@pytest.mark.parametrize("secret", ["token=abcdefgh12345678", "AKIAIOSFODNN7EXAMPLE", "sk-" + "aB3dE6gH" * 4])
def test_a_secret_is_redacted_before_it_is_shortened(secret):
    """A shortened secret would not be recognised. From a redacted document the message is the same."""
    for origin in ({"commit": secret}, {"agent_hash": secret}):
        policy = {"require": "head"} if "commit" in origin else {"watch": ["evals/*"]}
        message = find_reason(policy, **origin)
        assert secret.removeprefix("token=")[:6] not in message
        assert redact(secret) in message
        assert find_reason(policy, **{name: redact(secret) for name in origin}) == message


def test_the_merge_commit_counts_as_the_judged_one():
    present = FreshnessContext(NOW, frozenset({HEAD, OTHER}))
    assert find_reason({"require": "head"}, present, commit=OTHER) is None
    assert find_reason({"require": "head"}, present, commit="c" * 40).endswith("aaaaaaa or bbbbbbb")


def test_a_trace_without_a_commit_is_stale_if_one_is_required():
    assert "evalgate.commit" in find_reason({"require": "head"})


def test_without_a_judged_commit_no_trace_is_fresh():
    assert "--commit" in find_reason({"require": "head"}, FreshnessContext(NOW), commit=HEAD)


def test_a_trace_of_the_current_watched_files_is_fresh():
    assert find_reason({"watch": ["agent/**"]}, watched="f" * 64, agent_hash="f" * 64) is None


@pytest.mark.parametrize(("watched", "shown"), [("e" * 64, "e" * 12), (None, "none")])
def test_a_trace_of_other_watched_files_is_stale(watched, shown):
    message = find_reason({"watch": ["agent/**"]}, watched=watched, agent_hash="f" * 64)
    assert message == f"its agent hash is ffffffffffff, the watched files have {shown}"


def test_a_trace_without_an_agent_hash_is_stale_if_files_are_watched():
    assert "evalgate.agent_hash" in find_reason({"watch": ["agent/**"]}, watched="f" * 64)


@pytest.mark.parametrize(
    ("recorded_at", "message"),
    [
        ("2026-11-14T12:00:00Z", None),
        ("2026-11-14T12:00:00", None),
        ("2026-11-14T14:00:00+02:00", None),
        ("2026-11-14T11:59:59Z", "it is 7 days old, at most 7d is allowed"),
        ("2025-01-01T00:00:00Z", "it is 689 days old, at most 7d is allowed"),
        ("2027-01-01T00:00:00Z", "its time is in the future"),
        (None, "it has no valid timestamp"),
        ("yesterday", "it has no valid timestamp"),
    ],
)
def test_the_age_of_a_trace_is_counted_from_its_start(recorded_at, message):
    assert find_reason({"max_age": "7d"}, recorded_at=recorded_at) == message


@pytest.mark.parametrize(("age", "hours"), [("12h", 12), ("1d", 24), ("2w", 14 * 24), ("9999w", 9999 * 168)])
def test_ages_are_hours_days_or_weeks(age, hours):
    assert FreshnessPolicy(max_age=age).longest_age == timedelta(hours=hours)


@pytest.mark.parametrize("age", ["7", "d", "0d", "1m", "7 d", "-1d", "12345d", "1d\n"])
def test_an_invalid_age_is_refused(age):
    with pytest.raises(ValueError, match="max_age"):
        FreshnessPolicy(max_age=age)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_text_in_a_trace_bypasses_the_rule(commit, agent_hash, recorded_at):
    policy = {"require": "head", "watch": ["x"], "max_age": "1d"}
    assert find_reason(policy, watched="f" * 64, commit=commit, agent_hash=agent_hash, recorded_at=recorded_at)


# --- the run --------------------------------------------------------------------------------------------------


def mark_run(words=("hard_fail",), *, trials=2, freshness=True):
    scenario = make_scenario("PASS", trials=[make_trial(number=number) for number in range(trials)])
    scenario.trials[0].trace.commit = HEAD
    policy = Policy(fail_on=list(words), freshness=FreshnessPolicy(require="head") if freshness else None)
    run = make_run(scenario)
    return run, {"support": policy}, mark_stale(run, {"support": policy}, PRESENT)


def test_stale_trials_warn_once_with_the_first_location():
    _, _, warnings = mark_run(trials=4)
    assert [(each["code"], each["where"]) for each in warnings] == [("stale_evidence", "traces/t1.json")]
    assert warnings[0]["message"].endswith("(and 2 more traces)")


def test_stale_evidence_fails_the_gate_if_in_fail_on():
    run, policies, warnings = mark_run(["stale_evidence"])
    found = decide(run, None, None, Policies(policies, Policy()))
    assert (found.exit_code, [reason.code for reason in found.reasons]) == (1, ["stale_evidence"])
    assert found.reasons[0].message.startswith("1 of 2 traces are stale, the first: it does not record its commit")
    assert warnings == []


def test_stale_evidence_does_not_fail_the_gate_by_default():
    run, policies, _ = mark_run()
    assert decide(run, None, None, Policies(policies, Policy())).exit_code == 0


def test_without_a_policy_nothing_is_stale():
    run, _, warnings = mark_run(freshness=False)
    assert warnings == []
    assert [trial.trace.stale for trial in run.suites[0].scenarios[0].trials] == [None, None]


def test_an_unreadable_trace_is_not_reported_as_stale_too():
    scenario = make_scenario("ERROR")
    scenario.trials[0].trace.id = None
    policies = {"support": Policy(freshness=FreshnessPolicy(require="head"))}
    assert mark_stale(make_run(scenario), policies, PRESENT) == []


def test_many_reasons_are_counted():
    trials = [make_trial(number=number) for number in range(60)]
    for number, trial in enumerate(trials):
        trial.trace.commit = f"{number:040x}"[::-1]
    policies = {"support": Policy(freshness=FreshnessPolicy(require="head"))}
    warnings = mark_stale(make_run(make_scenario("PASS", trials=trials)), policies, PRESENT)
    assert len(warnings) <= 51
