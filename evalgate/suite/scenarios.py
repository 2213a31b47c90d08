"""Builds the scenarios of one suite: each entry in every variant, with compiled assertions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from msgspec.structs import replace

from evalgate.errors import OverLimit, Problem
from evalgate.evaluators.core.evaluator import MAX_TOOLS
from evalgate.evaluators.core.field_problems import MAX_PROBLEMS, FieldProblem, Path
from evalgate.evaluators.core.parse import Parser
from evalgate.models.run.run import MAX_SCENARIOS
from evalgate.scoring.scenario import TrialRules
from evalgate.suite.diagnostics import TraceMatcher
from evalgate.suite.models import Scenario
from evalgate.suite.scheduled_tool import EXPECTED_SKILL, EXPECTED_TOOL, ScheduledTool, SiblingTools

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.suite.diagnostics import Diagnostics, Document
    from evalgate.suite.golden_file import GoldenEntry
    from evalgate.suite.models import Variant
    from evalgate.suite.suite_file import Defaults, ScenarioEntry, SuiteFile

DEFAULT_THRESHOLD = 0.8
MAX_CHECKS = 5_000_000
"""Assertions of all scenarios together; shared ones count for each scenario."""


class ScenarioBuilder:
    """Builds the scenarios of one suite; `warnings` are what `validate` reports besides errors."""

    def __init__(
        self,
        document: Document,
        file: SuiteFile,
        shared: Defaults,
        diagnostics: Diagnostics,
        shared_variants: Sequence[Variant] = (),
    ) -> None:
        self._document, self._file, self._shared, self._diagnostics = document, file, shared, diagnostics
        self._matcher = TraceMatcher(document, diagnostics)
        self._own_variants = self._matcher.build_variants(file.variants, ("variants",))
        self.variants = self._own_variants if "variants" in file.model_fields_set else list(shared_variants)
        self._siblings = SiblingTools(())
        self._unused_variants: dict[int, Variant] = {}
        self.warnings: list[Problem] = []

    def build(self, common: list[Assertion]) -> list[Scenario]:
        """Builds every scenario, `common` before the assertions of its entry. Raises OverLimit."""
        self._check_count()
        self._note_variants(self._own_variants)
        self._siblings = SiblingTools(self._list_expected())
        found: list[Scenario] = []
        checks = 0
        for index, entry in enumerate(self._file.scenarios):
            if len(self._diagnostics.problems) >= MAX_PROBLEMS:
                self._add_problem(("scenarios", index), "too many errors: the other scenarios were not checked")
                break
            scenarios = self._build_variants(entry, ("scenarios", index), common)
            checks += len(scenarios) * len(scenarios[0].assertions)
            if checks > MAX_CHECKS:
                raise OverLimit(f"more than {MAX_CHECKS:,} assertions, counted for each scenario and variant")
            found += scenarios
        self._refuse_duplicates()
        self.warnings += [_warn_of_unused(variant) for variant in self._unused_variants.values()]
        return found

    def _check_count(self) -> None:
        """Checks the number of scenarios before any is built: a small file can name very many."""
        variant_count = max(1, len(self.variants))
        entries = self._file.scenarios
        count = sum(variant_count if each.variants is None else max(1, len(each.variants)) for each in entries)
        if count > MAX_SCENARIOS:
            raise OverLimit(f"{count:,} scenarios: a run may have at most {MAX_SCENARIOS:,}")

    def _list_expected(self) -> Iterator[tuple[str, Mapping[str, str | None]]]:
        """The expected tool of each entry, and the tool of each of its variants."""
        suite_variants = {each.name: each.tool for each in self.variants}
        for entry in self._file.scenarios:
            if entry.expected_tool is not None:
                own = entry.variants
                yield (
                    entry.expected_tool,
                    suite_variants if own is None else {name: each.tool for name, each in own.items()},
                )

    def _find_forbidden(self, variant: Variant | None) -> Sequence[str]:
        """The tools that a scenario forbids that expects none, unless its variant names one."""
        return self._shared.tool or self._siblings.find_tools(None if variant is None else variant.name)

    def _build_variants(self, entry: ScenarioEntry, path: Path, common: list[Assertion]) -> list[Scenario]:
        variants = self.variants
        if entry.variants is not None:
            variants = self._matcher.build_variants(entry.variants, (*path, "variants"))
            self._note_variants(variants)
        plain = self._build_plain(entry, path)
        checks = CheckCompiler(self._document, entry, path, self._find_forbidden)
        in_variants: Sequence[Variant | None] = variants or [None]
        scenarios = [
            replace(plain, variant=each, assertions=[*common, *checks.compile_checks(each)]) for each in in_variants
        ]
        for each in checks.used_variants:
            self._unused_variants.pop(id(each), None)
        self._diagnostics.problems += checks.problems
        self.warnings += checks.warnings
        self._check_weights(entry, path, scenarios[0].assertions)
        self._refuse_dimensions(scenarios[0].assertions[len(common) :])
        return scenarios

    def _build_plain(self, entry: ScenarioEntry, path: Path) -> Scenario:
        rules, problem = build_trial_rules(entry, self._file)
        if problem is not None:
            self._add_problem((*path, *problem.path), problem.message)
        return Scenario(
            id=entry.id,
            match=self._matcher.build_scenario_match(entry, path),
            threshold=self._threshold(entry),
            rules=rules,
            assertions=(),
            location=self._document.locate((*path, "id")),
        )

    def _threshold(self, entry: ScenarioEntry) -> float:
        nearest = (entry.threshold, self._file.threshold, self._shared.threshold)
        return next((value for value in nearest if value is not None), DEFAULT_THRESHOLD)

    def _refuse_dimensions(self, assertions: Sequence[Assertion]) -> None:
        """Only goldens have dimensions; in defaults a dimension applies to goldens only."""
        for each in assertions:
            if each.dimension is not None:
                message = f"`{each.name}` is assigned to `{each.dimension}`, but this is not a golden"
                self._diagnostics.problems.append(Problem(message, each.location, "remove `dimension`"))

    def _check_weights(self, entry: ScenarioEntry, path: Path, assertions: Sequence[Assertion]) -> None:
        has_checks = entry.assertions or not entry.model_fields_set.isdisjoint((EXPECTED_TOOL, EXPECTED_SKILL))
        if not assertions and not has_checks:
            self._add_problem(path, f"scenario `{entry.id}` has no assertions", "add assertions")
        elif assertions and not any(assertion.weight for assertion in assertions):
            self._add_problem(path, f"the weights of scenario `{entry.id}` sum to 0")

    def _note_variants(self, variants: Sequence[Variant]) -> None:
        """Notes variants with a tool or action; one that no check uses is reported: it compares nothing."""
        self._unused_variants |= {id(each): each for each in variants if each.tool or each.action}

    def _refuse_duplicates(self) -> None:
        seen: set[str] = set()
        for index, entry in enumerate(self._file.scenarios):
            normalised_id = normalize("NFC", entry.id)  # two spellings of one letter look the same
            if normalised_id in seen:
                self._add_problem(("scenarios", index, "id"), f"scenario `{entry.id}` appears twice in this suite")
            seen.add(normalised_id)

    def _add_problem(self, path: Path, message: str, hint: str | None = None) -> None:
        self._diagnostics.add_problem(self._document, FieldProblem(path, message, hint))


def build_trial_rules(entry: ScenarioEntry | GoldenEntry, file: SuiteFile) -> tuple[TrialRules, FieldProblem | None]:
    """What an entry demands of its trials, and what is wrong with that."""
    trials, problem = entry.trials, None
    pass_k = trials.min_pass_k
    if pass_k is not None and pass_k.k > pass_k.of:
        message = f"`k` must be at most `of`, and {pass_k.k} is more than {pass_k.of}"
        problem = FieldProblem(("trials", "min_pass_k"), message)
    rules = TrialRules(
        min=trials.min,
        min_pass_rate=trials.min_pass_rate,
        min_pass_k=(pass_k.k, pass_k.of) if pass_k else None,
        allow_errors=entry.allow_errors,
        optional=entry.optional,
        run_status=entry.run_status or file.run_status,
        opaque=tuple(file.opaque if entry.opaque is None else entry.opaque),
    )
    return rules, problem


def _warn_of_unused(variant: Variant) -> Problem:
    field_name = "`tool`" if variant.tool else "`action`"
    message = f"no assertion uses the {field_name} of variant `{variant.name}`"
    return Problem(message, variant.location, "it replaces a scenario's `expected_tool`")


class CheckCompiler:
    """The assertions of one entry, its `expected_tool` and its `expected_skill` first.

    `problems` are errors, each reported once; `used_variants` are those whose tool or action a check uses.
    `find_forbidden` finds the tools that the entry forbids in a variant if it expects none.
    """

    def __init__(
        self,
        document: Document,
        entry: ScenarioEntry,
        path: Path,
        find_forbidden: Callable[[Variant | None], Sequence[str]],
    ) -> None:
        self._document, self._entry, self._path = document, entry, path
        self._find_forbidden = find_forbidden
        self._compiled: dict[tuple[int, ScheduledTool | None], Assertion | None] = {}
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.used_variants: list[Variant] = []
        self._has_demand = "expected_tool" in entry.model_fields_set
        if not self._has_demand and entry.min_calls is not None:
            self._add_problem(
                FieldProblem((*path, "min_calls"), "`min_calls` counts calls of `expected_tool`, which is missing")
            )

    def compile_checks(self, variant: Variant | None) -> list[Assertion]:
        """Compiles the assertions for one variant; those with errors are left out."""
        scheduled_tool = ScheduledTool(self._entry.expected_tool)
        if variant is not None:
            scheduled_tool = scheduled_tool._replace(tool=variant.tool, action=variant.action)
        if self._has_demand and scheduled_tool.expected is None and scheduled_tool.tool is None:
            scheduled_tool = scheduled_tool._replace(forbidden=tuple(self._find_forbidden(variant)))
        found = [self._compile_demand(scheduled_tool, variant), self._compile_skill()]
        is_tool_used = self._has_demand
        for index, raw in enumerate(self._entry.assertions):
            written = scheduled_tool.fill_assertion(raw)
            is_unchanged = written is raw
            is_tool_used = is_tool_used or not is_unchanged
            found.append(self._compile_check(index, written, None if is_unchanged else scheduled_tool))
        if is_tool_used and variant is not None:
            self.used_variants.append(variant)
        return [each for each in found if each is not None]

    def _compile_demand(self, scheduled_tool: ScheduledTool, variant: Variant | None) -> Assertion | None:
        if not self._has_demand:
            return None
        if (
            variant is not None
            and scheduled_tool.expected is None
            and scheduled_tool.action
            and not scheduled_tool.tool
            and not scheduled_tool.forbidden
        ):
            message = f"variant `{variant.name}` has an `action` but no `tool`, in a scenario that expects no tool"
            self._keep_problem(Problem(message, variant.location, "give the variant a `tool`"))
            return None
        if len(scheduled_tool.forbidden) > MAX_TOOLS:
            message = (
                f"the other scenarios expect {len(scheduled_tool.forbidden):,} tools, this one can forbid {MAX_TOOLS}"
            )
            hint = "give the project's `defaults` the scheduling tools as `tool`"
            self._add_problem(FieldProblem((*self._path, "expected_tool"), message, hint))
            return None
        raw = scheduled_tool.build_assertion(self._entry.min_calls)
        return self._compile_once((-1, scheduled_tool), raw, (*self._path, "expected_tool", 0))

    def _compile_skill(self) -> Assertion | None:
        if EXPECTED_SKILL not in self._entry.model_fields_set:
            return None
        raw = {"type": EXPECTED_SKILL, EXPECTED_SKILL: self._entry.expected_skill}
        return self._compile_once((-2, None), raw, (*self._path, EXPECTED_SKILL, 0))

    def _compile_check(self, index: int, raw: Any, scheduled_tool: ScheduledTool | None) -> Assertion | None:
        if len(self.problems) > MAX_PROBLEMS:
            return None
        if len(self.problems) == MAX_PROBLEMS:
            self._add_problem(
                FieldProblem((*self._path, "assertions"), "too many errors: the other assertions were not checked")
            )
            return None
        return self._compile_once((index, scheduled_tool), raw, (*self._path, "assertions", index))

    def _compile_once(self, key: tuple[int, ScheduledTool | None], raw: Any, path: Path) -> Assertion | None:
        if key not in self._compiled:
            parser = Parser(self._document.locate)
            found = self._compiled[key] = parser.parse_assertion(raw, path)
            for problem in parser.problems:
                self._add_problem(problem)
            if found is not None and found.warning:
                self.warnings.append(Problem(found.warning, found.location))
        return self._compiled[key]

    def _add_problem(self, problem: FieldProblem) -> None:
        self._keep_problem(Problem(problem.message, self._document.locate(problem.path), problem.hint))

    def _keep_problem(self, problem: Problem) -> None:
        if problem not in self.problems:
            self.problems.append(problem)
