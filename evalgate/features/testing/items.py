"""Items of pytest: one for each scenario and variant of a suite file, and one for the gate."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from evalgate.errors import EvalGateError
from evalgate.features.testing.calls import build_case, judge_answer
from evalgate.features.testing.failure_text import render_failure, render_gate
from evalgate.features.testing.verdicts import (
    describe,
    find_entry,
    find_outcome,
    find_scenarios,
    find_unclaimed,
    is_scheduling_suite,
    list_feedback,
    list_properties,
    name_item,
)
from evalgate.reporting.text.escaping import TEXT_LIMIT, escape_terminal
from evalgate.reporting.text.sentences import unmark_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from os import PathLike

    from evalgate.features.testing.judging import SessionJudge
    from evalgate.models.results.results import ResultsDoc
    from evalgate.suite.models import Scenario, Suite

GATE, LANGSMITH = "gate", "langsmith"


class VerdictError(Exception):
    """An item fails: `title` is the first failure in one line, `text` explains it in at most 40."""

    def __init__(self, title: str, text: str) -> None:
        super().__init__(text or title)
        self.title = title


class SuiteCollector(pytest.File):
    """The scenarios of one suite file, in its order."""

    suite: Suite
    session_judge: SessionJudge
    reports_unread = True

    def collect(self) -> Iterator[ScenarioItem]:
        """An item a scenario and variant."""
        for scenario in self.suite.scenarios:
            item = ScenarioItem.from_parent(self, name=escape_terminal(name_item(self.suite, scenario), None))
            item.attach(self.suite, scenario, self.session_judge)
            yield item

    def teardown(self) -> None:
        """Fails for traces that could not be read and belong to no scenario: they must not look as if they passed."""
        if not self.reports_unread or "results" not in vars(self.session_judge):
            return
        results = self.session_judge.results
        unread = find_unclaimed(results, self.suite)
        if unread:
            pytest.fail(f"{escape_terminal(describe(unread[0]))}\n{render_failure(results, unread)}", pytrace=False)


class ScenarioItem(pytest.Item):
    """Reports the verdict of one scenario in one variant; a scenario whose id is a glob has several."""

    _suite: Suite
    _scenario: Scenario
    _judge: SessionJudge
    has_gate = False

    def attach(self, suite: Suite, scenario: Scenario, judge: SessionJudge) -> None:
        """Gives the item its scenario, and its marks."""
        self._suite, self._scenario, self._judge = suite, scenario, judge
        self.add_marker("eval")
        if is_scheduling_suite(suite):
            self.add_marker(LANGSMITH)
            self.add_marker("asyncio")
        for tag in find_entry(suite, scenario.id).get("tags") or ():
            self.add_marker(pytest.mark.evalgate_tag(tag))
        if self.config.pluginmanager.hasplugin("xdist"):
            self.add_marker(pytest.mark.xdist_group(suite.name))

    def get_closest_marker(self, name: str, default: Any = None) -> Any:
        """Hides `langsmith` from LangSmith's plugin, which wraps the functions of marked tests; `-m` finds it."""
        return default if name == LANGSMITH else super().get_closest_marker(name, default)

    def runtest(self) -> None:
        """Raises what the verdict means for pytest."""
        results = _judge_results(self._choose_judge)
        found = find_scenarios(results, self._suite, self._scenario)
        self.user_properties += list_properties(found)
        self._add_feedback(results)
        outcome = find_outcome(results, self._suite, found, has_gate=self.has_gate)
        if outcome.kind == "skipped":
            pytest.skip(escape_terminal(outcome.reason, TEXT_LIMIT))
        if outcome.kind == "excused":
            self.add_marker(pytest.mark.xfail(reason=escape_terminal(outcome.reason, TEXT_LIMIT), strict=False))
        failing = [each for each in found if each.scenario["verdict"] != "PASS"]
        if outcome.kind == "failed" and not found:
            raise VerdictError(escape_terminal(outcome.reason, TEXT_LIMIT), "")
        if outcome.kind in ("excused", "failed") and failing:
            title = escape_terminal(describe(failing[0]), TEXT_LIMIT)
            raise VerdictError(title, render_failure(results, failing))

    def _choose_judge(self) -> SessionJudge:
        """The session's judge; in a scheduling suite whose project makes calls, one of the answer to this case."""
        hook = self.ihook.pytest_evalgate_call
        if self.has_gate or not is_scheduling_suite(self._suite) or not hook.get_hookimpls():
            return self._judge
        case = build_case(self._scenario, find_entry(self._suite, self._scenario.id))
        return judge_answer(self._judge, case, lambda: hook(case=case), self._find_folder)

    def _find_folder(self) -> Path:
        """Where answers that no cache keeps stay after the session: pytest's cache, which the next one overwrites."""
        cache = getattr(self.config, "cache", None)  # not with `-p no:cacheprovider`
        return Path(tempfile.mkdtemp(prefix="evalgate-")) if cache is None else cache.mkdir("evalgate")

    def _add_feedback(self, results: ResultsDoc) -> None:
        if not is_scheduling_suite(self._suite):
            return
        entry = find_entry(self._suite, self._scenario.id)
        for each in find_scenarios(results, self._suite, self._scenario):
            self.user_properties += list_feedback(each.scenario, entry)

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """The file and the line of the scenario."""
        place = self._scenario.location
        return self.path, None if place is None or place.line is None else place.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What `evalgate explain` prints."""
        return _represent(self, excinfo) or super().repr_failure(excinfo, style)


class GateItem(pytest.Item):
    """Reports the decision of the run: it passes exactly if `evalgate run` ends with exit code 0."""

    session_judge: SessionJudge

    def runtest(self) -> None:
        """Raises the reasons of the decision."""
        results = _judge_results(lambda: self.session_judge)
        self.user_properties += [
            ("evalgate.verdict", results["verdict"]),
            ("evalgate.exit_code", results["exit_code"]),
        ]
        if results["exit_code"]:
            first = unmark_parts(results["reasons"][0]["message"]) if results["reasons"] else results["verdict"]
            raise VerdictError(escape_terminal(first, TEXT_LIMIT), render_gate(results))

    def reportinfo(self) -> tuple[PathLike[str] | str, int | None, str]:
        """The folder of the suites."""
        return self.nodeid.partition("::")[0], None, GATE

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The reasons alone, without a traceback."""
        return _represent(self, excinfo) or super().repr_failure(excinfo, style)


def raise_usage_error(error: EvalGateError) -> NoReturn:
    """Reports wrong input as pytest does: each problem in one line."""
    raise pytest.UsageError(*(escape_terminal(str(problem), TEXT_LIMIT) for problem in error.problems)) from None


def _judge_results(choose_judge: Callable[[], SessionJudge]) -> ResultsDoc:
    try:
        return choose_judge().results
    except EvalGateError as error:
        raise_usage_error(error)


def _represent(node: pytest.Item | pytest.Collector, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:
    """The message of an error of ours as a report that has no traceback, and a first line for summary and JUnit."""
    error = excinfo.value
    if isinstance(error, VerdictError):
        title = error.title
    elif isinstance(error, pytest.UsageError):
        title = str(error.args[0])
    else:
        return None
    found: Any = excinfo.getrepr(style="value")
    path, line, _ = node.reportinfo() if isinstance(node, pytest.Item) else (node.path, None, "")
    found.reprcrash.path, found.reprcrash.lineno, found.reprcrash.message = str(path), (line or 0) + 1, title
    return found
