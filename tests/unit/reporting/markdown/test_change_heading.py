"""The heading of a run that was compared: what changed comes first, and what is known stays in brackets."""

from __future__ import annotations

import re

import pytest
from builders import make_trace
from msgspec.structs import replace
from results_builder import a_baseline, a_change, a_reason, a_scenario, a_suite, a_trial, an_assertion, results

from evalgate.gate.trajectory.trajectory_diff import diff_trajectories, trajectory_from_trace
from evalgate.measures.text.plain_text import MARK
from evalgate.models.comparison.behaviour import BehaviourDifference
from evalgate.models.comparison.comparison import NO_MODEL, NO_PRICE, NO_USAGE
from evalgate.models.comparison.trajectory import TrajectoryDiff
from evalgate.models.run.run import RUN_FAILED
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.markdown.heading import ATTENTION, PASSED, build_heading
from evalgate.reporting.markdown.links import RunPages
from evalgate.reporting.markdown.render import render_comment, render_summary
from evalgate.reporting.results.clean_values import clean_record
from evalgate.reporting.text.behaviour_lines import describe_first_act
from evalgate.reporting.text.escaping import escape_span


def known(id_, how="same", verdict="HARD_FAIL", kind="unchanged"):
    return a_scenario(id_, verdict, a_change(kind, previous_verdict=verdict, known_failure=how))


def of_two_trials(id_):
    """A known failure whose trials were compared: of a single one nothing but the verdict is."""
    return {**known(id_), "trials": [a_trial(number, "hard_fail") for number in range(2)]}


def same(id_, **more):
    return a_scenario(id_, "PASS", a_change("unchanged", previous_verdict="PASS", score_delta=0.0), **more)


def moved(id_, kind, verdict="PASS", **more):
    return a_scenario(id_, verdict, a_change(kind, previous_verdict=more.pop("before", "PASS")), **more)


def document(*scenarios, verdict="pass", blocking=(), **more):
    reasons = [a_reason("hard_fail", "x", suite="s", scenario=each, variant=None) for each in blocking]
    given = {"baseline": a_baseline(branch="main"), "reasons": reasons, **more}
    return results([a_suite("s", list(scenarios), verdict)], verdict, **given)


def approve(*ids):
    return [
        {"suite": "s", "scenario": each, "variant": None, "assertion": None, "status": "active", "change": None,
         "limit": None, "message": "expires in 3 days", "who": "ann", "reason": "r", "days_left": 3}
        for each in ids
    ]  # fmt: skip


def compared(count):
    return {
        "compared": count,
        "tested": 0,
        "single_trial": 0,
        "expected_false_alarms": None,
        "behaviour_compared": count,
    }


REMOVED = [{"suite": "s", "id": "z", "variant": None, "verdict": "PASS", "score": 1.0}]


REQUIRED_FAILS = [
    a_trial(0, "hard_fail", assertions=[an_assertion("c", "failed", required=True)]),
    a_trial(1),
    a_trial(2),
]


def undecided(verdict, reason, before="PASS", known_failure=None):
    change = a_change("inconclusive", reason=reason, previous_verdict=before)
    change |= {"known_failure": known_failure} if known_failure else {}
    return a_scenario("a", verdict, change, trials=REQUIRED_FAILS)


def lost(id_, figure, why=None):
    check = an_assertion("cost <= 1", "not_evaluable", reason="cost unknown")
    scenario = moved(id_, "broken", "FAIL", trials=[a_trial(0, "failed", assertions=[check])])
    scenario["change"]["lost"] = [{"figure": figure, "missing": 1, "trials": 1, "why": why}]
    return scenario


def without(id_, figure):
    scenario = same(id_)
    scenario["change"]["lost"] = [{"figure": figure, "missing": 1, "trials": 1, "why": None}]
    return scenario


def not_counted(status, message):
    return [{**each, "status": status, "message": message} for each in approve("a")]


def gone(kind, scenario):
    place = LocationDoc("s.yaml", 1, 1)
    sides = {"before": None, "after": None, "assertion": None, "gates": False}
    return {
        "kind": kind,
        "suite": "s",
        "scenario": scenario,
        "variant": None,
        "message": "m",
        "location": place,
        **sides,
    }


HEADINGS = {
    "failed: scenario d broke (3 known failures): response.content lacks 'refund'": document(
        known("a"), known("b"), known("c"), moved("d", "broken", "HARD_FAIL"), verdict="fail", blocking="abcd"
    ),
    "failed: no verdict changed since main, but 2 known failures still block": document(
        known("a"), known("b"), verdict="fail", blocking="ab", comparison=compared(2)
    ),
    "failed: known failure a got worse (known failure b): response.content lacks 'refund'": document(
        known("a", "worse"), known("b"), verdict="fail", blocking="ab"
    ),
    "failed: known failure a fails another check: response.content lacks 'refund'": document(
        known("a", "other"), verdict="fail", blocking="a"
    ),
    "passed: no verdict changed since main (known failure a, approved)": document(known("a"), approvals=approve("a")),
    "passed, but known failure a got worse (covered by an approval): response.content lacks 'refund'": document(
        known("a", "worse"), approvals=approve("a")
    ),
    "passed, but known failure a may have got worse (covered by an approval): response.content lacks 'refund'": document(
        known("a", "worse", kind="inconclusive", verdict="FAIL"), approvals=approve("a")
    ),
    "failed: scenario a broke and b has no trace now": document(
        moved("a", "broken", "HARD_FAIL"), moved("b", "broken", "MISSING"), verdict="fail", blocking="ab"
    ),
    "failed: scenario a can't be judged any more (cost is no longer recorded)": document(
        lost("a", "cost"), verdict="fail", blocking="a"
    ),
    "failed: cost is no longer recorded in 3 scenarios; scenario a can't be judged any more, as it checks the cost": document(
        lost("a", "cost"), without("b", "cost"), without("c", "cost"), verdict="fail", blocking="a"
    ),
    "failed: cost and tokens are no longer recorded in 3 scenarios; 2 scenarios can't be judged any more": document(
        lost("a", "cost"), lost("b", "tokens"), without("c", "cost"), verdict="fail", blocking="ab"
    ),
    "failed: new scenario a has no trace": document(
        moved("a", "new", "MISSING", before=None), verdict="fail", blocking="a"
    ),
    "failed: known failure a fails a check that the approval of ann does not cover: x": document(
        known("a", "worse"),
        verdict="fail",
        blocking="a",
        approvals=not_counted("void", "more failures than approved: x"),
    ),
    "failed: known failure a fails a check that the approval of ann does not cover: "
    "response.content lacks 'refund'": document(
        known("a", "worse"),
        verdict="fail",
        blocking="a",
        approvals=not_counted("void", "more failures than approved: check"),
    ),
    "failed: known failure a got worse: response.content lacks 'refund'; "
    "the approval of ann does not count: expired on 2026-01-02": document(
        known("a", "worse"), verdict="fail", blocking="a", approvals=not_counted("expired", "expired on 2026-01-02")
    ),
    "failed: no verdict changed since main; known failure a blocks: the approval proposed here (at any score, also 0) counts only once merged": document(
        known("a"), verdict="fail", blocking="a", approvals=[{**approve("a")[0], "status": "proposed"}]
    ),
    "passed, but scenario z was removed": document(
        same("a"), removed=REMOVED, weakenings=[gone("scenario_removed", "z")]
    ),
    "failed: the gate was weakened and z removed": document(
        same("a"),
        removed=REMOVED,
        weakenings=[gone("scenario_removed", "z")],
        verdict="fail",
        reasons=[a_reason("weakened", "x", suite="s", scenario="z", variant=None)],
    ),
    "passed: 2 scenarios fixed; all 3 scenarios pass": document(
        moved("a", "fixed", before="FAIL"), moved("b", "fixed", before="FAIL"), same("c")
    ),
    "passed, but scenario c regressed and 2 fixed (not in fail_on)": document(
        moved("a", "fixed", before="FAIL"), moved("b", "fixed", before="FAIL"), moved("c", "regressed")
    ),
    "passed: no change since main; all 2 scenarios pass": document(same("a"), same("b"), comparison=compared(2)),
    "passed: no verdict changed since main; the only scenario passes": document(same("a")),
    "passed, but scenario a broke (quarantined): response.content lacks 'refund'": document(
        moved("a", "broken", "FAIL", quarantined=True)
    ),
    "passed: scenario a added and z removed; the only scenario passes": document(
        moved("a", "new", before=None),
        removed=REMOVED,
    ),
}


@pytest.mark.parametrize("words", HEADINGS)
def test_what_changed_comes_first(words):
    assert build_heading(HEADINGS[words]).text == words


@pytest.mark.parametrize("change", [None, "new"])
@pytest.mark.parametrize(
    ("blocking", "words"),
    [
        (["0.jsonl", "1.jsonl"], "failed: 2 traces can't be read"),
        ([], "passed, but 2 traces can't be read (not in fail_on)"),
    ],
)
def test_recordings_that_cannot_be_read_are_no_scenarios(change, blocking, words):
    unread = [a_scenario(each, "ERROR", change, location=None) for each in ("0.jsonl", "1.jsonl")]
    shown = document(*unread, verdict="fail" if blocking else "pass", blocking=blocking)
    assert build_heading(shown).text == words


def test_a_known_failure_raises_no_alarm_and_is_one_folded_line():
    text = render_comment(HEADINGS["failed: no verdict changed since main, but 2 known failures still block"], key="k")
    assert "> [!" not in text
    assert "### Failures" not in text
    assert "<details><summary>Known failures (2)</summary>" in text


def test_the_alarm_names_what_is_new_only():
    broken = [moved("d", "broken", "HARD_FAIL"), moved("e", "broken", "HARD_FAIL")]
    text = render_comment(document(known("a"), *broken, verdict="fail", blocking="ade"), key="k")
    [alarm] = [line for line in text.split("\n") if line.startswith("> Hard")]
    assert alarm == "> Hard-failed: ` d ` and ` e `"


def failing(id_, reason, kind="broken", trials=1, failed=1, *, also="", hint=""):
    checks = [an_assertion("c", "failed", required=True, reason=reason)]
    checks += [an_assertion("d", "failed", required=True, reason=also)] if also else []
    checks += [an_assertion("e", "failed", reason=hint)] if hint else []
    found = [
        a_trial(n, *(["hard_fail"] if n < failed else []), assertions=checks * (n < failed)) for n in range(trials)
    ]
    return moved(id_, kind, "HARD_FAIL", before=None if kind == "new" else "PASS", trials=found)


@pytest.mark.parametrize(
    ("scenarios", "text"),
    [
        ([failing("a", "no `x` in call 2")], "scenario a broke: no x in call 2"),
        ([failing("a", "no `x` in call 2"), failing("b", "no `x` in call 3")], "2 scenarios broke: no x in call 2"),
        ([failing("a", "no x"), failing("b", "no y")], "2 scenarios broke: c fails"),
        ([failing("a", "no x", also="no z"), failing("b", "no y", also="no z")], "2 scenarios broke: no z"),
        ([failing("a", "no x", hint="no z"), failing("b", "no y", hint="no z")], "2 scenarios broke: c fails"),
        ([failing("a", "no x"), moved("b", "fixed", before="FAIL")], "scenario a broke: no x; b fixed"),
        ([failing("a", "no x"), moved("b", "broken", "MISSING")], "scenario a broke and b has no trace now"),
        ([failing("a", "must not hold, but does")], "scenario a broke: c: must not hold, but does"),
        ([failing("a", "word " * 40)], f"scenario a broke: {'word ' * 20}\u2026"),
        ([failing("a", "no x", "new", 4, 1)], "new scenario a fails in 1 of 4 trials (all must pass): no x"),
        ([failing("a", "no x", "new", 4, 4)], "new scenario a fails in all 4 trials: no x"),
    ],
)
def test_the_heading_has_the_reason_of_what_is_bad_if_it_is_one(scenarios, text):
    blocking = [each["id"] for each in scenarios if each["verdict"] != "PASS"]
    assert build_heading(document(*scenarios, verdict="fail", blocking=blocking)).text == f"failed: {text}"


@pytest.mark.parametrize(
    ("makes_baseline", "words"), [(True, "first baseline of ` release/1 `"), (False, "` release/1 ` has no baseline")]
)
def test_the_heading_says_that_the_baseline_is_of_another_branch(makes_baseline, words):
    found = document(same("a"), baseline={**a_baseline(branch="main"), "target": "release/1"})
    text = render_summary(found, pages=RunPages(makes_baseline=makes_baseline))
    assert text.partition("\n")[0].endswith(f" since ` main ` ({words}); the only scenario passes")


def test_the_heading_names_the_branch_that_it_compares_with_once():
    baseline = {**a_baseline(branch="main"), "target": "release/1"}
    found = document(moved("a", "fixed", before="FAIL"), baseline=baseline)
    assert build_heading(found).text.endswith("; compared with main: release/1 has no baseline")


@pytest.mark.parametrize(
    ("found", "sign"),
    [
        (document(of_two_trials("a"), approvals=approve("a"), comparison=compared(1)), PASSED),
        (document({**of_two_trials("a"), "quarantined": True}, comparison=compared(1)), PASSED),
        (document(of_two_trials("a"), comparison=compared(1)), ATTENTION),
        (document(of_two_trials("a"), approvals=approve("a")), ATTENTION),
        (document(known("a"), approvals=approve("a"), comparison=compared(1)), ATTENTION),
        (document(known("a")), ATTENTION),
        (document(known("a"), known("b"), approvals=approve("a")), ATTENTION),
        (document(known("a", "worse", kind="regressed"), approvals=approve("a")), ATTENTION),
        (document({**same("a"), "change": None}, baseline=a_baseline("none")), PASSED),
        (document({**same("a"), "change": None}, baseline=a_baseline("expired")), ATTENTION),
        (document({**same("a"), "change": None}, baseline=a_baseline("unreachable")), ATTENTION),
    ],
)
def test_what_a_person_decided_before_is_green_and_what_was_not_compared_is_not(found, sign):
    assert build_heading(found).sign == sign


def test_an_approval_that_does_not_cover_a_failure_is_named_at_no_other_scenario():
    void = not_counted("void", "more failures than approved: check")
    other = moved("b", "broken", "HARD_FAIL", quarantined=True)
    found = document(known("a"), other, verdict="fail", blocking="a", approvals=void)
    assert "b fails a check" not in build_heading(found).text
    assert "the approval of ann does not cover check" in build_heading(found).text


def test_what_an_approval_does_not_cover_is_no_known_failure_if_it_passed_before():
    void = not_counted("void", "more failures than approved: check")
    broke = moved("a", "broken", "HARD_FAIL")
    found = document(broke, verdict="fail", blocking="a", approvals=void)
    assert build_heading(found).text.startswith(
        "failed: scenario a fails a check that the approval of ann does not cover"
    )


def test_a_scenario_that_passes_less_often_comes_before_what_did_not_change():
    reason = "passed 4 of 4 before, 3 of 4 now: record at least 15 trials on each side to be sure"
    trials = [a_trial(0, "failed"), *(a_trial(number, "passed") for number in (1, 2, 3))]
    slipped = moved("a", "inconclusive", trials=trials)
    slipped["change"]["reason"] = reason
    assert build_heading(document(slipped, same("b"))).text == (
        "passed: a passes in 3 of 4 trials, 4 of 4 before: response.content lacks 'refund'; all 2 scenarios pass"
    )


def test_it_is_said_how_to_know_whether_fewer_passes_are_chance():
    reason = "passed 4 of 4 before, 3 of 4 now: record at least 15 trials on each side (`--trials 15`) to be sure"
    slipped = moved(
        "a", "inconclusive", trials=[a_trial(number, "passed" if number else "failed") for number in range(4)]
    )
    slipped["change"]["reason"] = reason
    text = render_comment(document(slipped, same("b")), key="k")
    assert "To know whether it is chance: record at least 15 trials, here and on ` main `" in text
    assert ". Once merged, 3 of 4 is what later runs are compared with" in text


def test_a_run_that_is_only_not_compared_says_how_many_pass():
    reason = a_reason("no_baseline", "x")
    for scenarios, words in (
        ([same("a")], "the only scenario passes"),
        ([same("a"), moved("b", "new", "FAIL")], "1 of 2 scenarios pass"),
    ):
        found = document(*scenarios, verdict="cannot_judge", baseline=a_baseline("none"), reasons=[reason])
        assert build_heading(found).text == f"cannot judge what changed: there is no baseline; {words}"


def test_what_the_heading_names_needs_no_alarm():
    text = render_comment(
        HEADINGS["failed: scenario d broke (3 known failures): response.content lacks 'refund'"], key="k"
    )
    heading = "## \u274c EvalGate failed: scenario ` d ` broke (3 known failures): response.content lacks 'refund'"
    assert text.split("\n")[1].replace("` response.content `", "response.content") == heading
    assert "> [!" not in text


@pytest.mark.parametrize(
    ("kind", "trials", "sign", "text"),
    [
        ("argument", 2, "\U0001f7e1", "scenario a acts differently"),
        ("argument", 1, "\u2705", "scenario a acts differently"),
        ("all_calls", 3, "\U0001f7e1", "scenario a acts differently"),
        ("state", 2, "\U0001f7e1", "scenario a acts differently"),
        ("model", 1, "\U0001f7e1", "scenario a runs with another model"),
        ("tools", 2, "\u2705", "scenario a has other tool definitions"),
        ("prompt", 2, "\u2705", "scenario a has another system prompt"),
        ("wording", 3, "\U0001f7e1", "scenario a answers with other words"),
    ],
)
def test_what_a_passing_agent_does_otherwise_needs_attention_if_it_is_an_act_of_several_trials_or_its_model(
    kind, trials, sign, text
):
    scenario = {**same("a"), "differences": [BehaviourDifference(kind, "book.id", "1", "2", 3, trials)]}
    heading = build_heading(document(scenario))
    what = f": {describe_first_act(scenario)}".replace(MARK, "") if text.endswith("acts differently") else ""
    assert (heading.sign, heading.text) == (sign, f"passed: {text}{what}; the only scenario passes")


def test_several_that_act_differently_are_counted_without_a_difference():
    one, other = ({**same(name), "differences": [BehaviourDifference("state", "x", "1", "2", 3, 3)]} for name in "ab")
    assert build_heading(document(one, other)).text == "passed: 2 scenarios act differently; all 2 scenarios pass"


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [("A1001", "B2002", ", though ` A1001 ` was asked for"), ("B2002", "A1001", ", as was asked for")],
)
def test_whether_an_argument_is_what_the_user_asked_for_is_shown(before, now, words):
    differences = [BehaviourDifference("argument", "refund.order_id", before, now, 3, 3, asked="A1001")]
    heading = render_comment(document({**same("a"), "differences": differences}), key="k").partition("\n\n")[0]
    assert f"` {now} ` in 3 of 3{words}; the only scenario passes" in heading


def test_what_acts_differently_is_not_named_again_where_it_passes():
    acting = {**same("a"), "differences": [BehaviourDifference("argument", "book.id", "1", "2", 3, 3)]}
    worded = {**same("b"), "differences": [BehaviourDifference("wording", "answer", "1", "2", 3, 3)]}
    text = render_comment(document(acting, worded, same("c")), key="k")
    assert "<summary>Still passing (2)</summary>\n\n\u2705\u00a0PASS, score 1.00: ` b `, ` c `\n" in text


def test_what_acts_differently_says_once_what_the_user_asked():
    found = [BehaviourDifference("argument", what, "1", "2", 3, 3) for what in ("book.id", "book.day")]
    asked = "Book `it`\n- please " + "x" * 300
    text = render_comment(document({**same("a"), "differences": found, "request": asked}), key="k")
    [line] = [line for line in text.split("\n") if "Asked:" in line]
    assert line.startswith("  Asked: `` Book `it` \u23ce - please xxx")
    assert len(line) < 200
    unknown = render_comment(document({**same("a"), "differences": found}), key="k")
    assert "Asked:" not in unknown


@pytest.mark.parametrize(
    ("acts", "others", "opened"), [(4, 0, 4), (8, 0, 8), (12, 0, 8), (2, 5, 2), (0, 3, 3), (0, 4, 0)]
)
@pytest.mark.parametrize("others_first", [True, False])
def test_wrong_acts_are_not_folded_away(acts, others, opened, others_first):
    kinds = ["wording"] * others + ["argument"] * acts
    scenarios = [
        {**same(f"s{at}"), "differences": [BehaviourDifference(kind, f"{kind}{at}", "1", "2", 3, 3)]}
        for at, kind in enumerate(kinds if others_first else kinds[::-1])
    ]
    text = render_comment(document(*scenarios), key="k")
    total = acts + others
    section = text.partition(f"<summary>Passing, but acting differently ({total})</summary>")[2]
    assert ("<details open>" in text) is (opened > 0)
    shown, fold, folded = section.partition(f"<details><summary>{total - opened} more</summary>\n\n- ")
    assert bool(fold) is (0 < opened < total)
    if opened:
        assert shown.count("\n- ") == opened
        assert shown.count("argument") == min(acts, 8)
        assert folded.partition("\n\n</details>\n\n</details>\n")[0].count("\n- ") == max(0, total - opened - 1)
    assert text.count("<details") == text.count("</details>")


def test_a_scenarios_acts_and_what_the_user_asked_stand_before_its_model():
    found = [BehaviourDifference(kind, kind, "1", "2", 3, 3) for kind in ("model", "wording", "state", "argument")]
    text = render_comment(document({**same("a"), "differences": found, "request": "book it"}), key="k")
    section = text.partition("acting differently (4)")[2]
    state, argument, model = (section.index(each) for each in ("state", "argument", "model: "))
    assert state < section.index("Asked:") < argument < model


def differing(id_, *kinds, **change):
    found = [BehaviourDifference("argument", f"{id_}.{kind}", "1", "2", 3, 3) for kind in kinds]
    scenario = {**same(id_), "differences": found}
    return {**scenario, "change": {**scenario["change"], **change}}


def of_suites(*suites, code="behaviour_changed"):
    """A run that fails for all scenarios of its first suite."""
    reasons = [a_reason(code, "x", suite="s", scenario=each["id"], variant=None) for each in suites[0]]
    made = [a_suite(name, list(found), "fail") for name, found in zip("st", suites, strict=False)]
    return results(made, "fail", baseline=a_baseline(branch="main"), reasons=reasons)


def test_all_that_acts_differently_is_open_where_it_fails_the_gate():
    text = render_comment(of_suites([differing("a", "x"), differing("b", "y")], [differing("a", "z")]), key="k")
    assert "<details open><summary>Passing, but acting differently (3)</summary>" in text
    assert [name in text for name in ("a.x", "b.y", "a.z")] == [True] * 3
    assert "**\u274c ACTS DIFFERENTLY**" in text
    assert "Acts differently: " in text
    assert "No check fails" not in text


def test_a_scenario_that_fails_by_its_cost_is_not_said_to_fail_by_what_it_does():
    costly = differing("a", "x", increases=["cost +60%, more than 50%"])
    text = render_comment(of_suites([costly], code="regression"), key="k")
    assert "ACTS DIFFERENTLY" not in text
    assert "No check fails. If this is wrong, fix the agent or add a check" in text


def test_a_failure_shows_request_reasons_and_then_its_figures():
    checks = [
        an_assertion("not: answer is a refusal", "failed", reason="must not hold, but does"),
        an_assertion(
            "run_failed", "failed", type="run_failed", required=True, reason="the agent ended with exit code 1"
        ),
        an_assertion('args {"a": "' + "x" * 100 + '"}', "failed", reason="r"),
    ]
    trial = {"trial": 0, "status": "hard_fail", "assertions": checks}
    scenario = moved("a", "broken", "HARD_FAIL")
    scenario["trials"] = [_with_request(scenario["trials"][0], trial, "Refund\nplease " + "x" * 300)]
    lines = render_comment(document(scenario, verdict="fail", blocking="a"), key="k").split("\n")
    start = lines.index("### Failures (1)")
    shown = [line for line in lines[start : start + 14] if line]
    assert shown[2].startswith("Asked: ` Refund \u23ce please xxx")
    assert len(shown[2]) < 200
    assert shown[3] == "- the agent ended with exit code 1"
    assert shown[4] == "- ` not: answer is a refusal `: must not hold, but does"
    assert len(shown[5]) < 100
    assert shown[6].startswith("Details: broke")


def _with_request(trial, changes, request):
    from msgspec.structs import replace

    return replace(trial, trace=replace(trial.trace, request=request), **changes)


def test_what_a_verdict_can_be_believed_by_stands_below_the_heading():
    refused = {"code": "baseline", "message": "the token lacks actions: read", "where": None}
    stale = {"code": "stale_evidence", "message": "a trace is stale", "where": "t"}
    found = document(a_scenario("a"), baseline=a_baseline("unreachable"), warnings=[refused, stale])
    lines = render_comment(found, key="k").split("\n")
    assert lines[3:5] == ["\u26a0 the token lacks actions: read  ", "\u26a0 a trace is stale"]


def test_a_cause_that_the_verdict_gives_is_no_notice():
    cause = "GitHub refuses it (403)"
    refused = {"code": "baseline", "message": f"the baseline could not be looked up: {cause}", "where": None}
    reason = a_reason("unreachable", f"the baseline could not be fetched, which `fail_on: [broken]` needs: {cause}")
    found = document(
        a_scenario("a"),
        verdict="cannot_judge",
        baseline=a_baseline("unreachable"),
        warnings=[refused],
        reasons=[reason],
    )
    assert render_comment(found, key="k").count(cause) == 1


@pytest.mark.parametrize(("kind", "words"), [("broken", "no trace now"), ("new", "new")])
def test_what_has_no_recording_did_not_break_anywhere_in_the_comment(kind, words):
    scenario = moved("a", kind, "MISSING", before="PASS" if kind == "broken" else None)
    text = render_comment(document(scenario, known("b"), verdict="fail", blocking="a"), key="k")
    assert "broke" not in text.replace("it is broken", "")
    assert words in text.partition("Details: ")[kind == "new" and 2]  # of one that broke the heading says it


@pytest.mark.parametrize(
    ("weakening", "words"),
    [
        (
            {"kind": "check_removed", "assertion": 'answer contains "x"'},
            'check `answer contains "x"` was removed from `a`',
        ),
        ({"kind": "weight_lowered", "assertion": "says"}, "the weight of check `says` was lowered in `a`"),
        (
            {"kind": "check_optional", "assertion": "says", "scenario": None},
            "check `says` is no longer required in suite `s`",
        ),
        (
            {"kind": "check_loosened", "assertion": "says", "scenario": None, "scenarios": 3},
            "check `says` was loosened in 3 scenarios",
        ),
        (
            {"kind": "check_removed", "assertion": "says", "scenario": None, "scenarios": 3},
            "check `says` was removed from 3 scenarios",
        ),
        (
            {"kind": "check_removed", "assertion": "x" * 100},
            f"check `{'x' * 60}\u2026 (40 more characters)` was removed from `a`",
        ),
        ({"kind": "fail_on_dropped", "scenario": None, "suite": None}, "a condition of `fail_on` was removed"),
        ({"kind": "traces_changed", "scenario": None}, "other files are read in suite `s`"),
        ({"kind": "of_a_newer_version"}, "1 requirement of `a` is weaker than the baseline's"),
    ],
)
def test_the_heading_says_which_requirement_is_weaker(weakening, words):
    found = {**gone("threshold_lowered", "a"), "scenarios": 1, **weakening}
    given = document(same("a"), weakenings=[found])
    assert build_heading(given).text == f"passed, but {words.replace('`', '')}"
    assert build_heading(given, escape_span).text == "passed, but " + re.sub("`(.*?)`", r"` \1 `", words)


def test_a_removed_scenario_has_a_place_and_a_smaller_number_that_passed():
    gone_one = {"suite": "s", "id": "z", "variant": None, "verdict": "PASS", "score": 1.0}
    before = a_baseline(branch="main", summary=document(same("a"), same("z"))["summary"])
    found = document(same("a"), removed=[gone_one], weakenings=[gone("scenario_removed", "z")], baseline=before)
    text = render_comment(found, key="k")
    assert "[!WARNING]" not in text
    assert "**Passed** 1 of 1 (\u22121)" in text
    assert (
        f"{INTENDED}merge, and later runs no longer judge it (it passed in the baseline); else restore the scenario (at ` s.yaml:1 `)\n"
        in text
    )


def test_the_list_of_weaker_rules_leaves_out_what_the_box_shows():
    one, other = gone("threshold_lowered", "a"), {**gone("check_removed", "a"), "message": "other"}
    for found, count in ([one], 0), ([one, other], 1):
        text = render_comment(document(same("a"), weakenings=found), key="k")
        assert text.count("` s / a `: m, at") == 1
        assert text.count("<summary>Weaker than the baseline's rules (2)</summary>") == count
        assert text.count("` s / a `: other") == count


@pytest.mark.parametrize(
    ("scenario", "is_shown"),
    [(same("a"), False), (moved("a", "fixed", before="FAIL"), True), (a_scenario("a"), False), (same("b"), True)],
)
def test_an_approval_that_was_unused_before_is_left_out(scenario, is_shown):
    found = document(scenario, approvals=not_counted("unused", "the scenario passes without it"))
    assert ("Approvals (1)" in render_comment(found, key="k")) == is_shown
    assert ("Approvals (1)" in render_summary(found)) == is_shown


def test_an_approval_of_a_suite_without_traces_is_left_out():
    found = document(
        same("a"),
        verdict="cannot_judge",
        reasons=[a_reason("no_traces", "x", suite="s")],
        approvals=not_counted("void", "the scenario is MISSING"),
    )
    assert "Approvals" not in render_comment(found, key="k")


@pytest.mark.parametrize("status", ["none", "expired"])
def test_a_push_does_not_wait_for_the_push_that_creates_a_baseline(status):
    found = document(a_scenario("a"), baseline=a_baseline(status))
    what = "it" if status == "none" else "a new one"
    unknown = "changes can't" if status == "none" else "neither changes nor what is still not as asked can"
    text = f"so {unknown} be shown; the next push to the base branch creates {what}\n"
    assert text in render_comment(found, key="k")
    named = document(a_scenario("a"), baseline={**a_baseline(status), "target": "main"})
    assert f"; the next push to ` main ` creates {what}\n" in render_comment(named, key="k")
    assert f"so {unknown} be shown\n" in render_summary(found, pages=RunPages(makes_baseline=True, merges=False))


@pytest.mark.parametrize(
    ("found", "answer"),
    [
        (document(same("a")), "no"),
        (document(moved("a", "broken", "FAIL", quarantined=True)), "no, but look before you merge"),
        (document(known("a"), approvals=approve("a")), "no, but look before you merge"),
        (document(of_two_trials("a"), approvals=approve("a"), comparison=compared(1)), "no"),
        (document(known("a"), verdict="fail", blocking="a"), "yes"),
        (
            document(known("a"), verdict="fail", blocking="a", report_only=True, exit_code=0),
            "no, but look before you merge",
        ),
        (results([], "cannot_judge", reasons=[a_reason("min_evaluated", "too few")]), "yes"),
        (results([], "invalid", reasons=[a_reason("invalid_input", "x")]), "yes"),
    ],
)
def test_the_line_below_the_heading_answers_whether_merging_is_blocked(found, answer):
    lines = [line for line in render_comment(found, key="k").split("\n") if line and not line.startswith(">")]
    assert lines[2].startswith(f"**Blocks merging: {answer}** \u00b7 ")
    assert "Blocks merging" not in render_summary(found, pages=RunPages(makes_baseline=True, merges=False))


def test_a_failure_that_the_baseline_has_too_is_not_blamed_on_this_change():
    inherited = document(known("a"), verdict="fail", blocking="a")
    advice = (
        "` a ` fails on ` main ` too, so this change is not the cause. Fix it there, then update this branch and record "
        "again; or run ` evalgate approve a --until DATE --because REASON ` and merge the file it writes into ` main ` "
    )
    assert advice in render_comment(inherited, key="k")
    new = document(known("a"), moved("b", "broken", "HARD_FAIL"), verdict="fail", blocking="ab")
    weakened = document(
        known("a"), verdict="fail", reasons=[*inherited["reasons"], a_reason("weakened", "x", suite="s", scenario="a")]
    )
    for found in (new, weakened):
        assert "If this is intended: change the suite or its policy, or run" in render_comment(found, key="k")


@pytest.mark.parametrize(
    ("scenario", "title"),
    [
        (same("a", quarantined=True), "Quarantined, passing (1)"),
        (moved("a", "broken", "FAIL", quarantined=True), "Quarantined, not blocking (1)"),
    ],
)
def test_only_what_fails_in_quarantine_does_not_block(scenario, title):
    assert f"<summary>{title}</summary>" in render_comment(document(scenario), key="k")


@pytest.mark.parametrize(
    ("scenario", "heading", "detail"),
    [
        (
            undecided("HARD_FAIL", "passed 3 of 3 before, 2 of 3 now: record at least 9 trials on each side"),
            "failed: scenario a fails now",
            "fails now: passed 3 of 3 before, 2 of 3 now, all must pass \u00b7",
        ),
        (
            undecided("FAIL", "passed 3 of 3 before, 0 of 3 now: record at least 9 trials on each side"),
            "failed: scenario a fails now",
            "fails now: passed 3 of 3 before, 0 of 3 now \u00b7",
        ),
        (
            undecided("FAIL", "passed 3 of 3 before, 2 of 3 now: record at least 9 trials on each side"),
            "failed: scenario a may fail by chance",
            "may be chance: passed 3 of 3 before, 2 of 3 now: record at least 9 trials on each side \u00b7",
        ),
        (
            undecided("HARD_FAIL", "passed 2 of 3 before, 1 of 3 now, score 0.9 -> 0.5", "HARD_FAIL", "worse"),
            "failed: known failure a fails in 2 of 3 trials, 1 of 3 before",
            "fails in more trials: passed 2 of 3 before, 1 of 3 now",
        ),
    ],
)
def test_chance_is_not_mentioned_where_the_failure_is_certain(scenario, heading, detail):
    found = document(scenario, verdict="fail", blocking="a")
    assert build_heading(found).text.startswith(heading)
    assert detail in render_comment(found, key="k")
    assert ("chance" in render_comment(found, key="k")) == ("chance" in heading)


@pytest.mark.parametrize(("blocking", "is_advised"), [("a", True), ("ab", False)])
def test_merging_is_advised_only_where_the_proposed_approval_covers_all_that_blocks(blocking, is_advised):
    proposed = [{**each, "status": "proposed"} for each in approve("a")]
    lost = moved("b", "broken", "MISSING")
    text = render_comment(document(known("a"), lost, verdict="fail", blocking=blocking, approvals=proposed), key="k")
    assert ("merge past this check, which stays red here and which an administrator may" in text) == is_advised


@pytest.mark.parametrize("count", [5, 7])
def test_up_to_five_that_regressed_are_open(count):
    scenarios = [moved(f"s{number}", "regressed", location=LocationDoc("s.yaml", 1, 1)) for number in range(count)]
    for number, each in enumerate(scenarios):
        each["change"]["reason"] = f"score {number}"
        each["trials"] = []
    text = render_comment(document(*scenarios), key="k")
    assert ("2 more</summary>" in text) == (count == 7)


INTENDED = "\nIf this is intended: "
REGRESSED = moved("a", "regressed")
REMOVAL = document(same("a"), weakenings=[gone("check_removed", "a")])
WORSE = document(known("a", "worse"), approvals=approve("a"))
RECORD = "evalgate record --suite evals/s.yaml -- YOUR AGENT"
RECORD_A = RECORD.replace(" -- ", " --scenario a -- ")
OLD = document(same("a"), recordings={"unchanged": 2, "of": 2, "is_asked": True, "new_rules": False})
ENDED = an_assertion("run", "failed", type=RUN_FAILED, reason="the agent ended with exit code 1")
CRASH = document(
    moved("a", "broken", "HARD_FAIL", trials=[a_trial(0, "hard_fail", assertions=[ENDED])]),
    verdict="fail",
    blocking="a",
)


@pytest.mark.parametrize(
    ("found", "advice"),
    [
        (
            document(lost("a", "cost"), verdict="fail", blocking="a"),
            "\nRecord the cost again. If it is left out on purpose: change",
        ),
        (
            document(lost("a", "cost", NO_PRICE), verdict="fail", blocking="a"),
            "\nRecord the cost again, or give the model a price under ` prices ` in ` evals/s.yaml `. If it is left out on",
        ),
        (
            document(lost("a", "cost", NO_MODEL), verdict="fail", blocking="a"),
            "\nRecord the cost again, or the model, by which it is priced. If it is left out on",
        ),
        (
            document({**same("a"), "change": None}, baseline={**a_baseline("expired"), "target": "main"}),
            "\nTo compare before you merge: run the workflow on ` main `, then this check again. It does not block, as",
        ),
        (
            document(failing("a", "no x", "new", 4, 1), verdict="fail", blocking="a"),
            "To merge it as it is: change the suite (` trials: {min_pass_rate: 0.75} ` allows 3 of 4) or its policy, or run",
        ),
        (
            document(lost("a", "cost", NO_USAGE), lost("b", "tokens"), verdict="fail", blocking="ab"),
            "\nRecord the cost and tokens again. If they are left out on purpose: change",
        ),
        (
            document(moved("a", "broken", "MISSING"), verdict="fail", blocking="a"),
            f"\nTo record it again: ` {RECORD_A} `. If it is left out on purpose: remove it from the suite\n",
        ),
        (
            document(*(moved(each, "new", "MISSING") for each in "ab"), verdict="fail", blocking="ab"),
            f"\nTo record them: ` {RECORD} `. If they are left out on purpose: remove them from the suite\n",
        ),
        (OLD, f"\nTo record again: ` {RECORD} `\n"),
        (
            REMOVAL,
            f"{INTENDED}merge, and later runs are judged without it (this run would pass with it, too); else restore the check",
        ),
        (
            document(same("a"), weakenings=[gone("check_removed", "a"), gone("threshold_lowered", "a")]),
            f"{INTENDED}merge, and later runs are held to the weaker rules; else restore the rules\n",
        ),
        (
            document(same("a"), weakenings=[gone("scenario_removed", "y"), gone("scenario_removed", "z")]),
            f"{INTENDED}merge, and later runs no longer judge them; else restore the scenarios\n",
        ),
        (
            WORSE,
            "\nIf the agent is wrong, fix it before you merge: else this is the new baseline, and later reports show no change\n",
        ),
        (document(REGRESSED), "\nIf the agent is wrong, fix it before you merge"),
        (
            document(moved("a", "broken", "HARD_FAIL"), verdict="fail", blocking="a"),
            "\nFix the agent and record again. If this is intended: change the suite or its policy, or run",
        ),
        (
            document(moved("a", "new", "HARD_FAIL", before=None), verdict="fail", blocking="a"),
            "\nFix the agent or the scenario and record again. To merge it as it is: change the suite",
        ),
        (
            CRASH,
            "\nFix the agent and record again. To merge before that: run ` evalgate approve a",
        ),
    ],
)
def test_the_next_step_stands_above_what_is_folded(found, advice):
    comment = render_comment(found, key="k")
    assert 0 < comment.find(advice) < (comment.find("<details><summary>") % len(comment))


def broke_by(checks=None, before=(["look_up"], "It is cancelled."), now=(["look_up"], "I can't do that.")):
    """A scenario that broke, with the recordings of both sides."""
    sides = (trajectory_from_trace(make_trace(*each)) for each in (before, now))
    found = clean_record(diff_trajectories(*sides, 0, 0), TrajectoryDiff)
    change = a_change("broken", previous_verdict="PASS", behaviour=found)
    trial = a_trial(0, "failed", assertions=[OF_ANSWER] if checks is None else checks)
    return document(a_scenario("a", "FAIL", change, trials=[trial]), verdict="fail", blocking="a")


OF_ANSWER = an_assertion(
    "said",
    "failed",
    type="output_contains",
    reason='expected the answer to contain "cancelled", got "I can\'t do that."',
)
UNWANTED_ANSWER = an_assertion("said", "failed", type="contains", reason='must not hold, but does: answer contains "x"')
OF_RESULT = an_assertion("said", "failed", type="output_contains", reason="expected the result of `f` to contain 1")
OF_CALL = an_assertion("called", "failed", type="tool_called", reason="refund must be called")
DECIDE = (
    "\nDecide which answer is right. If the old one: fix the agent and record again. If the new one: change the suite"
)


@pytest.mark.parametrize("checks", [[OF_ANSWER], [UNWANTED_ANSWER], [OF_ANSWER, UNWANTED_ANSWER, an_assertion("ok")]])
def test_of_two_answers_after_the_same_calls_either_may_be_right(checks):
    assert DECIDE in render_comment(broke_by(checks), key="k")


@pytest.mark.parametrize(
    "found",
    [
        broke_by([OF_ANSWER, OF_CALL]),
        broke_by([OF_RESULT]),
        broke_by([an_assertion("said", "failed", type="any", reason="the answer is wrong")]),
        broke_by([OF_ANSWER, an_assertion("lost", "not_evaluable", type="contains", reason="the answer is missing")]),
        broke_by(now=(["look_up", "cancel"], "I can't do that.")),
        broke_by(now=([("look_up", {"id": 2})], "I can't do that.")),
        broke_by(now=(["look_up"], "It is cancelled.")),
        document(moved("a", "broken", "FAIL"), verdict="fail", blocking="a"),
    ],
)
def test_what_another_call_or_check_shows_is_a_fault_of_the_agent(found):
    comment = render_comment(found, key="k")
    assert "\nFix the agent and record again. If this is intended:" in comment
    assert "Decide which" not in comment


@pytest.mark.parametrize("found", [document(same("a")), document(known("a"), approvals=approve("a"))])
def test_nothing_is_asked_for_what_needs_nothing(found):
    comment = render_comment(found, key="k")
    assert "If this is" not in comment
    assert "Record " not in comment


@pytest.mark.parametrize("found", [REMOVAL, WORSE])
def test_a_push_is_not_told_to_merge(found):
    assert "merge" not in render_comment(found, key="k", pages=RunPages(merges=False))


def test_a_command_that_records_is_only_for_traces_that_it_could_have_written():
    foreign = a_trial(0, "passed")
    foreign = replace(foreign, trace=replace(foreign.trace, format="opentelemetry"))
    old = {"recordings": {"unchanged": 1, "of": 1, "is_asked": True, "new_rules": False}}
    assert RECORD not in render_comment(document(same("a", trials=[foreign]), **old), key="k")
    missing = [moved("a", "broken", "MISSING"), same("b", trials=[foreign])]
    comment = render_comment(document(*missing, verdict="fail", blocking="a"), key="k")
    assert "\nRecord it again. If it is left out on purpose: remove it from the suite\n" in comment


def test_what_can_not_be_judged_is_not_said_to_fail():
    comment = render_comment(document(lost("a", "cost"), verdict="fail", blocking="a"), key="k")
    assert "\n**\u274c can't be judged** ` a `\n" in comment
    assert "can't be judged any more: " not in comment


ALIKE = "a trial, with as many tool calls"


def grown(id_, cost, tokens, calls=(1, 1)):
    scenario = same(id_)
    figures = (("cost", cost), ("tokens", tokens), ("calls", calls))
    scenario["change"]["grown"] = [{"figure": name, "before": a, "now": b} for name, (a, b) in figures]
    return scenario


@pytest.mark.parametrize(
    ("scenarios", "line"),
    [
        (
            [grown("a", (0.004, 0.009), (960, 2160)), same("b")],
            "` a `: 0.004 \u2192 0.009 USD and 960 \u2192 2,160 tokens a trial, with as many tool calls.",
        ),
        (
            [grown("a", (0.1, 0.2), (100, 104), (2, 1))],
            "` a `: 0.1 \u2192 0.2 USD a trial, with as many tokens and 1 tool call instead of 2.",
        ),
        (
            [grown("a", (0.1, 0.2), (100, 97))],
            "` a `: 0.1 \u2192 0.2 USD a trial, with as many tokens and tool calls.",
        ),
        (
            [grown(each, (0.01, 0.03), (10, 30), (1, 2.5)) for each in "ab"],
            "all 2 scenarios alike: 0.01 \u2192 0.03 USD and 10 \u2192 30 tokens a trial, with 2.5 tool calls instead of 1.",
        ),
        (
            [
                same("z"),
                *(grown(each, (0.1, 0.2), (10, 20)) for each in "abcd"),
                grown("e", (0.1, 0.4), (1, 2)),
                grown("f", (0.1, 0.15), (1, 2)),
            ],
            (
                f"` e `: 0.1 \u2192 0.4 USD and 1 \u2192 2 tokens {ALIKE}; ` a `, ` b `, ` c ` and 1 more: "
                f"0.1 \u2192 0.2 USD and 10 \u2192 20 tokens {ALIKE}; 1 more by less."
            ),
        ),
    ],
)
def test_the_comment_names_what_grew_most(scenarios, line):
    before = document(*scenarios)["summary"]
    baseline = a_baseline(branch="main", summary={**before, "cost_usd": before["cost_usd"] / 2})
    comment = render_comment(document(*scenarios, baseline=baseline), key="k")
    assert "(**+100%**)" in comment
    assert f"\nGrew most: {line}\n" in comment
    assert "Grew most" not in render_comment(document(*scenarios), key="k")


def test_the_comment_names_a_scenario_that_grew_in_every_trial_though_the_run_did_not():
    scenarios = [grown("a", (0.01, 0.03), (10, 30)), grown("b", (0.01, 0.04), (10, 30))]
    scenarios[0]["change"]["grown"][0]["every_trial"] = True
    comment = render_comment(document(*scenarios), key="k")
    assert f"\nGrew most: ` a `: 0.01 \u2192 0.03 USD and 10 \u2192 30 tokens {ALIKE}.\n" in comment


def test_what_lacks_a_figure_beside_what_failed_asks_for_no_recording():
    found = document(lost("a", "cost"), moved("b", "broken", "HARD_FAIL"), verdict="fail", blocking="ab")
    assert INTENDED.strip() in render_comment(found, key="k")


@pytest.mark.parametrize(
    ("found", "title"),
    [
        (WORSE, "### Failures, not blocking (1)"),
        (document(known("a", "worse"), verdict="fail", blocking="a"), "### Failures (1)"),
    ],
)
def test_a_failure_below_a_pass_is_said_not_to_block(found, title):
    assert f"\n{title}\n" in render_comment(found, key="k")


@pytest.mark.parametrize(
    ("found", "is_open"),
    [
        (document(moved("a", "broken", "FAIL", quarantined=True)), True),
        (document(same("a", quarantined=True), weakenings=[gone("quarantine_added", "a")]), True),
        (document(same("a", quarantined=True)), False),
    ],
)
def test_a_quarantine_that_matters_is_open(found, is_open):
    comment = render_comment(found, key="k")
    assert f"<details{' open' * is_open}><summary>Quarantined, " in comment
