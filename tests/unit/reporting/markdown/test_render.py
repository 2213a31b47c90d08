from __future__ import annotations

import os
import random
import re
import time
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_check import HOSTILE, find_flaws, parse_html, read_text
from results_builder import (
    a_baseline,
    a_change,
    a_reason,
    a_scenario,
    a_suite,
    a_trace,
    a_trial,
    a_variant,
    an_assertion,
    results,
    some_calls,
)

from evalgate.errors import SettingError
from evalgate.models.comparison.behaviour import UnaskedArgument
from evalgate.models.run.trial_doc import LocationDoc
from evalgate.reporting.markdown.links import RunPages
from evalgate.reporting.markdown.render import render_comment, render_summary

GOLDEN = Path(__file__).parent / "golden"
MARKER = "<!-- evalgate:sticky v1 key=gate -->"
RUN_URL = "https://github.com/org/repo/actions/runs/1"
UNTRUSTED = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=()), max_size=40)


def gating(id_, code="hard_fail"):
    return a_reason(code, f"{id_} failed", suite="support", scenario=id_, variant=None)


def a_policy_break():
    evidence = {"expected": ["check_policy", "issue_refund"], "called": ["issue_refund"]}
    checks = [
        an_assertion(
            "policy before refund",
            "failed",
            required=True,
            type="tool_sequence",
            reason="at call 1: expected check_policy, got issue_refund",
            evidence=evidence,
        ),
        an_assertion("polite answer", "failed", reason="response.content contains 'sorry': it does not"),
        an_assertion(),
    ]
    change = a_change(
        "broken",
        reason="HARD FAIL, passed 3 of 3 before, 0 of 3 now",
        previous_verdict="PASS",
        score_delta=-0.6,
        calls=some_calls(["lookup_order", "check_policy", "issue_refund"], ["lookup_order", "issue_refund"]),
    )
    trials = [a_trial(number, "hard_fail", assertions=checks) for number in range(3)]
    return a_scenario("refund-over-limit", "HARD_FAIL", change, score=0.4, trials=trials)


def same(verdict="PASS"):
    return a_change("unchanged", previous_verdict=verdict, score_delta=0.0)


def a_regression():
    scenarios = [
        a_policy_break(),
        a_scenario(
            "escalate",
            "MISSING",
            a_change("broken", reason="PASS -> MISSING", previous_verdict="PASS"),
            score=None,
            reason="no trace has this scenario id",
        ),
        a_scenario(
            "order-status",
            "PASS",
            a_change(
                "regressed",
                score_delta=-0.12,
                reason="score 0.98 -> 0.86 (\u22120.12)",
                flags=["single_trial"],
                previous_verdict="PASS",
            ),
            score=0.86,
        ),
        a_scenario("greeting", "FAIL", same("FAIL"), score=0.5),
        a_scenario(
            "cancel-order",
            "PASS",
            a_change("fixed", score_delta=0.5, reason="passed 1 of 3 before, 3 of 3 now", previous_verdict="FAIL"),
        ),
        a_scenario("gift-card", "PASS", a_change("new", reason="not in the baseline")),
        a_scenario("faq", "PASS", same()),
    ]
    return results(
        [a_suite("support", scenarios, "fail")],
        "fail",
        baseline=a_baseline(),
        reasons=[gating("refund-over-limit"), gating("escalate"), gating("refund-over-limit", "broken")],
        removed=[{"suite": "support", "id": "old-flow", "variant": None, "verdict": "PASS", "score": 1.0}],
        warnings=[{"code": "unknown_field", "message": "unknown field `lat`", "where": "traces/7.json"}],
        unclaimed=[
            {
                "suite": "support",
                "path": "traces/x.jsonl",
                "id": "t9",
                "scenario_id": "refnud",
                "line": 3,
                "record": None,
            }
        ],
    )


def a_clean_pass():
    return results(
        [a_suite("support", [a_scenario("a", change=same()), a_scenario("b", change=same())])],
        baseline=a_baseline("ancestor", distance=3),
    )


CASES = {
    "regression": a_regression,
    "clean_pass": a_clean_pass,
    "pass_with_failures": lambda: results([a_suite("support", [a_scenario("a"), a_scenario("b", "FAIL"), a_scenario("c", "PARTIAL"), a_scenario("d", "FAIL")])]),
    "first_run": lambda: results([a_suite("support", [a_scenario("a")])], baseline=a_baseline("none")),
    "nothing_evaluated": lambda: results([{**a_suite("support", [a_scenario("a", "MISSING")], "cannot_judge"), "unmatched": "traces/*.json below evals"}], "cannot_judge", reasons=[a_reason("no_traces", "suite support: no traces found", suite="support")]),
    "two_suites": lambda: results([a_suite("support", [a_scenario("a", variant="de")]), a_suite("sales", [a_scenario("a", "NOT_EVALUABLE", score=None)])]),
    "variants": lambda: results([{**a_suite("scheduling", [a_scenario("a", variant="flat"), a_scenario("a", variant="grouped")]), "variants": [a_variant(), a_variant("grouped", correct_tool={"held": 0, "of": 0}, output_tokens=None, total_tokens=None, cost_usd=None, latency_seconds=0.4)]}, a_suite("sales", [a_scenario()]), {**a_suite("more", [a_scenario("b", variant="x")]), "variants": [a_variant("x")]}]),
    "report_only": lambda: results([a_suite("support", [a_scenario("a", "HARD_FAIL")], "fail")], "fail", 0, report_only=True, reasons=[gating("a")]),
    "invalid": lambda: results([], "invalid", reasons=[a_reason("invalid_suite", "unknown key `wieght` (did you mean `weight`?)", location=LocationDoc("evals/s.yaml", 3, 5))]),
}  # fmt: skip


def comment(document, **changes):
    return render_comment(document, key="gate", **changes)


def heading(document):
    return comment(document).split("\n")[1]


@pytest.mark.parametrize("name", CASES)
def test_comment__known_run__equals_its_golden_file(name):
    actual = comment(CASES[name](), pages=RunPages(RUN_URL))
    golden = GOLDEN / f"{name}.md"
    if os.environ.get("EVALGATE_REFRESH"):
        golden.write_text(actual, encoding="utf-8")
    assert actual == golden.read_text(encoding="utf-8"), "EVALGATE_REFRESH=1 rewrites it"


@pytest.mark.parametrize("name", CASES)
def test_comment__known_run__starts_with_marker_and_verdict_and_has_only_template_markup(name):
    text = comment(CASES[name](), pages=RunPages(RUN_URL))
    lines = text.split("\n")
    assert lines[0] == MARKER
    assert lines[1].startswith("## ")
    assert find_flaws(text, links=[RUN_URL], comments=[MARKER[4:-3].strip()]) == []


@pytest.mark.parametrize("name", CASES)
def test_summary__known_run__has_no_marker_and_only_template_markup(name):
    text = render_summary(CASES[name](), pages=RunPages(RUN_URL))
    assert text.startswith("## ")
    assert find_flaws(text, links=[RUN_URL]) == []


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (["PASS", "PASS"], "\u2705 EvalGate passed: all 2 scenarios pass"),
        (["PASS"], "\u2705 EvalGate passed: the only scenario passes"),
        (
            ["PASS", "FAIL", "PARTIAL", "FAIL"],
            "EvalGate passed, but 3 scenarios are below threshold (not in fail_on)",
        ),
        (["PASS", "FAIL"], "EvalGate passed, but 1 scenario is below threshold (not in fail_on)"),
        (
            ["HARD_FAIL", "ERROR", "FAIL"],
            "EvalGate passed, but 2 scenarios hard-failed and 1 is below threshold (not in fail_on)",
        ),
        (
            ["PASS", "NOT_EVALUABLE"],
            "EvalGate passed, but 1 scenario could not be evaluated (not in fail_on)",
        ),
    ],
)
def test_heading__gate_passed__is_clean_only_where_everything_passed(verdicts, words):
    document = results([a_suite("s", [a_scenario(str(i), verdict) for i, verdict in enumerate(verdicts)])])
    assert words in heading(document)


def test_heading__passing_scenario_that_got_worse__is_mentioned():
    document = results([a_suite("s", [a_scenario("a", change="regressed")])])
    assert "passed, but 1 scenario regressed (not in fail_on)" in heading(document)


def test_heading__gate_passed__names_what_broke_since_the_baseline():
    scenarios = [
        a_scenario("a", "FAIL", change="broken"),
        a_scenario("b", "FAIL"),
        a_scenario("c", "HARD_FAIL", change="broken"),
    ]
    words = "passed, but 1 scenario hard-failed, 1 broke and 1 is below threshold (not in fail_on)"
    assert words in heading(results([a_suite("s", scenarios)]))


def test_heading__gate_failed__counts_each_scenario_once():
    words = (
        "failed: scenario ` refund-over-limit ` broke in all 3 trials, ` escalate ` has no trace now, ` order-status ` "
        "regressed"
    )
    words += ", ` cancel-order ` fixed, ` gift-card ` added and ` old-flow ` removed"
    assert heading(a_regression()).endswith(f"{words} (known failure ` greeting `)")


def test_alert__names_what_fails_by_how_it_fails():
    worse = [a_scenario(f"worse{n}", change=a_change("regressed", reason=f"reason {n}")) for n in range(5)]
    failing = [a_scenario("a", "HARD_FAIL"), a_scenario("b", "FAIL", change="broken"), a_scenario("c", "PARTIAL")]
    lost = [a_scenario("d", "MISSING"), a_scenario("e", "NOT_EVALUABLE"), a_scenario("f", "ERROR")]
    reasons = [gating("a"), gating("c", "below_threshold")]
    suites = [a_suite("s", [*worse, *lost, *failing], "fail"), a_suite("t", [a_scenario("a", "HARD_FAIL")], "fail")]
    assert (
        "> Hard-failed: ` a ` in 2 suites; unreadable: ` f `; without a trace: ` d `; broke: ` b `; below threshold: ` c `;"
        " without evidence: ` e `\n"
    ) in comment(results(suites, "fail", reasons=reasons, baseline=a_baseline()))
    assert "> Regressed: ` worse0 `" in comment(results([a_suite("s", worse)], baseline=a_baseline()))


def test_suites__those_that_pass__are_folded_below_the_others():
    bad = a_scenario("a", "HARD_FAIL")
    suites = [a_suite("one", [a_scenario()]), a_suite("two", [bad], "fail"), a_suite("three", [a_scenario()])]
    before, _, folded = comment(results(suites, "fail")).partition("<details><summary>2 suites pass</summary>")
    assert [name for name in ("one", "two", "three") if f"| ` {name} ` |" in before] == ["two"]
    assert [name for name in ("one", "two", "three") if f"| ` {name} ` |" in folded] == ["one", "three"]
    assert "Suite |" not in comment(results(suites[:1]))


def test_alert__reason_of_a_run_that_judges_nothing__is_not_repeated():
    reasons = [a_reason("no_baseline", "no run was found"), a_reason("min_evaluated", "too few")]
    text = comment(results([], "cannot_judge", reasons=reasons))
    assert text.count("no run was found") == text.count("too few\n") == 1
    assert "### Why\n\n- too few\n" in text
    assert "### Why" not in comment(results([], "cannot_judge", reasons=reasons[:1]))


@pytest.mark.parametrize(
    ("verdict", "outcome", "words"),
    [
        ("MISSING", None, "1 scenario has no trace"),
        ("ERROR", None, "1 scenario has a trace that can't be read"),
        ("HARD_FAIL", "not_evaluable", "1 scenario could not be evaluated"),
        ("HARD_FAIL", "failed", "1 scenario hard-failed"),
    ],
)
def test_heading__without_a_baseline__says_what_is_missing(verdict, outcome, words):
    found = [a_trial(0, "hard_fail", assertions=[an_assertion("c", outcome)])] if outcome else []
    scenario = a_scenario("a", verdict, trials=found)
    document = results([a_suite("support", [scenario], "fail")], "fail", reasons=[gating("a")])
    reason = ": ` response.content ` lacks 'refund'" if outcome else ""
    named = words.replace("1 scenario has no", "scenario ` a ` has no")
    assert heading(document).endswith(f"failed: {named}{reason}")
    assert heading(results([a_suite("support", [scenario])])).endswith(f"passed, but {words} (not in fail_on)")


def test_heading__all_pass_with_failed_trials__counts_them():
    failed = [a_trial(0), a_trial(1, "failed")]
    scenarios = [a_scenario("a"), a_scenario("b", trials=failed), a_scenario("c", trials=failed)]
    assert heading(results([a_suite("s", scenarios)])).endswith("all 3 scenarios pass, 2 with failed trials")
    one = results([a_suite("s", scenarios[1:2])])
    assert heading(one).endswith("\u2705 EvalGate passed: the only scenario passes, with failed trials")


def test_heading__checks_lacked_evidence__are_not_counted_as_failed():
    late = an_assertion("in time", "not_evaluable", reason="no times")
    lacking = a_scenario("a", trials=[a_trial(0, assertions=[late])])
    failed = a_scenario("b", trials=[a_trial(0), a_trial(1, "failed", assertions=[late])])
    assert heading(results([a_suite("s", [lacking, lacking])])).endswith(
        "all 2 scenarios pass, 2 with checks that could not be evaluated"
    )
    document = results([a_suite("s", [lacking, failed, a_scenario("c")])])
    counts = "1 with failed trials, 1 with checks that could not be evaluated"
    named = "` b ` in 1 of 2 trials (mean score 1.00, 0.8 is enough), ` a ` with checks that could not be evaluated"
    assert heading(document).endswith(f"all 3 scenarios pass, {named}")
    assert f"<summary>Passing (3), {counts}</summary>" in comment(document)
    assert heading(results([a_suite("s", [lacking])])).endswith(
        "the only scenario passes, with checks that could not be evaluated"
    )


def test_comment__calls_of_single_trials_differ__are_no_change():
    calls = {"trial_before": 0, "before": ["a"], "trial": 0, "now": ["b"]}
    document = results([a_suite("s", [a_scenario("s0", change={**a_change("unchanged"), "calls": calls})])])
    same = results([a_suite("s", [a_scenario("s0", change=a_change("unchanged"))])])
    assert heading(document) == heading(same)
    assert "other tool calls" not in comment(document)


def test_heading__report_only__states_that_nothing_is_blocked():
    words = "would fail: 1 scenario hard-failed: ` response.content ` lacks 'refund' (report-only, nothing is blocked)"
    assert words in heading(CASES["report_only"]())


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("no_traces", "cannot judge: no traces found"),
        ("nothing_evaluated", "cannot judge: no scenario was evaluated"),
        ("min_evaluated", "cannot judge: too few scenarios were evaluated"),
        ("no_baseline", "cannot judge what changed: there is no baseline"),
        ("unreachable", "cannot judge what changed: the baseline could not be fetched from GitHub"),
    ],
)
def test_heading__cannot_judge__has_the_reason(code, words):
    document = results([a_suite("s", [a_scenario()])], "cannot_judge", reasons=[a_reason(code, "m")])
    assert words in heading(document)
    assert "\u2705" not in comment(document).split("\n")[1]


def test_heading__invalid_input__says_the_only_error_or_counts_them():
    alone = "could not run: ` evals/s.yaml:3 ` unknown key ` wieght ` (did you mean ` weight `?)"
    assert alone in heading(CASES["invalid"]())
    reasons = [
        {**a_reason("invalid_suite", "x"), "location": LocationDoc(name, 3, None)} for name in ("a.yaml", "b.yaml")
    ]
    one_file = results([], "invalid", reasons=[reasons[0], reasons[0]])
    assert heading(one_file).endswith("could not run: 2 errors in ` a.yaml `")
    assert heading(results([], "invalid", reasons=reasons)).endswith("could not run: 2 errors in 2 files")
    unplaced = a_reason("invalid_input", "word " * 40)
    assert heading(results([], "invalid", reasons=[unplaced])).endswith(f"could not run: {'word ' * 20}\u2026")


def drifted(found, *, suites=False, types=(), files=(), **changes):
    evaluators = [{"type": each, "before": 1, "now": 2} for each in types]
    drift = {"found": found, "suites": suites, "evaluators": evaluators, **({"files": [*files]} if files else {})}
    return a_baseline("drifted", drift=drift, **changes)


@pytest.mark.parametrize(
    ("baseline", "words"),
    [
        (None, "**Baseline** none given, so changes can't be shown"),
        (a_baseline(), "**Baseline** ` ba5e000 `\n"),
        (a_baseline("ancestor", distance=3), "3 commits before the base commit"),
        (a_baseline("latest"), "the latest of its branch, not the base commit"),
        (a_baseline(branch="main"), "` ba5e000 ` of ` main `\n"),
        (drifted("exact", suites=True), "` ba5e000 ` \u00b7 evaluated with different suites or settings, which may cause changes"),
        (
            drifted("exact", suites=True, files=["evals/a|b.yaml", "evalgate.yaml: policy"]),
            "evaluated with different suites or settings (` evals/a|b.yaml ` and ` evalgate.yaml: policy `), which may",
        ),
        (drifted("exact", suites=True, files="abcdefg"), "` d `, ` e ` and 2 more), which may cause changes"),
        (drifted("ancestor", distance=3), "3 commits before the base commit, evaluated with different rules"),
        (drifted("latest", types=["contains", "a|b"]), "evaluated with different versions of ` contains ` and ` a|b `, which"),
        (drifted("exact", types=[*"abcdefgh"]), "` d `, ` e ` and 3 more checks, which may cause changes"),
        (a_baseline("drifted"), "evaluated with other suites or evaluators, which may cause changes"),
        (a_baseline("given", sha=None, path="base.zip"), "` base.zip ` \u00b7 chosen with --baseline"),
        (a_baseline("none"), "none yet, so changes can't be shown"),
        (a_baseline("expired"), "expired, so neither changes nor what is still not as asked can be shown"),
        (a_baseline("off", off_by="baseline: none"), "**Baseline** none: compared with nothing: ` baseline: none ` was set"),
        (a_baseline("unreachable"), "could not be fetched, so neither changes nor what is still not as asked can be shown; the warning above gives the reason"),
    ],
)  # fmt: skip
def test_comment__baseline__is_labelled_by_how_it_was_found(baseline, words):
    assert words in comment(results([a_suite("s", [a_scenario()])], baseline=baseline))


def poisoned(text):
    checks = [
        an_assertion(text, "failed", reason=text, required=True, evidence={text: [text]}),
        an_assertion("b" + text, "error", reason=text),
    ]
    bad = a_scenario(
        text,
        "HARD_FAIL",
        a_change("broken", reason=text, flags=[text], increases=[text], calls=some_calls([text, "a"], ["a", text])),
        trials=[a_trial(0, "hard_fail", assertions=checks, trace=a_trace(request=text))],
        variant=text,
        reason=text,
        location=LocationDoc(text, 1, 1),
    )
    soft = [
        a_scenario(f"{kind}{text}", verdict, a_change(kind, reason=text, flags=["flaky"]), reason=text)
        for kind, verdict in [
            ("regressed", "PASS"),
            ("unchanged", "FAIL"),
            ("fixed", "PASS"),
            ("unchanged", "PASS"),
            (text, "PASS"),
            ("new", text),
        ]
    ]
    alike = [{**bad, "id": f"{number}{text}"} for number in range(9)]
    missing = a_scenario("m", "MISSING", reason=text)
    soft[3]["unasked"] = [
        UnaskedArgument(text, text, text, text, 1, 2, text),
        UnaskedArgument("a", "", "", "", 1, 1, ""),
    ]
    return results(
        [
            {**a_suite(text, [bad, *alike, missing, *soft], "fail"), "path": text, "variants": [a_variant(text), a_variant("b" + text)]},
            a_suite("other", [], text),
        ],
        "fail",
        commit=text,
        evalgate_version=text,
        baseline=a_baseline(text, sha=text),
        reasons=[a_reason("hard_fail", text, suite=text, scenario=text, variant=text), a_reason(text, text, location=LocationDoc(text, None, None))],
        removed=[{"suite": text, "id": text, "variant": text, "verdict": text, "score": None}],
        warnings=[{"code": text, "message": text, "where": text}],
        unclaimed=[{"suite": text, "path": text, "id": text, "scenario_id": text, "line": None, "record": None}],
    )  # fmt: skip


def row_widths(document):
    """The numbers of cells of the table rows in a short comment, so that no test depends on the number of columns."""
    widths = set(parse_html(comment(document)).rows)
    assert widths
    return widths


def has_whole_tables(text):
    """Whether each row of a table has as many cells, outside of code, as its titles."""
    columns = 0
    for line in text.split("\n"):
        cells = re.sub(r"(`+) .*? \1", "", line).replace("\\|", "").count("|") - 1
        columns = 0 if not line.startswith("|") else columns or cells
        if columns and cells != columns:
            return False
    return True


def harmless(text):
    reader = parse_html(text)
    lines = text.split("\n")
    assert lines[1].startswith("## ")
    assert find_flaws(text, comments=[MARKER[4:-3].strip()]) == []
    return reader


@pytest.mark.parametrize("text", HOSTILE)
def test_comment__every_text_hostile__has_only_template_markup_and_whole_tables(text):
    reader = harmless(comment(poisoned(text)))
    assert set(reader.rows) <= row_widths(poisoned("plain")) | row_widths(poisoned(""))
    assert reader.counts["details"] == reader.counts["summary"]
    assert reader.counts["table"] == harmless(comment(poisoned("plain"))).counts["table"]


@given(UNTRUSTED)
def test_comment__any_text_anywhere__has_only_template_markup(text):
    assert set(harmless(comment(poisoned(text))).rows) <= row_widths(poisoned("plain")) | row_widths(poisoned(""))


def test_comment__many_variants__are_shown_up_to_the_limit_and_counted():
    suites = [{**a_suite(f"s{each}", []), "variants": [a_variant(f"v{n}") for n in range(30)]} for each in range(3)]
    text = comment(results(suites))
    assert "Variants side by side (90)" in text
    assert "40 more are not shown" in text
    assert harmless(text).rows
    assert has_whole_tables(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_comment__every_text_hostile__no_line_starts_with_it(text):
    starts = (
        "<!-- evalgate:sticky",
        "##",
        ">",
        "|",
        "**",
        "- ",
        "<details>",
        "<details open>",
        "</details>",
        "```",
        "\u2502",
        "\u26a0",
        "+ ",
        "Tool calls,",
        "Asked: `",
        "Not as asked: `",
        "Details: ",
        "\u2705\u00a0PASS",
        "If this is intended",
        "[Full report](https://",
        "evalgate run",
        "evalgate explain ",
        "evalgate show ",
        "*",
    )
    for line in comment(poisoned(text)).split("\n"):
        assert not line or line.startswith(starts)


def test_comment__invalid_report_url__is_omitted():
    assert "](" not in comment(a_clean_pass(), pages=RunPages("https://x.example/) [y](https://evil.example"))


@pytest.mark.parametrize("key", ["", "a b", "x-->", "a--b", "\u00e9", "k\n"])
def test_comment__key_that_is_invalid_in_a_marker__is_refused(key):
    with pytest.raises(SettingError, match="the comment key may contain only letters, digits"):
        render_comment(a_clean_pass(), key=key)


@cache
def many(number, *, seed=1):
    draw = random.Random(seed)  # noqa: S311  the same run every time
    scenarios = []
    for index in range(number):
        verdict = draw.choice(["PASS"] * 8 + ["HARD_FAIL", "FAIL"])
        kind = draw.choice(["unchanged", "broken" if verdict != "PASS" else "fixed", "new", "regressed"])
        reason = f"response.content contains {index}: it does not, the answer is {'x' * 150}"
        trials = [
            a_trial(
                0,
                "passed" if verdict == "PASS" else "failed",
                assertions=[an_assertion(outcome="passed" if verdict == "PASS" else "failed", reason=reason)],
            )
        ]
        scenarios.append(a_scenario(f"scenario-{index}", verdict, kind, trials=trials))
    reasons = [gating(each["id"]) for each in scenarios if each["verdict"] == "HARD_FAIL"]
    return results([a_suite("support", scenarios, "fail")], "fail", baseline=a_baseline(), reasons=reasons)


@pytest.mark.parametrize("number", [1, 100, 10_000])
def test_comment__any_number_of_scenarios__fits_and_has_the_true_totals(number):
    document = many(number)
    text = comment(document)
    summary = document["summary"]
    assert len(text) <= 60_000
    harmless(text)
    assert has_whole_tables(text)
    assert f"{summary['passed']:,} of {number:,}" in text
    broke = document["summary"]["broken"]
    assert not broke or f"{broke:,} scenario" in text.split("\n")[1]


@pytest.mark.parametrize("room", [1_000, 1_500])
def test_comment__no_room_for_a_report__has_the_verdict(room):
    text = comment(many(300), max_chars=room, pages=RunPages(RUN_URL))
    assert len(text) <= room
    assert "EvalGate" in text.split("\n")[1]
    assert "does not fit" in text
    assert find_flaws(text, links=[RUN_URL], comments=[MARKER[4:-3].strip()]) == []


@pytest.mark.parametrize("room", [2_400, 3_000, 5_000, 8_000, 20_000, 60_000])
def test_comment__little_room__leaves_out_whole_rows_and_counts_them(room):
    document = many(300)
    text = comment(document, max_chars=room, pages=RunPages(RUN_URL))
    assert len(text) <= room
    assert find_flaws(text, links=[RUN_URL], comments=[MARKER[4:-3].strip()]) == []
    assert has_whole_tables(text)
    assert "more are not shown, see the [full report]" in text


def equal_failures(number, name="s{}"):
    scenarios = [a_scenario(name.format(index), "HARD_FAIL") for index in range(number)]
    reasons = [gating(each["id"]) for each in scenarios]
    return results([a_suite("support", scenarios, "fail")], "fail", reasons=reasons)


def count_named(text, document):
    return sum(f"` {each['id']} `" in text for suite in document["suites"] for each in suite["scenarios"])


def test_comment__equal_failures__give_the_reason_once_and_name_every_scenario():
    document = equal_failures(300)
    text = comment(document)
    assert "### Failures (300)" in text
    assert count_named(text, document) == 300
    assert read_text(text).partition("[!CAUTION]")[2].count("response.content lacks 'refund'") == 1
    assert "> Hard-failed: ` s0 `, ` s1 `, ` s2 ` and 297 more\n" in text
    assert harmless(text).counts["li"] == 2  # the reason and the other names


def test_comment__more_equal_failures_than_room__names_as_many_as_fit_and_counts_the_others():
    document = equal_failures(20_000, "a-long-name-of-a-scenario-{}")
    text = comment(document)
    named = count_named(text, document)
    left = int(text.split(" ` and ")[-1].split(" more")[0].replace(",", ""))
    assert named + left == 20_000
    assert 45_000 < len(text) <= 60_000


def test_comment__different_failures__are_all_named():
    scenarios = [
        a_scenario(f"s{index}", "HARD_FAIL", trials=[a_trial(0, "hard_fail", assertions=[an_assertion(f"c{index}", "failed")])])
        for index in range(300)
    ]  # fmt: skip
    reasons = [gating(each["id"]) for each in scenarios]
    document = results([a_suite("support", scenarios, "fail")], "fail", reasons=reasons)
    assert count_named(comment(document), document) == 300


def unevaluated(name, reason, **changes):
    return an_assertion(name, "not_evaluable", reason=reason, **changes)


def lacking_evidence():
    """One regression and two scenarios without price, which one of them lacks calls as well."""
    price = unevaluated("cost <= 0.2 USD", "no price for x")
    calls = [unevaluated(name, "no calls were recorded") for name in ("calls a", "calls b", "calls c")]
    wrong = an_assertion("says so", "failed", reason="it does not")
    checks = {"real": [wrong, price], "priceless": [price], "blind": [*calls, price]}
    scenarios = [
        a_scenario(name, "FAIL", a_change("broken"), trials=[a_trial(0, "failed", assertions=found)])
        for name, found in checks.items()
    ]
    reasons = [gating(name, "broken") for name in checks]
    return results([a_suite("support", scenarios, "fail")], "fail", baseline=a_baseline(), reasons=reasons)


def test_comment__lack_of_evidence__is_a_section_after_the_regressions_that_gives_each_reason_once():
    document = lacking_evidence()
    text = comment(document)
    failures, _, lost = text.partition("### Lack of evidence (2)")
    assert "### Failures (1)" in failures
    assert "` says so `: it does not" in failures
    assert "no price" not in failures
    assert lost.count("no price for x") == lost.count("no calls were recorded") == 1
    assert "- ` cost <= 0.2 USD `, in 3 scenarios: not evaluable: no price for x" in lost
    assert "- ` calls a `, ` calls b `, ` calls c `: not evaluable: no calls were recorded" in lost
    assert heading(document).endswith("failed: scenario ` real ` broke and 2 can't be judged any more")


def test_comment__single_trials__have_their_caveat_once():
    caveat, flags = ", single trial: may be noise", ["single_trial"]
    scenarios = [
        a_scenario(name, "FAIL", a_change("broken", reason=f"passed 1 of 1 before, 0 of 1 now{caveat}", flags=flags))
        for name in "ab"
    ]
    fixed = a_scenario("c", change=a_change("fixed", reason=f"passed 0 of 1 before, 1 of 1 now{caveat}", flags=flags))
    text = comment(results([a_suite("s", [*scenarios, fixed])], baseline=a_baseline()))
    assert text.count("single trial") == text.count("may be noise") == 1
    assert "3 changes are based on a single trial and may be noise." in text


def test_comment__one_of_several_changes_is_of_a_single_trial__is_marked():
    single = a_change("broken", reason="now 0/1, single trial: may be noise", flags=["single_trial"])
    scenarios = [a_scenario("a", "FAIL", single), a_scenario("b", change=a_change("fixed"))]
    text = comment(results([a_suite("s", scenarios)], baseline=a_baseline()))
    assert "broke (single trial): now 0/1" in text


def test_comment__passing_scenarios_with_failures__show_them_first_and_named():
    late = an_assertion("in time", "failed", reason="it took 9 s")
    scenarios = [
        a_scenario("fine"),
        a_scenario("shaky", score=0.9, trials=[a_trial(0), *(a_trial(n, "failed", assertions=[late]) for n in (1, 2))]),
        *(a_scenario(f"slow{n}", score=0.8, trials=[a_trial(0, assertions=[late])]) for n in range(6)),
    ]
    text = comment(results([a_suite("s", scenarios)]))
    assert "<summary>Passing (8), 1 with failed trials, 6 with checks that did not pass</summary>" in text
    rows = [line for line in text.split("\n") if "PASS" in line and line.startswith("|")]
    assert rows == [
        "| ` shaky ` | \u2705\u00a0PASS\u00a01/3\u00a0trials, mean score 0.8 is enough | 0.90 | ` in time ` (2 of 3 trials): it took 9 s |",
        "| ` slow0 ` and 5 more | \u2705\u00a0PASS | 0.80 | ` in time `: it took 9 s |",
    ]
    assert "\n\u2705\u00a0PASS, score 1.00: ` fine `\n" in text
    assert "- ` slow0 ` and 5 more: ` slow1 `, ` slow2 `, ` slow3 `, ` slow4 `, ` slow5 `" in text


def test_comment__ten_thousand_scenarios__takes_less_than_half_a_second():
    document = many(10_000)
    comment(a_clean_pass())
    taken = []
    for _ in range(3):  # the heap of a whole test run can cost one of them a collection
        started = time.thread_time()
        comment(document)
        taken.append(time.thread_time() - started)
    assert min(taken) < 0.5


def test_summary__ten_thousand_scenarios__stays_below_the_limit_of_bytes():
    assert len(render_summary(many(10_000), max_bytes=20_000).encode()) <= 20_000


@pytest.mark.parametrize("room", [30_000, 300_000, 1_000_000])
def test_summary__in_another_script__is_bounded_by_bytes_and_ends_whole(room):
    reason = "\u8fd4\u6b3e\u672a\u5b8c\u6210 \U0001f6a8" * 40
    trials = [a_trial(0, "failed", assertions=[an_assertion("\u68c0\u67e5" * 50, "failed", reason=reason)])]
    scenarios = [a_scenario(f"\u573a\u666f{n}" * 30, "HARD_FAIL", trials=trials) for n in range(2_000)]
    text = render_summary(results([a_suite("s", scenarios, "fail")], "fail"), max_bytes=room, pages=RunPages(RUN_URL))
    assert 20_000 < len(text.encode()) <= room
    assert find_flaws(text, links=[RUN_URL]) == []
    assert text.count("<details") == text.count("</details>") > 0
    assert text.count("```") % 2 == 0


@pytest.mark.parametrize("number", [1, 100, 10_000])
@pytest.mark.parametrize("room", [2_500, 10_000, 60_000])
def test_comment__any_size_and_room__closes_every_element(number, room):
    text = comment(many(number), max_chars=room)
    assert text.count("<details") == text.count("</details>")
    assert text.count("```") % 2 == 0
    assert len(text) <= room


def test_comment__of_a_repeated_run_on_the_same_day__is_the_same():
    once, again = (results([a_suite("s", [a_scenario()])], baseline=a_baseline(age_seconds=age), created_at=made)
        for age, made in [(60, "2026-01-02T03:04:05Z"), (7_000, "2026-01-02T04:59:40Z")])  # fmt: skip
    assert comment(once) == comment(again)


def test_comment__shares__never_round_to_none_or_all():
    scenarios = [a_scenario(str(index), "FAIL" if index == 0 else "PASS") for index in range(1_000)]
    text = comment(results([a_suite("s", scenarios)]))
    assert "**Passed** 999 of 1,000" in text
    assert ">0.99" in text


def test_comment__unknown_figures__are_left_out():
    trial = a_trial(cost_usd=None, latency_seconds=None)
    document = results([a_suite("s", [a_scenario(trials=[trial], score=None)])])
    for text in (comment(document), render_summary(document)):
        assert "**Tokens** 900" in text
        assert [word for word in ("nknown", "Cost", "Latency", "Why", "| \u2013") if word in text] == []


def test_comment__statistics_of_the_same_scenarios__show_their_change():
    before = results([a_suite("s", [a_scenario(trials=[a_trial(cost_usd=0.02, latency_seconds=1.0)])])])["summary"]
    now = results([a_suite("s", [a_scenario(trials=[a_trial(cost_usd=0.03)])])], baseline=a_baseline(summary=before))
    text = comment(now)
    assert "**Cost** 0.03 USD (**+50%**)" in text
    assert "**Latency** p50 2.0 s (**+100%**), p95 2.0 s" in text


@pytest.mark.parametrize(("seconds", "grown"), [(0.2, "(+300%)"), (1.0, "(**+100%**)")])
def test_comment__growth_of_the_latency__stands_beside_the_median_and_is_bold_from_a_second_on(seconds, grown):
    now = seconds * 4 if seconds < 1 else seconds * 2
    sides = [a_scenario(trials=[a_trial(latency_seconds=each)]) for each in (seconds, now)]
    before = results([a_suite("s", sides[:1])])["summary"]
    text = comment(results([a_suite("s", sides[1:])], baseline=a_baseline(summary=before)))
    assert f" {grown}, p95 " in text


def test_comment__more_trials_than_in_the_baseline__are_no_growth():
    documents = [results([a_suite("s", [a_scenario(trials=[a_trial(cost_usd=0.02)] * count)])]) for count in (1, 2)]
    before, now = ({**each["summary"], "trials": count} for each, count in zip(documents, (1, 2), strict=True))
    document = {**documents[1], "summary": now, "baseline": a_baseline(summary=before)}
    assert "**Cost** 0.04 USD \u00b7" in comment(document)
    without = {**documents[1], "baseline": a_baseline(summary=documents[0]["summary"])}
    assert "**Cost** 0.04 USD (**+100%**)" in comment(without)


def test_comment__statistics_of_other_scenarios__show_no_change():
    before = results([a_suite("s", [a_scenario("a"), a_scenario("b")])])["summary"]
    text = comment(results([a_suite("s", [a_scenario("a")])], baseline=a_baseline(summary=before)))
    assert "**Cost** 0.01 USD \u00b7" in text


def test_comment__suite_with_a_baseline__shows_the_change_of_passes_and_score():
    document = a_regression()
    assert "| 4 of 7 (\u22121) |" in comment({**document, "suites": [*document["suites"], a_suite("b", [])]})


def test_comment__document_without_a_command__has_nothing_to_paste():
    document = results([a_suite("s", [a_scenario()])])
    assert "Reproduce" not in comment(document)  # everything passes
    failed = results([a_suite("s", [a_scenario("a", "FAIL")])])
    assert "Reproduce and explain in a shell" in comment({**failed, "command": "evalgate run"})
    assert "Reproduce" not in comment({**failed, "command": None})


def test_comment__template_text_from_a_trace__is_not_executed():
    assert "{{ 7 * 7 }}" in comment(poisoned("{{ 7 * 7 }}"))


def test_comment__a_failing_scenario__has_its_trace_and_the_commands_that_open_it_once():
    trials = [a_trial(0), a_trial(1, "failed", assertions=[an_assertion("check", "failed")])]
    trials[1].trace.record = 2
    two = [a_scenario("late", "HARD_FAIL", trials=trials), a_scenario("soon", "HARD_FAIL", trials=[trials[0]])]
    text = comment(results([a_suite("s", two)], command="evalgate run s.yaml"))
    assert "\u00b7 trace\u00a0` traces/1.json#3 `" in text
    block = "evalgate run s.yaml\nevalgate explain late\nevalgate show 'traces/1.json#3'\n"
    assert text.count(block) == text.count("evalgate explain") == 1
    assert "docs/" not in text


def test_comment__scenarios_that_fail_alike__have_the_trace_of_the_first():
    scenarios = [a_scenario(name, "HARD_FAIL", trials=[a_trial(0, "failed")]) for name in ("late", "soon")]
    text = comment(results([a_suite("s", scenarios)]))
    assert text.count("first trace\u00a0` traces/0.json `") == 1


def test_comment__one_failure__is_accepted_by_a_command_that_names_it():
    one = {**results([a_suite("s", [a_scenario("late", "HARD_FAIL")])]), "verdict": "fail"}
    assert "` evalgate approve late --until DATE --because REASON ` and commit the file it writes" in comment(one)
    odd = {**results([a_suite("s", [a_scenario("@late", "HARD_FAIL")])]), "verdict": "fail"}
    assert "` evalgate approve SCENARIO --until" in comment(odd)


def test_comment__many_traces_without_a_scenario__are_one_item():
    place = {"suite": "s", "id": None, "line": None, "record": None}
    unclaimed = [{**place, "path": f"t/{each}.json", "scenario_id": f"chat-{each}"} for each in range(12)]
    text = comment(results([a_suite("s", [a_scenario("a")])], unclaimed=unclaimed))
    assert "Traces without a matching scenario (12)" in text
    [item] = [line for line in text.split("\n") if "belong to no scenario" in line]
    assert item.startswith(
        "- 12 traces belong to no scenario and were not judged (add a scenario with their id, or with the id ` * `): "
    )
    assert item.endswith("` t/2.json ` (id ` chat-2 `) and 9 more")
