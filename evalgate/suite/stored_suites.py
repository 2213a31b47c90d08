"""Parses the suites that a baseline stores, so that traces can be judged by its rules again."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import InvalidInput, Location
from evalgate.models.results.document_names import SUITES_SCHEMA
from evalgate.records import dataclass
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.models import Configuration
from evalgate.suite.parse import SharedDefaults, parse_project, parse_suite
from evalgate.suite.schema.suite_file import Defaults, PolicyEntry
from evalgate.suite.suite_prices import own_prices

if TYPE_CHECKING:
    from evalgate.evaluators.core.field_problems import Path
    from evalgate.suite.models import Suite

PROJECT = "evalgate.yaml"
MAX_DEPTH = 64
MAX_VALUES = 5_000_000
"""Keys and values of all suites together."""


class StoredSuites(NamedTuple):
    """The suites that could be parsed, and those, by name or path, that this version can't read."""

    configuration: Configuration
    unread: tuple[str, ...] = ()


@dataclass(slots=True)
class StoredDocument:
    """A file's content without its text: every location is the file as a whole."""

    file: str
    value: Any

    def at(self, path: Path) -> Location:  # noqa: ARG002  (a Document's signature)
        """The file."""
        return Location(self.file)


def stored_suites(kept: Any) -> StoredSuites | None:
    """The suites of a baseline; None for another kind of document, or one larger than EvalGate writes."""
    if not isinstance(kept, dict) or kept.get("schema") != SUITES_SCHEMA or not _is_bounded(kept):
        return None
    written, entries = kept.get("project"), kept.get("suites")
    if not isinstance(written, dict) or not isinstance(entries, list):
        return None
    shared, policy, unread = SharedDefaults(None, Defaults.unsaid()), PolicyEntry.unsaid(), list[str]()
    if written:
        document = StoredDocument(PROJECT, written)
        mistakes = Diagnostics()
        project = parse_project(document, mistakes)
        if project is None or mistakes.problems:
            return None
        shared = SharedDefaults(document, project.defaults, ".", project.prices)
        policy = project.policy
    suites: dict[str, Suite] = {}
    for entry in entries:
        path, value = (entry.get("path"), entry.get("suite")) if isinstance(entry, dict) else (None, None)
        if not isinstance(path, str):
            return None
        suite = _suite(StoredDocument(path, value), shared)
        if suite is None:
            unread.append(path)
        else:
            suites[suite.name] = suite
    found = Configuration(list(suites.values()), policy, (), written, own_prices(shared.prices))
    return StoredSuites(found, tuple(unread))


def _suite(document: StoredDocument, shared: SharedDefaults) -> Suite | None:
    mistakes = Diagnostics()
    folder = posixpath.dirname(document.file) or "."
    try:
        suite, _ = parse_suite(document, document.file, folder, shared, mistakes)
    except InvalidInput:
        return None
    return None if mistakes.problems else suite


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
