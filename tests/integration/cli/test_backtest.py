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


def verdicts(done):
    found = json.loads(done.out)
    return [(run["path"], run["verdict_then"], run["verdict_now"]) for run in found["runs"]]


def test_runs_that_today_s_rules_would_have_blocked_are_counted(project):
    past(project, 1, "your refund is done")
    past(project, 2, "a refund takes days")
    past(project, 3, "your refund is done")
    done = backtest(project)
    assert done.code == 0
    assert done.out.splitlines()[-2:] == [
        "blocked by refunds / a: 1 run",
        "would have blocked 1 of 3 runs; 1 of them passed at the time",
    ]


def test_runs_are_listed_oldest_first_whatever_their_names(project):
    past(project, 2, "a refund takes days", name="a.zip")
    past(project, 1, "your refund is done", name="b.zip")
    done = backtest(project, "past/*.zip", "--json")
    assert verdicts(done) == [("past/b.zip", "pass", "pass"), ("past/a.zip", "pass", "fail")]
    assert json.loads(done.out)["summary"] == {
        "runs": 2,
        "blocked": 1,
        "newly_blocked": 1,
        "released": 0,
        "cannot_judge": 0,
    }


def test_a_run_that_a_weaker_rule_would_let_pass_is_reported(project):
    past(project, 1, "no")
    done = backtest(project, suite=SUITE.replace("contains: refund", "contains: no"))
    assert done.out.endswith("would have blocked 0 of 1 run; 1 that failed at the time would pass\n")


def test_each_run_is_compared_with_the_one_before_it(project):
    for day, answer in enumerate(["refund", "nothing", "nothing", "refund"]):
        past(project, day, answer)
    done = backtest(project, "past", "--fail-on", "broken", "--json", suite=SUITE)
    assert [now for _, _, now in verdicts(done)] == ["pass", "fail", "pass", "pass"]
    assert json.loads(done.out)["runs"][1]["compared_with"] == "past/0.zip"


def test_a_missing_baseline_is_not_a_reason_for_the_first_run(project):
    past(project, 1, "refund")
    done = backtest(project, "past", "--fail-on", "no_baseline,hard_fail", "--json", suite=SUITE)
    assert verdicts(done) == [("past/1.zip", "pass", "pass")]


def test_a_scenario_that_a_run_knows_nothing_of_does_not_count(project):
    past(project, 1, "refund")
    done = backtest(project, "past", "--json", suite=SUITE + "  - {id: b, assertions: [{contains: x}]}\n")
    assert verdicts(done) == [("past/1.zip", "pass", "pass")]
    assert json.loads(done.out)["runs"][0]["unknown_scenarios"] == 1


def test_a_scenario_that_was_missing_then_is_missing_today(project):
    (project / "evals/refunds.yaml").write_text(SUITE + "  - {id: b, assertions: [{contains: x}]}\n")
    past(project, 1, "refund")
    done = backtest(project, "past", "--json", suite=SUITE + "  - {id: b, assertions: [{contains: x}]}\n")
    assert verdicts(done) == [("past/1.zip", "fail", "fail")]


def test_a_suite_judges_only_what_it_read(project):
    """Two suites with a scenario of one name, each with its own traces."""
    (project / "evals/other.yaml").write_text(
        SUITE.replace("suite: refunds", "suite: other").replace("../traces", "../others")
    )
    (project / "others").mkdir()
    trace(project, "something else")
    (project / "traces/a.json").rename(project / "others/a.json")
    past(project, 1, "your refund is done", "evals")
    past(project, 2, "your refund is done", "evals")
    done = command(project, "backtest", "evals", "past", "--json")
    reasons = [[reason["suite"] for reason in run["reasons"]] for run in json.loads(done.out)["runs"]]
    assert reasons == [["other"], ["other"]]


@pytest.mark.parametrize("name", ["results.json", "nothing", "past/*.zip"])
def test_a_file_that_is_not_a_baseline_with_traces_is_refused(project, name):
    (project / "results.json").write_text("{}")
    done = backtest(project, name)
    assert (done.code, done.out) == (2, "")
    assert f"no baseline.zip at '{name}'" in done.err


def test_a_damaged_baseline_is_refused_by_name(project):
    (project / "past/1.zip").write_bytes(b"PK\3\4 no zip")
    done = backtest(project)
    assert done.code == 2
    assert "past/1.zip" in done.err


def test_a_baseline_that_was_made_without_traces_is_refused(project):
    trace(project, "refund")
    command(project, "run", "--no-baseline-zip")
    command(project, "baseline", "create", ".evalgate", "-o", "past/1.zip")
    done = backtest(project)
    assert done.code == 2
    assert "past/1.zip holds no traces" in done.err


def test_hostile_text_of_a_run_reaches_no_terminal(project):
    past(project, 1, "\x1b[31m::error::refund\x1b[0m")
    done = backtest(project, suite=SUITE.replace("contains: refund", "equals: x"))
    assert "\x1b" not in done.out
    assert not any(line.startswith("::") for line in done.out.splitlines())
