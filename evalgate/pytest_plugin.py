"""The plugin of pytest: options, settings and markers. It loads the rest only where a project uses it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from evalgate.features.testing.calls import Case
    from evalgate.features.testing.fixture import Agent
    from evalgate.features.testing.recording_thread import RecordingThread

MARKERS = (
    "eval: a test of what an agent does, such as a scenario of a suite",
    "evalgate_tag(name): a tag of a scenario",
)

_agent_key = pytest.StashKey["Agent"]()


class Hooks:
    """What a project's conftest.py may define."""

    @pytest.hookspec(firstresult=True)
    def pytest_evalgate_call(self, case: Case) -> object:
        """Makes the model call of a case of a scheduling suite: its `id`, `prompt`, `category`, `variant`."""


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Registers the hook."""
    pluginmanager.add_hookspecs(Hooks)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options and the setting."""
    group = parser.getgroup("evalgate", "agents (EvalGate)")
    group.addoption(
        "--evalgate",
        action="append",
        default=[],
        dest="evalgate_suites_named",
        metavar="CONFIG",
        help="collect these suites as tests: a suite or project file, or a folder or glob of them (repeatable)",
    )
    group.addoption(
        "--evalgate-gate",
        action="store_true",
        help="add the decision of `evalgate run` as a last test, which alone fails",
    )
    group.addoption(
        "--evalgate-baseline",
        metavar="PATH",
        default="none",
        help="compare suites with this baseline.zip, its folder, or results.json",
    )
    group.addoption(
        "--evalgate-cache",
        choices=["off", "read", "auto", "write"],
        help="how agents use recorded answers of models, as EVALGATE_CACHE does",
    )
    parser.addini("evalgate_suites", "globs of suites to collect as tests", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers, and what collects suites if any are asked for."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    if config.getoption("evalgate_cache"):
        patch = pytest.MonkeyPatch()
        patch.setenv("EVALGATE_CACHE", config.getoption("evalgate_cache"))
        config.add_cleanup(patch.undo)
    is_asked = config.getoption("evalgate_suites_named") or config.getini("evalgate_suites")
    if is_asked or config.getoption("evalgate_gate"):
        from evalgate.features.testing.plugin import SuitePlugin

        config.pluginmanager.register(SuitePlugin(config), "evalgate_suites")


@pytest.fixture(scope="session")
def _evalgate_recorder(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Iterator[Callable[[str | None], RecordingThread]]:
    """Opens a server, for the session, when a test first records with a suite or without one."""
    opened: dict[str | None, RecordingThread] = {}

    def open_recorder(suite: str | None) -> RecordingThread:
        if suite not in opened:
            from evalgate.features.record.bootstrap.record_plan import load_suite
            from evalgate.features.record.settings import choose_cache_rules, require_extra
            from evalgate.features.testing.recording_thread import RecordingThread

            require_extra()
            rules, root = choose_cache_rules(None, os.environ), str(pytestconfig.rootpath)
            loaded = None if suite is None else load_suite(suite, root)
            opened[suite] = RecordingThread(tmp_path_factory.mktemp("evalgate"), root, rules, loaded)
        return opened[suite]

    yield open_recorder
    for each in opened.values():
        each.stop()


@pytest.fixture
def evalgate(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    _evalgate_recorder: Callable[[str | None], RecordingThread],
) -> Agent:
    """Records an agent, `with evalgate.scenario("refund") as run: ...`, and checks its trace by a suite."""
    from evalgate.features.testing.fixture import Agent

    folder, properties = tmp_path_factory.mktemp("traces"), request.node.user_properties
    agent = Agent(request.config.rootpath, folder, _evalgate_recorder, properties)
    request.node.stash[_agent_key] = agent
    return agent


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Explains an assertion that fails in a test which checked a trace."""
    agent = item.stash.get(_agent_key, None)
    if agent is not None and call.excinfo is not None and isinstance(call.excinfo.value, AssertionError):
        from evalgate.features.testing.fixture import explain_assertion

        call.excinfo.value.args = (explain_assertion(str(call.excinfo.value), agent.results),)
