"""The hooks of pytest for suites as items; registered only where suites were asked for."""

from __future__ import annotations

import os
import posixpath
import shutil
import tempfile
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, distribution
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.errors import EvalGateError
from evalgate.features.testing.items import GATE, GateItem, ScenarioItem, SuiteCollector, raise_usage_error
from evalgate.features.testing.judging import SessionJudge, SharedFolder, find_configs
from evalgate.measures.redaction.redact import hide_secrets
from evalgate.reporting.text.escaping import escape_terminal
from evalgate.reporting.text.grouping import NOTICE_LIMIT, list_notices
from evalgate.reporting.text.sentences import unmark_parts
from evalgate.settings.secret_variables import find_secret_values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.suite.models import Suite

FOLDER = "evalgate_folder"
MARKERS = ("langsmith: a case of a scheduling suite", "asyncio: a case of a scheduling suite")
OTHER = "evalgate"
CONFLICT = (
    "evalgate: warning: the distribution `evalgate` {}, which is another project, has the same package name:"
    " run `pip uninstall evalgate`, then `pip install --force-reinstall evalgate-action`"
)
NOT_THE_GATE = "evalgate: scenarios, not the gate; --evalgate-gate adds the decision of `evalgate run`"


class SuitePlugin:
    """Collects the suites of a session as items, and the gate if it was asked for."""

    def __init__(self, config: pytest.Config) -> None:
        hide_secrets(find_secret_values(os.environ))
        self._config, self._folder = config, ""
        self._has_gate = bool(config.getoption("evalgate_gate"))
        named = [_relative(path, config) for path in config.getoption("evalgate_suites_named")]
        configs = find_configs(named, config.getini("evalgate_suites"), config.rootpath)
        baseline = config.getoption("evalgate_baseline")
        self._judge = SessionJudge(
            configs,
            str(config.rootpath),
            os.environ,
            "none" if baseline == "none" else _relative(baseline, config),
            shared=self._find_shared_folder(),
        )
        try:
            suites = self._judge.configuration.suites
        except EvalGateError as error:
            raise_usage_error(error)
        self._suites = {realpath(config.rootpath / suite.path): suite for suite in suites}
        self._seen_items = self._seen_gate = False
        for line in MARKERS:
            config.addinivalue_line("markers", line)
        if named or config.args_source != pytest.Config.ArgsSource.ARGS:
            config.args.extend(path for path in self._suites if not _is_below_any(path, config))

    def _find_shared_folder(self) -> SharedFolder | None:
        """The folder of the session's workers; None in a session without workers."""
        given = getattr(self._config, "workerinput", {}).get(FOLDER)
        return None if given is None else SharedFolder(Path(given), os.environ["PYTEST_XDIST_TESTRUNUID"])

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Warns of another distribution whose files may lie between those of this one."""
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        with suppress(PackageNotFoundError):
            version = distribution(OTHER).version
            if reporter is not None:
                reporter.write_line(CONFLICT.format(version))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Gives a worker of pytest-xdist the folder in which the first one writes what it judged."""
        self._folder = self._folder or tempfile.mkdtemp(prefix="evalgate-")
        node.workerinput[FOLDER] = self._folder

    def pytest_unconfigure(self) -> None:
        """Deletes what the workers shared."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)

    def pytest_collect_file(self, file_path: Path, parent: pytest.Collector) -> SuiteCollector | None:
        """The file as a suite, if it is one of this session's."""
        suite = self._suites.get(realpath(file_path))
        if suite is None:
            return None
        found: SuiteCollector = SuiteCollector.from_parent(parent, path=file_path)
        found.suite, found.session_judge = suite, self._judge
        return found

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> Iterator[None]:
        """Adds the gate, which others may deselect; it comes last. Scenarios fail only where no gate runs."""
        if self._has_gate:
            folder = _find_folder(list(self._judge.configuration.suites))
            gate: GateItem = GateItem.from_parent(session, name=GATE, nodeid=f"{folder}/::{GATE}")
            gate.session_judge = self._judge
            gate.add_marker("eval")
            items.append(gate)
        yield
        items.sort(key=lambda item: isinstance(item, GateItem))
        has_gate = bool(items) and isinstance(items[-1], GateItem)
        for item in items:
            if isinstance(item, ScenarioItem) and isinstance(item.parent, SuiteCollector):
                item.has_gate, item.parent.reports_unread = has_gate, not has_gate

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes what ran, also on workers."""
        names = {name for name, _ in report.user_properties}
        self._seen_gate = self._seen_gate or "evalgate.exit_code" in names
        self._seen_items = self._seen_items or "evalgate.suite" in names

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Warns as below a heading, and notes that scenarios alone are no gate."""
        for notice in self._list_notices():
            terminalreporter.write_line(f"evalgate: warning: {escape_terminal(unmark_parts(notice), NOTICE_LIMIT)}")
        if self._seen_items and not self._seen_gate:
            terminalreporter.write_line(NOT_THE_GATE)

    def _list_notices(self) -> list[str]:
        """Warnings that change how far the verdicts can be believed; of what a worker judged, if there are workers."""
        results = vars(self._judge).get("results")
        for path in sorted(Path(self._folder).glob("*.json"))[:1] if self._folder else ():
            from evalgate.reporting.results.load_results import load_results

            results = load_results(path.read_bytes())
        return list_notices(results) if results else []


def _relative(path: str, config: pytest.Config) -> str:
    """A path or glob as named from where pytest was started, as one from its root folder."""
    return os.path.relpath(config.invocation_params.dir / path, config.rootpath)


def _is_below_any(path: str, config: pytest.Config) -> bool:
    """Whether the path is below one of the folders that pytest collects, which it would then find twice."""
    starts = [realpath(config.invocation_params.dir / arg.partition("::")[0]) for arg in config.args]
    return any(path == start or path.startswith(start.rstrip(os.sep) + os.sep) for start in starts)


def _find_folder(suites: list[Suite]) -> str:
    """The folder that all suites are in."""
    return posixpath.commonpath([posixpath.dirname(suite.path) or "." for suite in suites])
