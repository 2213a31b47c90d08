"""Reads and checks the goldens of a suite, in place or in other documents, and builds their scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from msgspec.structs import replace
from pydantic import ValidationError

from evalgate.errors import OverLimit, Problem
from evalgate.evaluators.core.field_problems import MAX_PROBLEMS, FieldProblem, Path, problems_from_error
from evalgate.evaluators.core.parse import Parser
from evalgate.measures.values.json_values import show_typed
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.scoring.golden.judging import dimension_checks
from evalgate.strict_model import StrictModel
from evalgate.suite.diagnostics import TraceMatcher
from evalgate.suite.golden_file import GoldenEntry, GoldenFilesEntry, GoldenSettings, GoldenStoreEntry
from evalgate.suite.golden_rules import GoldenDocuments, build_rules, find_settings_problem, golden_from_entry
from evalgate.suite.models import Scenario
from evalgate.suite.scenarios import build_trial_rules

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.run.golden import Golden
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.suite.diagnostics import Diagnostics, Document
    from evalgate.suite.models import Variant
    from evalgate.suite.suite_file import PolicyEntry, SuiteFile

ITEMS, SETTINGS, THRESHOLD = "goldens", "golden", "critical_issue_threshold"
NO_STORE_MESSAGE = "these goldens need a store, and none is configured"
Model = TypeVar("Model", bound=StrictModel)


class _GoldenSource(NamedTuple):
    document: Document
    path: Path
    raw: Any


class GoldenScenarioBuilder:
    """Builds the scenarios of a suite's goldens; `warnings` are what `validate` reports besides errors.

    `stored` holds the documents that its entries name. `content` is the suite with all those goldens
    inserted; `policy` is the suite's, completed by the limits of stored regression suites.
    """

    def __init__(
        self,
        document: Document,
        file: SuiteFile,
        stored: GoldenDocuments | None,
        diagnostics: Diagnostics,
        variants: Sequence[Variant] = (),
    ) -> None:
        self._document, self._file, self._stored = document, file, stored or GoldenDocuments()
        self._diagnostics, self._variants = diagnostics, variants
        self._sources = list(self._find_sources())
        self.warnings: list[Problem] = []

    @property
    def policy(self) -> PolicyEntry:
        """The suite's policy; if it sets no limit of critical issues, with that of its regression suites."""
        suite_policy = self._file.policy
        if not self._stored.thresholds or suite_policy.critical_issue_threshold is not None:
            return suite_policy
        return suite_policy.model_copy(update={THRESHOLD: min(self._stored.thresholds)})

    @property
    def content(self) -> dict[str, Any]:
        """The suite's content with every golden inserted."""
        inserted: dict[str, Any] = {**self._document.value, ITEMS: [each.raw for each in self._sources]}
        if self.policy is not self._file.policy:
            suite_policy = inserted.get("policy") or {}
            inserted["policy"] = {**suite_policy, THRESHOLD: self.policy.critical_issue_threshold}
        return inserted

    def build(self, common: Sequence[Assertion], taken: Sequence[Scenario]) -> list[Scenario]:
        """A scenario for each golden, in every variant; `taken` are the suite's others. Raises OverLimit."""
        if not self._file.goldens:
            self._diagnostics.add_problem(
                self._document, FieldProblem((SETTINGS,), "`golden` is set, but the suite has no goldens")
            )
        if len(self._sources) * max(1, len(self._variants)) + len(taken) > MAX_SCENARIOS:
            raise OverLimit(f"too many scenarios and goldens: a run may have at most {MAX_SCENARIOS:,}")
        settings = self._read_model(_GoldenSource(self._document, (SETTINGS,), self._file.golden or {}), GoldenSettings)
        problem = find_settings_problem(settings) if settings is not None else None
        if problem is not None:
            self._diagnostics.add_problem(self._document, problem._replace(path=(SETTINGS, *problem.path)))
        ids, scenarios = {each.id for each in taken}, list[Scenario]()
        for source in self._sources:
            if len(self._diagnostics.problems) >= MAX_PROBLEMS:
                self._add_problem(source, FieldProblem((), "too many errors: the other goldens were not checked"))
                break
            entry = self._read_model(source, GoldenEntry)
            if entry is None or settings is None:
                continue
            if entry.id in ids:
                self._add_problem(source, FieldProblem(("id",), f"`{entry.id}` appears twice in this suite"))
            ids.add(entry.id)
            scenarios += self._build_variants(source, entry, settings, common)
        return scenarios

    def _find_sources(self) -> Iterator[_GoldenSource]:
        for number, item in enumerate(self._file.goldens):
            source = _GoldenSource(self._document, (ITEMS, number), item)
            if not isinstance(item, dict):
                self._add_problem(source, FieldProblem((), f"a golden is a mapping, not {show_typed(item, 40)}"))
            elif "file" in item:
                if self._read_model(source, GoldenFilesEntry) is not None:
                    yield from self._read_documents(number)
            elif "store" in item:
                if self._read_model(source, GoldenStoreEntry) is None:
                    continue
                if number not in self._stored.documents:
                    hint = "name it with --store-url or EVALGATE_STORE_URL"
                    self._add_problem(source, FieldProblem((), NO_STORE_MESSAGE, hint))
                yield from self._read_documents(number)
            else:
                yield source

    def _read_documents(self, number: int) -> Iterator[_GoldenSource]:
        for document in self._stored.documents.get(number, ()):
            value: Any = document.value
            path: Path = ()
            if isinstance(value, dict) and set(value) == {ITEMS}:
                value, path = value[ITEMS], (ITEMS,)
            if isinstance(value, list):
                yield from (_GoldenSource(document, (*path, at), each) for at, each in enumerate(value))
            else:
                yield _GoldenSource(document, path, value)

    def _read_model(self, source: _GoldenSource, model: type[Model]) -> Model | None:
        try:
            return model.model_validate(source.raw)
        except ValidationError as error:
            for problem in problems_from_error(error, model):
                self._add_problem(source, problem)
            return None

    def _build_variants(
        self, source: _GoldenSource, entry: GoldenEntry, settings: GoldenSettings, common: Sequence[Assertion]
    ) -> list[Scenario]:
        parser = Parser(lambda path: source.document.locate((*source.path, *path)))
        golden_assertions = parser.parse_assertions(entry.assertions, ("assertions",))
        rules, problems = build_rules(golden_from_entry(entry), entry, settings, [*common, *golden_assertions])
        for problem in (*parser.problems, *problems):
            self._add_problem(source, problem)
        for each in golden_assertions:
            if each.dimension is None and not each.required:
                message = f"`{each.name}` has no effect on a golden"
                hint = "give it the `dimension` that it judges, or `required: true`"
                self._diagnostics.problems.append(Problem(message, each.location, hint))
        self._warn_of_typos(source, rules.golden)
        plain = self._build_plain(source, entry, rules, [*common, *golden_assertions])
        return [replace(plain, variant=each) for each in self._variants] or [plain]

    def _build_plain(
        self, source: _GoldenSource, entry: GoldenEntry, rules: GoldenRules, assertions: Sequence[Assertion]
    ) -> Scenario:
        """The golden as a scenario. An assertion besides the dimensions decides only if it is required."""
        location = source.document.locate((*source.path, "id"))
        other_checks = [replace(each, weight=0.0) for each in assertions if each.dimension is None or each.required]
        trial_rules, problem = build_trial_rules(entry, self._file)
        if problem is not None:
            self._add_problem(source, problem)
        return Scenario(
            id=entry.id,
            match=TraceMatcher(source.document, self._diagnostics).build_scenario_match(entry, source.path),
            threshold=rules.passing_score,
            rules=trial_rules,
            assertions=[*dimension_checks(rules, location), *other_checks],
            location=location,
            golden=rules,
        )

    def _warn_of_typos(self, source: _GoldenSource, golden: Golden) -> None:
        from evalgate.suite.golden_rules import find_likely_typos

        for path, message, hint in find_likely_typos(golden):
            self.warnings.append(Problem(message, source.document.locate((*source.path, *path)), hint))

    def _add_problem(self, source: _GoldenSource, problem: FieldProblem) -> None:
        self._diagnostics.add_problem(source.document, problem._replace(path=(*source.path, *problem.path)))
