"""The judge's side of the exchange folder: reads the request and writes the answer."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalgate.adapters.sandbox.exchange_dir import ANSWER, QUESTION, READING
from evalgate.adapters.sandbox.process_bounds import OUT_OF_MEMORY, Allowance, is_out_of_memory
from evalgate.application.messages.judge_response import told, told_bug, told_refusal, told_written
from evalgate.application.messages.request_codec import from_plain
from evalgate.bootstrap import process
from evalgate.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.messages.request import RenderedReport
    from evalgate.bootstrap.judge_context import JudgeContext

TRACES_A_SECOND = 10_000
"""Traces per additional second of CPU time."""


def answer(folder: str) -> int:
    """Answers the request in a folder; returns the exit code."""
    here = Path(folder)
    process.reading.into(os.open(here / READING, os.O_RDWR | os.O_CREAT, 0o600))
    try:
        verb, bench, given = from_plain(json.loads((here / QUESTION).read_bytes()))
        said = ANSWERS[verb](bench, *given)
    except InvalidInput as refusal:
        said = told_refusal(refusal)
    except Exception as bug:  # noqa: BLE001  (the parent process reports it)
        if is_out_of_memory(bug):
            return OUT_OF_MEMORY
        said = told_bug(type(bug).__name__, process.places_of(bug))
    (here / ANSWER).write_bytes(json.dumps(said).encode())
    return 0


def _judged(bench: JudgeContext, request: Any) -> dict[str, Any]:
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.messages.write_outputs import leave_files

    judgement = bench.judge(request, Allowance(TRACES_A_SECOND))
    leave_files(judgement, OutputFolder(bench.folder, bench.cwd))
    return told(judgement)


def _written(bench: JudgeContext, path: str, run: Any, form: Any) -> dict[str, Any]:
    written = bench.write(path, run, form)
    _leave(bench, written)
    return told_written(written)


def _approved(bench: JudgeContext, *given: Any) -> dict[str, Any]:
    from evalgate.application.messages.approval_response import told_approved

    report = bench.approve(*given)
    _leave(bench, report.written)
    return told_approved(report)


def _leave(bench: JudgeContext, written: RenderedReport) -> None:
    from evalgate.adapters.files.output_folder import OutputFolder

    files = OutputFolder(bench.folder, bench.cwd)
    files.write("comment.md", written.comment.encode())
    files.write("summary.md", written.summary.encode())


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {
    "judge": _judged,
    "write": _written,
    "approve": _approved,
}
