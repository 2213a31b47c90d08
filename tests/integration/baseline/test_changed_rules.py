"""Suites that change between two runs: what caused a change, and which requirements got weaker, on real files."""

import io
import json
import zipfile

import pytest
from command import evalgate

from evalgate.cli import main as main_of_command
from evalgate.cli.shell import Shell
from evalgate.reporting.ci.annotations import build_annotations
from evalgate.reporting.results.load_results import load_results

ZIP = ".evalgate/baseline.zip"
SECRET = "ghp_" + "a1B2" * 9


def written(tmp_path, *checks, **more):
    """A suite of one scenario `a`, as JSON."""
    entry = {"id": "a", "assertions": list(checks), **more.pop("scenario", {})}
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": [entry], **more}
    (tmp_path / "s.yaml").write_text(json.dumps(suite))


def says(tmp_path, answer, scenario="a", **more):
    folder = tmp_path / "traces"
    folder.mkdir(exist_ok=True)
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    trace = {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages, **more}
    (folder / f"{scenario}.json").write_text(json.dumps(trace))


def main(tmp_path, *arguments):
    """The run of the base branch; its baseline is kept as base.zip."""
    evalgate(tmp_path, ["s.yaml", *arguments])
    (tmp_path / ZIP).rename(tmp_path / "base.zip")


def run(tmp_path, *arguments):
    return evalgate(tmp_path, ["s.yaml", "--baseline", "base.zip", *arguments])


def cause(ran, place=0):
    found = ran.results["suites"][0]["scenarios"][place]["change"].get("cause")
    return found and (found["kind"], found["now_by_old_rules"], found["before_by_new_rules"])


def kinds(ran):
    return [each["kind"] for each in ran.results["weakenings"]]


OK, THANKS = {"contains": "ok"}, {"contains": "thanks"}


@pytest.mark.parametrize(
    ("before", "now", "old", "new", "expected"),
    [
        ("ok", "ok", [OK], [OK, THANKS], ("rules_stricter", "PASS", "FAIL")),
        ("ok", "no", [OK], [{"not": {"contains": "x"}}, OK], ("agent", "FAIL", "PASS")),
        ("ok", "ok", [OK, THANKS], [OK], ("rules_looser", "FAIL", "PASS")),
        ("ok", "thanks", [OK], [THANKS], ("masked", "FAIL", None)),
        ("ok thanks", "thanks", [OK], [THANKS], ("masked", "FAIL", None)),
        ("ok", "ok thanks", [OK], [OK, THANKS], None),
        ("ok", "thanks", [OK], [OK, THANKS], ("both", "FAIL", "FAIL")),
    ],
)
def test_a_change__is_attributed_to_the_agent_or_the_rules(tmp_path, before, now, old, new, expected):
    written(tmp_path, *old)
    says(tmp_path, before)
    main(tmp_path)
    written(tmp_path, *new)
    says(tmp_path, now)
    assert cause(run(tmp_path)) == expected


def test_the_sentence__is_in_the_comment_and_the_table(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    written(tmp_path, OK, THANKS)
    ran = run(tmp_path)
    sentence = "the agent is the same, the rules got stricter"
    assert sentence in ran.stdout
    assert sentence in ran.text("comment.md")


def test_what_passes_by_the_new_rules_only__is_not_a_clean_pass(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok thanks")
    main(tmp_path)
    written(tmp_path, THANKS)
    says(tmp_path, "thanks")
    ran = run(tmp_path)
    assert "passed, but 1 scenario would fail under the baseline's rules" in ran.stdout
    assert "would fail under the baseline's rules" in ran.text("comment.md")


def test_a_scenario_whose_rules_are_the_same__changed_by_its_agent(tmp_path):
    others = [{"id": "b", "assertions": [OK]}]
    written(tmp_path, OK)
    suite = json.loads((tmp_path / "s.yaml").read_text())
    (tmp_path / "s.yaml").write_text(json.dumps({**suite, "scenarios": [*suite["scenarios"], *others]}))
    for scenario in "ab":
        says(tmp_path, "ok", scenario)
    main(tmp_path)
    others[0]["threshold"] = 0.9
    (tmp_path / "s.yaml").write_text(json.dumps({**suite, "scenarios": [*suite["scenarios"], *others]}))
    says(tmp_path, "no")
    ran = run(tmp_path)
    assert cause(ran)[0] == "agent"
    assert cause(ran, 1) is None


def test_suites_that_are_the_same__name_no_causes_and_weaken_nothing(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    says(tmp_path, "no")
    ran = run(tmp_path)
    assert (cause(ran), kinds(ran)) == (None, [])


def test_redacted_traces__are_not_judged_again(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, f"ok {SECRET}")
    main(tmp_path)
    written(tmp_path, {"contains": "thanks"})
    change = run(tmp_path).results["suites"][0]["scenarios"][0]["change"]
    assert (change["cause"]["kind"], change["cause"]["before_by_new_rules"]) == ("rules_stricter", None)


def without(tmp_path, name):
    """base.zip but for one member."""
    with zipfile.ZipFile(tmp_path / "base.zip") as archive:
        kept = {each: archive.read(each) for each in archive.namelist() if each != name}
    with zipfile.ZipFile(tmp_path / "base.zip", "w") as archive:
        for each, content in kept.items():
            archive.writestr(each, content)


def with_suites(tmp_path, content):
    without(tmp_path, "suites.json")
    with zipfile.ZipFile(tmp_path / "base.zip", "a") as archive:
        archive.writestr("suites.json", content)


def test_a_baseline_without_traces__still_shows_what_is_known(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    without(tmp_path, "traces.jsonl")
    written(tmp_path, OK, THANKS)
    assert cause(run(tmp_path)) == ("rules_stricter", "PASS", None)


def test_traces_with_other_verdicts_today__prove_nothing(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    with zipfile.ZipFile(tmp_path / "base.zip") as archive:
        line = archive.read("traces.jsonl").replace(b'"ok"', b'"no"')
    without(tmp_path, "traces.jsonl")
    with zipfile.ZipFile(tmp_path / "base.zip", "a") as archive:
        archive.writestr("traces.jsonl", line)
    written(tmp_path, OK, THANKS)
    assert cause(run(tmp_path)) == ("rules_stricter", "PASS", None)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"schema": "evalgate.suites/1"}', b"[" * 100_000, b'{"schema": "evalgate.suites/1", "project": {}, "suites": ' + b"[" * 90 + b"]" * 90 + b"}"],
)  # fmt: skip
def test_unreadable_suites__are_reported_and_judge_nothing(tmp_path, content):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    with_suites(tmp_path, content)
    written(tmp_path, OK, THANKS)
    ran = run(tmp_path)
    assert (ran.code, cause(ran), kinds(ran)) == (0, None, [])
    assert "required more: this version can't read its suites" in ran.stdout


def test_a_baseline_without_suites__is_reported(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    without(tmp_path, "suites.json")
    written(tmp_path, THANKS)
    assert "required more: the baseline holds no suites" in run(tmp_path).stdout


def test_a_suite_with_an_unknown_evaluator__is_reported_by_its_path(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    old = {"version": 1, "suite": "s", "scenarios": [{"id": "a", "assertions": [{"type": "gone"}]}]}
    kept = {"schema": "evalgate.suites/1", "project": {}, "suites": [{"path": "s.yaml", "suite": old}]}
    with_suites(tmp_path, json.dumps(kept))
    written(tmp_path, THANKS)
    assert "this version can't read s.yaml in the baseline" in run(tmp_path).stdout


def weaken(tmp_path, old=None, new=None, flags=()):
    """A threshold lowered under two policies."""
    written(tmp_path, OK, threshold=0.9, policy=old or {})
    says(tmp_path, "ok")
    main(tmp_path)
    written(tmp_path, OK, threshold=0.5, policy=new or {})
    return run(tmp_path, *flags)


def test_a_weaker_gate__is_shown_and_passes_by_default(tmp_path):
    ran = weaken(tmp_path)
    assert (ran.code, kinds(ran)) == (0, ["threshold_lowered"])
    assert "passed, but the threshold was lowered in a\n" in ran.stdout
    assert "threshold: 0.9 \u2192 0.5" in ran.text("comment.md")


@pytest.mark.parametrize(
    "given",
    [
        {"flags": ["--on-weakening", "fail"]},
        {"flags": ["--fail-on", "weakened"]},
        {"new": {"on_weakening": "fail"}},
        {"new": {"fail_on": ["hard_fail", "weakened"]}},
        {"old": {"on_weakening": "fail"}, "new": {"on_weakening": "ignore"}},
        {"old": {"fail_on": ["hard_fail", "weakened"]}, "new": {}},
    ],
)
def test_a_weaker_gate__fails_where_a_flag_or_either_policy_says_so(tmp_path, given):
    ran = weaken(tmp_path, **given)
    assert ran.code == 1
    assert {reason["code"] for reason in ran.results["reasons"]} == {"weakened"}
    assert "failed: the gate was weakened" in ran.stdout


def test_a_weaker_gate__is_left_out_where_both_policies_ignore_it(tmp_path):
    ran = weaken(tmp_path, {"on_weakening": "ignore"}, {"on_weakening": "ignore"})
    assert (ran.code, kinds(ran)) == (0, [])
    assert not [each for each in ran.results["warnings"] if each["code"] == "weakenings_ignored"]


def test_a_weaker_gate__that_a_flag_leaves_out_is_counted_below_the_heading(tmp_path):
    ran = weaken(tmp_path, flags=["--on-weakening", "ignore"])
    assert (ran.code, kinds(ran)) == (0, [])
    [warning] = [each for each in ran.results["warnings"] if each["code"] == "weakenings_ignored"]
    begin = "1 requirement is weaker than the baseline's and not listed"
    assert warning["message"] == f"{begin}: `on-weakening: ignore` was set in place of every policy"
    assert begin in (tmp_path / ".evalgate/comment.md").read_text().split("**Blocks merging")[0]


WHY = 'expected the answer to contain "ok", got "no"'


@pytest.mark.parametrize(
    ("answer", "checks", "policy", "begins"),
    [
        ("no", [OK], {"fail_on": ["below_threshold"]}, f"failed: scenario {{}} broke: {WHY}"),
        ("no", [OK], {}, f"passed, but scenario {{}} broke (not in fail_on): {WHY}"),
        (
            "ok",
            [{"type": "cost_limit", "max_usd": 1, "on_missing": "skip"}],
            {"min_evaluated": 1},
            "cannot judge: no scenario was evaluated and too few scenarios were evaluated",
        ),
    ],
)
def test_a_weaker_gate__is_in_the_heading_next_to_what_else_is_wrong(tmp_path, answer, checks, policy, begins):
    written(tmp_path, *checks, threshold=0.9, policy=policy)
    says(tmp_path, "ok", cost_usd=0.5)
    main(tmp_path)
    written(tmp_path, *checks, threshold=0.5, policy=policy)
    says(tmp_path, answer)
    ran = run(tmp_path)
    heading = f"EvalGate {begins}; the threshold was lowered in {{}}"
    shown = heading.replace("{}", "` a `").replace('"ok"', '` "ok" `').replace('"no"', '` "no" `')
    assert shown in ran.text("comment.md").splitlines()[1]
    assert heading.replace("{}", "a") in ran.stdout


def test_a_weaker_gate__does_not_fail_a_run_that_only_reports(tmp_path):
    ran = weaken(tmp_path, flags=["--on-weakening", "fail", "--report-only"])
    assert (ran.code, ran.results["verdict"]) == (0, "fail")


def test_a_scenario_that_its_glob_no_longer_finds__weakens_the_gate(tmp_path):
    written(tmp_path, OK, scenario={"id": "*"})
    says(tmp_path, "ok")
    says(tmp_path, "ok", "b")
    main(tmp_path)
    (tmp_path / "traces/b.json").unlink()
    ran = run(tmp_path, "--fail-on", "weakened")
    assert (ran.code, kinds(ran)) == (1, ["scenario_removed"])


def test_an_unreadable_trace__is_not_a_removed_scenario(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    (tmp_path / "traces/bad.json").write_text("{")
    main(tmp_path)
    (tmp_path / "traces/bad.json").unlink()
    ran = run(tmp_path, "--on-weakening", "fail")
    assert (ran.code, kinds(ran)) == (0, [])


def test_an_approval_that_the_baseline_did_not_have__weakens_the_gate(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    approval = {"suite": "s", "scenario": "a", "reason": "known", "who": "@me", "until": "2099-01-01"}
    (tmp_path / "evalgate-approvals.yaml").write_text(json.dumps({"approvals": [approval]}))
    ran = run(tmp_path)
    assert kinds(ran) == ["approval_added"]
    evalgate(tmp_path, ["s.yaml"])
    (tmp_path / ZIP).rename(tmp_path / "base.zip")
    assert kinds(run(tmp_path)) == []


def test_ids_that_the_suite_takes_from_elsewhere__are_each_sides_own(tmp_path):
    written(tmp_path, OK, scenario_from="metadata.custom.case")
    says(tmp_path, "ok", "x", metadata={"case": "a"})
    main(tmp_path)
    written(tmp_path, THANKS, scenario_from="metadata.custom.case || metadata.custom.other")
    ran = run(tmp_path)
    assert cause(ran) == ("rules_stricter", "PASS", "FAIL")
    assert not ran.results["unclaimed"]


def compared(tmp_path, *arguments, base="base.zip"):
    out = io.StringIO()
    shell = Shell(out, io.StringIO(), {}, str(tmp_path))
    code = main_of_command(["compare", base, ZIP, *arguments], shell)
    return code, out.getvalue()


def test_two_finished_runs__show_by_their_suites_what_got_weaker(tmp_path):
    weaken(tmp_path)
    code, output = compared(tmp_path)
    assert code == 0
    assert "threshold: 0.9 -> 0.5" in output
    assert compared(tmp_path, "--fail-on", "weakened")[0] == 1
    assert compared(tmp_path, "--fail-on", "hard_fail")[0] == 0


def test_two_finished_runs__of_which_one_holds_no_suites__say_so_where_it_matters(tmp_path):
    weaken(tmp_path)
    without(tmp_path, "suites.json")
    assert "is not known" not in compared(tmp_path)[1]
    assert "required more: the baseline holds no suites" in compared(tmp_path, "--fail-on", "weakened")[1]


def test_more_traces_than_are_judged_twice__leave_the_rest_to_what_else_is_known(tmp_path):
    suite = {
        "version": 1,
        "suite": "s",
        "traces": ["t.jsonl"],
        "scenarios": [{"id": "*", "assertions": [OK]}],
    }
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}]
    trace = {"schema": "evalgate.trace/1", "messages": messages}
    lines = [json.dumps({**trace, "scenario_id": f"s{number}"}) for number in range(2_001)]
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    main(tmp_path)
    suite["scenarios"][0]["assertions"].append(THANKS)
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    found = run(tmp_path, "--no-baseline-zip").results["suites"][0]["scenarios"]
    known = [each["change"]["cause"]["before_by_new_rules"] for each in found]
    assert (known.count("FAIL"), known.count(None)) == (2_000, 1)


def test_explain__shows_the_cause(tmp_path):
    written(tmp_path, OK)
    says(tmp_path, "ok")
    main(tmp_path)
    written(tmp_path, OK, THANKS)
    run(tmp_path)
    out = io.StringIO()
    assert main_of_command(["explain", "a"], Shell(out, io.StringIO(), {}, str(tmp_path))) == 0
    assert "the agent is the same, the rules got stricter" in " ".join(out.getvalue().split())


def test_a_scenario_with_weaker_requirements__is_annotated_where_that_fails_the_gate(tmp_path):
    ran = weaken(tmp_path, flags=["--on-weakening", "fail"])
    (found,) = build_annotations(load_results(json.dumps(ran.results).encode()))
    assert (found.level, found.title) == ("error", "EvalGate: weakened")
    assert "threshold: 0.9 -> 0.5" in found.message
