"""A judge in a process of its own, as the process with the token sees it."""

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
"""What a judge loads while nobody has asked it yet."""


def bounds_of(limits: Limits) -> Bounds:
    """What a judge may use: as the limits say, else sixty seconds, more with many traces, and 1 GB."""
    memory = limits.memory or MEMORY
    if limits.cpu is None:
        return Bounds(CPU_SECONDS, memory, PATIENCE_S, SPARE_SECONDS)
    return Bounds(limits.cpu, memory, 4 * limits.cpu + 20)


class SandboxedJudge:
    """Asks a judge apart; `folder` is one of our own, where downloads lie that the judge may read."""

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
        """The answer to a request. What the judge was not able to finish is an answer too, `invalid`."""
        try:
            return self._judged(request)
        except InvalidInput as error:
            from evalgate.adapters.clock import SystemClock
            from evalgate.application.judge.report import invalid

            return invalid(request, error, SystemClock(self._bench.source_date_epoch).now())

    def write(self, path: str, run: TriggeringRun, form: RenderOptions) -> RenderedReport:
        """The report in a zip that a stranger's run left, in our own words; raises InvalidInput."""
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
        """The report that a run left, decided anew with what people approved; raises InvalidInput."""
        from evalgate.application.messages.approval_response import approved_of

        place, answer = self._answer("approve", content, run, consents, form, notes)
        return approved_of(answer, _clean_files(place))

    def _judged(self, request: JudgeRequest) -> Judgement:
        from evalgate.adapters.files.output_folder import OutputFolder
        from evalgate.application.messages.judge_response import judgement_of

        bench = self._bench
        folder = OutputFolder(bench.folder, bench.cwd, bench.root)
        target = folder.path(BASELINE)  # a folder that can't be written is told before the work, not after
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
        """The one that was made ready answers once; who is asked more often starts others."""
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
    """The files of a judgement, cleaned; the results, which may be large, piece by piece."""
    read = _clean_files(place)

    def look(name: str) -> Content | None:
        if name != RESULTS:
            return read(name)
        written = place.pieces(name)
        return None if written is None else Pieces(lambda: clean_pieces(written))

    return look


def _clean_files(place: ExchangeDir) -> Callable[[str], bytes | None]:
    """The files of an answer without what the judge could not hide, for it does not know it."""

    def read(name: str) -> bytes | None:
        content = place.file(name)
        return None if content is None else without_hidden(content)

    return read


def _parsed(content: bytes) -> Any:
    """The answer as JSON, which knows no NaN."""
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise JudgeCrashed("UnfitAnswer", ["the judge does not answer"]) from None


def _refuse(_: str) -> NoReturn:
    raise ValueError
