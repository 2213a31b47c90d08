"""`evalgate view` writes the page of a finished run, from its output folder or its baseline.zip."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from in_process_command import evalgate

SUITE = """version: 1
suite: support
traces: [nothing.json]
scenarios:
  - id: "*"
    assertions:
      - {type: tool_called, tool: lookup_order}
"""


def a_trace(number: int, tool: str) -> dict:
    return {
        "schema": "evalgate.trace/1",
        "trace_id": f"t{number}",
        "scenario_id": f"task-{number}",
        "messages": [
            {"role": "user", "content": f"Question {number} " + "x" * 2_000},
            {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "name": tool, "arguments": {}}]},
            {"role": "tool", "tool_call_id": "c", "content": "{}"},
            {"role": "assistant", "content": "Done."},
        ],
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    (folder / "suite.yaml").write_text(SUITE)
    traces = [a_trace(number, "search" if number == 3 else "lookup_order") for number in range(6)]
    (folder / "traces.jsonl").write_text("\n".join(map(json.dumps, traces)))
    arguments = ["--traces", str(folder / "traces.jsonl"), "--output-dir", str(folder / "out")]
    assert evalgate("run", str(folder / "suite.yaml"), *arguments).exit_code in (0, 1)
    return folder / "out"


def count_blocks(page: str) -> int:
    return len(re.findall('<script type="application/json" id="t', page))


def test_page_of_a_folder_is_that_of_its_zip_and_starts_with_what_fails(finished, tmp_path):
    done = evalgate("view", str(finished), "-o", str(tmp_path / "a.html"))
    evalgate("view", str(finished / "baseline.zip"), "-o", str(tmp_path / "b.html"))
    page = (tmp_path / "a.html").read_text()

    assert done.exit_code == 0, done.err
    assert page == (tmp_path / "b.html").read_text()
    assert count_blocks(page) == 6
    assert "This file holds 6 recorded conversations." in page
    assert re.findall(r'href="#s0">([^<]+)', page) == ["task-3"]


@pytest.mark.parametrize("more", [[], ["--no-baseline-zip"], ["--jobs", "2"]])
def test_run_writes_the_page_that_view_writes(finished, tmp_path, more):
    suite, traces = str(finished.parent / "suite.yaml"), str(finished.parent / "traces.jsonl")
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "report.html").write_text("of an earlier run")
    done = evalgate(
        "run", suite, "--traces", traces, "--output-dir", str(folder), "--html", f"{tmp_path}/a.html", *more
    )
    page = (tmp_path / "a.html").read_text()

    assert count_blocks(page) == 6
    assert f"written: {tmp_path}/a.html (it holds conversations" in done.err
    assert sorted(path.name for path in folder.glob("*.html")) == []
    if (folder / "baseline.zip").exists():
        evalgate("view", str(folder), "-o", str(tmp_path / "b.html"))
        assert page == (tmp_path / "b.html").read_text()


def test_run_of_wrong_input_writes_no_page(tmp_path):
    (tmp_path / "suite.yaml").write_text("version: 7\n")
    done = evalgate(
        "run", str(tmp_path / "suite.yaml"), "--html", f"{tmp_path}/a.html", "--output-dir", f"{tmp_path}/o"
    )

    assert done.exit_code == 2
    assert not (tmp_path / "a.html").exists()


def test_results_alone_have_no_conversations(finished, tmp_path):
    shutil.copy(finished / "results.json", tmp_path / "results.json")
    done = evalgate("view", str(tmp_path))
    page = (tmp_path / "report.html").read_text()

    assert done.exit_code == 0, done.err
    assert "This file holds no conversations: only results.json was read." in page
    assert count_blocks(page) == 0


def test_conversations_of_passing_scenarios_are_left_out_first(finished):
    from evalgate.application.judge.view_run import PageOptions, view_run
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files

    files, traces = build_baseline_files("/"), build_trace_files("/")
    source = str(finished / "baseline.zip")
    whole = view_run(files, traces, source, PageOptions(None))
    limit = len(whole.html) - 5_000
    part = view_run(files, traces, source, PageOptions(limit))

    assert whole.held == 6
    assert 0 < part.held < 6
    assert part.held + part.left_out == 6
    assert len(part.html.encode()) <= limit
    assert re.search('<script type="application/json" id="t0">.*Question 3', part.html)
    assert f"{part.left_out} of 6 are left out" in part.html


@pytest.mark.parametrize(("flag", "held"), [("--summary", 0), ("--full", 6)])
def test_summary_has_no_conversation_and_full_has_all(finished, tmp_path, flag, held):
    evalgate("view", str(finished), flag, "-o", str(tmp_path / "page.html"))

    assert count_blocks((tmp_path / "page.html").read_text()) == held


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["nothing"], "there is no finished run at nothing"), (["--max-mb", "0"], "--max-mb is a number from 1 to 1,000")],
)
def test_wrong_input_is_named(arguments, message):
    done = evalgate("view", *arguments)

    assert done.exit_code == 2
    assert message in done.err
