"""A finished run is named in one way, and by the flags of before."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from in_process_command import CommandResult, evalgate

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """
version: 1
suite: shop
traces: [traces.jsonl]
scenarios:
  - id: "*"
    assertions: [{type: output_contains, value: refunded}]
"""


def write_traces(folder: Path, answers: dict[str, str]) -> None:
    lines = [
        {
            "schema": "evalgate.trace/1",
            "trace_id": id_,
            "scenario_id": id_,
            "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": answer}],
        }
        for id_, answer in answers.items()
    ]
    (folder / "traces.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A last run in which `late` fails, a run `old` in which nothing does, and a run `late` with the id of it."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "suite.yaml").write_text(SUITE)
    write_traces(folder, {"early": "refunded", "late": "refunded"})
    assert evalgate("run", "suite.yaml", "--output-dir", "old", cwd=str(folder)).exit_code == 0
    write_traces(folder, {"early": "no", "late": "refunded"})
    assert evalgate("run", "suite.yaml", "--output-dir", "late", cwd=str(folder)).exit_code == 0
    write_traces(folder, {"early": "refunded", "late": "no"})
    assert evalgate("run", "suite.yaml", cwd=str(folder)).exit_code == 0
    return folder


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("explain", "FAIL  late"),
        ("explain early", "PASS  early"),
        ("explain early late", "FAIL  early"),
        ("explain early late/results.json", "FAIL  early"),
        ("explain early late/baseline.zip", "FAIL  early"),
        ("explain late", "FAIL  late"),  # both a scenario and a run
        ("explain --run late", "FAIL  early"),
        ("explain --results late/results.json", "FAIL  early"),  # as before
        ("explain late --run old", "PASS  late"),
        ("explain late/results.json", "FAIL  early"),  # no scenario
    ],
)
def test_explain_takes_a_scenario_and_a_run(project: Path, line: str, first: str) -> None:
    done = evalgate(*line.split(), cwd=str(project))
    assert (done.exit_code, done.out.split("\n")[0]) == (0, first), done.err


def test_a_second_run_is_wrong_usage(project: Path) -> None:
    for line in ("explain early late --run old", "baseline save late --output-dir old"):
        done = evalgate(*line.split(), cwd=str(project))
        assert (done.exit_code, done.err.count("\n")) == (2, 1)
        assert done.err.startswith("error: two runs are named, late and --")


@pytest.mark.parametrize("run", ["", "./.evalgate", ".evalgate/results.json", ".evalgate/baseline.zip"])
def test_every_verb_takes_each_name_of_a_run(project: Path, run: str) -> None:
    words = [run] if run else []

    def call(*line: str) -> CommandResult:
        done = evalgate(*line, *words, cwd=str(project))
        assert done.exit_code == 0, done.err
        return done

    assert "late" in call("compare", "old").out
    assert "late" in call("baseline", "show").out
    assert call("view", "--summary", "-o", "page.html").out.startswith("written: page.html")
    assert call("baseline", "save").out.startswith("saved: .evalgate/saved/baseline.zip")
    assert '"late"' in call("track", "--dry-run").out
    assert call("explain", *([] if run else ["late"])).out.startswith("FAIL  late")


@pytest.mark.parametrize("run", ["old", "old/results.json"])
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("run suite.yaml --output-dir out --baseline {}", "broken"),
        ("explain late --baseline {}", "FAIL  late"),
        ("view --summary -o page.html --baseline {}", "written: page.html"),
        ("approve late --who me --because x --until {day} --run {}", "scenario `late` passes"),
        ("approvals --run {}", "no approvals"),
        ("migrate {} .evalgate", "baseline.zip -> .evalgate/baseline.zip"),
        ("confirm .evalgate --plan --base {}", ".evalgate/baseline.zip was not compared with old/baseline.zip"),
        ("calibrate --history {}", "too little history"),
        ("backtest suite.yaml {}", "old/baseline.zip"),
    ],
)
def test_so_does_every_option_that_names_one(project: Path, line: str, says: str, run: str) -> None:
    day = datetime.now(UTC).date() + timedelta(days=9)
    done = evalgate(*line.format(run, day=day).split(), cwd=str(project))
    assert says in done.out + done.err, done


def test_the_old_flag_of_save_names_the_run(project: Path) -> None:
    saved = evalgate("baseline", "save", "--output-dir", "old", "-o", "a.zip", cwd=str(project))
    assert (saved.exit_code, saved.err) == (0, "")
    assert (project / "a.zip").read_bytes() == (project / "old/baseline.zip").read_bytes()


@pytest.mark.parametrize("line", ["explain", "view", "compare gone", "baseline show", "track --dry-run", "explain a b"])
def test_without_a_run_the_first_step_is_named(tmp_path: Path, line: str) -> None:
    done = evalgate(*line.split(), cwd=str(tmp_path))
    assert done.exit_code == 2
    assert done.err.startswith("error: there is no finished run at ")
    assert done.err.endswith(" (run `evalgate run` first)\n")
