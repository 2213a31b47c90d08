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
from evalgate.testing.assertions import load_trace, open_path
from evalgate.testing.failure_text import render_failure
from evalgate.testing.judging import Selection, SessionJudge
from evalgate.testing.verdicts import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.reporting.text.scenario_sections import SuiteScenario
    from evalgate.testing.assertions import TraceSource
    from evalgate.testing.recording_thread import RecordingThread

UNDER_RECORD = "evalgate record writes this trace when pytest ends: check it with `evalgate run`"


class CheckResult:
    """What a suite says of one trace: `assert result.passed` shows the reasons."""

    def __init__(self, found: SuiteScenario, text: str) -> None:
        self.scenario, self.variant = found.scenario["id"], found.scenario["variant"]
        self.verdict, self.score, self.passed = (
            found.scenario["verdict"],
            found.scenario["score"],
            found.scenario["verdict"] == "PASS",
        )
        self.reason = "" if self.passed else escape_terminal(describe(found), TEXT_LIMIT)
        self.text = text

    def __repr__(self) -> str:
        return f"<{self.verdict} {self.scenario}{': ' if self.reason else ''}{self.reason}>"


class Agent:
    """The fixture of one test: `folder` holds what it records, `open_recorder` gives the session's server."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        open_recorder: Callable[[], RecordingThread],
        report: Callable[[str], None],
    ) -> None:
        self._root, self._folder, self._open_recorder, self._report = root, folder, open_recorder, report
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
        with open_path(trace) as path:
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
        result = CheckResult(worst, render_failure(results, [worst]))
        if not result.passed:
            self._report(result.text)
        return result
