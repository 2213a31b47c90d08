"""Loads the goldens that a suite names, from files or from a store."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from evalgate.adapters.suites import yaml_tree
from evalgate.adapters.suites.json_lines import json_document, json_lines
from evalgate.errors import InvalidInput, Location, OverLimit, Problem, SettingError, SuiteError
from evalgate.evaluators.core.field_problems import FieldProblem, suggest
from evalgate.suite.goldens.golden_written import StoredGoldens, written_golden
from evalgate.suite.stored_suites import StoredDocument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from evalgate.models.goldens.regression_suite import RegressionSuite
    from evalgate.models.run.golden import Golden
    from evalgate.ports import Files
    from evalgate.ports.store import Store
    from evalgate.suite.diagnostics import Diagnostics, Document

MAX_BYTES = 64_000_000
"""Bytes, of all golden files of a suite together."""
MAX_FILE = 8_000_000
SUFFIXES = (".yaml", ".yml", ".json", ".jsonl")
_TEXTS = (str, int)


class GoldenFiles:
    """Loads the documents that the entries of `goldens` name; `store` opens the store, if there is one."""

    def __init__(self, files: Files, store: Callable[[], Store] | None = None) -> None:
        self._files = files
        self._open = store
        self._read = 0

    def behind(self, document: Document, mistakes: Diagnostics) -> StoredGoldens:
        """The documents of each entry, by its index; mistakes are added with their location."""
        items = document.value.get("goldens") if isinstance(document.value, dict) else None
        found = StoredGoldens()
        for number, item in enumerate(items if isinstance(items, list) else ()):
            if not isinstance(item, dict):
                continue
            if "file" in item:
                found.documents[number] = self._of_files(document, number, item["file"], mistakes)
            elif isinstance(item.get("store"), dict) and self._open is not None:
                self._of_store(document, number, item["store"], found, mistakes)
        return found

    def named(self, patterns: Sequence[str]) -> Sequence[Document]:
        """The documents of the named files; raises SuiteError with every mistake, or SettingError."""
        from evalgate.suite.diagnostics import Diagnostics

        mistakes = Diagnostics()
        found: list[Document] = []
        for pattern in patterns:
            matches = self._files.expand(pattern, ".")
            files = [each for each in matches if each.path.endswith(SUFFIXES)]
            if not files:
                hint = f"its name ends in {', '.join(SUFFIXES)}" if matches else "nothing is there"
                raise SettingError(Problem(f"no file of goldens at {pattern!r}", None, hint))
            for file in files:
                found += self._documents(file.path, mistakes)
        if mistakes.problems:
            raise SuiteError(*mistakes.problems)
        return found

    def _of_files(
        self, document: Document, number: int, globs: Any, mistakes: Diagnostics
    ) -> Sequence[Document]:
        place = ("goldens", number, "file")
        folder = posixpath.dirname(document.at(()).file) or "."
        found: list[Document] = []
        for glob in [globs] if isinstance(globs, str) else globs if isinstance(globs, list) else ():
            if not isinstance(glob, str) or not glob:
                continue  # reported when the entry is checked
            files = [each for each in self._files.expand(glob, folder) if each.path.endswith(SUFFIXES)]
            if not files:
                hint = f"its name ends in {', '.join(SUFFIXES)}"
                mistakes.add(document, FieldProblem(place, f"no file of goldens matches {glob!r}", hint))
            for file in files:
                found += self._documents(file.path, mistakes)
        return found

    def _documents(self, path: str, mistakes: Diagnostics) -> Sequence[Document]:
        try:
            content = self._files.read(path, MAX_FILE, what="file of goldens")
            self._read += len(content)
            if self._read > MAX_BYTES:
                raise OverLimit(f"the goldens of a suite are larger than {MAX_BYTES:,} bytes")
            text = content.decode("utf-8-sig")
            found = list(json_lines(text, path)) if path.endswith(".jsonl") else [_document(text, path)]
            return [each for each in found if not _is_suite(each, mistakes)]
        except UnicodeDecodeError:
            mistakes.problems.append(Problem("goldens are text in UTF-8", Location(path)))
        except OverLimit:
            raise
        except InvalidInput as error:
            if not isinstance(error, SuiteError):
                raise
            mistakes.problems += error.problems
        return []

    def _of_store(
        self, document: Document, number: int, wanted: Any, found: StoredGoldens, mistakes: Diagnostics
    ) -> None:
        """Loads goldens from the store. An unknown id or suite is a mistake, also tags without a golden."""
        place = ("goldens", number, "store")
        if self._open is None:
            return
        with self._open() as store:
            suite = None
            if isinstance(name := wanted.get("suite"), str):
                suite = store.suites.get(name)
                if suite is None:
                    known = suggest(name, [each.name for each in store.suites.list()])
                    mistakes.add(
                        document, FieldProblem(place, f"the store has no regression suite `{name}`", known)
                    )
                    return
            ids, tags, intents = (_texts(wanted.get(each)) for each in ("ids", "tags", "intents"))
            if suite is not None:
                ids = [*ids, *suite.golden_ids]
                tags, intents = [*tags, *suite.golden_tags], [*intents, *suite.golden_intents]
            goldens = store.goldens.chosen(ids, tags, intents)
            missing = [each for each in ids if each not in {golden.id for golden in goldens}]
            for each in missing:
                hint = suggest(each, store.goldens.ids())
                mistakes.add(document, FieldProblem(place, f"the store has no golden `{each}`", hint))
        if not goldens and not missing:
            hint = "see what there is: evalgate goldens list"
            mistakes.add(document, FieldProblem(place, "the store has no golden that this names", hint))
        found.documents[number] = _documents(goldens, suite)
        if suite is not None:
            found.thresholds.append(suite.critical_issue_threshold)


def _is_suite(document: Document, mistakes: Diagnostics) -> bool:
    """Whether the document is a suite by mistake; reported once instead of for each unknown key."""
    if not isinstance(document.value, dict) or not {"goldens", "traces"} <= document.value.keys():
        return False
    hint = "write its goldens into a file of their own, and name that in the suite: {file: PATH}"
    mistakes.add(document, FieldProblem((), "this is a suite, not a file of goldens", hint))
    return True


def _document(text: str, path: str) -> Document:
    """Parses a file as YAML, which gives locations; JSON with surrogate pairs needs the JSON parser."""
    try:
        return yaml_tree.load(text, path)
    except SuiteError:
        if not path.endswith(".json") or "\\u" not in text:
            raise
        return json_document(text, path)


def _texts(value: Any) -> list[str]:
    return [str(each) for each in value if isinstance(each, _TEXTS)] if isinstance(value, list) else []


def _documents(goldens: Iterable[Golden], suite: RegressionSuite | None) -> list[Document]:
    return [StoredDocument(f"store/{each.id}", written_golden(each, suite)) for each in goldens]
