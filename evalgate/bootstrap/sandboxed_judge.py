"""Asks a judge in a separate process: the side of the process that holds the token."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.application.messages.judge_response import keep_allowed
from evalgate.bootstrap.outputs import load_output
from evalgate.errors import InvalidInput, JudgeCrashed
from evalgate.measures.redaction.redact import redact_chunks, remove_exact_secrets
from evalgate.models.run.chunks import ChunkedText
from evalgate.ports.outputs import RunSubject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
    from evalgate.adapters.sandbox.judge_process import ReadyJudge
    from evalgate.application.messages.request import (
        ApprovedReport,
        Judgement,
        JudgeRequest,
        RenderedReport,
    )
    from evalgate.bootstrap.judge_context import JudgeContext
    from evalgate.models.approvals.review import CommentApproval, TriggeringRun
    from evalgate.models.run.chunks import Content
    from evalgate.ports.outputs import RenderOptions
    from evalgate.settings.limits import Limits

CPU_SECONDS, SPARE_SECONDS = 60, 600
MEMORY = 1_000_000_000
WALL_SECONDS = 900
NO_USER = "-"
NOT_FILTERED = "the kernel took no filter for the judge (seccomp): it opens no connection, and nothing else stops it"
ELSEWHERE = (
    "on this system the judge runs in a process of its own with a limit of CPU time, but without a limit of memory"
    " and without a filter of system calls: only Linux has them"
)
"""What systems other than Linux can't do for a judge."""
BASELINE, RESULTS = "baseline.zip", "results.json"
JUDGE_MODULES = ("evalgate.application.judge.judge", "evalgate.adapters.suites")
"""Modules that a preforked judge imports before it gets a request."""


def build_bounds(limits: Limits) -> Bounds:
    """The judge's limits, by default 1 GB and sixty seconds of CPU time, more for many traces."""
    memory = limits.memory or MEMORY
    if limits.cpu is None:
        return Bounds(CPU_SECONDS, memory, WALL_SECONDS, SPARE_SECONDS)
    return Bounds(limits.cpu, memory, 4 * limits.cpu + 20)


class SandboxedJudge:
    """Asks a sandboxed judge; `folder` is a private folder with downloads that the judge may read."""

    def __init__(
        self,
        context: JudgeContext,
        folder: Path,
        log: Callable[[str], None] | None = None,
        ready: ReadyJudge | None = None,
    ) -> None:
        self._context = context
        self._folder = folder
        self._bounds = build_bounds(context.limits)
        self._user = self._choose_user()
        self._ready = ready
        self._log = log
        self._request_count = 0
        if ready is not None:
            ready.prepare(self._bounds, JUDGE_MODULES)
        if log is not None:
            log(f"the judge runs as {f'user {self._user}' if self._user else 'the same user'}")

    def judge(self, request: JudgeRequest) -> Judgement:
        """Judges a request. If the judge could not finish, the judgement is `invalid`."""
        try:
            return self._run_judge(request)
        except InvalidInput as error:
            from evalgate.adapters.clock import SystemClock
            from evalgate.application.judge.report import render_invalid

            return render_invalid(request, error, SystemClock(self._context.source_date_epoch).now())

    def render_report(
        self, path: str, run: TriggeringRun, options: RenderOptions, outputs: Mapping[str, Any]
    ) -> RenderedReport:
        """Renders the report from the zip of an untrusted run, and outputs of it; raises InvalidInput."""
        from evalgate.application.messages.judge_response import decode_report

        exchange, answer = self._ask("write", path, run, options, outputs)
        report = decode_report(answer, _clean_file_reader(exchange), outputs)
        subject = RunSubject(run.head_sha, run.head_branch, str(run.id))
        files, warnings = keep_allowed(report.files, report.results, subject, outputs, load_output)
        return replace(report, files=files, warnings=[*report.warnings, *warnings])

    def approve(
        self,
        content: bytes,
        run: TriggeringRun,
        approvals: Sequence[CommentApproval],
        options: RenderOptions,
        notes: Sequence[str],
    ) -> ApprovedReport:
        """Decides the report of a run again with the approvals; raises InvalidInput."""
        from evalgate.application.messages.judge_response import decode_approved

        exchange, answer = self._ask("approve", content, run, approvals, options, notes)
        return decode_approved(answer, _clean_file_reader(exchange), approvals)

    def _run_judge(self, request: JudgeRequest) -> Judgement:
        from evalgate.adapters.files.output_folder import OutputFolder
        from evalgate.application.messages.judge_response import decode_judgement

        context = self._context
        folder = OutputFolder(context.folder, context.cwd, context.root)
        target = folder.path(BASELINE)  # fails before the work if the folder can't be written
        exchange, answer = self._ask("judge", request)
        judgement = decode_judgement(answer, _clean_result_reader(exchange), request, baseline_zip=target)
        files, warnings = keep_allowed(
            judgement.files, judgement.results, request.subject, request.outputs, load_output
        )
        judgement = replace(judgement, files=files, warnings=[*judgement.warnings, *warnings])
        if judgement.baseline_zip is not None:
            from evalgate.adapters.archives.baseline_writer import redact_archive

            handle = exchange.open_file(BASELINE)
            if handle is None:
                raise JudgeCrashed("UnfitAnswer", ["the judge wrote no baseline"])
            folder.copy_from_handle(BASELINE, redact_archive(handle))
        return judgement

    def _ask(self, verb: str, *arguments: Any) -> tuple[ExchangeDir, Any]:
        from evalgate.adapters.sandbox.exchange_dir import FILES, ExchangeDir
        from evalgate.adapters.sandbox.judge_process import JUDGE_GROUP, wait_for_judge
        from evalgate.application.messages.judge_response import parse_json
        from evalgate.application.messages.request_codec import encode_value

        self._request_count += 1
        exchange = ExchangeDir(self._folder / f"judge-{self._request_count}", self._user, JUDGE_GROUP)
        context = self._context.with_folder(f"{exchange.path}/{FILES}")
        exchange.write_request(json.dumps(encode_value([verb, context, list(arguments)])).encode())
        wait_for_judge(self._begin(exchange), exchange, self._bounds)
        answer = parse_json(remove_exact_secrets(exchange.read_answer() or b""))
        if self._log is not None and not (isinstance(answer, dict) and answer.get("is_filtered") is True):
            self._log(NOT_FILTERED)
        return exchange, answer

    def _begin(self, exchange: ExchangeDir) -> int:
        """Hands the request to the preforked judge, or starts a new one if that is used up."""
        ready, self._ready = self._ready, None
        if ready is not None:
            return ready.begin(exchange.path, self._user)
        from evalgate.adapters.sandbox.judge_process import start_judge

        return start_judge(self._command(exchange))

    def _command(self, exchange: ExchangeDir) -> list[str]:
        bounds, user = self._bounds, NO_USER if self._user is None else str(self._user)
        arguments = [exchange.path, str(bounds.cpu), str(bounds.spare), str(bounds.memory), user]
        return [sys.executable, "-I", "-X", "utf8", "-m", "evalgate.judge", *arguments]

    def _choose_user(self) -> int | None:
        from evalgate.adapters.sandbox.judge_process import choose_user

        package = Path(__file__).parents[1]
        libraries = [path for path in sys.path if Path(path).is_dir()]
        needed = [self._context.root, self._context.cwd, sys.base_prefix, package, *libraries]
        return choose_user([*map(str, needed), str(self._folder.parent)], self._context.root)


def _clean_result_reader(exchange: ExchangeDir) -> Callable[[str], Content | None]:
    """A reader of a judgement's redacted files; the results, which may be large, come in pieces."""
    read = _clean_file_reader(exchange)

    def read_clean(name: str) -> Content | None:
        if name != RESULTS:
            return read(name)
        written = exchange.read_pieces(name)
        return None if written is None else ChunkedText(lambda: redact_chunks(written))

    return read_clean


def _clean_file_reader(exchange: ExchangeDir) -> Callable[[str], bytes | None]:
    """A reader of an answer's files that redacts secrets which the judge does not know."""

    def read(name: str) -> bytes | None:
        content = exchange.read_file(name)
        return None if content is None else remove_exact_secrets(content)

    return read
