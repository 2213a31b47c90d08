"""`evalgate view` writes the page of a finished run, from its output folder or its baseline.zip."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape

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
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.features.page.application.view_run import PageOptions, view_run

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


def a_recorded(number: int, tool: str, reward: float, tag: str) -> dict:
    return {**a_trace(number, tool), "evaluations": [{"name": "reward", "score_value": reward}], "tags": [tag]}


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    """A run in which two scenarios broke, the second with a reward that fell too, and its baseline."""
    folder = tmp_path_factory.mktemp("compared")
    (folder / "suite.yaml").write_text(SUITE)
    for name, tool, rewards in (("base", "lookup_order", (1, 1)), ("head", "search", (1, 0))):
        traces = [a_recorded(number, tool, rewards[number], f"tag-{number}") for number in (0, 1)]
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, traces)))
    suite, base = str(folder / "suite.yaml"), str(folder / "base/baseline.zip")
    evalgate("run", suite, "--traces", str(folder / "base.jsonl"), "--output-dir", str(folder / "base"))
    arguments = ["--traces", str(folder / "head.jsonl"), "--baseline", base, "--output-dir", str(folder / "head")]
    assert evalgate("run", suite, *arguments, "--html", str(folder / "run.html")).exit_code == 0  # it only warns
    return folder


def test_baseline_adds_its_conversations_and_recorded_scores_as_run_does(compared):
    zipped = str(compared / "base/baseline.zip")
    assert evalgate("view", str(compared / "head"), "--baseline", zipped, "-o", f"{compared}/a.html").exit_code == 0
    page = (compared / "a.html").read_text()

    assert page == (compared / "run.html").read_text()
    assert "This file holds 2 recorded conversations and 2 of the baseline." in page
    assert re.findall('data-side="(t0|b)"', page) == ["t0", "b"] * 2
    assert re.findall(r'href="#s[0-9]">([^<]+)</a>', page) == ["task-1", "task-0"]
    recorded = '<th scope="row">Recorded reward <span class="note">baseline 1</span></th><td>([01])</td>'
    assert re.findall(recorded, page) == ["0", "1"]
    assert re.findall('<div class="finding">([^<]+)</div>', page) == ["lookup_order: missing"] * 2


def test_another_baseline_than_that_of_the_run_is_refused(compared, tmp_path):
    other = str(compared / "head/baseline.zip")
    found = evalgate("view", str(compared / "head"), "--baseline", other, "-o", f"{tmp_path}/c.html")
    assert (found.exit_code, found.err.count("\n"), (tmp_path / "c.html").exists()) == (2, 1, False)
    assert "is not the baseline that this run was compared with" in found.err


def test_a_link_of_the_repository_is_replaced_not_followed(finished, tmp_path):
    shutil.copytree(finished, tmp_path / "out")
    (tmp_path / "mine").write_text("alias")
    (tmp_path / "out/report.html").symlink_to(tmp_path / "mine")
    assert evalgate("view", str(tmp_path / "out")).exit_code == 0
    assert (tmp_path / "mine").read_text() == "alias"
    assert (tmp_path / "out/report.html").read_text().startswith("<!doctype html>")


@pytest.mark.parametrize("at_hand", [None, "another"])
def test_without_its_baseline_the_page_says_how_to_add_it(compared, tmp_path, at_hand):
    """The baseline that the run names was moved away, or another run stands in its place."""
    shutil.copytree(compared / "head", tmp_path / "head")
    results = json.loads((tmp_path / "head/results.json").read_text())
    results["baseline"]["path"] = str(tmp_path / "gone.zip")
    (tmp_path / "head/results.json").write_text(json.dumps(results))
    if at_hand:
        shutil.copy(compared / "head/baseline.zip", tmp_path / "gone.zip")
    assert evalgate("view", str(tmp_path / "head"), "-o", f"{tmp_path}/b.html").exit_code == 0
    page = (tmp_path / "b.html").read_text()

    assert "<code>evalgate view --baseline baseline.zip</code> adds it." in page
    assert '<th scope="row">Recorded reward</th><td>0</td>' in page
    assert 'data-side="b"' not in page


def test_baseline_of_the_run_is_found_where_the_run_had_it(compared):
    evalgate("view", str(compared / "head"), "-o", f"{compared}/found.html")
    assert (compared / "found.html").read_text() == (compared / "run.html").read_text()


ACTING = """version: 1
suite: support
traces: [nothing.json]
scenarios:
  - id: "*"
    assertions:
      - {type: tool_called, tool: refund_order}
"""


def an_act(scenario: int, trial: int, order: str, *looks: str) -> dict:
    calls = [{"id": f"c{at}", "name": name, "arguments": {}} for at, name in enumerate(looks)]
    calls.append({"id": "c9", "name": "refund_order", "arguments": {"order": order}})
    told = [
        message
        for call in calls
        for message in (
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": "{}"},
        )
    ]
    return {
        "schema": "evalgate.trace/1",
        "trace_id": f"t{scenario}-{trial}",
        "scenario_id": f"task-{scenario}",
        "messages": [{"role": "user", "content": "Refund it."}, *told, {"role": "assistant", "content": "Done."}],
    }


@pytest.fixture(scope="module")
def acting(tmp_path_factory):
    """The page of scenarios that pass: one trial looks up more by chance, another order is refunded, one twice."""
    folder = tmp_path_factory.mktemp("acting")
    (folder / "suite.yaml").write_text(ACTING)
    sides = {
        "base": [*(an_act(0, trial, "A1") for trial in (0, 1)), an_act(1, 0, "B1"), an_act(1, 1, "B1", "get_order")],
        "head": [an_act(0, 0, "A1", "get_order"), an_act(0, 1, "A1"), *(an_act(1, trial, "C3") for trial in (0, 1))],
    }
    for trial in (0, 1):
        once, again = an_act(2, trial, "D4"), an_act(2, trial, "D4", "refund_order")
        sides["base"], sides["head"] = [*sides["base"], once], [*sides["head"], again]
    for name, traces in sides.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, traces)))
    suite, base = str(folder / "suite.yaml"), str(folder / "base/baseline.zip")
    evalgate("run", suite, "--traces", str(folder / "base.jsonl"), "--output-dir", str(folder / "base"))
    arguments = ["--traces", str(folder / "head.jsonl"), "--baseline", base, "--output-dir", str(folder / "head")]
    assert evalgate("run", suite, *arguments, "--html", str(folder / "run.html")).exit_code == 0
    return (folder / "run.html").read_text()


def test_only_what_acts_differently_in_all_trials_is_said_of_a_scenario_that_passes(acting):
    assert re.findall(r'href="#s[0-9]">([^<]+)</a>', acting) == ["task-1", "task-2", "task-0"]
    assert re.findall('<div class="finding">([^<]+)</div>', unescape(acting)) == [
        "refund_order.order: B1 -> C3 in 2 of 2",
        "1 more call: refund_order in 2 of 2",
    ]
    other, twice, same = re.findall('<details class="scenario".*?<h3>Where and how', unescape(acting), re.DOTALL)
    assert 'order: "B1" \u2192 "C3"' in other
    assert "The agent calls <code>refund_order</code> with <code>{}</code> (call 1, turn 1)" in twice
    assert "Compared" not in same


def test_conversations_of_the_baseline_are_those_of_what_acts_differently(acting):
    assert "This file holds 6 recorded conversations and 2 of the baseline." in acting
    assert re.findall('data-side="(b)"', acting) == ["b"] * 2


def test_fixed_scenario_is_compared_for_the_page_only(compared, tmp_path):
    arguments = ["--traces", str(compared / "base.jsonl"), "--baseline", str(compared / "head/baseline.zip")]
    suite = str(compared / "suite.yaml")
    evalgate("run", suite, *arguments, "--output-dir", str(tmp_path / "out"), "--html", str(tmp_path / "a.html"))
    evalgate(
        "view", str(tmp_path / "out"), "--baseline", str(compared / "head/baseline.zip"), "-o", f"{tmp_path}/b.html"
    )
    page = (tmp_path / "a.html").read_text()

    assert page == (tmp_path / "b.html").read_text()
    assert page.count("The agent no longer calls <code>search</code>") == 2
    assert "This file holds 2 recorded conversations and 2 of the baseline." in page
    assert '"behaviour":' not in (tmp_path / "out/results.json").read_text()

    results = json.loads((tmp_path / "out/results.json").read_text())
    results["baseline"]["path"] = None  # as of a baseline that GitHub keeps
    (tmp_path / "out/results.json").write_text(json.dumps(results))
    evalgate("view", str(tmp_path / "out"), "-o", f"{tmp_path}/c.html")
    assert "baseline's conversation is not in this file" in (tmp_path / "c.html").read_text().replace("&#39;", "'")


def test_tags_of_traces_are_a_filter_and_a_failing_trace_can_be_read_as_json(compared):
    page = (compared / "run.html").read_text()
    blocks = [
        json.loads(each) for each in re.findall('<script type="application/json" id="t[0-9]+">(.*?)</script>', page)
    ]

    assert re.findall('<option value="[12]">([^<]+)</option>', page) == ["tag-0", "tag-1"]
    assert re.findall('data-tags="([^"]+)"', page) == ["2", "1"]
    assert [("raw" in block) for block in blocks] == [True, False] * 2
    assert {json.loads(block["raw"])["trace_id"] for block in blocks[::2]} == {"t0", "t1"}


def test_page_of_results_alone_says_what_is_missing_and_how_to_add_it(compared, tmp_path):
    shutil.copy(compared / "head/results.json", tmp_path / "results.json")
    evalgate("view", str(tmp_path))
    page = (tmp_path / "report.html").read_text()

    assert "To add them, put the baseline.zip of the same run next to results.json" in page
    assert "What the agent did instead" in page


def test_page_of_a_run_without_a_baseline_says_how_to_compare_it(finished, tmp_path):
    evalgate("view", str(finished), "-o", str(tmp_path / "a.html"))

    assert "This run was compared with no baseline" in (tmp_path / "a.html").read_text()
