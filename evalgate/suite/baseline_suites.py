"""Parses the suites that a baseline stores, so that traces can be judged by its rules again."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from evalgate.errors import InvalidInput, Location
from evalgate.models.results.document_names import PROJECT, SUITES_SCHEMA
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.models import Configuration, merge_prices
from evalgate.suite.parse import SharedDefaults, parse_project, parse_suite
from evalgate.suite.suite_file import Defaults, PolicyEntry

if TYPE_CHECKING:
    from evalgate.evaluators.core.field_problems import Path
    from evalgate.suite.models import Suite

MAX_DEPTH = 64
MAX_VALUES = 5_000_000
"""Keys and values of all suites together."""
RATE, LEAST_RATE = "min_pass_rate", 1e-9
"""A rate of 0 demanded one passing trial, as does the least one above it."""


class BaselineSuites(NamedTuple):
    """The suites that could be parsed, and those, by name or path, that this version can't read."""

    configuration: Configuration
    unread: tuple[str, ...] = ()


class BaselineDocument(Struct):
    """A file's content without its text: every location is the file as a whole."""

    file: str
    value: Any

    def locate(self, path: Path) -> Location:  # noqa: ARG002  (a Document's signature)
        """The file."""
        return Location(self.file)


def parse_baseline_suites(content: Any) -> BaselineSuites | None:
    """The suites of a baseline; None for another kind of document, or one larger than EvalGate writes."""
    if not isinstance(content, dict) or content.get("schema") != SUITES_SCHEMA or not _is_bounded(content):
        return None
    project_content, entries = content.get("project"), content.get("suites")
    if not isinstance(project_content, dict) or not isinstance(entries, list):
        return None
    shared, policy, unread = (SharedDefaults(None, Defaults.from_defaults()), PolicyEntry.from_defaults(), list[str]())
    path = content.get("project_path")
    project_path = path if isinstance(path, str) else PROJECT if project_content else None
    if project_content:
        document = BaselineDocument(PROJECT, _with_positive_rates(project_content))
        diagnostics = Diagnostics()
        project = parse_project(document, diagnostics)
        if project is None or diagnostics.problems:
            return None
        folder = posixpath.dirname(project_path or PROJECT) or "."
        shared = SharedDefaults(document, project.defaults, folder, project.prices)
        policy = project.policy
    suites: dict[str, Suite] = {}
    for entry in entries:
        path, value = (entry.get("path"), entry.get("suite")) if isinstance(entry, dict) else (None, None)
        if not isinstance(path, str):
            return None
        suite = _parse_suite(path, value, shared) or _parse_suite(path, _with_positive_rates(value), shared)
        if suite is None:
            unread.append(path)
        else:
            suites[suite.name] = suite
    prices = merge_prices(shared.prices)
    found = Configuration(list(suites.values()), policy, (), project_content, prices, project_path)
    return BaselineSuites(found, tuple(unread))


def _parse_suite(path: str, value: Any, shared: SharedDefaults) -> Suite | None:
    document, diagnostics = BaselineDocument(path, value), Diagnostics()
    folder = posixpath.dirname(document.file) or "."
    try:
        suite, _ = parse_suite(document, document.file, folder, shared, diagnostics)
    except InvalidInput:
        return None
    return None if diagnostics.problems else suite


def _with_positive_rates(value: Any) -> Any:
    """A suite or project in which a `min_pass_rate` of 0, which none may have any more, is the least one above it."""
    if isinstance(value, list):
        return [_with_positive_rates(each) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _with_positive_rates(each) for key, each in value.items()}
    rate = changed.get(RATE)
    return {**changed, RATE: LEAST_RATE} if type(rate) in (int, float) and rate == 0 else changed


def _is_bounded(value: Any) -> bool:
    """Whether a value is no larger and no deeper than suites may be."""
    level, count = [value], 0
    for _ in range(MAX_DEPTH):
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                inner += each.values()
            elif isinstance(each, list):
                inner += each
        count += len(inner)
        if not inner or count > MAX_VALUES:
            return not inner
        level = inner
    return False
