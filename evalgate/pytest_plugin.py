"""The plugin of pytest: options, settings and markers. It loads the rest only where a project uses it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest

MARKERS = (
    "eval: a test of what an agent does, such as a scenario of a suite",
    "evalgate_tag(name): a tag of a scenario",
)


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
    parser.addini("evalgate_suites", "globs of suites to collect as tests", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Registers the markers, and what collects suites if any are asked for."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    is_asked = config.getoption("evalgate_suites_named") or config.getini("evalgate_suites")
    if is_asked or config.getoption("evalgate_gate"):
        from evalgate.testing.plugin import SuitePlugin

        config.pluginmanager.register(SuitePlugin(config), "evalgate_suites")
