"""From a loaded file to a suite ready to run; every mistake is collected with its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from pydantic import ValidationError

from evalgate.errors import Location, Problem
from evalgate.evaluators.flaws import MOST_TOLD, Flaw, FlawedError, Path, flaws_of
from evalgate.evaluators.parse import Parser
from evalgate.evaluators.query import compile_query
from evalgate.measures.globs import GlobError, path_pattern
from evalgate.scoring.scenario import TrialRules
from evalgate.suite.files import Defaults, MatchEntry, ProjectFile, ScenarioEntry, SuiteFile
from evalgate.suite.models import Match, Scenario, Suite
from evalgate.suite.policy import Closed

if TYPE_CHECKING:
    from evalgate.evaluators.assertion import Assertion
    from evalgate.measures.queries import Query

DEFAULT_THRESHOLD = 0.8
TIMING = frozenset({"has_timing", "staggered_timing", "is_recurring"})
"""Checks over the calls of one tool, which a scenario may name for all of them."""
FileModel = TypeVar("FileModel", bound=Closed)


class Document(Protocol):
    """A loaded file: its content, and where each part of it stands."""

    value: Any

    def at(self, path: Path) -> Location:
        """The place of the part that `path` leads to, or of the nearest part around it."""


class Mistakes:
    """Problems found so far; a file is read to its end before any of them is told."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, document: Document, flaw: Flaw) -> None:
        """Keeps one flaw with its place in the file."""
        self.problems.append(Problem(flaw.message, document.at(flaw.path), flaw.hint))

    def read(self, document: Document, model: type[FileModel]) -> FileModel | None:
        """The file as one of our models, or None with its mistakes kept."""
        try:
            return model.model_validate(document.value)
        except ValidationError as error:
            for flaw in flaws_of(error, model):
                self.add(document, _with_remedy(flaw))
            return None


def _with_remedy(flaw: Flaw) -> Flaw:
    if flaw.path[-1:] == ("fail_on",) and "at least" in flaw.message:
        return flaw._replace(
            message="`fail_on` can't be empty", hint="to never fail the check use report-only"
        )
    if not flaw.path and "mapping" in flaw.message:
        return flaw._replace(message="the file is empty or no mapping", hint="it begins with `version: 1`")
    return flaw


def parse_project(document: Document, mistakes: Mistakes) -> ProjectFile | None:
    """A project file, or None with its mistakes kept."""
    project = mistakes.read(document, ProjectFile)
    if project is not None:
        _parse_assertions(document, mistakes, project.defaults.assertions, ("defaults", "assertions"))
    return project


class SharedDefaults:
    """What a project gives to every suite, with the place it was written."""

    def __init__(self, document: Document | None, defaults: Defaults) -> None:
        self.document = document
        self.defaults = defaults

    def assertions(self) -> list[Assertion]:
        """The project's assertions, compiled; its mistakes were told when it was parsed."""
        if self.document is None:
            return []
        return _parse_assertions(
            self.document, Mistakes(), self.defaults.assertions, ("defaults", "assertions")
        )


def parse_suite(
    document: Document, path: str, folder: str, shared: SharedDefaults, mistakes: Mistakes
) -> tuple[Suite | None, list[Problem]]:
    """One suite, or None with its mistakes kept; beside it what `validate` warns about."""
    before = len(mistakes.problems)
    file = mistakes.read(document, SuiteFile)
    if file is None:
        _parse_what_can_be(document, mistakes)
        return None, []
    builder = _Builder(document, file, shared, mistakes)
    scenarios = builder.scenarios()
    suite = Suite(
        name=file.suite,
        path=path,
        folder=folder,
        traces=file.traces,
        form=file.format or shared.defaults.format or "auto",
        scenario_from=builder.scenario_from(),
        scenarios=scenarios,
        policy=file.policy,
        written=document.value,
    )
    return (None if len(mistakes.problems) > before else suite), builder.warnings


def _parse_what_can_be(document: Document, mistakes: Mistakes) -> None:
    """Assertions of a file that has other mistakes, so that a person hears of all of them at once."""
    value = document.value if isinstance(document.value, dict) else {}
    defaults = value.get("defaults")
    if isinstance(defaults, dict) and isinstance(defaults.get("assertions"), list):
        _parse_assertions(document, mistakes, defaults["assertions"], ("defaults", "assertions"))
    scenarios = value.get("scenarios")
    for index, entry in enumerate(scenarios if isinstance(scenarios, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("assertions"), list):
            _parse_assertions(document, mistakes, entry["assertions"], ("scenarios", index, "assertions"))


def _parse_assertions(document: Document, mistakes: Mistakes, raw: Any, path: Path) -> list[Assertion]:
    parser = Parser(document.at)
    parsed = parser.assertions(raw, path)
    for flaw in parser.flaws:
        mistakes.add(document, flaw)
    return parsed


def _about(raw: Any, tool: str | None) -> Any:
    """A timing check that names no tool is about the one its scenario expects."""
    if tool is None or not isinstance(raw, dict) or raw.get("type") not in TIMING:
        return raw
    params = raw.get("params")
    named = "tool" in raw or (isinstance(params, dict) and "tool" in params)
    return raw if named else {**raw, "tool": tool}


class _Builder:
    """Puts the scenarios of one suite together."""

    def __init__(
        self, document: Document, file: SuiteFile, shared: SharedDefaults, mistakes: Mistakes
    ) -> None:
        self._document, self._file, self._shared, self._mistakes = document, file, shared, mistakes
        self.warnings: list[Problem] = []

    def scenario_from(self) -> Query | None:
        """The expression that finds a trace's scenario id, where the suite or project gives one."""
        own = self._file.scenario_from
        expression = own or self._shared.defaults.scenario_from
        return self._compiled(expression, ("scenario_from",)) if expression else None

    def scenarios(self) -> list[Scenario]:
        """Every scenario, the suite's and project's assertions before its own."""
        common = self._shared.assertions()
        raw = self._file.defaults.assertions
        common += _parse_assertions(self._document, self._mistakes, raw, ("defaults", "assertions"))
        self._warn(common)
        built = []
        for index, entry in enumerate(self._file.scenarios):
            if len(self._mistakes.problems) >= MOST_TOLD:
                self._flaw(("scenarios", index), "too many mistakes before this scenario to read on")
                break
            built.append(self._scenario(entry, index, common))
        self._refuse_doubles()
        return built

    def _scenario(self, entry: ScenarioEntry, index: int, common: list[Assertion]) -> Scenario:
        path: Path = ("scenarios", index)
        written = [_about(each, entry.expected_tool) for each in entry.assertions]
        own = _parse_assertions(self._document, self._mistakes, written, (*path, "assertions"))
        self._warn(own)
        assertions = [*common, *self._expected_tool(entry, path), *own]
        if not assertions and not entry.assertions:
            self._flaw(path, f"scenario `{entry.id}` checks nothing", "give it assertions")
        elif assertions and not any(assertion.weight for assertion in assertions):
            self._flaw(path, f"the weights of scenario `{entry.id}` sum to 0")
        demanded = entry.trials.min_pass_k
        if demanded and demanded.k > demanded.of:
            self._flaw((*path, "trials", "min_pass_k"), f"{demanded.k} of {demanded.of} trials can't pass")
        return Scenario(
            id=entry.id,
            match=self._match(entry, path),
            threshold=self._threshold(entry),
            rules=TrialRules(
                min=entry.trials.min,
                min_pass_rate=entry.trials.min_pass_rate,
                min_pass_k=(demanded.k, demanded.of) if demanded else None,
                allow_errors=entry.allow_errors,
                optional=entry.optional,
            ),
            assertions=assertions,
            location=self._document.at((*path, "id")),
        )

    def _expected_tool(self, entry: ScenarioEntry, path: Path) -> list[Assertion]:
        """The scenario's own demand on calls of one tool, as the assertion that means the same."""
        said = {name: getattr(entry, name) for name in ("expected_tool", "min_calls")}
        if "expected_tool" not in entry.model_fields_set:
            if entry.min_calls is not None:
                self._flaw(
                    (*path, "min_calls"), "`min_calls` counts calls of `expected_tool`, which is missing"
                )
            return []
        if entry.expected_tool is None and entry.min_calls == 0:
            del said["min_calls"]  # a negative scenario may say so twice
        raw = {"type": "expected_tool", **{name: value for name, value in said.items() if value is not None}}
        raw.setdefault("expected_tool", None)
        return _parse_assertions(self._document, self._mistakes, [raw], (*path, "expected_tool"))

    def _threshold(self, entry: ScenarioEntry) -> float:
        nearest = (entry.threshold, self._file.threshold, self._shared.defaults.threshold)
        return next((value for value in nearest if value is not None), DEFAULT_THRESHOLD)

    def _match(self, entry: ScenarioEntry, path: Path) -> Match:
        """Without `match` the trace's id decides; a glob id names its scenarios by it in any case."""
        match = entry.match
        if match is None or match == MatchEntry():
            return Match(entry.id)
        glob = entry.id if "*" in entry.id else None
        at = (*path, "match")
        return Match(
            scenario_id=match.scenario_id or glob,
            path=self._path_pattern(match.path, (*at, "path")) if match.path else None,
            tags=frozenset(match.tags),
            where=self._compiled(match.where, (*at, "where")) if match.where else None,
        )

    def _path_pattern(self, pattern: str, path: Path) -> Any:
        try:
            return path_pattern(pattern)
        except GlobError as error:
            self._flaw(path, str(error))
            return None

    def _compiled(self, expression: str, path: Path) -> Query | None:
        try:
            return compile_query(expression, str(path[-1]))
        except FlawedError as error:
            self._flaw(path, error.flaw.message)
            return None

    def _refuse_doubles(self) -> None:
        seen: set[str] = set()
        for index, entry in enumerate(self._file.scenarios):
            if entry.id in seen:
                self._flaw(("scenarios", index, "id"), f"scenario `{entry.id}` stands twice in this suite")
            seen.add(entry.id)

    def _warn(self, assertions: list[Assertion]) -> None:
        self.warnings += [Problem(each.warning, each.location) for each in assertions if each.warning]

    def _flaw(self, path: Path, message: str, hint: str | None = None) -> None:
        self._mistakes.add(self._document, Flaw(path, message, hint))
