"""The fixture `evalgate`: records an agent that a test runs, and checks traces against suites."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.errors import SettingError
from evalgate.models.recording.exchange import TrialId
from evalgate.recording import RecordedRun
from evalgate.reporting.text.escaping import TEXT_LIMIT, escape_terminal
from evalgate.testing.assertions import find_path, load_trace
from evalgate.testing.failure_text import render_failure
from evalgate.testing.judging import Selection, SessionJudge
from evalgate.testing.verdicts import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.reporting.text.scenario_sections import SuiteScenario
    from evalgate.testing.assertions import TraceSource
    from evalgate.testing.recording_thread import RecordingThread

MAX_LINES, NAME_LIMIT = 36, 100
"""Lines of an explanation in an assertion's message, which has four more, and characters of an id."""
UNDER_RECORD = "evalgate record writes this trace when pytest ends: check it with `evalgate run`"


class CheckResult:
    """What a suite says of one trace; true if it passed. A failing `assert result.passed` shows the reasons.

    `reason` is the first of them, empty if it passed, and `text` explains all in at most 36 lines.
    """

    def __init__(self, found: SuiteScenario, text: str) -> None:
        self.scenario, self.variant = found.scenario["id"], found.scenario["variant"]
        self.verdict, self.score = found.scenario["verdict"], found.scenario["score"]
        self.passed = self.verdict == "PASS"
        self.reason = "" if self.passed else escape_terminal(describe(found), TEXT_LIMIT)
        self.text = text

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return f"<{self.verdict} {escape_terminal(self.scenario, NAME_LIMIT)}>"


def explain_assertion(error: AssertionError, results: Sequence[CheckResult]) -> None:
    """Puts the reasons of failed results before the message of an assertion: of those it names, or else of all."""
    failed = [each for each in results if not each.passed]
    found = [each for each in failed if repr(each) in str(error)] or failed
    if not found:
        return
    title = f"{escape_terminal(found[0].scenario, NAME_LIMIT)}: {found[0].reason}"
    lines = [line for each in found for line in each.text.split("\n")]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"... {len(lines) - MAX_LINES + 1} more lines"]
    error.args = ("\n".join([title, *lines, *([str(error)] if str(error) else [])]),)


class Agent:
    """The fixture of one test: `folder` holds what it records, `open_recorder` gives the session's server."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        open_recorder: Callable[[], RecordingThread],
    ) -> None:
        self._root, self._folder, self._open_recorder = root, folder, open_recorder
        self.results: list[CheckResult] = []
        self._is_recorded = bool(os.environ.get("EVALGATE_RECORD_URL"))  # pytest runs under `evalgate record`

    @contextmanager
    def scenario(self, scenario: str, *, trial: int = 0, variant: str = "") -> Iterator[RecordedRun]:
        """Records what the agent does in the block; `path` of what it gives is the trace afterwards.

        In the block the variables of model providers lead to the recording. Raises SettingError where nothing was
        recorded, and where a cassette lacks a request.
        """
        if self._is_recorded:
            with RecordedRun(scenario, trial=trial, variant=variant, out=self._folder) as run:
                yield run
            return
        with self._open_recorder().record(TrialId(None, scenario, variant or None, trial), self._folder) as run:
            yield run

    def check(
        self, trace: TraceSource, suite: str, *, scenario: str | None = None, variant: str | None = None
    ) -> CheckResult:
        """Judges one trace by one scenario of a suite: that of its id and variant, unless these are given.

        Raises InvalidInput where suite or trace can't be used, or the suite has no such scenario.
        """
        if self._is_recorded and isinstance(trace, RecordedRun) and not trace.path.exists():
            raise SettingError(UNDER_RECORD)
        path = find_path(trace, self._folder / f"checked-{len(self.results)}.jsonl")
        name = scenario or load_trace(path).scenario_id
        if name is None:
            raise SettingError(f"{path} names no scenario: pass scenario='...'")
        if variant is None and isinstance(trace, RecordedRun):
            variant = trace.metadata.get("variant")
        judge = SessionJudge(
            [os.path.relpath(suite, self._root)],
            str(self._root),
            os.environ,
            selection=Selection([str(Path(path).absolute())], [f"{name}[{variant}]" if variant else name]),
        )
        return self._build_result(judge, suite, name)

    def _build_result(self, judge: SessionJudge, suite: str, name: str) -> CheckResult:
        from evalgate.reporting.text.scenario_sections import SuiteScenario

        results = judge.results
        found = [SuiteScenario(each, scenario) for each in results["suites"] for scenario in each["scenarios"]]
        judged = [each for each in found if each.scenario["verdict"] != "MISSING"]
        if not judged:
            raise SettingError(f"{suite} has no scenario that this trace of {name!r} belongs to")
        worst = next((each for each in judged if each.scenario["verdict"] != "PASS"), judged[0])
        self.results.append(CheckResult(worst, render_failure(results, [worst], MAX_LINES)))
        return self.results[-1]
