"""What a further trace costs, counted in function calls: the same on every machine, however busy it is."""

from __future__ import annotations

import gc
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.application.judge.judge import judge
from evalgate.application.messages.request import JudgeRequest
from evalgate.bootstrap import shell_verbs
from evalgate.measures.redaction.redact import hide_secrets
from evalgate.models.run.chunks import iter_chunks
from evalgate.models.trace.trace import Trace
from evalgate.settings.limits import Limits

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))

import traces  # noqa: E402  (the benchmarks are no package)

if TYPE_CHECKING:
    from collections.abc import Callable

FEW, MANY = 20, 120


def bare_chat(trace: dict[str, Any]) -> dict[str, Any]:
    """A chat trace with little but its messages."""
    recorded = traces.chat(trace)
    return {name: recorded[name] for name in ("model", "messages", "cost_usd")}


SHAPES = {
    "native": None,
    "native with more fields": traces.add_fields,
    "openai-chat": traces.chat,
    "openai-chat and little else": bare_chat,
    "openai-chat with flat calls": traces.flat_chat,
}
MOST_CALLS = {"suite.yaml": 305, "filters.yaml": 440}
"""Functions, Python's and C's, that a further trace may call, from its line to its place in every report."""
MOST_TO_READ = {
    "native": 134,
    "native with more fields": 193,
    "openai-chat": 182,
    "openai-chat and little else": 154,
    "openai-chat with flat calls": 197,
}
"""Those that reading it alone may call."""


def calls_of(folder: Path, suite: str, count: int) -> int:
    """How many functions a whole judgement of so many traces calls."""
    traces.write(folder / f"{count}.jsonl", count, scenarios=4)
    tools = shell_verbs.build_shell_tools(str(folder), "out", Limits(), source_date_epoch="0", progress_to=None)
    request = JudgeRequest(
        configs=[str(BENCHMARKS / suite)],
        traces=[f"{count}.jsonl"],
        make_baseline_zip=False,
    )

    def judging() -> None:
        judged = judge(request, tools)
        assert judged.exit_code == 0
        assert sum(map(len, iter_chunks(judged.files["results.json"]))) > count

    return calls_in(judging)


def calls_to_read(folder: Path, shape: str, count: int) -> int:
    """How many functions reading so many traces calls."""
    traces.write(folder / f"{count}.jsonl", count, shaped=SHAPES[shape])
    files, (form, *_) = TraceFiles(Workspace(None, str(folder))), shape.split()

    def read() -> None:
        found = sum(isinstance(record, Trace) for record in files.read([f"{count}.jsonl"], "", form))
        assert found == count

    return calls_in(read)


def calls_in(work: Callable[[], None]) -> int:
    """How many functions some work calls."""
    called = 0

    def count_call(_frame: object, event: str, _argument: object) -> None:
        nonlocal called
        called += event in {"call", "c_call"}

    before = sys.getprofile()
    hide_secrets([])  # and with that forget which texts were looked at before
    gc.collect()  # what earlier tests left must not end meanwhile: that would be counted too
    gc.disable()
    sys.setprofile(count_call)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return called


@pytest.mark.parametrize("suite", MOST_CALLS)
def test_a_further_trace_calls_few_functions(tmp_path, suite):
    calls_of(tmp_path, suite, FEW)  # whatever is imported or compiled once
    further = (calls_of(tmp_path, suite, MANY) - calls_of(tmp_path, suite, FEW)) / (MANY - FEW)
    assert further <= MOST_CALLS[suite]


@pytest.mark.parametrize("shape", MOST_TO_READ)
def test_reading_a_further_trace_calls_few_functions(tmp_path, shape):
    calls_to_read(tmp_path, shape, FEW)
    further = (calls_to_read(tmp_path, shape, MANY) - calls_to_read(tmp_path, shape, FEW)) / (MANY - FEW)
    assert further <= MOST_TO_READ[shape]
