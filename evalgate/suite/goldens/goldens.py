"""Reads and checks the goldens of a suite, in place or in other documents, and builds their scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from evalgate.declarations import Closed, refusal
from evalgate.errors import OverLimit, Problem
from evalgate.evaluators.core.field_problems import MOST_TOLD, FieldProblem, Path, flaws_of
from evalgate.evaluators.core.parse import Parser
from evalgate.measures.values.json_values import kind, show
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.records import replace
from evalgate.scoring.golden.dimension_checks import dimension_checks
from evalgate.scoring.scenario import TrialRules
from evalgate.suite.goldens.golden_rules import golden_of, rules_of, settings_flaw
from evalgate.suite.goldens.golden_written import StoredGoldens
from evalgate.suite.models import Scenario
from evalgate.suite.schema.golden_file import GoldenEntry, GoldenFilesEntry, GoldenSettings, GoldenStoreEntry
from evalgate.suite.trace_matcher import TraceMatcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.run.golden import Golden
    from evalgate.scoring.golden.rules import GoldenRules
    from evalgate.suite.diagnostics import Diagnostics, Document
    from evalgate.suite.models import Variant
    from evalgate.suite.schema.suite_file import PolicyEntry, SuiteFile

ITEMS, SETTINGS, THRESHOLD = "goldens", "golden", "critical_issue_threshold"
NO_STORE = "no store is at hand that could hold these goldens"
Model = TypeVar("Model", bound=Closed)


class _Placed(NamedTuple):
    """One golden as written, and its location."""

    document: Document
    path: Path
    raw: Any


class SuiteGoldens:
    """Builds the scenarios of a suite's goldens; `warnings` are what `validate` reports besides mistakes.

    `stored` holds the documents that its entries name. `content` is the suite with all those goldens
    inserted; `policy` is the suite's, completed by the limits of stored regression suites.
    """

    def __init__(
        self,
        document: Document,
        file: SuiteFile,
        found: StoredGoldens | None,
        mistakes: Diagnostics,
        variants: Sequence[Variant] = (),
    ) -> None:
        self._document, self._file, self._found = document, file, found or StoredGoldens()
        self._mistakes, self._variants = mistakes, variants
        self._placed = list(self._items())
        self.warnings: list[Problem] = []

    @property
    def policy(self) -> PolicyEntry:
        """The suite's policy; if it sets no limit of critical issues, with that of its regression suites."""
        own = self._file.policy
        if not self._found.thresholds or own.critical_issue_threshold is not None:
            return own
        return own.model_copy(update={THRESHOLD: min(self._found.thresholds)})

    @property
    def written(self) -> dict[str, Any]:
        """The suite's content with every golden inserted."""
        said: dict[str, Any] = {**self._document.value, ITEMS: [each.raw for each in self._placed]}
        if self.policy is not self._file.policy:
            own = said.get("policy") or {}
            said["policy"] = {**own, THRESHOLD: self.policy.critical_issue_threshold}
        return said

    def built(self, common: Sequence[Assertion], taken: Sequence[Scenario]) -> list[Scenario]:
        """A scenario for each golden, in every variant; `taken` are the suite's others. Raises OverLimit."""
        if not self._file.goldens:
            self._mistakes.add(
                self._document, FieldProblem((SETTINGS,), "`golden` is said of goldens, and there are none")
            )
        if len(self._placed) * max(1, len(self._variants)) + len(taken) > MAX_SCENARIOS:
            raise OverLimit(f"more than {MAX_SCENARIOS:,} scenarios and goldens, a run may have no more")
        settings = self._read(_Placed(self._document, (SETTINGS,), self._file.golden or {}), GoldenSettings)
        flaw = settings_flaw(settings) if settings is not None else None
        if flaw is not None:
            self._mistakes.add(self._document, flaw._replace(path=(SETTINGS, *flaw.path)))
        ids, scenarios = {each.id for each in taken}, list[Scenario]()
        for placed in self._placed:
            if len(self._mistakes.problems) >= MOST_TOLD:
                self._tell(placed, FieldProblem((), "too many mistakes before this golden to read on"))
                break
            entry = self._read(placed, GoldenEntry)
            if entry is None or settings is None:
                continue
            if entry.id in ids:
                self._tell(placed, FieldProblem(("id",), f"`{entry.id}` stands twice in this suite"))
            ids.add(entry.id)
            scenarios += self._crossed(placed, entry, settings, common)
        return scenarios

    def _items(self) -> Iterator[_Placed]:
        for number, item in enumerate(self._file.goldens):
            placed = _Placed(self._document, (ITEMS, number), item)
            if not isinstance(item, dict):
                self._tell(
                    placed, FieldProblem((), f"a golden is a mapping, not {kind(item)} {show(item, 40)}")
                )
            elif "file" in item:
                if self._read(placed, GoldenFilesEntry) is not None:
                    yield from self._behind(number)
            elif "store" in item:
                if self._read(placed, GoldenStoreEntry) is None:
                    continue
                if number not in self._found.documents:
                    hint = "name it with --store-url or EVALGATE_STORE_URL"
                    self._tell(placed, FieldProblem((), NO_STORE, hint))
                yield from self._behind(number)
            else:
                yield placed

    def _behind(self, number: int) -> Iterator[_Placed]:
        """The goldens in the documents that an entry names."""
        for document in self._found.documents.get(number, ()):
            value: Any = document.value
            path: Path = ()
            if isinstance(value, dict) and set(value) == {ITEMS}:
                value, path = value[ITEMS], (ITEMS,)
            if isinstance(value, list):
                yield from (_Placed(document, (*path, at), each) for at, each in enumerate(value))
            else:
                yield _Placed(document, path, value)

    def _read(self, placed: _Placed, model: type[Model]) -> Model | None:
        try:
            return model.model_validate(placed.raw)
        except refusal() as error:
            for flaw in flaws_of(error, model):
                self._tell(placed, flaw)
            return None

    def _crossed(
        self, placed: _Placed, entry: GoldenEntry, settings: GoldenSettings, common: Sequence[Assertion]
    ) -> list[Scenario]:
        parser = Parser(lambda path: placed.document.at((*placed.path, *path)))
        own = parser.assertions(entry.assertions, ("assertions",))
        rules, flaws = rules_of(golden_of(entry), entry, settings, [*common, *own])
        for flaw in (*parser.flaws, *flaws):
            self._tell(placed, flaw)
        for each in own:
            if each.dimension is None and not each.required:
                message = f"`{each.name}` decides nothing about a golden"
                hint = "give it the `dimension` that it judges, or `required: true`"
                self._mistakes.problems.append(Problem(message, each.location, hint))
        self._note(placed, rules.golden)
        plain = self._plain(placed, entry, rules, [*common, *own])
        return [replace(plain, variant=each) for each in self._variants] or [plain]

    def _plain(
        self, placed: _Placed, entry: GoldenEntry, rules: GoldenRules, assertions: Sequence[Assertion]
    ) -> Scenario:
        """The golden as a scenario. An assertion besides the dimensions decides only if it is required."""
        place = placed.document.at((*placed.path, "id"))
        beside = [replace(each, weight=0.0) for each in assertions if each.dimension is None or each.required]
        demanded = entry.trials.min_pass_k
        return Scenario(
            id=entry.id,
            match=TraceMatcher(placed.document, self._mistakes).of_scenario(entry, placed.path),
            threshold=rules.passing_score,
            rules=TrialRules(
                min=entry.trials.min,
                min_pass_rate=entry.trials.min_pass_rate,
                min_pass_k=(demanded.k, demanded.of) if demanded else None,
                allow_errors=entry.allow_errors,
                optional=entry.optional,
            ),
            assertions=[*dimension_checks(rules, place), *beside],
            location=place,
            golden=rules,
        )

    def _note(self, placed: _Placed, golden: Golden) -> None:
        """Warns of words that are allowed but likely typos."""
        from evalgate.suite.goldens.likely_typos import doubtful

        for path, message, hint in doubtful(golden):
            self.warnings.append(Problem(message, placed.document.at((*placed.path, *path)), hint))

    def _tell(self, placed: _Placed, flaw: FieldProblem) -> None:
        self._mistakes.add(placed.document, flaw._replace(path=(*placed.path, *flaw.path)))
