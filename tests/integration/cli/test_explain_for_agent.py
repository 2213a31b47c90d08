"""`evalgate explain --for-agent` on the bundled example and on hostile recordings; `evalgate skill`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from documents import ROOT, SKILL
from hostile_texts import HOSTILE_TEXTS
from in_process_command import evalgate

SUITE = str(ROOT / "examples/support-agent/evals/support.yaml")
TRACES = str(ROOT / "examples/support-agent/traces")


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Main's run in `main`, that of the pull request in the default folder, and in `alone` without a baseline."""
    folder = tmp_path_factory.mktemp("demo")
    run = ["run", SUITE, "-q", "--traces"]
    assert evalgate(*run, f"{TRACES}/main/*.jsonl", "--output-dir", "main", cwd=str(folder)).exit_code == 0
    pull_request = [*run, f"{TRACES}/pr/*.jsonl"]
    assert evalgate(*pull_request, "--baseline", "main", cwd=str(folder)).exit_code == 1
    assert evalgate(*pull_request, "--output-dir", "alone", cwd=str(folder)).exit_code == 1
    return folder


def explain(folder: Path, *words: str) -> str:
    done = evalgate("explain", "--for-agent", *words, cwd=str(folder))
    assert (done.exit_code, done.err) == (0, "")
    assert len(done.out.rstrip("\n")) <= 4_000
    return done.out


DIFFERENCE = """\
│   first difference from the baseline: call 2 of the baseline in turn 1, which is missing
│   baseline: check_refund_policy {"order_id":"A1002"}
│   now: issue_refund {"amount":34.0,"order_id":"A1002"}
"""


def test_the_run_is_explained_from_what_it_left(demo: Path) -> None:
    out = explain(demo)
    assert out.startswith("EvalGate, for a coding agent: the gate fails (exit code 1).")
    assert "│ scenario: refund-outside-window (suite support, " in out
    assert "support.yaml:" in out
    assert DIFFERENCE in out
    assert "no refund (" in out
    assert "\n│ command: evalgate run " in out
    assert explain(demo) == out


def test_one_scenario_is_explained_alone(demo: Path) -> None:
    out = explain(demo, "refund-outside-window")
    assert out.count("│ scenario: ") == 1
    assert DIFFERENCE in out


def test_a_run_is_compared_with_another_one(demo: Path) -> None:
    assert "first difference" not in explain(demo, "alone")
    out = explain(demo, "alone", "--baseline", "main")
    assert DIFFERENCE in out
    assert "the gate fails (exit code 1)" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nope"], "error: no suite of .evalgate/results.json has scenario `nope`"),
        (["--all"], "error: argument --all: not allowed with argument --for-agent"),
        (["--run", "nowhere"], "error: "),
        (["--suite", "support"], "error: --suite and --variant choose a scenario (name it before them)"),
        (["refund-outside-window", "--suite", "nope"], "error: .evalgate/results.json has no suite `nope`"),
    ],
)
def test_a_mistake_is_one_line(words: list[str], message: str, demo: Path) -> None:
    done = evalgate("explain", "--for-agent", *words, cwd=str(demo))
    assert (done.exit_code, done.out) == (2, "")
    assert done.err.startswith(message)
    assert done.err.count("\n") == 1


def test_a_scenario_that_only_the_baseline_has_is_a_mistake(demo: Path) -> None:
    suite = yaml.safe_load(Path(SUITE).read_text(encoding="utf-8"))
    gone = suite["scenarios"].pop()["id"]
    (demo / "fewer.yaml").write_text(json.dumps(suite), encoding="utf-8")
    run = ("run", "fewer.yaml", "-q", "--traces", f"{TRACES}/main/*.jsonl", "--baseline", "main")
    evalgate(*run, "--output-dir", "fewer", cwd=str(demo))
    done = evalgate("explain", "--for-agent", gone, "fewer", cwd=str(demo))
    assert (done.exit_code, done.out) == (2, "")
    assert done.err == f"error: only the baseline has scenario `{gone}` (no suite has it now)\n"


def test_recordings_full_of_hostile_texts_stay_in_one_fence(tmp_path: Path) -> None:
    """Through the reader, the checks and the comparison: in ids, names of tools, arguments, results and answers."""
    lines = []
    for text in HOSTILE_TEXTS[::5]:
        shown = text.encode("utf-8", "replace").decode()[:500]
        call = {"name": shown, "arguments": {"q": shown, shown: 1}, "result": shown}
        messages = [{"role": "user", "content": shown}, {"role": "assistant", "content": shown, "tool_calls": [call]}]
        lines.append(json.dumps({"trace_id": f"t{len(lines)}", "scenario_id": "a", "messages": messages}))
    (tmp_path / "traces.jsonl").write_text("\n".join(lines), encoding="utf-8")
    checks = [
        {"type": "output_contains", "value": "done", "required": True},
        {"type": "tool_sequence", "sequence": ["a", "b"]},
    ]
    suite = {"suite": "s", "traces": ["traces.jsonl"], "scenarios": [{"id": "a", "assertions": checks}]}
    (tmp_path / "suite.yaml").write_text(json.dumps(suite), encoding="utf-8")
    assert evalgate("run", "suite.yaml", "-q", cwd=str(tmp_path)).exit_code == 1
    out = explain(tmp_path)
    lines = out.split("\n")
    begin, end = lines.index(f"BEGIN {(mark := lines[6].removeprefix('BEGIN '))}"), lines.index(f"END {mark}")
    assert all(line.startswith("│ ") for line in lines[begin + 1 : end])
    assert [line for line in lines if line.startswith(("BEGIN", "END"))] == [lines[begin], lines[end]]


def test_the_skill_is_printed_with_the_frontmatter_that_agents_read() -> None:
    done = evalgate("skill")
    assert (done.exit_code, done.err) == (0, "")
    assert done.out == SKILL.read_text(encoding="utf-8")
    _, head, body = done.out.split("---\n", 2)
    fields = yaml.safe_load(head)
    assert fields.keys() == {"name", "description"}
    assert fields["name"] == "evalgate"
    assert len(fields["description"]) <= 1_024
    assert body.count("\n") <= 120
