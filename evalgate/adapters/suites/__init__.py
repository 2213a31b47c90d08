"""Loads suites and project files (YAML): finds, reads and parses them, and reports all errors together.

Entry points: `SuiteFiles`, `golden_files.GoldenFiles`, `approvals_file.read_approvals`,
`approvals_file.append_approvals`, `yaml_tree.load`.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from evalgate.errors import InvalidInput, Location, OverLimit, Problem, SettingError, SuiteError
from evalgate.evaluators.core.field_problems import FieldProblem
from evalgate.models.results.document_names import PROJECT
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.models import Configuration, Suite, merge_prices
from evalgate.suite.parse import SUFFIXES, SharedDefaults, hide_project_secrets, name_of, parse_project, parse_suite
from evalgate.suite.suite_file import Defaults, PolicyEntry, ProjectFile

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from evalgate.adapters.suites.yaml_tree import YamlDocument
    from evalgate.models.approvals.approval import Approval, ApprovalFile
    from evalgate.ports import Files, FoundFile
    from evalgate.ports.store import GoldenStore
    from evalgate.suite.golden_rules import GoldenDocuments

FALLBACK = "evals/**/*.yaml"
MAX_BYTES = 1_000_000
MAX_ASSERTIONS = 50_000
HOW_TO_BEGIN = "`evalgate init` writes one from your traces; or pass a suite file: evalgate run my-suite.yaml"
TRACES_HINT = "pass it with --traces"
TRACE_SUFFIXES = (".jsonl", ".ndjson", ".gz")
SUITE_KEYS = frozenset({"suite", "suites", "scenarios", "goldens", "defaults", "policy"})


class SuiteFiles:
    """Loads suites; implements `SuiteSource`. `store` opens the store that holds goldens."""

    def __init__(
        self, files: Files, max_bytes: int = MAX_BYTES, store: Callable[[], GoldenStore] | None = None
    ) -> None:
        self._files = files
        self._max_bytes = max_bytes
        self._store = store

    def load(self, configs: Sequence[str]) -> Configuration:
        """The projects and suites that `configs` name; if empty, those in the default places."""
        diagnostics, warnings = Diagnostics(), list[Problem]()
        project: ProjectFile | None = None
        shared, project_content = SharedDefaults(None, Defaults.from_defaults()), dict[str, Any]()
        project_path: str | None = None
        documents: dict[str, YamlDocument] = {}
        for path in self._find_files(configs):
            document = self._load_document(path, diagnostics)
            if document is None:
                continue
            if not _is_project(document.value):
                documents.setdefault(path, document)
                continue
            if project_content:
                diagnostics.problems.append(
                    Problem("a second project file", Location(path), "only one file may have the key `suites`")
                )
                continue
            warnings += document.warnings
            project_content, project_path = document.value, path
            project = parse_project(document, diagnostics)
            if project is not None:
                shared = SharedDefaults(document, project.defaults, posixpath.dirname(path) or ".", project.prices)
                for each in self._suites_of(project, document, path, diagnostics):
                    found = self._load_document(each, diagnostics) if each not in documents else None
                    if found is not None:
                        documents[each] = found
        if not project_content:
            self._apply_redaction(diagnostics)
        suites = self._parse(documents, shared, diagnostics, warnings)
        if diagnostics.problems:
            raise SuiteError(*sorted(diagnostics.problems, key=_sort_key))
        warnings += self._find_unread(configs, project, project_path, documents)
        policy = project.policy if project is not None else PolicyEntry.from_defaults()
        return Configuration(suites, policy, warnings, project_content, merge_prices(shared.prices), project_path)

    def _find_unread(
        self, configs: Sequence[str], project: ProjectFile | None, project_path: str | None, read: Collection[str]
    ) -> list[Problem]:
        """Warnings about files that look like suites, beside those that are read, and about rules left out."""
        from evalgate.adapters.suites.unread_suites import find_unread_suites

        globs, folders = [(glob, ".") for glob in configs or (PROJECT, FALLBACK)], list[str]()
        if project is not None and project_path is not None:
            globs += [(glob, posixpath.dirname(project_path) or ".") for glob in project.suites]
            folders = sorted({posixpath.dirname(path) or "." for path in read})
        unread = find_unread_suites(self._files, globs, {*read, project_path or ""}, folders)
        return unread if project_path is not None else [*unread, *self._find_left_out_rules(read)]

    def _find_left_out_rules(self, read: Collection[str]) -> list[Problem]:
        """Warnings about project files that have rules for suites that were named without them."""
        from evalgate.adapters.suites.unread_suites import find_left_out_rules, list_project_paths

        found = [file.path for path in list_project_paths(read) for file in self._files.expand(path, ".")]
        loaded = [self._load_document(path, Diagnostics()) for path in found if path not in read]
        return find_left_out_rules(self._files, [each for each in loaded if each and _is_project(each.value)], read)

    def parse_text(self, text: str, path: str) -> Suite:
        """Parses the text of one suite that is not a file yet, as if it were at this path; raises SuiteError."""
        from evalgate.adapters.suites import yaml_tree

        diagnostics, document = Diagnostics(), yaml_tree.load(text, path)
        shared = SharedDefaults(None, Defaults.from_defaults())
        suites = self._parse({path: document}, shared, diagnostics, [])
        if diagnostics.problems:
            raise SuiteError(*sorted(diagnostics.problems, key=_sort_key))
        return suites[0]

    def find_name(self, path: str) -> str | None:
        """The name of the suite in a file; see the port."""
        try:
            found = self._load_document(path, Diagnostics()) if self._files.expand(path, ".") else None
        except InvalidInput:  # of what can't be read none is known
            return None
        is_suite = found is not None and isinstance(found.value, dict)
        return str(found.value.get("suite") or name_of(path)) if found and is_suite else None

    def _apply_redaction(self, diagnostics: Diagnostics) -> None:
        """Applies the default project file's redaction also if suites were named without it."""
        if self._files.expand(PROJECT, "."):
            document = self._load_document(PROJECT, diagnostics)
            if document is not None:
                hide_project_secrets(document, diagnostics)

    def load_approvals(self, file: ApprovalFile) -> list[Approval]:
        """Parses the approvals of a file; see the port."""
        from evalgate.adapters.suites.approvals_file import read_approvals

        return read_approvals(file)

    def _find_files(self, configs: Sequence[str]) -> list[str]:
        """The files to load, each once, in the given order."""
        if configs:
            found = [file.path for config in configs for file in self._expand(config)]
        else:
            found = [file.path for file in self._files.expand(PROJECT, ".")] or [
                file.path for file in self._files.expand(FALLBACK, ".")
            ]
            if not found:
                other = [each for name in (PROJECT, FALLBACK) for each in self._files.expand(_swap_ending(name), ".")]
                hint = f"rename {other[0].path} to {_swap_ending(other[0].path)}" if other else HOW_TO_BEGIN
                raise SettingError(Problem(f"no suite found: neither {PROJECT} nor {FALLBACK}", None, hint))
        return list(dict.fromkeys(found))

    def _expand(self, config: str) -> list[Any]:
        matches = self._files.expand(config, ".")
        found = [file for file in matches if file.path.endswith(SUFFIXES)]
        if not found:
            raise SettingError(Problem(f"no suite file at {config!r}", None, self._find_hint(config, matches)))
        return found

    def _find_hint(self, config: str, matches: Sequence[FoundFile]) -> str:
        """What may be meant by a path at which there is no suite."""
        if any(file.path.endswith(TRACE_SUFFIXES) for file in matches):
            return f"this looks like a trace: {TRACES_HINT}"
        if matches:
            return "the name of a suite file must end in .yaml, .yml or .json"
        other = _swap_ending(config)
        if other != config and self._files.expand(other, "."):
            return f"did you mean {other!r}?"
        similar = self._find_similar(config)
        return f"did you mean {similar}?" if similar else "nothing was found there"

    def _find_similar(self, config: str) -> str | None:
        """The suite file in the same folder whose name a path may misspell."""
        import difflib

        folder, name = posixpath.split(config)
        if "*" in config or not name:
            return None
        found = [file.path for each in SUFFIXES for file in self._files.expand(posixpath.join(folder, f"*{each}"), ".")]
        by_stem = {posixpath.splitext(posixpath.basename(path))[0]: path for path in found}
        close = difflib.get_close_matches(posixpath.splitext(name)[0], by_stem, 1)
        return by_stem[close[0]] if close else None

    def _suites_of(
        self, project: ProjectFile, document: YamlDocument, path: str, diagnostics: Diagnostics
    ) -> list[str]:
        folder, found = posixpath.dirname(path) or ".", list[str]()
        for index, glob in enumerate(project.suites):
            matches = [file.path for file in self._files.expand(glob, folder) if file.path != path]
            if not matches:
                diagnostics.add_problem(document, FieldProblem(("suites", index), f"no suite file matches {glob!r}"))
            found += matches
        return list(dict.fromkeys(found))

    def _load_document(self, path: str, diagnostics: Diagnostics) -> YamlDocument | None:
        from evalgate.adapters.suites import yaml_tree

        try:
            content = self._files.read(path, self._max_bytes, what="suite")
            document = yaml_tree.load(content.decode("utf-8-sig"), path)
            if not _is_trace(path, document.value):
                return document
            diagnostics.problems.append(Problem("this looks like a trace", Location(path), TRACES_HINT))
        except UnicodeDecodeError:
            diagnostics.problems.append(Problem("a suite must be UTF-8 text", Location(path)))
        except SuiteError as error:
            diagnostics.problems += error.problems
        return None

    def _load_goldens(self, document: YamlDocument, diagnostics: Diagnostics) -> GoldenDocuments | None:
        """Loads the goldens that a suite names in files or the store; None if it has no goldens."""
        if not isinstance(document.value, dict) or "goldens" not in document.value:
            return None
        from evalgate.adapters.suites.golden_files import GoldenFiles

        return GoldenFiles(self._files, self._store).load_for_suite(document, diagnostics)

    def _parse(
        self,
        documents: dict[str, YamlDocument],
        shared: SharedDefaults,
        diagnostics: Diagnostics,
        warnings: list[Problem],
    ) -> list[Suite]:
        suites: dict[str, Suite] = {}
        for path, document in documents.items():
            warnings += document.warnings
            folder = posixpath.dirname(path) or "."
            goldens = self._load_goldens(document, diagnostics)
            suite, suite_warnings = parse_suite(document, path, folder, shared, diagnostics, goldens)
            warnings += suite_warnings
            if suite is None:
                continue
            if suite.name in suites:
                other = suites[suite.name].path
                message = f"suite `{suite.name}` has the same name as the suite in {other}"
                diagnostics.add_problem(
                    document, FieldProblem(("suite",), message, "change the name of one of them under `suite`")
                )
            suites[suite.name] = suite
        _check_size(suites)
        return list(suites.values())


def _check_size(suites: dict[str, Suite]) -> None:
    scenarios = sum(len(suite.scenarios) for suite in suites.values())
    if scenarios > MAX_SCENARIOS:
        raise OverLimit(f"{scenarios:,} scenarios; a run may have at most {MAX_SCENARIOS:,}")
    # Defaults are compiled once and shared by all scenarios of a suite.
    ids = {id(one) for suite in suites.values() for each in suite.scenarios for one in each.assertions}
    if len(ids) > MAX_ASSERTIONS:
        raise OverLimit(f"{len(ids):,} assertions; a run may have at most {MAX_ASSERTIONS:,}")


def _sort_key(problem: Problem) -> tuple[str, int, int]:
    file, line, column = problem.location or ("", None, None)
    return file, line or 0, column or 0


def _swap_ending(path: str) -> str:
    """The path with the other of the endings .yaml and .yml; unchanged if it has neither."""
    stem, ending = posixpath.splitext(path)
    return stem + {".yaml": ".yml", ".yml": ".yaml"}.get(ending, ending)


def _is_trace(path: str, value: Any) -> bool:
    """Whether a JSON file holds something, but no key of a suite or project file."""
    if not path.endswith(".json") or not value:
        return False
    return isinstance(value, list) or (isinstance(value, dict) and not SUITE_KEYS & value.keys())


def _is_project(value: Any) -> bool:
    return isinstance(value, dict) and "suites" in value and not {"scenarios", "goldens"} & value.keys()
