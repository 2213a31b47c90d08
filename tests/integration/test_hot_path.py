"""What a further trace takes, counted in calls: the same on every machine, however busy it is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from evalgate.application.judge import judge
from evalgate.application.request import JudgeRequest
from evalgate.bootstrap import verbs
from evalgate.models.pieces import pieces_of
from evalgate.settings.limits import Limits

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import traces  # noqa: E402  (the benchmarks are no package)

FEW, MANY = 20, 120
MOST_CALLS = {"suite.yaml": 550, "filters.yaml": 680}
"""Functions, Python's and C's, that a further trace may call, from its line to its place in every report."""


def calls_of(folder: Path, suite: str, count: int) -> int:
    """How many functions a whole judgement of so many traces calls."""
    traces.write(folder / f"{count}.jsonl", count, scenarios=4)
    tools = verbs.shell_tools(str(folder), "out", Limits(), source_date_epoch="0", progress_to=None)
    request = JudgeRequest(
        configs=[str(BENCHMARKS / suite)],
        traces=[f"{count}.jsonl"],
        make_baseline_zip=False,
    )
    called = 0

    def count_call(_frame: object, event: str, _argument: object) -> None:
        nonlocal called
        called += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count_call)
    try:
        judged = judge(request, tools)
        written = sum(map(len, pieces_of(judged.files["results.json"])))
    finally:
        sys.setprofile(before)
    assert judged.exit_code == 0
    assert written > count
    return called


@pytest.mark.parametrize("suite", MOST_CALLS)
def test_a_further_trace_calls_few_functions(tmp_path, suite):
    calls_of(tmp_path, suite, FEW)  # whatever is imported or compiled once
    further = (calls_of(tmp_path, suite, MANY) - calls_of(tmp_path, suite, FEW)) / (MANY - FEW)
    assert further <= MOST_CALLS[suite]
