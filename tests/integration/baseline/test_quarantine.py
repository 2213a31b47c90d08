"""Quarantine in whole runs: how every output file shows it, and that adding one is reported."""

from __future__ import annotations

import io
import json
from xml.etree import ElementTree as ET

import pytest
from command import evalgate

from evalgate.cli import main as main_of_command
from evalgate.cli.shell import Shell
from evalgate.reporting.ci.annotations import build_annotations
from evalgate.reporting.results.load_results import load_results

# The command judges at 2027-01-15.
THREE_DAYS, LONG_AGO, TOO_FAR = "2027-01-18", "2027-01-14", "2027-06-01"


def aside(until=THREE_DAYS, scenario="b", **more):
    return {"scenario": scenario, "reason": "flaky since the move", "until": until, "who": "Ana", **more}


def written(tmp_path, *quarantine, **more):
    scenarios = [{"id": each, "assertions": [{"contains": "ok", "required": True}]} for each in ("a", "b")]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": scenarios, **more}
    (tmp_path / "s.yaml").write_text(json.dumps({**suite, "quarantine": list(quarantine)}))


def says(tmp_path, **answers):
    folder = tmp_path / "traces"
    folder.mkdir(exist_ok=True)
    for scenario, answer in answers.items():
        messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
        trace = {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages}
        (folder / f"{scenario}.json").write_text(json.dumps(trace))


def failing_run(tmp_path, *quarantine, arguments=()):
    written(tmp_path, *quarantine)
    says(tmp_path, a="ok", b="no")
    return evalgate(tmp_path, ["s.yaml", *arguments])


def test_a_quarantined_hard_fail_is_shown_and_does_not_block(tmp_path):
    ran = failing_run(tmp_path, aside())
    assert ran.code == 0
    assert "passed, but 1 scenario hard-failed (quarantined)" in ran.stdout
    assert "quarantine quarantined: s / b: expires in 3 days, Ana: flaky since the move" in ran.stdout
    comment = ran.text("comment.md")
    assert "<summary>Quarantined, not blocking (1)</summary>" in comment
    assert "- quarantined: ` s / b `, expires in 3 days, ` Ana: flaky since the move `" in comment
    assert "Broken and hard-failed" not in comment
    assert "No reason was recorded" not in comment


def test_results_say_so_field_by_field_and_read_back(tmp_path):
    ran = failing_run(tmp_path, aside())
    document = load_results((tmp_path / ".evalgate/results.json").read_bytes())
    assert document["summary"]["quarantined"] == 1
    assert [each.get("quarantined") for each in document["suites"][0]["scenarios"]] == [None, True]
    [quarantine] = ran.results["quarantines"]
    assert quarantine | {"location": None} == {
        "suite": "s", "scenario": "b", "variant": None, "scenarios": 1, "reason": "flaky since the move",
        "who": "Ana", "until": THREE_DAYS, "days_left": 3, "status": "active", "message": "expires in 3 days",
        "location": None,
    }  # fmt: skip
    assert quarantine["location"]["file"] == "s.yaml"


def test_explain_says_why_it_does_not_count(tmp_path):
    failing_run(tmp_path, aside(scenario="*"))
    out = io.StringIO()
    assert main_of_command(["explain", "b"], Shell(out, io.StringIO(), {}, str(tmp_path))) == 0
    assert "quarantined, expires in 3 days, Ana: flaky since the move" in out.getvalue()


def test_junit_sarif_and_annotations_set_it_apart(tmp_path):
    ran = failing_run(tmp_path, aside(), arguments=["--sarif"])
    junit = ET.fromstring(ran.text("junit.xml"))  # noqa: S314  a file of our own
    [case] = [each for each in junit.iter("testcase") if each.get("name") == "b"]
    assert [each.tag for each in case] == ["skipped"]
    assert case[0].get("message").startswith("quarantined, HARD_FAIL: ")
    [result] = json.loads(ran.text("results.sarif"))["runs"][0]["results"]
    assert (result["level"], [each["kind"] for each in result["suppressions"]]) == ("note", ["external"])
    built = build_annotations(load_results(json.dumps(ran.results).encode()))
    assert [(each.level, each.title) for each in built] == [("notice", "b: HARD FAIL and quarantined")]


def test_one_that_expired_counts_again_and_is_reported(tmp_path):
    ran = failing_run(tmp_path, aside(LONG_AGO))
    assert ran.code == 1
    assert "- expired: ` s / b `, expired on 2027-01-14: its scenarios block again" in ran.text("comment.md")


def test_one_that_is_too_long_is_an_error_with_its_location(tmp_path):
    ran = failing_run(tmp_path, aside(TOO_FAR))
    assert ran.code == 2
    assert "error: s.yaml:1:" in ran.stderr
    assert "the quarantine of `b` would last 137 days, at most 90 are allowed" in ran.stderr


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"scenario": "b", "until": THREE_DAYS}, "`reason` is missing"),
        ({"scenario": "b", "reason": "x"}, "`until` is missing"),
        (aside("2027-02-31"), "`until` has a value that is not allowed here"),
        (aside(scenario=""), "scenario"),
        (aside(because="x"), "because"),
    ],
)
def test_an_invalid_entry_is_reported(tmp_path, entry, message):
    ran = failing_run(tmp_path, entry)
    assert (ran.code, message in ran.stderr) == (2, True), ran.stderr


def test_everything_in_quarantine_cannot_be_judged(tmp_path):
    ran = failing_run(tmp_path, aside(scenario="*"))
    assert ran.code == 3
    assert "(2 quarantined)" in ran.stdout


def hostile_name():
    return "::error::b|`@everyone`<!-- -->"


def test_hostile_text_is_escaped(tmp_path):
    written(
        tmp_path,
        aside(scenario=hostile_name() + "*", who="@org/team", reason="[x](http://evil)\n# H\n::error::x\x1b[31m"),
    )
    says(tmp_path, a="ok", b="ok")
    ran = evalgate(tmp_path, ["s.yaml"])
    assert ran.code == 0
    for text in (ran.stdout, ran.text("comment.md")):
        assert "\x1b" not in text
        assert not any(line.lstrip().startswith("::") for line in text.splitlines())
        assert "\n# H" not in text
    assert "@everyone" not in ran.text("comment.md")


# --- with a baseline -------------------------------------------------------------------------------------------


def main(tmp_path, *quarantine, **more):
    """The run of the base branch; its baseline is kept as base.zip."""
    written(tmp_path, *quarantine, **more)
    says(tmp_path, a="ok", b="ok")
    evalgate(tmp_path, ["s.yaml"])
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "base.zip")


def now(tmp_path, *arguments):
    return evalgate(tmp_path, ["s.yaml", "--baseline", "base.zip", *arguments])


def kinds(ran):
    return [(each["kind"], each["scenario"], each["message"]) for each in ran.results["weakenings"]]


def test_a_pull_request_that_adds_one_is_shown_to_weaken_the_gate(tmp_path):
    main(tmp_path)
    written(tmp_path, aside())
    says(tmp_path, b="no")
    ran = now(tmp_path, "--fail-on", "hard_fail,broken,regression")
    assert ran.code == 0
    change = ran.results["suites"][0]["scenarios"][1]["change"]
    assert (change["kind"], change["flags"]) == ("broken", ["single_trial", "quarantined"])
    assert kinds(ran) == [("quarantine_added", "b", "a quarantine was added: until: 2027-01-18")]
    assert now(tmp_path, "--on-weakening", "fail").code == 1


def test_one_that_the_base_has_is_not_a_weakening_and_a_longer_one_is(tmp_path):
    main(tmp_path, aside(scenario="*"))
    written(tmp_path, aside())
    assert kinds(now(tmp_path)) == []
    written(tmp_path, aside(scenario="*", until="2027-01-20"))
    assert kinds(now(tmp_path)) == [
        ("quarantine_extended", "*", "a quarantine was extended: until: 2027-01-18 -> 2027-01-20")
    ]


def test_taking_one_away_weakens_nothing(tmp_path):
    main(tmp_path, aside())
    written(tmp_path)
    says(tmp_path, b="no")
    ran = now(tmp_path)
    assert (ran.code, kinds(ran)) == (1, [])


def test_two_finished_runs_keep_it_and_swapped_they_show_the_reverse(tmp_path, capsys):
    main(tmp_path, aside())
    says(tmp_path, b="no")
    now(tmp_path)

    def compared(*paths):
        out = io.StringIO()
        arguments = ["compare", *paths, "--json", "--fail-on", "hard_fail,broken"]
        code = main_of_command(arguments, Shell(out, io.StringIO(), {}, str(tmp_path)))
        document = json.loads(out.getvalue())
        change = document["suites"][0]["scenarios"][1]["change"]
        return code, change["kind"], "quarantined" in change["flags"], len(document["quarantines"])

    there, back = ("base.zip", ".evalgate/results.json"), (".evalgate/results.json", "base.zip")
    assert (compared(*there), compared(*back)) == ((0, "broken", True, 1), (0, "fixed", True, 1))
