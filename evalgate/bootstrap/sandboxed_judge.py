"""Asks a judge in a separate process: the side of the process that holds the token."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from evalgate.adapters.sandbox.process_bounds import Bounds
from evalgate.errors import InvalidInput, JudgeCrashed
from evalgate.measures.redaction.redact import without_hidden
from evalgate.measures.redaction.redact_chunks import clean_pieces
from evalgate.models.run.chunks import Pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
    from evalgate.adapters.sandbox.preforked import ReadyJudge
    from evalgate.application.messages.request import (
        ApprovedReport,
        Judgement,
        JudgeRequest,
        RenderedReport,
        RenderOptions,
    )
    from evalgate.bootstrap.judge_context import JudgeContext
    from evalgate.models.approvals.comment_approval import CommentApproval
    from evalgate.models.approvals.triggering_run import TriggeringRun
    from evalgate.models.run.chunks import Content
    from evalgate.settings.limits import Limits

CPU_SECONDS, SPARE_SECONDS = 60, 600
MEMORY = 1_000_000_000
PATIENCE_S = 900
NOBODY = "-"
BASELINE, RESULTS = "baseline.zip", "results.json"
TO_JUDGE = ("evalgate.application.judge.judge", "evalgate.adapters.suites")
"""Modules that a preforked judge imports before it gets a request."""


def bounds_of(limits: Limits) -> Bounds:
    """The judge's limits, by default 1 GB and sixty seconds of CPU time, more for many traces."""
    memory = limits.memory or MEMORY
    if limits.cpu is None:
        return Bounds(CPU_SECONDS, memory, PATIENCE_S, SPARE_SECONDS)
    return Bounds(limits.cpu, memory, 4 * limits.cpu + 20)


class SandboxedJudge:
    """Asks a sandboxed judge; `folder` is a private folder with downloads that the judge may read."""

    def __init__(
        self,
        bench: JudgeContext,
        folder: Path,
        log: Callable[[str], None] | None = None,
        ready: ReadyJudge | None = None,
    ) -> None:
        self._bench = bench
        self._folder = folder
        self._bounds = bounds_of(bench.limits)
        self._user = self._user_to_be()
        self._ready = ready
        self._asked = 0
        if ready is not None:
            ready.prepare(self._bounds, TO_JUDGE)
        if log is not None:
            log(f"the judge runs as {f'user {self._user}' if self._user else 'the same user'}")

    def judge(self, request: JudgeRequest) -> Judgement:
        """Judges a request. If the judge could not finish, the judgement is `invalid`."""
        try:
            return self._judged(request)
        except InvalidInput as error:
            from evalgate.adapters.clock import SystemClock
            from evalgate.application.judge.report import invalid

            return invalid(request, error, SystemClock(self._bench.source_date_epoch).now())

    def write(self, path: str, run: TriggeringRun, form: RenderOptions) -> RenderedReport:
        """Renders the report from the zip of an untrusted run; raises InvalidInput."""
        from evalgate.application.messages.judge_response import written_of

        place, answer = self._answer("write", path, run, form)
        return written_of(answer, _clean_files(place))

    def approve(
        self,
        content: bytes,
        run: TriggeringRun,
        consents: Sequence[CommentApproval],
        form: RenderOptions,
        notes: Sequence[str],
    ) -> ApprovedReport:
        """Decides the report of a run again with the approvals; raises InvalidInput."""
        from evalgate.application.messages.approval_response import approved_of

        place, answer = self._answer("approve", content, run, consents, form, notes)
        return approved_of(answer, _clean_files(place))

    def _judged(self, request: JudgeRequest) -> Judgement:
        from evalgate.adapters.files.output_folder import OutputFolder
        from evalgate.application.messages.judge_response import judgement_of

        bench = self._bench
        folder = OutputFolder(bench.folder, bench.cwd, bench.root)
        target = folder.path(BASELINE)  # fails before the work if the folder can't be written
        place, answer = self._answer("judge", request)
        judgement = judgement_of(
            answer, _clean_results(place), baseline_zip=target, report_only=request.report_only
        )
        if judgement.baseline_zip is not None:
            from evalgate.adapters.archives.redacted_zip import without_secrets

            made = place.open(BASELINE)
            if made is None:
                raise JudgeCrashed("UnfitAnswer", ["the judge leaves no baseline"])
            folder.take(BASELINE, without_secrets(made))
        return judgement

    def _answer(self, verb: str, *given: Any) -> tuple[ExchangeDir, Any]:
        from evalgate.adapters.sandbox.exchange_dir import FILES, ExchangeDir
        from evalgate.adapters.sandbox.judge_process import GROUP, wait_for
        from evalgate.application.messages.request_codec import to_plain

        self._asked += 1
        place = ExchangeDir(self._folder / f"judge-{self._asked}", self._user, GROUP)
        bench = self._bench.moved_to(f"{place.path}/{FILES}")
        place.ask(json.dumps(to_plain([verb, bench, list(given)])).encode())
        wait_for(self._begun(place), place, self._bounds)
        return place, _parsed(without_hidden(place.answer() or b""))

    def _begun(self, place: ExchangeDir) -> int:
        """Hands the request to the preforked judge, or starts a new one if that is used up."""
        ready, self._ready = self._ready, None
        if ready is not None:
            return ready.begin(place.path, self._user)
        from evalgate.adapters.sandbox.judge_process import start

        return start(self._program(place))

    def _program(self, place: ExchangeDir) -> list[str]:
        bounds, user = self._bounds, NOBODY if self._user is None else str(self._user)
        given = [place.path, str(bounds.cpu), str(bounds.spare), str(bounds.memory), user]
        return [sys.executable, "-I", "-X", "utf8", "-m", "evalgate.judge", *given]

    def _user_to_be(self) -> int | None:
        from evalgate.adapters.sandbox.judge_process import user_to_be

        package = Path(__file__).parents[1]
        libraries = [path for path in sys.path if Path(path).is_dir()]
        needed = [self._bench.root, self._bench.cwd, sys.base_prefix, package, *libraries]
        return user_to_be([*map(str, needed), str(self._folder.parent)], self._bench.root)


def _clean_results(place: ExchangeDir) -> Callable[[str], Content | None]:
    """A reader of a judgement's redacted files; the results, which may be large, come in pieces."""
    read = _clean_files(place)

    def look(name: str) -> Content | None:
        if name != RESULTS:
            return read(name)
        written = place.pieces(name)
        return None if written is None else Pieces(lambda: clean_pieces(written))

    return look


def _clean_files(place: ExchangeDir) -> Callable[[str], bytes | None]:
    """A reader of an answer's files that redacts secrets which the judge does not know."""

    def read(name: str) -> bytes | None:
        content = place.file(name)
        return None if content is None else without_hidden(content)

    return read


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise JudgeCrashed("UnfitAnswer", ["the judge does not answer"]) from None


def _refuse(_: str) -> NoReturn:
    raise ValueError
