"""Builds the scenarios of one suite: each entry in every variant, with compiled assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import normalize

from evalgate.errors import OverLimit, Problem
from evalgate.evaluators.core.field_problems import MOST_TOLD, FieldProblem, Path
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.records import replace
from evalgate.scoring.scenario import TrialRules
from evalgate.suite.checks import Checks
from evalgate.suite.models import Scenario
from evalgate.suite.trace_matcher import TraceMatcher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.suite.diagnostics import Diagnostics, Document
    from evalgate.suite.models import Variant
    from evalgate.suite.schema.suite_file import Defaults, ScenarioEntry, SuiteFile

DEFAULT_THRESHOLD = 0.8
MAX_CHECKS = 5_000_000
"""Assertions of all scenarios together; shared ones count for each scenario."""


class Scenarios:
    """Builds the scenarios of one suite; `warnings` are what `validate` reports besides mistakes."""

    def __init__(self, document: Document, file: SuiteFile, shared: Defaults, mistakes: Diagnostics) -> None:
        self._document, self._file, self._shared, self._mistakes = document, file, shared, mistakes
        self._matching = TraceMatcher(document, mistakes)
        self.variants = self._matching.variants(file.variants, ("variants",))
        self._unused: dict[int, Variant] = {}
        self.warnings: list[Problem] = []

    def built(self, common: list[Assertion]) -> list[Scenario]:
        """Builds every scenario, `common` before the assertions of its entry. Raises OverLimit."""
        self._bound()
        self._note_variants(self.variants)
        found: list[Scenario] = []
        checks = 0
        for index, entry in enumerate(self._file.scenarios):
            if len(self._mistakes.problems) >= MOST_TOLD:
                self._flaw(("scenarios", index), "too many mistakes before this scenario to read on")
                break
            crossed = self._crossed(entry, ("scenarios", index), common)
            checks += len(crossed) * len(crossed[0].assertions)
            if checks > MAX_CHECKS:
                raise OverLimit(f"more than {MAX_CHECKS:,} checks, counted for each scenario and variant")
            found += crossed
        self._refuse_doubles()
        self.warnings += [_unused(variant) for variant in self._unused.values()]
        return found

    def _bound(self) -> None:
        """Checks the number of scenarios before any is built: a small file can name very many."""
        shared = max(1, len(self.variants))
        entries = self._file.scenarios
        count = sum(shared if each.variants is None else max(1, len(each.variants)) for each in entries)
        if count > MAX_SCENARIOS:
            raise OverLimit(f"{count:,} scenarios, a run may have {MAX_SCENARIOS:,}")

    def _crossed(self, entry: ScenarioEntry, path: Path, common: list[Assertion]) -> list[Scenario]:
        variants = self.variants
        if entry.variants is not None:
            variants = self._matching.variants(entry.variants, (*path, "variants"))
            self._note_variants(variants)
        plain = self._plain(entry, path)
        checks = Checks(self._document, entry, path)
        if not variants:
            crossed = [replace(plain, assertions=[*common, *checks.of(None)])]
        else:
            crossed = [
                replace(plain, variant=each, assertions=[*common, *checks.of(each)]) for each in variants
            ]
        for each in checks.taken:
            self._unused.pop(id(each), None)
        self._mistakes.problems += checks.problems
        self.warnings += checks.warnings
        self._weigh(entry, path, crossed[0].assertions)
        self._refuse_dimensions(crossed[0].assertions[len(common) :])
        return crossed

    def _plain(self, entry: ScenarioEntry, path: Path) -> Scenario:
        """The scenario without its assertions."""
        demanded = entry.trials.min_pass_k
        if demanded and demanded.k > demanded.of:
            self._flaw((*path, "trials", "min_pass_k"), f"{demanded.k} of {demanded.of} trials can't pass")
        return Scenario(
            id=entry.id,
            match=self._matching.of_scenario(entry, path),
            threshold=self._threshold(entry),
            rules=TrialRules(
                min=entry.trials.min,
                min_pass_rate=entry.trials.min_pass_rate,
                min_pass_k=(demanded.k, demanded.of) if demanded else None,
                allow_errors=entry.allow_errors,
                optional=entry.optional,
            ),
            assertions=(),
            location=self._document.at((*path, "id")),
        )

    def _threshold(self, entry: ScenarioEntry) -> float:
        nearest = (entry.threshold, self._file.threshold, self._shared.threshold)
        return next((value for value in nearest if value is not None), DEFAULT_THRESHOLD)

    def _refuse_dimensions(self, own: Sequence[Assertion]) -> None:
        """Only goldens have dimensions; in defaults a dimension applies to goldens only."""
        for each in own:
            if each.dimension is not None:
                message = f"`{each.name}` is assigned to `{each.dimension}`, and this is no golden"
                self._mistakes.problems.append(Problem(message, each.location, "drop `dimension`"))

    def _weigh(self, entry: ScenarioEntry, path: Path, assertions: Sequence[Assertion]) -> None:
        written = entry.assertions or "expected_tool" in entry.model_fields_set
        if not assertions and not written:
            self._flaw(path, f"scenario `{entry.id}` checks nothing", "give it assertions")
        elif assertions and not any(assertion.weight for assertion in assertions):
            self._flaw(path, f"the weights of scenario `{entry.id}` sum to 0")

    def _note_variants(self, variants: Sequence[Variant]) -> None:
        """Notes variants with a tool or action; one that no check uses is reported: it compares nothing."""
        self._unused |= {id(each): each for each in variants if each.tool or each.action}

    def _refuse_doubles(self) -> None:
        seen: set[str] = set()
        for index, entry in enumerate(self._file.scenarios):
            looks = normalize("NFC", entry.id)  # two spellings of one letter look the same
            if looks in seen:
                self._flaw(("scenarios", index, "id"), f"scenario `{entry.id}` stands twice in this suite")
            seen.add(looks)

    def _flaw(self, path: Path, message: str, hint: str | None = None) -> None:
        self._mistakes.add(self._document, FieldProblem(path, message, hint))


def _unused(variant: Variant) -> Problem:
    said = "`tool`" if variant.tool else "`action`"
    message = f"no check takes the {said} of variant `{variant.name}`"
    return Problem(message, variant.location, "it stands in for a scenario's `expected_tool`")
