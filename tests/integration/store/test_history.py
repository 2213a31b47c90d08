"""Runs stored and listed by the command itself, on SQLite and on PostgreSQL."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

import pytest
from markdown_check import find_flaws, runner_commands
from msgspec.structs import replace

from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.features.store.bootstrap.store import open_store
from evalgate.models.comparison.comparison import ScenarioKey
from evalgate.models.history.stored_run import RunFacts, StoredRun, StoredScenarioRow, StoredSuiteRow
from evalgate.reporting.results.load_results import load_results

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.run.run import Verdict

DAY = 86_400
START = 1_790_000_000  # 2026-09-21
HOSTILE = "b|`@everyone`\n::error::x\x1b[31m<!-- [x](http://evil) $y$"


class Ended(NamedTuple):
    code: int
    out: str
    err: str


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def command(folder: Path, *arguments: str, on_terminal: bool = False, **environ: str) -> Ended:
    out, err = (Terminal() if on_terminal else io.StringIO()), io.StringIO()
    code = main(list(arguments), Shell(out, err, {"NO_COLOR": "1", **environ}, str(folder)))
    return Ended(code, out.getvalue(), err.getvalue())


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "traces").mkdir(parents=True)
    written(folder)
    return folder


def written(folder: Path, *ids: str, **more: object) -> None:
    scenarios = [{"id": each, "assertions": [{"contains": "ok"}]} for each in ids or ("a", "b")]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": scenarios, **more}
    (folder / "s.yaml").write_text(json.dumps(suite))


def judged(folder: Path, day: int, *flags: str, branch: str = "main", url: str = "", **answers: str) -> Ended:
    """One run a day, with its own traces."""
    for scenario, answer in answers.items():
        messages = [{"role": "user", "content": f"day {day}"}, {"role": "assistant", "content": answer}]
        trace = {
            "schema": "evalgate.trace/1", "scenario_id": scenario, "cost_usd": 0.01 * day, "messages": messages,
        }  # fmt: skip
        (folder / f"traces/{abs(hash(scenario))}.json").write_text(json.dumps(trace))
    environ = {"SOURCE_DATE_EPOCH": str(START + day * DAY), "GITHUB_REF_NAME": branch}
    store = ["--store-url", url] if url else []
    return command(folder, "run", "s.yaml", "--no-baseline-zip", *store, *flags, **environ)


def results(folder: Path):
    return load_results((folder / ".evalgate/results.json").read_bytes())


def run_history(folder: Path, url: str, *arguments: str, **more):
    return command(folder, "history", "--store-url", url, *arguments, **more)


def document(folder: Path, url: str, *arguments: str):
    return json.loads(run_history(folder, url, *arguments, "--json").out)


def test_two_runs_are_listed_newest_first(project, store_url):
    for day, answer in enumerate(["ok", "no"], 1):
        ended = judged(project, day, url=store_url, a="ok", b=answer)
        assert (ended.code, "stored in" in ended.err) == (0, True)
    lines = run_history(project, store_url).out.splitlines()
    assert [line.split()[:6] for line in lines[1:3]] == [
        ["2026-09-23", "14:13", "\u2013", "main", "pass", "50%"],
        ["2026-09-22", "14:13", "\u2013", "main", "pass", "100%"],
    ]
    assert [line.split()[0] for line in lines[5:]] == ["FAIL", "PASS"]
    assert "passed 1 of the last 2 runs" in lines[5]


def test_the_same_run_is_stored_once_and_another_workflow_run_again(project, store_url):
    first = judged(project, 1, url=store_url, a="ok", b="ok")
    again = judged(project, 2, url=store_url)
    assert "stored in" in first.err
    assert "not stored again in" in again.err
    assert len(document(project, store_url)["runs"]) == 1
    # Done again it is no run of the past: the report does not count it twice.
    assert len(results(project)["history"]["runs"]) == 1


def test_a_run_of_another_workflow_run_is_another_run(project, store_url):
    judged(project, 1, url=store_url, a="ok", b="ok")
    environ = {"SOURCE_DATE_EPOCH": str(START + DAY), "GITHUB_RUN_ID": "77"}
    arguments = ["run", "s.yaml", "-q", "--no-baseline-zip", "--store-url", store_url]
    for _ in range(2):
        command(project, *arguments, **environ)
    assert len(document(project, store_url)["runs"]) == 2


def test_what_is_stored_is_all_of_the_results_and_a_row_a_scenario(project, store_url):
    judged(project, 1, url=store_url, a="ok", b="no")
    [run] = document(project, store_url)["runs"]
    with open_store(store_url, str(project)) as store:
        stored = store.runs.get(run["run_id"])
    assert stored.results == (project / ".evalgate/results.json").read_bytes()
    assert [(row.key.id, row.verdict, row.n, row.passed, row.cost_usd) for row in stored.scenarios] == [
        ("a", "PASS", 1, 1, 0.01),
        ("b", "FAIL", 1, 0, 0.01),
    ]
    assert stored.facts.totals == (2, 1, 1, 0.5, 0, 0, 0)
    assert (stored.facts.suites, stored.facts.branch, stored.facts.exit_code) == (("s",), "main", 0)
    assert stored.suites[0].pass_rate == 0.5


def remembered(project: Path, url: str, signs: str, branch: str = "main") -> None:
    """Runs of other days, as a store has them: `a` always passed, `b` where the sign is `+`."""
    with open_store(url, str(project)) as store:
        for day, sign in enumerate(signs, 1):
            at = datetime.fromtimestamp(START + day * DAY, UTC)
            share = 1.0 if sign == "+" else 0.5
            facts = RunFacts(
                f"{branch}{day}",
                ("s",),
                "pass",
                0,
                at,
                at,
                0,
                branch=branch,
                score=share,
                pass_rate=share,
                cost_usd=0.5,
            )
            rows = [row(each, "PASS" if each == "a" or sign == "+" else "FAIL") for each in ("a", "b")]
            assert store.runs.record(StoredRun(facts, (StoredSuiteRow("s", "pass"),), tuple(rows), b"{}"))


def row(scenario: str, verdict: Verdict) -> StoredScenarioRow:
    score = float(verdict == "PASS")
    return StoredScenarioRow(ScenarioKey("s", scenario, None), verdict, score, 1, int(score), score)


def test_flaky_scenarios_are_listed_with_since_when(project, store_url):
    remembered(project, store_url, "+++++-++")
    ended = run_history(project, store_url, "--flaky")
    assert "passed 7 of the last 8 runs, newly flaky since 2026-09-27" in ended.out
    assert "s / a" not in ended.out
    assert ended.err == "1 scenario had the same outcome in every run\n"


def test_the_comment_names_what_became_flaky_with_this_very_run(project, store_url):
    remembered(project, store_url, "++++++-")
    judged(project, 8, url=store_url, a="ok", b="ok")
    comment, summary = ((project / f".evalgate/{name}.md").read_text() for name in ("comment", "summary"))
    assert "- ` s / b ` ` passed 7 of the last 8 runs, newly flaky since 2026-09-28 `" in comment
    assert summary.count("```mermaid") == 2
    assert "bar [1, 1, 1, 1, 1, 1, 0.5, 1]" in summary
    assert "mermaid" not in comment
    explained = command(project, "explain", "b").out
    assert "history  passed 7 of the last 8 runs, newly flaky since 2026-09-28" in explained


def test_a_run_without_a_store_shows_no_history(project, store_url):
    remembered(project, store_url, "+-+-+")
    judged(project, 7, a="ok", b="ok")
    assert "history" not in results(project)


def test_history_is_of_the_branch_that_is_merged_into(project, store_url):
    judged(project, 1, url=store_url, a="ok", b="ok")
    judged(project, 2, url=store_url, branch="feature", a="ok", b="no")
    environ = {
        "GITHUB_REF_NAME": "12/merge",
        "GITHUB_BASE_REF": "main",
        "SOURCE_DATE_EPOCH": str(START + 9 * DAY),
    }
    command(project, "run", "s.yaml", "-q", "--no-baseline-zip", "--store-url", store_url, **environ)
    history = results(project)["history"]
    assert (history["branch"], [run["pass_rate"] for run in history["runs"]]) == ("main", [1.0, 0.5])
    assert [run["branch"] for run in document(project, store_url, "--branch", "feature")["runs"]] == ["feature"]


def test_one_scenario_is_listed_with_its_own_runs(project, store_url):
    remembered(project, store_url, "+-+")
    history = document(project, store_url, "--scenario", "b", "--limit", "2")
    assert [run["verdict"] for run in history["runs"]] == ["FAIL", "PASS"]
    assert [(each["scenario"], each["outcomes"]) for each in history["scenarios"]] == [("b", "+-+")]


def test_a_terminal_draws_trends_and_a_pipe_gets_plain_text(project, store_url):
    remembered(project, store_url, "+-+")
    drawn = run_history(project, store_url, on_terminal=True).out
    assert "score      \u2588\u2585\u2588  1.00 to 1.00" in drawn
    assert "\u2588\u2581\u2588" in drawn
    assert not set(run_history(project, store_url).out) & set("\u2581\u2585\u2588")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--suite", "x"], "the store has no suite `x` (known: s)"),
        (["--branch", "mian"], "the store has no branch `mian` (did you mean `main`?)"),
        (["--scenario", "c"], "the store has no scenario `c` (known: a, b)"),
        (["--dimension", "tone"], "no run has a score of dimension `tone` (known: factual_accuracy, "),
        (
            ["--dimension", "tone_adherance"],
            "no run has a score of dimension `tone_adherance` (did you mean `tone_adherence`?)",
        ),
        (["--dimension", "tone_adherence"], "no run has a score of dimension `tone_adherence`\n"),
        (["--variant", "v"], "--variant needs --scenario"),
        (["--limit", "0"], "--limit takes a number from 1 to 1,000, not 0"),
    ],
)
def test_unknown_names_are_reported(project, arguments, message):
    remembered(project, "store.db", "+")
    ended = run_history(project, "store.db", *arguments)
    assert (ended.code, message in ended.err) == (2, True), ended.err


def test_an_id_in_several_suites_is_ambiguous(project, store_url):
    remembered(project, store_url, "+")
    written(project, "a", suite="t")
    judged(project, 2, url=store_url, a="ok")
    ended = run_history(project, store_url, "--scenario", "a")
    assert (ended.code, "add one of: --suite s; --suite t" in ended.err) == (2, True)
    assert run_history(project, store_url, "--scenario", "a", "--suite", "t").code == 0


def test_hostile_names_are_escaped(project, store_url):
    written(project, "*", suite="".join(filter(str.isprintable, HOSTILE)))
    for day, answer in enumerate(["ok", "no"], 1):
        judged(project, day, url=store_url, branch=HOSTILE, **{HOSTILE: answer})
    for ended in (run_history(project, store_url), run_history(project, store_url, on_terminal=True)):
        assert ended.code == 0
        assert "\x1b" not in ended.out
        assert not [line for line in ended.out.splitlines() if runner_commands(line)]
    for name in ("comment", "summary"):
        text = (project / f".evalgate/{name}.md").read_text()
        assert not find_flaws(text.partition("\n")[2] if name == "comment" else text)
    assert document(project, store_url)["scenarios"][0]["scenario"] == HOSTILE


def test_quarantine_is_stored(project, store_url):
    aside = {"scenario": "b", "reason": "x", "until": "2026-09-30"}
    written(project, quarantine=[aside])
    judged(project, 1, url=store_url, a="ok", b="no")
    assert "quarantined" in run_history(project, store_url).out
    assert [each["quarantined"] for each in document(project, store_url)["scenarios"]] == [True, False]


# --- which store, and what may go wrong -------------------------------------------------------------------------


def test_the_flag_overrides_the_variable_which_overrides_the_project(project):
    (project / "evalgate.yaml").write_text("version: 1\nsuites: [s.yaml]\nstore: of-the-project.db\n")
    judged(project, 1, a="ok", b="ok")
    assert [path.name for path in project.glob("*.db")] == ["of-the-project.db"]
    arguments = ["run", "--no-baseline-zip"]
    command(project, *arguments, EVALGATE_STORE_URL="of-the-variable.db")
    command(project, *arguments, "--store-url", "of-the-flag.db", EVALGATE_STORE_URL="of-the-variable.db")
    stored = {path.name for path in project.glob("*.db")}
    assert stored == {"of-the-project.db", "of-the-variable.db", "of-the-flag.db"}
    assert len(document(project, "of-the-project.db")["runs"]) == 1
    assert "stored" not in command(project, *arguments, "--store-url", "none").err


def test_a_project_names_no_url(project):
    (project / "evalgate.yaml").write_text("version: 1\nsuites: [s.yaml]\nstore: postgresql://me:secret@x/y\n")
    ended = command(project, "run", "-q")
    assert (ended.code, "evalgate.yaml:3" in ended.err, "secret" in ended.err) == (2, True, False)


@pytest.mark.parametrize("named", ["../outside.db", "{outside}/outside.db", "link/outside.db", "round/s.db", '"a\\0b"'])
def test_a_project_names_no_file_elsewhere(project, tmp_path_factory, named):
    outside = tmp_path_factory.mktemp("outside")
    (project / "link").symlink_to(outside)
    (project / "round").symlink_to("round")
    named = named.format(outside=outside)
    (project / "evalgate.yaml").write_text(f"version: 1\nsuites: [s.yaml]\nstore: {named}\n")
    ended = command(project, "run", "-q")
    assert ended.code == 2, ended.err
    assert (list(outside.iterdir()), list(project.parent.glob("*.db"))) == ([], [])


@pytest.mark.parametrize("answer", ["ok", "no"])
def test_an_unavailable_store_changes_no_verdict(project, answer):
    (project / "broken.db").write_bytes(b"this is no database, and never was" * 100)
    ended = judged(project, 1, "--fail-on", "below_threshold", url="broken.db", a=answer, b="ok")
    assert ended.code == (0 if answer == "ok" else 1)
    assert "warning: the run was not stored: broken.db is damaged, or is not a store of EvalGate" in ended.err


def test_an_unreachable_server_changes_no_verdict_and_reveals_no_password(project):
    url = "postgresql://me:hunter22@127.0.0.1:9/evalgate"
    ended = judged(project, 1, url=url, a="ok", b="ok")
    assert ended.code == 0
    assert "warning: the run was not stored" in ended.err
    assert "hunter22" not in ended.out + ended.err
    assert "hunter22" not in (project / ".evalgate/results.json").read_text()


def test_an_invalid_name_is_an_error(project):
    ended = judged(project, 1, url="mysql://me:hunter22@x/y", a="ok", b="ok")
    assert (ended.code, "hunter22" in ended.err) == (2, False)
    assert "must begin with sqlite: or postgresql:" in ended.err


def test_a_run_that_could_not_start_is_not_stored(project, store_url):
    (project / "s.yaml").write_text("suite: s\nscenarios: oops\n")
    ended = judged(project, 1, url=store_url)
    assert (ended.code, "stored" in ended.err) == (2, False)
    assert document(project, store_url)["runs"] == []


def test_a_store_without_runs_says_how_to_start(project, store_url):
    ended = run_history(project, store_url)
    assert (ended.code, ended.out) == (0, "")
    assert "contains no runs yet" in ended.err


# --- goldens ----------------------------------------------------------------------------------------------------


def with_golden(folder: Path, answer: str) -> None:
    golden = {
        "id": "late-parcel", "title": "A late parcel", "intent": "task_execution", "primary_stance": "supportive",
        "user_messages": ["Where is order 42?"], "golden_responses": ["Order 42 is late."],
    }  # fmt: skip
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "goldens": [golden]}
    (folder / "s.yaml").write_text(json.dumps(suite))
    messages = [
        {"role": "user", "content": "Where is order 42?"},
        {"role": "assistant", "content": answer},
    ]
    trace = {"schema": "evalgate.trace/1", "scenario_id": "late-parcel", "messages": messages}
    (folder / "traces/g.json").write_text(json.dumps(trace))


def test_goldens_are_stored_as_they_were_judged(project, store_url):
    with_golden(project, "Order 42 is late.")
    first = judged(project, 1, url=store_url)
    with_golden(project, "I have no idea, ask somebody else about it.")
    second = judged(project, 2, url=store_url)
    assert "stored in" in first.err
    assert "stored in" in second.err
    with open_store(store_url, str(project)) as store:
        [golden] = store.goldens.list()
        evaluations = store.evaluations.list(golden_id="late-parcel")
        runs = store.runs.list()
    assert (golden.title, golden.version, golden.golden_responses) == (
        "A late parcel",
        1,
        ("Order 42 is late.",),
    )
    assert [each.run_id for each in evaluations] == [run.id for run in runs]
    worse, good = evaluations
    assert good.overall_score == 1.0
    assert worse.overall_score < 0.5
    assert worse.turns[0].golden_response == "Order 42 is late."
    assert runs[0].issues.by_category["completeness"] >= 1
    dimension = "response_completeness"
    trend = [run["dimension"] for run in document(project, store_url, "--dimension", dimension)["runs"]]
    assert trend == [1.0, worse.dimensions[dimension]]


def test_a_golden_that_the_store_has_is_not_written_over(project, store_url):
    with_golden(project, "Order 42 is late.")
    judged(project, 1, url=store_url)
    with open_store(store_url, str(project)) as store:
        store.goldens.update(replace(store.goldens.get("late-parcel"), title="Another title"))
    with_golden(project, "Order 42 is late, sorry.")
    judged(project, 2, url=store_url)
    with open_store(store_url, str(project)) as store:
        golden = store.goldens.get("late-parcel")
    assert (golden.title, golden.version) == ("Another title", 2)


def test_only_scenarios_that_turned_within_the_window_are_named(project, store_url):
    remembered(project, store_url, "-+++++")
    remembered(project, store_url, "+-", branch="feature")
    with open_store(store_url, str(project)) as store:
        b = [ScenarioKey("s", "b", None)]
        assert store.runs.find_unsteady(6, branch="main") == b
        assert store.runs.find_unsteady(5, branch="main") == []
        assert store.runs.find_unsteady(0) == []
        assert store.runs.find_unsteady(9) == b
        assert store.runs.find_unsteady(9, suite="other") == []
        assert store.runs.find_unsteady(9, branch="feature", suite="s") == b


def outage(folder: Path, scenario: str, trial: int = 0) -> None:
    """A run that its model provider ended, next to the scenario's other trials."""
    calls = [{"error": {"type": "RateLimitError", "status_code": 429}}]
    messages = [{"role": "user", "content": f"{scenario} {trial}"}]
    trace = {"schema": "evalgate.trace/1", "scenario_id": scenario, "trial": trial, "messages": messages}
    trace |= {"llm_calls": calls, "cost_usd": 0.5}
    (folder / f"traces/outage-{scenario}-{trial}.json").write_text(json.dumps(trace))


def test_outages_are_shown_in_the_history_and_are_no_flip(project, store_url):
    policy = {"validity": {"max_not_measured": 1}}
    written(project, policy=policy)
    judged(project, 1, url=store_url, a="ok", b="ok")
    (project / f"traces/{abs(hash('b'))}.json").unlink()
    outage(project, "a", trial=1)
    outage(project, "b")
    ended = judged(project, 2, url=store_url, a="ok")
    assert ended.code == 0, ended.out
    shown = run_history(project, store_url).out.splitlines()
    assert shown[0].split("  ")[-1].strip() == "not measured"
    assert [line.split()[-1] for line in shown[1:3]] == ["2", "unknown"]  # latency is not recorded
    assert [line.split()[:2] for line in shown[5:7]] == [["PASS", "s"], ["NOT", "MEASURED"]]
    found = document(project, store_url)
    assert [(run["not_measured"], run["pass_rate"], run["cost_usd"]) for run in found["runs"]] == [
        (0, 1.0, 0.02),
        (2, 1.0, 1.02),
    ]
    last = {
        each["scenario"]: (each["last"]["not_measured"], each["outcomes"], each["flips"]) for each in found["scenarios"]
    }
    assert last == {"a": (1, "++", 0), "b": (1, "+", 0)}
    assert results(project)["history"]["runs"][-1]["not_measured"] == 2
    with open_store(store_url, str(project)) as store:
        stored = store.runs.get(found["runs"][1]["run_id"])
    assert [
        (row.key.id, row.verdict, row.n, row.passed, row.cost_usd, row.not_measured) for row in stored.scenarios
    ] == [
        ("a", "PASS", 1, 1, 0.02, 1),
        ("b", "NOT_EVALUABLE", 0, 0, None, 1),
    ]
    assert (stored.facts.not_measured, stored.suites[0].not_measured) == (2, 2)
