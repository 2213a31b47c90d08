"""Past runs judged by today's rules, through the command and real baselines."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = """\
version: 1
suite: refunds
traces: [../traces/*.json]
scenarios:
  - {id: a, assertions: [{contains: refund, required: true}]}
"""
STRICTER = SUITE.replace("contains: refund", "contains: refund is done")
DAY = 86_400


@pytest.fixture
def project(tmp_path):
    for name in ("evals", "traces", "past"):
        (tmp_path / name).mkdir()
    (tmp_path / "evals/refunds.yaml").write_text(SUITE)
    return tmp_path


def command(project, *arguments, day=0):
    out, err = io.StringIO(), io.StringIO()
    environ = {"SOURCE_DATE_EPOCH": str(1_790_000_000 + day * DAY)}
    code = main(arguments, Shell(out, err, environ, str(project)))
    return SimpleNamespace(code=code, out=out.getvalue(), err=err.getvalue())


def trace(project, answer, name="a", **more):
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": answer}]
    content = {"schema": "evalgate.trace/1", "scenario_id": name, "messages": messages, **more}
    (project / f"traces/{name}.json").write_text(json.dumps(content))


def past(project, day, answer, *flags, name=None):
    """A run of that day, whose baseline is kept."""
    trace(project, answer)
    assert command(project, "run", "--report-only", *flags, day=day).code == 0
    (project / ".evalgate/baseline.zip").rename(project / "past" / (name or f"{day}.zip"))


def backtest(project, *arguments, suite=STRICTER):
    (project / "evals/refunds.yaml").write_text(suite)
    return command(project, "backtest", "evals/refunds.yaml", *(arguments or ("past",)))


def verdicts(told):
    found = json.loads(told.out)
    return [(run["path"], run["verdict_then"], run["verdict_now"]) for run in found["runs"]]


def test_runs_that_today_s_rules_would_have_blocked_are_counted(project):
    past(project, 1, "your refund is done")
    past(project, 2, "a refund takes days")
    past(project, 3, "your refund is done")
    told = backtest(project)
    assert told.code == 0
    assert told.out.splitlines()[-2:] == [
        "blocked by refunds / a: 1 run",
        "would have blocked 1 of 3 runs; 1 of them passed then",
    ]


def test_runs_are_told_oldest_first_whatever_their_names(project):
    past(project, 2, "a refund takes days", name="a.zip")
    past(project, 1, "your refund is done", name="b.zip")
    told = backtest(project, "past/*.zip", "--json")
    assert verdicts(told) == [("past/b.zip", "pass", "pass"), ("past/a.zip", "pass", "fail")]
    assert json.loads(told.out)["summary"] == {
        "runs": 2,
        "blocked": 1,
        "newly_blocked": 1,
        "released": 0,
        "cannot_judge": 0,
    }


def test_a_run_that_a_milder_rule_would_let_pass_is_told(project):
    past(project, 1, "no")
    told = backtest(project, suite=SUITE.replace("contains: refund", "contains: no"))
    assert told.out.endswith("would have blocked 0 of 1 run; 1 that failed then would pass\n")


def test_each_run_is_compared_with_the_one_before_it(project):
    for day, answer in enumerate(["refund", "nothing", "nothing", "refund"]):
        past(project, day, answer)
    told = backtest(project, "past", "--fail-on", "broken", "--json", suite=SUITE)
    assert [now for _, _, now in verdicts(told)] == ["pass", "fail", "pass", "pass"]
    assert json.loads(told.out)["runs"][1]["compared_with"] == "past/0.zip"


def test_a_missing_baseline_is_no_reason_for_the_first_run(project):
    past(project, 1, "refund")
    told = backtest(project, "past", "--fail-on", "no_baseline,hard_fail", "--json", suite=SUITE)
    assert verdicts(told) == [("past/1.zip", "pass", "pass")]


def test_a_scenario_that_a_run_knows_nothing_of_does_not_count(project):
    past(project, 1, "refund")
    told = backtest(project, "past", "--json", suite=SUITE + "  - {id: b, assertions: [{contains: x}]}\n")
    assert verdicts(told) == [("past/1.zip", "pass", "pass")]
    assert json.loads(told.out)["runs"][0]["unknown_scenarios"] == 1


def test_a_scenario_that_was_missing_then_is_missing_today(project):
    (project / "evals/refunds.yaml").write_text(SUITE + "  - {id: b, assertions: [{contains: x}]}\n")
    past(project, 1, "refund")
    told = backtest(project, "past", "--json", suite=SUITE + "  - {id: b, assertions: [{contains: x}]}\n")
    assert verdicts(told) == [("past/1.zip", "fail", "fail")]


def test_a_suite_judges_only_what_it_read(project):
    """Two suites with a scenario of one name, each with its own traces."""
    (project / "evals/other.yaml").write_text(
        SUITE.replace("suite: refunds", "suite: other").replace("../traces", "../others")
    )
    (project / "others").mkdir()
    past(project, 1, "your refund is done", "evals")
    trace(project, "something else")
    (project / "traces/a.json").rename(project / "others/a.json")
    past(project, 2, "your refund is done", "evals")
    told = command(project, "backtest", "evals", "past", "--json")
    reasons = [[reason["suite"] for reason in run["reasons"]] for run in json.loads(told.out)["runs"]]
    assert reasons == [["other"], ["other"]]


@pytest.mark.parametrize("name", ["results.json", "nothing", "past/*.zip"])
def test_what_is_no_baseline_with_traces_is_refused(project, name):
    (project / "results.json").write_text("{}")
    told = backtest(project, name)
    assert (told.code, told.out) == (2, "")
    assert f"no baseline.zip at '{name}'" in told.err


def test_a_damaged_baseline_is_refused_by_name(project):
    (project / "past/1.zip").write_bytes(b"PK\3\4 no zip")
    told = backtest(project)
    assert told.code == 2
    assert "past/1.zip" in told.err


def test_a_baseline_that_was_made_without_traces_is_refused(project):
    trace(project, "refund")
    command(project, "run", "--no-baseline-zip")
    command(project, "baseline", "create", ".evalgate", "-o", "past/1.zip")
    told = backtest(project)
    assert told.code == 2
    assert "past/1.zip keeps no traces" in told.err


def test_hostile_words_of_a_run_reach_no_terminal(project):
    past(project, 1, "\x1b[31m::error::refund\x1b[0m")
    told = backtest(project, suite=SUITE.replace("contains: refund", "equals: x"))
    assert "\x1b" not in told.out
    assert not any(line.startswith("::") for line in told.out.splitlines())
