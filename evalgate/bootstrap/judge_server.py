"""The judge's side of the exchange folder: reads the request and writes the answer."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalgate.adapters.sandbox.exchange_dir import ANSWER, QUESTION, READING
from evalgate.adapters.sandbox.process_bounds import OUT_OF_MEMORY, CpuAllowance, is_out_of_memory
from evalgate.application.messages.judge_response import (
    encode_approved,
    encode_bug,
    encode_judgement,
    encode_refusal,
    encode_report,
)
from evalgate.bootstrap import process
from evalgate.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.messages.request import RenderedReport
    from evalgate.bootstrap.judge_context import JudgeContext

TRACES_A_SECOND = 10_000
"""Traces per additional second of CPU time."""


def answer_request(folder: str, *, is_filtered: bool = False) -> int:
    """Answers the request in a folder; returns the exit code. `is_filtered`: the kernel took this process's filter."""
    exchange = Path(folder)
    process.current_file.write_to(os.open(exchange / READING, os.O_RDWR | os.O_CREAT, 0o600))
    try:
        verb, context, arguments = pickle.loads((exchange / QUESTION).read_bytes())  # noqa: S301  (of the parent process)
        response = HANDLERS[verb](context, *arguments)
    except InvalidInput as refusal:
        response = encode_refusal(refusal)
    except Exception as bug:  # noqa: BLE001  (the parent process reports it)
        if is_out_of_memory(bug):
            return OUT_OF_MEMORY
        response = encode_bug(type(bug).__name__, process.describe_frames(bug))
    (exchange / ANSWER).write_bytes(json.dumps({**response, "is_filtered": is_filtered}).encode())
    return 0


def _judge(context: JudgeContext, request: Any) -> dict[str, Any]:
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.messages.request import write_outputs

    judgement = context.judge(request, CpuAllowance(TRACES_A_SECOND))
    write_outputs(judgement, OutputFolder(context.folder, context.cwd))
    return encode_judgement(judgement)


def _render_report(context: JudgeContext, path: str, run: Any, options: Any) -> dict[str, Any]:
    rendered = context.render_report(path, run, options)
    _write_rendered(context, rendered)
    return encode_report(rendered)


def _approve_report(context: JudgeContext, *arguments: Any) -> dict[str, Any]:
    report = context.approve(*arguments)
    _write_rendered(context, report.rendered)
    return encode_approved(report)


def _write_rendered(context: JudgeContext, rendered: RenderedReport) -> None:
    from evalgate.adapters.files.output_folder import OutputFolder

    files = OutputFolder(context.folder, context.cwd)
    files.write("comment.md", rendered.comment.encode())
    files.write("summary.md", rendered.summary.encode())


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "judge": _judge,
    "write": _render_report,
    "approve": _approve_report,
}
