"""The judge's process: applies limits, drops privileges, answers one request in the exchange folder and exits."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from msgspec import to_builtins

from evalgate.adapters.sandbox.exchange_dir import ANSWER, QUESTION, READING
from evalgate.adapters.sandbox.judge_process import JUDGE_GROUP
from evalgate.adapters.sandbox.process_bounds import (
    OUT_OF_MEMORY,
    Bounds,
    CpuAllowance,
    apply_bounds,
    drop_privileges,
    is_out_of_memory,
)
from evalgate.bootstrap import process
from evalgate.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.application.messages.request import RenderedReport
    from evalgate.bootstrap.judge_context import JudgeContext


NOT_ASKED, FAILED = 0, 1


def run_judge(folder: str, bounds: Bounds, user: int | None) -> NoReturn:
    """Runs a judge that gets its request at the start."""
    apply_bounds(bounds)
    _answer_and_exit(folder, user)


def run_ready_judge(handle: int) -> NoReturn:
    """Runs a preforked judge: reads its limits, imports modules, then reads the folder of its request."""
    with os.fdopen(handle, "rb") as stream:
        fields = stream.readline().split()
        if not fields:
            os._exit(NOT_ASKED)
        cpu, spare, memory, *modules = fields
        apply_bounds(Bounds(int(cpu), int(memory), spare=int(spare)))
        code = _run_for_exit_code(lambda: _load_modules(modules))
        user, _, folder = stream.read().partition(b"\n")
    if code or not folder:
        os._exit(code)
    _answer_and_exit(os.fsdecode(folder), int(user) if user else None)


def _answer_and_exit(folder: str, user: int | None) -> NoReturn:
    from evalgate.adapters.sandbox.kernel import forbid_connections

    drop_privileges(user, JUDGE_GROUP)
    is_filtered = forbid_connections(is_alone=True)
    os.environ["TMPDIR"] = folder
    os._exit(_run_for_exit_code(lambda: _answer(folder, is_filtered=is_filtered)))


def _run_for_exit_code(work: Callable[[], int]) -> int:
    """Runs `work` and returns an exit code also for exceptions, as no one would see a traceback."""
    try:
        return work()
    except BaseException as error:  # noqa: BLE001  (shown by the exit code)
        return OUT_OF_MEMORY if is_out_of_memory(error) else FAILED


def _load_modules(modules: list[bytes]) -> int:
    """Imports the modules that a request needs while the parent prepares that request."""
    from importlib import import_module

    process.configure_python()
    for name in modules:
        import_module(name.decode())
    return 0


def _answer(folder: str, *, is_filtered: bool) -> int:
    process.configure_python()

    return answer_request(folder, is_filtered=is_filtered)


TRACES_A_SECOND = 10_000
"""Traces per additional second of CPU time."""


def answer_request(folder: str, *, is_filtered: bool = False) -> int:
    """Answers the request in a folder; returns the exit code. `is_filtered`: the kernel took this process's filter."""
    from evalgate.application.messages.judge_response import encode_bug, encode_refusal  # under the limits
    from evalgate.application.messages.request_codec import decode_value

    exchange = Path(folder)
    process.current_file.write_to(os.open(exchange / READING, os.O_RDWR | os.O_CREAT, 0o600))
    try:
        verb, context, arguments = decode_value(json.loads((exchange / QUESTION).read_bytes()))
        response = HANDLERS[verb](context, *arguments)
    except InvalidInput as refusal:
        response = encode_refusal(refusal)
    except Exception as bug:  # noqa: BLE001  (the parent process reports it)
        if is_out_of_memory(bug):
            return OUT_OF_MEMORY
        response = encode_bug(type(bug).__name__, process.describe_frames(bug))
    answer = json.dumps({**response, "is_filtered": is_filtered}, default=to_builtins)
    (exchange / ANSWER).write_bytes(answer.encode())
    return 0


def _judge(context: JudgeContext, request: Any) -> dict[str, Any]:
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.application.messages.judge_response import encode_judgement
    from evalgate.application.messages.request import write_outputs

    judgement = context.judge(request, CpuAllowance(TRACES_A_SECOND))
    write_outputs(judgement, OutputFolder(context.folder, context.cwd))
    return encode_judgement(judgement)


def _render_report(context: JudgeContext, *arguments: Any) -> dict[str, Any]:
    from evalgate.application.messages.judge_response import encode_report

    rendered = context.render_report(*arguments)
    _write_rendered(context, rendered)
    return encode_report(rendered)


def _approve_report(context: JudgeContext, *arguments: Any) -> dict[str, Any]:
    from evalgate.application.messages.judge_response import encode_approved

    report = context.approve(*arguments)
    _write_rendered(context, report.rendered)
    return encode_approved(report)


def _write_rendered(context: JudgeContext, rendered: RenderedReport) -> None:
    from evalgate.adapters.files.output_folder import OutputFolder
    from evalgate.ports.outputs import COMMENT, SUMMARY

    files = OutputFolder(context.folder, context.cwd)
    contents = {COMMENT: rendered.comment.encode(), SUMMARY: rendered.summary.encode(), **rendered.files}
    for name, content in contents.items():
        files.write(name, content)


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "judge": _judge,
    "write": _render_report,
    "approve": _approve_report,
}
