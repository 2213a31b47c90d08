"""Stale recordings: each reason, what is not told, and the decision."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_builders import make_run, make_scenario, make_trial

from evalgate.gate.comparison.freshness import find_staleness, mark_stale
from evalgate.gate.decision.decide import decide
from evalgate.measures.redaction.redact import redact
from evalgate.models.comparison.freshness import FreshnessContext
from evalgate.models.run.run import TraceRef
from evalgate.suite.policy import FreshnessPolicy, Policy

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
HEAD, OTHER = "a" * 40, "b" * 40
PRESENT = FreshnessContext(NOW, frozenset({HEAD}))


def trace(**told):
    return TraceRef("t", "traces/t.json", "native", None, **told)


def stale(policy, present=PRESENT, watched=None, **told):
    return find_staleness(trace(**told), FreshnessPolicy(**policy), present, watched)


def test_a_policy_that_asks_for_nothing_takes_any_recording():
    assert stale({}) is None
    assert stale({"require": "any"}, commit=OTHER) is None


@pytest.mark.parametrize("commit", [HEAD, HEAD[:7], HEAD.upper(), HEAD[:12]])
def test_a_recording_of_the_commit_that_is_judged_is_fresh(commit):
    assert stale({"require": "head"}, commit=commit) is None


@pytest.mark.parametrize("commit", [OTHER, HEAD[:6], "b" + HEAD, "", "a"])
def test_a_recording_of_another_commit_is_foreign(commit):
    message = stale({"require": "head"}, commit=commit)
    assert message == f"made at commit {commit[:7]}, judged is aaaaaaa"


@pytest.mark.parametrize("secret", ["token=abcdefgh12345678", "AKIAIOSFODNN7EXAMPLE", "sk-" + "aB3dE6gH" * 4])
def test_no_beginning_of_a_secret_is_told(secret):
    """Cut short it would look like none. A document tells of it redacted, and what is said then is the same."""
    for told in ({"commit": secret}, {"agent_hash": secret}):
        policy = {"require": "head"} if "commit" in told else {"watch": ["evals/*"]}
        message = stale(policy, **told)
        assert secret.removeprefix("token=")[:6] not in message
        assert redact(secret) in message
        assert stale(policy, **{name: redact(secret) for name in told}) == message


def test_the_merge_commit_counts_as_the_one_judged():
    present = FreshnessContext(NOW, frozenset({HEAD, OTHER}))
    assert stale({"require": "head"}, present, commit=OTHER) is None
    assert stale({"require": "head"}, present, commit="c" * 40).endswith("aaaaaaa or bbbbbbb")


def test_a_recording_that_names_no_commit_is_stale_where_one_is_asked_for():
    assert "evalgate.commit" in stale({"require": "head"})


def test_without_a_commit_that_is_judged_nothing_is_fresh():
    assert "--commit" in stale({"require": "head"}, FreshnessContext(NOW), commit=HEAD)


def test_a_recording_by_the_files_as_they_are_is_fresh():
    assert stale({"watch": ["agent/**"]}, watched="f" * 64, agent_hash="f" * 64) is None


@pytest.mark.parametrize("watched", ["e" * 64, None])
def test_a_recording_by_other_files_is_stale(watched):
    message = stale({"watch": ["agent/**"]}, watched=watched, agent_hash="f" * 64)
    assert message.startswith("made by ffffffffffff, the watched files are ")


def test_a_recording_that_does_not_say_what_made_it_is_stale_where_files_are_watched():
    assert "evalgate.agent_hash" in stale({"watch": ["agent/**"]}, watched="f" * 64)


@pytest.mark.parametrize(
    ("recorded_at", "message"),
    [
        ("2026-11-14T12:00:00Z", None),
        ("2026-11-14T12:00:00", None),
        ("2026-11-14T14:00:00+02:00", None),
        ("2026-11-14T11:59:59Z", "it is 7 days old, 7d is the most"),
        ("2025-01-01T00:00:00Z", "it is 689 days old, 7d is the most"),
        ("2027-01-01T00:00:00Z", None),
        (None, "it does not say when it was made"),
        ("yesterday", "it does not say when it was made"),
    ],
)
def test_a_recording_is_as_old_as_its_beginning(recorded_at, message):
    assert stale({"max_age": "7d"}, recorded_at=recorded_at) == message


@pytest.mark.parametrize(("age", "hours"), [("12h", 12), ("1d", 24), ("2w", 14 * 24), ("9999w", 9999 * 168)])
def test_ages_are_hours_days_or_weeks(age, hours):
    assert FreshnessPolicy(max_age=age).longest_age == timedelta(hours=hours)


@pytest.mark.parametrize("age", ["7", "d", "0d", "1m", "7 d", "-1d", "12345d", "1d\n"])
def test_an_age_that_can_not_be_meant_is_refused(age):
    with pytest.raises(ValueError, match="max_age"):
        FreshnessPolicy(max_age=age)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_no_text_of_a_recording_stops_the_rule(commit, agent_hash, recorded_at):
    policy = {"require": "head", "watch": ["x"], "max_age": "1d"}
    assert stale(policy, watched="f" * 64, commit=commit, agent_hash=agent_hash, recorded_at=recorded_at)


# --- the run --------------------------------------------------------------------------------------------------


def marked(words=("hard_fail",), *, trials=2, freshness=True):
    scenario = make_scenario("PASS", trials=[make_trial(number=number) for number in range(trials)])
    scenario.trials[0].trace.commit = HEAD
    policy = Policy(fail_on=list(words), freshness=FreshnessPolicy(require="head") if freshness else None)
    run = make_run(scenario)
    return run, {"support": policy}, mark_stale(run, {"support": policy}, PRESENT)


def test_stale_trials_warn_once_with_their_first_place():
    _, _, warnings = marked(trials=4)
    assert [(each["code"], each["where"]) for each in warnings] == [("stale_evidence", "traces/t1.json")]
    assert warnings[0]["message"].endswith("(and 2 more traces)")


def test_stale_evidence_fails_the_gate_where_the_policy_says_so():
    run, policies, warnings = marked(["stale_evidence"])
    found = decide(run, None, None, policies, run_policy=Policy(), report_only=False)
    assert (found.exit_code, [reason.code for reason in found.reasons]) == (1, ["stale_evidence"])
    assert found.reasons[0].message.startswith("1 of 2 traces are stale, the first: it does not say")
    assert warnings == []


def test_stale_evidence_gates_nothing_by_default():
    run, policies, _ = marked()
    assert decide(run, None, None, policies, run_policy=Policy(), report_only=False).exit_code == 0


def test_without_a_policy_nothing_is_stale():
    run, _, warnings = marked(freshness=False)
    assert warnings == []
    assert [trial.trace.stale for trial in run.suites[0].scenarios[0].trials] == [None, None]


def test_a_recording_that_could_not_be_read_is_not_told_twice():
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
