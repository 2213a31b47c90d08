"""The fixture `evalgate`: records an agent that a test runs, and checks traces against suites."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.errors import EvalGateError, SettingError
from evalgate.features.testing.assertions import find_path, load_trace
from evalgate.features.testing.calls import write_answer
from evalgate.features.testing.failure_text import render_failure
from evalgate.features.testing.judging import Selection, SessionJudge
from evalgate.features.testing.verdicts import describe, find_entry, is_scheduling_suite, list_feedback, list_properties
from evalgate.recording import CachedAnswer, RecordedRun
from evalgate.reporting.text.escaping import TEXT_LIMIT, escape_terminal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from types import TracebackType

    from evalgate.features.testing.assertions import TraceSource
    from evalgate.features.testing.recording_thread import RecordingThread
    from evalgate.reporting.text.scenario_sections import SuiteScenario

MAX_LINES, NAME_LIMIT = 36, 100
"""Lines of an explanation in an assertion's message, which has four more, and characters of an id."""
PROJECT_VARIANTS = "variants that evalgate.yaml defines count with suite='evalgate.yaml'"
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


def explain_assertion(message: str, results: Sequence[CheckResult]) -> str:
    """The message of a failed assertion after the reasons of failed results: of those it names, or else of all."""
    failed = [each for each in results if not each.passed]
    found = [each for each in failed if repr(each) in message] or failed
    if not found:
        return message
    title = f"{escape_terminal(found[0].scenario, NAME_LIMIT)}: {found[0].reason}"
    lines = [line for each in found for line in each.text.split("\n")]
    if len(lines) > MAX_LINES:
        lines = [*lines[: MAX_LINES - 1], f"... {len(lines) - MAX_LINES + 1} more lines"]
    return "\n".join([title, *lines, *([message] if message else [])])


class ScenarioBlock:
    """A recording of what a block does, for `with` and `async with`."""

    def __init__(self, recording: AbstractContextManager[RecordedRun]) -> None:
        self._recording = recording

    def __enter__(self) -> RecordedRun:
        return self._recording.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._recording.__exit__(kind, error, trace)

    async def __aenter__(self) -> RecordedRun:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self.__exit__(kind, error, trace)


class Agent:
    """The fixture of one test: `folder` holds what it records, `open_recorder` gives the server for a suite."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        open_recorder: Callable[[str | None], RecordingThread],
        properties: list[tuple[str, object]],
    ) -> None:
        self._root, self._folder, self._open_recorder, self._properties = root, folder, open_recorder, properties
        self.results: list[CheckResult] = []
        self._is_recorded = bool(os.environ.get("EVALGATE_RECORD_URL"))  # pytest runs under `evalgate record`

    def scenario(self, scenario: str, *, trial: int = 0, variant: str = "", suite: str | None = None) -> ScenarioBlock:
        """Records what the agent does in the block; `path` of what it gives is the trace afterwards.

        In the block the variables of model providers lead to the recording. The `normalise` of the suite, a path,
        applies to cassettes, which are below its name. Raises SettingError where nothing was recorded, and where a
        cassette lacks a request.
        """
        if self._is_recorded:
            from evalgate.features.testing.recording_thread import record_for_parent

            run = RecordedRun(scenario, trial=trial, variant=variant, out=self._folder)
            return ScenarioBlock(record_for_parent(run))
        named = None if suite is None else os.path.relpath(suite, self._root)
        return ScenarioBlock(self._open_recorder(named).record(scenario, variant or None, trial, self._folder))

    def check(
        self,
        trace: TraceSource | CachedAnswer,
        suite: str,
        *,
        scenario: str | None = None,
        variant: str | None = None,
    ) -> CheckResult:
        """Judges one trace by one scenario of a suite: that of its id and variant, unless these are given.

        An answer of `cached` is a trace too, whose scenario must be given. JUnit's properties of the test are those of
        the scenario. Raises InvalidInput where suite or trace can't be used, or the suite has no such scenario.
        """
        __tracebackhide__ = True
        try:
            return self._check(trace, suite, scenario, variant)
        except EvalGateError as error:
            if variant is not None:
                error.add_note(PROJECT_VARIANTS)
            raise error.with_traceback(None) from None

    def _check(
        self, trace: TraceSource | CachedAnswer, suite: str, scenario: str | None, variant: str | None
    ) -> CheckResult:
        if self._is_recorded and isinstance(trace, RecordedRun) and not trace.path.exists():
            raise SettingError(UNDER_RECORD)
        if isinstance(trace, CachedAnswer):
            trace = self._write_answer(trace, scenario, variant)
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

    def _write_answer(self, answer: CachedAnswer, scenario: str | None, variant: str | None) -> Path:
        if scenario is None:
            raise SettingError("an answer names no scenario: pass scenario='...', and variant='...' if there are any")
        return write_answer(answer, self._folder / f"answer-{len(self.results)}", scenario, variant)

    def _build_result(self, judge: SessionJudge, suite: str, name: str) -> CheckResult:
        from evalgate.reporting.text.scenario_sections import SuiteScenario

        results = judge.results
        found = [SuiteScenario(each, scenario) for each in results["suites"] for scenario in each["scenarios"]]
        judged = [each for each in found if each.scenario["verdict"] != "MISSING"]
        if not judged:
            raise SettingError(f"{suite} has no scenario that this trace of {name!r} belongs to")
        worst = next((each for each in judged if each.scenario["verdict"] != "PASS"), judged[0])
        self._properties += list_properties([worst])
        for each in judge.configuration.suites:
            if each.name == worst.suite["suite"] and is_scheduling_suite(each):
                self._properties += list_feedback(worst.scenario, find_entry(each, worst.scenario["id"]))
        self.results.append(CheckResult(worst, render_failure(results, [worst], MAX_LINES)))
        return self.results[-1]
