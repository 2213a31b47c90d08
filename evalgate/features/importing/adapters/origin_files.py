"""Reads files of other tools: YAML, JSON, JSON Lines and tables, within the limits of suites."""

from __future__ import annotations

import csv
import json
import posixpath
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.adapters.suites import yaml_tree
from evalgate.adapters.suites.golden_files import LineDocument, json_document, json_lines
from evalgate.errors import Location, OverLimit, Problem, RefusedPath, SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from evalgate.features.importing.ports import OriginDocument
    from evalgate.ports import Files

MAX_FILES = 100
"""Files that one file names, with what their patterns find."""
TABLES, LINES, JSON = (".csv",), (".jsonl", ".ndjson"), (".json",)
YAML = (".yaml", ".yml")


class DiskOriginFiles:
    """Reads the named file with `named`, what it names with `inside`, which refuses all outside of the workspace."""

    def __init__(self, named: Files, inside: Files, max_bytes: int) -> None:
        self._named = named
        self._inside = inside
        self._max_bytes = max_bytes
        self._count = 0

    def read_named(self, path: str) -> OriginDocument:
        """The file that a person named; raises InvalidInput."""
        return self._read(self._named, path)

    def read_beside(self, reference: str, document: OriginDocument) -> Sequence[OriginDocument]:
        """The files that a reference names, beside the document; raises InvalidInput."""
        folder = posixpath.dirname(document.locate(()).file)
        found = self._inside.expand(reference, folder) if reference else ()
        if not found:
            raise RefusedPath(Problem("the file does not exist", Location(posixpath.join(folder, reference))))
        self._count += len(found)
        if self._count > MAX_FILES:
            raise OverLimit(f"more than {MAX_FILES} files are named; divide them")
        paths = [each.path for each in found]
        if not all(path.endswith((*TABLES, *LINES, *JSON, *YAML)) for path in paths):
            raise RefusedPath(Problem("only YAML, JSON, JSON Lines and CSV are read", Location(paths[0])))
        return [self._read(self._inside, path) for path in paths]

    def _read(self, files: Files, path: str) -> OriginDocument:
        return _parse(_decode(files.read(path, self._max_bytes, what="the file"), path), path)


def _decode(content: bytes, path: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise SuiteError(Problem("the file is not UTF-8", Location(path))) from None


def _parse(text: str, path: str) -> OriginDocument:
    if path.endswith(TABLES):
        return _build_table(path, _read_rows(text, path))
    if path.endswith(LINES):
        rows = ((each.line or 1, _bound(each.value, path)) for each in json_lines(text, path))
        return _build_table(path, rows)
    if not path.endswith(JSON):
        return yaml_tree.load(text, path)
    value = json_document(text, path).value  # not everything that YAML reads is JSON
    try:
        return yaml_tree.load(text, path)
    except SuiteError:  # what YAML refuses of JSON, such as a tab
        return LineDocument(path, None, _bound(value, path))


def _bound(value: Any, path: str) -> Any:
    """The value within the limits of YAML, on depth and numbers; raises SuiteError."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise SuiteError(Problem("values are nested too deep", Location(path))) from None
    return yaml_tree.load(text, path).value


def _read_rows(text: str, path: str) -> list[tuple[int, Any]]:
    reader = csv.DictReader(text.splitlines(keepends=True), restkey="", restval="")
    found: list[tuple[int, Any]] = []
    try:
        for row in reader:
            row.pop("", None)
            found.append((reader.line_num, row))
            if len(found) > yaml_tree.MAX_VALUES:
                raise OverLimit(Problem(f"more than {yaml_tree.MAX_VALUES:,} rows", Location(path)))
    except csv.Error:
        raise SuiteError(Problem("this is not CSV", Location(path, reader.line_num + 1))) from None
    return found


class _TableDocument(Struct):
    """Rows, each of a line."""

    file: str
    value: list[Any]
    lines: list[int]

    def locate(self, path: tuple[str | int, ...]) -> Location:
        """The line of a row."""
        first = path[0] if path else None
        return Location(self.file, self.lines[first] if isinstance(first, int) and first < len(self.lines) else None)


def _build_table(path: str, rows: Iterable[tuple[int, Any]]) -> _TableDocument:
    found = list(rows)
    return _TableDocument(path, [row for _, row in found], [line for line, _ in found])
