"""Parses a loaded file into a suite ready to run; collects every mistake with its location."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any

from evalgate.errors import Problem
from evalgate.evaluators.core.field_problems import FieldProblem
from evalgate.measures.redaction.redact import hide_too
from evalgate.suite.custom_mapping import check_custom, custom_of
from evalgate.suite.diagnostics import HOW_TO_BEGIN, Diagnostics
from evalgate.suite.models import Suite
from evalgate.suite.scenarios import Scenarios
from evalgate.suite.scheduled_tool import ScheduledTool
from evalgate.suite.schema.suite_file import MAX_NAME, Defaults, ProjectFile, SuiteFile
from evalgate.suite.suite_prices import own_prices
from evalgate.suite.trace_matcher import TraceMatcher

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.models.comparison.quarantine import Quarantine
    from evalgate.suite.diagnostics import Document
    from evalgate.suite.goldens.golden_written import StoredGoldens
    from evalgate.suite.schema.suite_file import PriceEntry

ASSERTIONS = ("defaults", "assertions")
SUFFIXES = (".yaml", ".yml", ".json")
SECOND_SUFFIXES = (".suite", ".scenarios", ".evals", ".eval")


def parse_project(document: Document, mistakes: Diagnostics) -> ProjectFile | None:
    """A project file, None if it has mistakes, which are added; what it redacts is redacted from here on."""
    project = mistakes.read(document, ProjectFile)
    hide_what_it_says(document, mistakes)
    if project is not None:
        mistakes.assertions(document, project.defaults.assertions, ASSERTIONS)
        check_custom(document, project.defaults.custom, mistakes)
    return project


def hide_what_it_says(document: Document, mistakes: Diagnostics) -> None:
    """From here on this process redacts what a project file names, in addition to the known secrets."""
    if not isinstance(document.value, dict) or "redact" not in document.value:
        return
    from evalgate.suite.project_secrets import own_secrets

    found = own_secrets(document, mistakes)
    if found is not None:
        hide_too(found)


class SharedDefaults:
    """The defaults of a project for every suite, and its document; `folder` is the project's."""

    def __init__(
        self,
        document: Document | None,
        defaults: Defaults,
        folder: str = ".",
        prices: Mapping[str, PriceEntry | None] | None = None,
    ) -> None:
        self.document = document
        self.defaults = defaults
        self.folder = folder
        self.prices = prices or {}

    def assertions(self) -> list[Assertion]:
        """The project's assertions, compiled; its mistakes were reported when it was parsed."""
        if self.document is None:
            return []
        return Diagnostics().assertions(self.document, self.defaults.assertions, ASSERTIONS)


def parse_suite(
    document: Document,
    path: str,
    folder: str,
    shared: SharedDefaults,
    mistakes: Diagnostics,
    goldens: StoredGoldens | None = None,
) -> tuple[Suite | None, list[Problem]]:
    """One suite, or None if it has mistakes; and what `validate` warns about. Raises OverLimit.

    `goldens` are the documents outside the suite that the entries of its `goldens` name.
    """
    before = len(mistakes.problems)
    if isinstance(document.value, dict) and not {"scenarios", "goldens"} & document.value.keys():
        mistakes.add(document, FieldProblem((), "`scenarios` is missing", HOW_TO_BEGIN))
    file = mistakes.read(document, SuiteFile)
    if file is None:
        _parse_what_can_be(document, mistakes)
        return None, []
    own = mistakes.assertions(document, file.defaults.assertions, ASSERTIONS)
    common = [*shared.assertions(), *own]
    scenarios = Scenarios(document, file, shared.defaults, mistakes)
    built = scenarios.built(common)
    written, policy = document.value, file.policy
    if file.goldens or file.golden is not None:
        from evalgate.suite.goldens.goldens import SuiteGoldens

        found = SuiteGoldens(document, file, goldens, mistakes, scenarios.variants)
        built += found.built(common, built)
        written, policy = found.written, found.policy
        scenarios.warnings += found.warnings
    expression = file.scenario_from or shared.defaults.scenario_from
    form = file.format or shared.defaults.format or "auto"
    has_traces = file.traces is not None
    suite = Suite(
        name=file.suite or name_of(path),
        path=path,
        folder=folder,
        traces=file.traces if has_traces else shared.defaults.traces,
        traces_folder=folder if has_traces else shared.folder,
        form=form,
        custom=custom_of(document, file, shared.defaults.custom, form, mistakes),
        scenario_from=TraceMatcher(document, mistakes).query(expression, ("scenario_from",))
        if expression
        else None,
        scenarios=built,
        policy=policy,
        written=written,
        prices=own_prices(file.prices, shared.prices),
        form_at=document.at(("format",)) if file.format else None,
        quarantine=_quarantines(document, file),
    )
    warned = [Problem(each.warning, each.location) for each in common if each.warning]
    return (None if len(mistakes.problems) > before else suite), [*warned, *scenarios.warnings]


def _quarantines(document: Document, file: SuiteFile) -> Sequence[Quarantine]:
    if not file.quarantine:
        return ()
    from evalgate.suite.quarantine import quarantines

    return quarantines(document, file)


def name_of(path: str) -> str:
    """The name of a suite that does not set one: that of its file.

    >>> name_of("evals/scheduling.yaml"), name_of("evals/refunds.suite.yml"), name_of("evals/v1.2.yaml")
    ('scheduling', 'refunds', 'v1.2')
    """
    name = posixpath.basename(path)
    for suffixes in (SUFFIXES, SECOND_SUFFIXES):
        found = next((each for each in suffixes if name.endswith(each) and name != each), "")
        name = name.removesuffix(found)
    return name[:MAX_NAME]


def _parse_what_can_be(document: Document, mistakes: Diagnostics) -> None:
    """Parses the assertions of a file that has other mistakes, so that all are reported at once."""
    value = document.value if isinstance(document.value, dict) else {}
    defaults = value.get("defaults")
    if isinstance(defaults, dict) and isinstance(defaults.get("assertions"), list):
        mistakes.assertions(document, defaults["assertions"], ASSERTIONS)
    scenarios = value.get("scenarios")
    for index, entry in enumerate(scenarios if isinstance(scenarios, list) else []):
        if isinstance(entry, dict) and isinstance(entry.get("assertions"), list):
            subject = ScheduledTool(_some_tool(entry.get("expected_tool"), entry, value))
            written = [subject.written_into(each) for each in entry["assertions"]]
            mistakes.assertions(document, written, ("scenarios", index, "assertions"))


def _some_tool(expected: Any, *places: dict[str, Any]) -> str | None:
    """The tool of the scenario or of the first variant that has one: enough to read its checks."""
    variants = [each for place in places if isinstance(each := place.get("variants"), dict)]
    entries = [entry for each in variants for entry in each.values() if isinstance(entry, dict)]
    tools = [expected, *(entry.get("tool") for entry in entries)]
    return next((tool for tool in tools if isinstance(tool, str) and tool), None)
