"""Loads the goldens that a suite names, from files or from a store."""

from __future__ import annotations

import json
import posixpath
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.adapters.suites import yaml_tree
from evalgate.errors import Location, OverLimit, Problem, SettingError, SuiteError
from evalgate.evaluators.core.field_problems import FieldProblem, suggest
from evalgate.suite.baseline_suites import BaselineDocument
from evalgate.suite.golden_rules import GoldenDocuments, encode_golden

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from evalgate.models.goldens import RegressionSuite
    from evalgate.models.run.golden import Golden
    from evalgate.ports import Files
    from evalgate.ports.store import GoldenStore
    from evalgate.suite.diagnostics import Diagnostics, Document

MAX_BYTES = 64_000_000
"""Bytes, of all golden files of a suite together."""
MAX_FILE = 8_000_000
SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
_TEXTS = (str, int)


class GoldenFiles:
    """Loads the documents that the entries of `goldens` name; `store` opens the store, if there is one."""

    def __init__(self, files: Files, store: Callable[[], GoldenStore] | None = None) -> None:
        self._files = files
        self._open_store = store
        self._bytes_read = 0

    def load_for_suite(self, document: Document, diagnostics: Diagnostics) -> GoldenDocuments:
        """The documents of each entry, by its index; errors are added with their location."""
        items = document.value.get("goldens") if isinstance(document.value, dict) else None
        found = GoldenDocuments()
        for number, item in enumerate(items if isinstance(items, list) else ()):
            if not isinstance(item, dict):
                continue
            if "file" in item:
                found.documents[number] = self._load_files(document, number, item["file"], diagnostics)
            elif isinstance(item.get("store"), dict) and self._open_store is not None:
                self._load_from_store(document, number, item["store"], found, diagnostics)
        return found

    def load_named(self, patterns: Sequence[str]) -> Sequence[Document]:
        """The documents of the named files; raises SuiteError with every error, or SettingError."""
        from evalgate.suite.diagnostics import Diagnostics

        diagnostics = Diagnostics()
        found: list[Document] = []
        for pattern in patterns:
            matches = self._files.expand(pattern, ".")
            files = [each for each in matches if each.path.endswith(SUFFIXES)]
            if not files:
                hint = f"the file name must end in {', '.join(SUFFIXES)}" if matches else "nothing was found there"
                raise SettingError(Problem(f"no goldens file at {pattern!r}", None, hint))
            for file in files:
                found += self._read_documents(file.path, diagnostics)
        if diagnostics.problems:
            raise SuiteError(*diagnostics.problems)
        return found

    def _load_files(self, document: Document, number: int, globs: Any, diagnostics: Diagnostics) -> Sequence[Document]:
        field = ("goldens", number, "file")
        folder = posixpath.dirname(document.locate(()).file) or "."
        found: list[Document] = []
        for glob in [globs] if isinstance(globs, str) else globs if isinstance(globs, list) else ():
            if not isinstance(glob, str) or not glob:
                continue  # reported when the entry is checked
            files = [each for each in self._files.expand(glob, folder) if each.path.endswith(SUFFIXES)]
            if not files:
                hint = f"the file name must end in {', '.join(SUFFIXES)}"
                diagnostics.add_problem(document, FieldProblem(field, f"no goldens file matches {glob!r}", hint))
            for file in files:
                found += self._read_documents(file.path, diagnostics)
        return found

    def _read_documents(self, path: str, diagnostics: Diagnostics) -> Sequence[Document]:
        try:
            content = self._files.read(path, MAX_FILE, what="goldens file")
            self._bytes_read += len(content)
            if self._bytes_read > MAX_BYTES:
                raise OverLimit(f"the goldens of a suite are larger than {MAX_BYTES:,} bytes")
            text = content.decode("utf-8-sig")
            found = list(json_lines(text, path)) if path.endswith(".jsonl") else [_parse_document(text, path)]
            return [each for each in found if not _is_suite(each, diagnostics)]
        except UnicodeDecodeError:
            diagnostics.problems.append(Problem("goldens must be UTF-8 text", Location(path)))
        except SuiteError as error:
            diagnostics.problems += error.problems
        return []

    def _load_from_store(
        self,
        document: Document,
        number: int,
        selection: Any,
        found: GoldenDocuments,
        diagnostics: Diagnostics,
    ) -> None:
        """Loads goldens from the store. An unknown id or suite is an error, and so is a tag without a golden."""
        field = ("goldens", number, "store")
        if self._open_store is None:
            return
        with self._open_store() as store:
            suite = None
            if isinstance(name := selection.get("suite"), str):
                suite = store.suites.get(name)
                if suite is None:
                    guess = suggest(name, [each.name for each in store.suites.list()])
                    diagnostics.add_problem(
                        document, FieldProblem(field, f"the store has no regression suite `{name}`", guess)
                    )
                    return
            ids, tags, intents = (_text_items(selection.get(each)) for each in ("ids", "tags", "intents"))
            if suite is not None:
                ids = [*ids, *suite.golden_ids]
                tags, intents = [*tags, *suite.golden_tags], [*intents, *suite.golden_intents]
            goldens = store.goldens.select(ids, tags, intents)
            missing = [each for each in ids if each not in {golden.id for golden in goldens}]
            for each in missing:
                hint = suggest(each, store.goldens.ids())
                diagnostics.add_problem(document, FieldProblem(field, f"the store has no golden `{each}`", hint))
        if not goldens and not missing:
            hint = "run `evalgate store goldens list` to list them"
            diagnostics.add_problem(document, FieldProblem(field, "no golden in the store matches", hint))
        found.documents[number] = _encode_documents(goldens, suite)
        if suite is not None:
            found.thresholds.append(suite.critical_issue_threshold)


def _is_suite(document: Document, diagnostics: Diagnostics) -> bool:
    """Whether the document is a suite by mistake; reported once instead of for each unknown key."""
    if not isinstance(document.value, dict) or not {"goldens", "traces"} <= document.value.keys():
        return False
    hint = "write its goldens to a separate file, and refer to it in the suite: {file: PATH}"
    diagnostics.add_problem(document, FieldProblem((), "this is a suite, not a goldens file", hint))
    return True


def _parse_document(text: str, path: str) -> Document:
    """Parses a file as YAML, which gives locations; JSON with surrogate pairs needs the JSON parser."""
    try:
        return yaml_tree.load(text, path)
    except SuiteError:
        if not path.endswith(".json") or "\\u" not in text:
            raise
        return json_document(text, path)


def _text_items(value: Any) -> list[str]:
    return [str(each) for each in value if isinstance(each, _TEXTS)] if isinstance(value, list) else []


def _encode_documents(goldens: Iterable[Golden], suite: RegressionSuite | None) -> list[Document]:
    return [BaselineDocument(f"store/{each.id}", encode_golden(each, suite)) for each in goldens]


MAX_VALUES = 200_000
"""Brackets, commas and colons of a line, which is about the number of values."""


class _InvalidJsonError(ValueError):
    pass


class LineDocument(Struct):
    """A JSON document from one line or a whole file; locations in it are not more precise."""

    file: str
    line: int | None
    value: Any

    def locate(self, path: tuple[str | int, ...]) -> Location:  # noqa: ARG002  (a Document's signature)
        """The location of the line, or of the file."""
        return Location(self.file, self.line)


def json_document(text: str, file: str) -> LineDocument:
    """Parses a whole file as JSON, without locations. Raises SuiteError."""
    return LineDocument(file, None, _parse_value(text, Location(file)))


def json_lines(text: str, file: str) -> Iterator[LineDocument]:
    """Parses each line that is not blank. Raises SuiteError naming the line."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield LineDocument(file, number, _parse_value(line, Location(file, number)))


def _parse_value(line: str, location: Location) -> Any:
    if sum(map(line.count, ",[{:")) > MAX_VALUES:
        raise SuiteError(Problem(f"a document may contain at most {MAX_VALUES:,} values", location))
    try:
        return json.loads(line, object_pairs_hook=_build_unique_dict, parse_constant=_refuse_constant)
    except _InvalidJsonError as error:
        raise SuiteError(Problem(str(error), location)) from None
    except json.JSONDecodeError as error:
        message = f"invalid JSON document: it ends at column {error.colno}"
        raise SuiteError(Problem(message, location)) from None
    except (ValueError, RecursionError):
        raise SuiteError(Problem("invalid JSON document", location)) from None


def _build_unique_dict(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise _InvalidJsonError(f"the key `{name[:60]}` appears twice")
        found[name] = value
    return found


def _refuse_constant(word: str) -> Any:
    raise _InvalidJsonError(f"{word} is not a number")
