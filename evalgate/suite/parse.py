"""Parses a loaded file into a suite ready to run; collects every error with its location."""

from __future__ import annotations

import posixpath
from datetime import date
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.errors import Problem
from evalgate.evaluators.core.field_problems import FieldProblem, suggest
from evalgate.measures.redaction.redact import add_project_secrets
from evalgate.models.comparison.weakening import Quarantine
from evalgate.models.trace.trace import NO_KINDS, ToolKinds
from evalgate.suite.diagnostics import START_HINT, Diagnostics, TraceMatcher
from evalgate.suite.models import CUSTOM, NOTHING_IGNORED, Ignored, Suite, merge_prices
from evalgate.suite.scenarios import ScenarioBuilder
from evalgate.suite.scheduled_tool import ScheduledTool
from evalgate.suite.suite_file import MAX_NAME, Defaults, ProjectFile, SuiteFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.errors import Location
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.evaluators.core.field_problems import Path
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.golden_rules import GoldenDocuments
    from evalgate.suite.models import CustomMapping, Scenario, Variant
    from evalgate.suite.suite_file import PriceEntry, ReadingEntry, ToolsEntry

ASSERTIONS = ("defaults", "assertions")
SHARED_VARIANTS = ("defaults", "variants")
SUFFIXES = (".yaml", ".yml", ".json")
SECOND_SUFFIXES = (".suite", ".scenarios", ".evals", ".eval")
LOOK_ALIKE_HINT = "give it another id, or write both in one alphabet"


def parse_project(document: Document, diagnostics: Diagnostics) -> ProjectFile | None:
    """A project file, None if it has errors, which are added; what it redacts is redacted from here on."""
    project = diagnostics.read_model(document, ProjectFile)
    hide_project_secrets(document, diagnostics)
    if project is not None:
        diagnostics.parse_assertions(document, project.defaults.assertions, ASSERTIONS)
        if project.defaults.custom is not None:
            from evalgate.suite.parse_custom import check_project_custom  # few projects declare a format

            check_project_custom(document, project.defaults.custom, diagnostics)
        TraceMatcher(document, diagnostics).build_variants(project.defaults.variants, SHARED_VARIANTS)
        _check_kinds(document, project.defaults.tools, ("defaults", "tools"), diagnostics)
    return project


def hide_project_secrets(document: Document, diagnostics: Diagnostics) -> None:
    """From here on this process redacts what a project file names, in addition to the known secrets."""
    if not isinstance(document.value, dict) or "redact" not in document.value:
        return
    from evalgate.suite.project_secrets import parse_project_secrets

    secrets = parse_project_secrets(document, diagnostics)
    if secrets is not None:
        add_project_secrets(secrets)


class SharedDefaults(Struct):
    """The defaults of a project for every suite, and its document; `folder` is the project's."""

    document: Document | None
    defaults: Defaults
    folder: str = "."
    prices: Mapping[str, PriceEntry | None] = {}

    def parse_assertions(self) -> list[Assertion]:
        """The project's assertions, compiled; its errors were reported when it was parsed."""
        if self.document is None:
            return []
        return Diagnostics().parse_assertions(self.document, self.defaults.assertions, ASSERTIONS)

    def build_variants(self) -> list[Variant]:
        """The project's variants, for suites that set none; errors were reported when it was parsed."""
        if self.document is None:
            return []
        return TraceMatcher(self.document, Diagnostics()).build_variants(self.defaults.variants, SHARED_VARIANTS)

    def add_variants(self, content: dict[str, Any]) -> dict[str, Any]:
        """The content of a suite with the project's variants inserted if it sets none."""
        if self.document is None or not self.defaults.variants or "variants" in content:
            return content
        return {**content, "variants": self.document.value["defaults"]["variants"]}


def parse_suite(
    document: Document,
    path: str,
    folder: str,
    shared: SharedDefaults,
    diagnostics: Diagnostics,
    goldens: GoldenDocuments | None = None,
) -> tuple[Suite | None, list[Problem]]:
    """One suite, or None if it has errors; and what `validate` warns about. Raises OverLimit.

    `goldens` are the documents outside the suite that the entries of its `goldens` name.
    """
    problem_count = len(diagnostics.problems)
    if isinstance(document.value, dict) and not {"scenarios", "goldens"} & document.value.keys():
        diagnostics.add_problem(document, FieldProblem((), "`scenarios` is missing", START_HINT))
    file = diagnostics.read_model(document, SuiteFile)
    if file is None:
        _parse_remaining_assertions(document, diagnostics)
        return None, []
    suite_assertions = diagnostics.parse_assertions(document, file.defaults.assertions, ASSERTIONS)
    common = [*shared.parse_assertions(), *suite_assertions]
    scenarios = ScenarioBuilder(document, file, shared.defaults, diagnostics, shared.build_variants())
    built_scenarios = scenarios.build(common)
    content, policy = document.value, file.policy
    if file.goldens or file.golden is not None:
        from evalgate.suite.goldens import GoldenScenarioBuilder

        golden_builder = GoldenScenarioBuilder(document, file, goldens, diagnostics, scenarios.variants)
        built_scenarios += golden_builder.build(common, built_scenarios)
        content, policy = golden_builder.content, golden_builder.policy
        scenarios.warnings += golden_builder.warnings
    _refuse_unknown_variants(document, file, built_scenarios, diagnostics)
    _refuse_look_alikes(built_scenarios, diagnostics)
    expression = file.scenario_from or shared.defaults.scenario_from
    format_name = file.format or shared.defaults.format or "auto"
    has_traces = file.traces is not None
    suite = Suite(
        name=file.suite or name_of(path),
        path=path,
        folder=folder,
        traces=file.traces if has_traces else shared.defaults.traces,
        traces_folder=folder if has_traces else shared.folder,
        format_name=format_name,
        custom=_compile_custom(document, file, shared.defaults.custom, format_name, diagnostics),
        scenario_from=TraceMatcher(document, diagnostics).compile_expression(expression, ("scenario_from",))
        if expression
        else None,
        scenarios=built_scenarios,
        policy=policy,
        content=shared.add_variants(content),
        prices=merge_prices(file.prices, shared.prices),
        format_location=document.locate(("format",)) if file.format else None,
        quarantine=_parse_quarantines(document, file),
        ignored=_read_ignored(file.reading or shared.defaults.reading),
        tool_kinds=_read_kinds(file.tools or shared.defaults.tools),
        listed_tools=_check_kinds(document, file.tools, ("tools",), diagnostics),
    )
    warnings = [Problem(each.warning, each.location) for each in common if each.warning]
    return (None if len(diagnostics.problems) > problem_count else suite), [*warnings, *scenarios.warnings]


def _read_ignored(entry: ReadingEntry | None) -> Ignored:
    return NOTHING_IGNORED if entry is None else Ignored(tuple(entry.ignore), entry.even_calls)


def _read_kinds(entry: ToolsEntry | None) -> ToolKinds:
    return NO_KINDS if entry is None else ToolKinds(tuple(entry.lookups), tuple(entry.changing))


def _check_kinds(
    document: Document, entry: ToolsEntry | None, path: Path, diagnostics: Diagnostics
) -> Mapping[str, Location]:
    """Where each tool is listed; one in both lists is an error."""
    found: dict[str, Location] = {}
    for name in ("lookups", "changing"):
        for number, tool in enumerate(() if entry is None else getattr(entry, name)):
            place = (*path, name, number)
            if entry is not None and name == "changing" and tool in entry.lookups:
                diagnostics.add_problem(document, FieldProblem(place, f"{tool!r} is in `lookups` too"))
            found[tool] = document.locate(place)
    return found


def _refuse_unknown_variants(
    document: Document, file: SuiteFile, scenarios: Sequence[Scenario], diagnostics: Diagnostics
) -> None:
    """Refuses a comparison, in the suite's own policy, of a variant that no scenario has."""
    known = {each.variant.name for each in scenarios if each.variant is not None}
    for number, entry in enumerate(file.policy.compare_variants or ()):
        for arm in ("control", "treatment"):
            name = getattr(entry, arm)
            if name not in known:
                is_list = isinstance(document.value["policy"]["compare_variants"], list)
                path = ("policy", "compare_variants", *([number] if is_list else []), arm)
                problem = FieldProblem(path, f"no scenario has the variant {name!r}", suggest(name, known))
                diagnostics.add_problem(document, problem)


def _refuse_look_alikes(scenarios: Sequence[Scenario], diagnostics: Diagnostics) -> None:
    """Refuses ids that look alike: a report could not show which of them failed."""
    locations = {each.id: each.location for each in scenarios}
    if all(map(str.isascii, locations)):
        return
    from evalgate.measures.text.plain_text import describe_look_alike, find_look_alikes

    ids = list(locations)
    for found in find_look_alikes(ids):
        message = f"scenario {describe_look_alike(ids, found)}"
        diagnostics.problems.append(Problem(message, locations[ids[found.position]], LOOK_ALIKE_HINT))


def _parse_quarantines(document: Document, file: SuiteFile) -> Sequence[Quarantine]:
    if not file.quarantine:
        return ()
    return build_quarantines(document, file)


def name_of(path: str) -> str:
    """The name of a suite that does not set one: that of its file.

    >>> name_of("evals/scheduling.yaml"), name_of("evals/refunds.suite.yml"), name_of("evals/v1.2.yaml")
    ('scheduling', 'refunds', 'v1.2')
    """
    name = posixpath.basename(path)
    for suffixes in (SUFFIXES, SECOND_SUFFIXES):
        suffix = next((each for each in suffixes if name.endswith(each) and name != each), "")
        name = name.removesuffix(suffix)
    return name[:MAX_NAME]


def _parse_remaining_assertions(document: Document, diagnostics: Diagnostics) -> None:
    """Parses the assertions of a file that has other errors, so that all are reported at once."""
    value = document.value if isinstance(document.value, dict) else {}
    defaults = value.get("defaults")
    if isinstance(defaults, dict) and isinstance(defaults.get("assertions"), list):
        diagnostics.parse_assertions(document, defaults["assertions"], ASSERTIONS)
    scenarios = value.get("scenarios")
    for index, entry in enumerate(scenarios if isinstance(scenarios, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("assertions"), list):
            scheduled_tool = ScheduledTool(_guess_tool(entry.get("expected_tool"), entry, value))
            filled = [scheduled_tool.fill_assertion(each) for each in entry["assertions"]]
            diagnostics.parse_assertions(document, filled, ("scenarios", index, "assertions"))


def _guess_tool(expected: Any, *holders: dict[str, Any]) -> str | None:
    """The tool of the scenario or of the first variant that has one: enough to read its checks."""
    variants = [each for holder in holders if isinstance(each := holder.get("variants"), dict)]
    entries = [entry for each in variants for entry in each.values() if isinstance(entry, dict)]
    tools = [expected, *(entry.get("tool") for entry in entries)]
    return next((tool for tool in tools if isinstance(tool, str) and tool), None)


def _compile_custom(
    document: Document, file: SuiteFile, shared: Any, format_name: str, diagnostics: Diagnostics
) -> CustomMapping | None:
    """The format that the suite declares; None for others."""
    if file.custom is None and format_name != CUSTOM:
        return None
    from evalgate.suite.parse_custom import compile_custom  # few suites declare a format

    return compile_custom(document, file, shared, format_name, diagnostics)


def build_quarantines(document: Document, file: SuiteFile) -> list[Quarantine]:
    """The quarantines of one suite, in file order."""
    return [
        Quarantine(
            scenario=entry.scenario,
            variant=entry.variant,
            reason=entry.reason,
            until=date.fromisoformat(entry.until),
            who=entry.who,
            location=document.locate(("quarantine", number)),
        )
        for number, entry in enumerate(file.quarantine)
    ]
