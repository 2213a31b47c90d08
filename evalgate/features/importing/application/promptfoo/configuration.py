"""Carries a configuration of promptfoo over: each of its tests is a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.errors import InvalidInput, OverLimit
from evalgate.features.importing.application.lines import build_line
from evalgate.features.importing.application.places import OriginPart
from evalgate.features.importing.application.promptfoo.checks import SET, carry_check
from evalgate.features.importing.application.promptfoo.table_tests import read_table_test
from evalgate.features.importing.application.promptfoo.variables import (
    FILE,
    expand_variables,
    has_several,
    names_variable,
)
from evalgate.features.importing.models import (
    MAX_CHECKS,
    MAX_SCENARIOS,
    ImportedLine,
    ImportedScenario,
    ImportedSuite,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.features.importing.ports import OriginDocument, OriginFiles

TOOL = "promptfoo"
TEMPLATES = "#/assertionTemplates/"
SCENARIO_ID = "evalgate.scenario.id"
CODE = (".js", ".ts", ".mjs", ".cjs", ".mts", ".cts", ".py", ".rb")
TRANSFORMED = "promptfoo changes the output before it is checked; the answer is judged here as it is recorded"
SEVERAL_PROVIDERS = (
    "the runs of all its providers are trials of the same scenarios, and each must pass; `variants` can match them"
    " by the tags `provider:<label or id>`"
)
AS_TEXT = "an expression of JavaScript judges the answer as a text, also one that the provider returns as an object"
EXACT_NAMES = "a check that requires a tool compares its name exactly; promptfoo ignores upper and lower case"
UNKNOWN_NUMBER = (
    "its number in promptfoo's results is not known, because of the files above; give it a description of its own"
)
FEWER_CHECKS = "its threshold is a mean over all its checks, of which some are not here"


class OriginTest(NamedTuple):
    """A test: its part of the file, the checks before its own, and variables and settings that it takes over."""

    part: OriginPart
    variables: Mapping[str, Any]
    shared: Sequence[OriginPart] = ()
    """The checks of a scenario's data."""


def claims_promptfoo(value: Any) -> bool:
    """Whether a file is a configuration of promptfoo."""
    if not isinstance(value, dict):
        return False
    return bool({"prompts", "defaultTest", "targets"} & value.keys()) or {"providers", "tests"} <= value.keys()


class PromptfooReader:
    """Reads one configuration; `files` reads what it names."""

    def __init__(self, document: OriginDocument, files: OriginFiles) -> None:
        self._root = OriginPart(document.value, document)
        self._files = files
        self._others: list[ImportedLine] = []
        self._default = self._load_default()
        self._checks = 0
        self._is_numbered = True  # until there are tests of which the number is not known

    def read(self, name: str, path: str) -> ImportedSuite:
        """The suite; raises OverLimit."""
        scenarios, number = list[ImportedScenario](), 0
        repeat = self._read_repeat(self._root.get("evaluateOptions"))
        for test in self._list_tests():
            expanded = self._expand(test)
            variants = expanded if self._varies(test) else [test.variables]
            runs = len(expanded) * self._read_repeat(test.part.get("options"), repeat)
            each_runs = max(runs // len(variants), 1)
            for variables in variants:
                scenarios.append(self._build_scenario(test, variables, number, each_runs))
                number += each_runs
            if len(scenarios) > MAX_SCENARIOS:
                raise OverLimit(f"{path} has more than {MAX_SCENARIOS:,} tests; divide it")
        _distinguish(scenarios)
        suite = ImportedSuite(TOOL, name, path, scenarios, others=self._others)
        suite.notes = self._list_notes(suite)
        suite.share_first_checks()
        return suite

    def _load_default(self) -> OriginPart:
        part = self._root.get("defaultTest")
        if isinstance(part.value, str):
            found = self._follow(part)
            return OriginPart(found[0].value, found[0]) if found else part
        return part

    def _list_notes(self, suite: ImportedSuite) -> list[str]:
        providers = self._root.get("providers").value or self._root.get("targets").value
        several = isinstance(providers, list) and len(providers) > 1
        names_tools = any(line.entry is not None and "trajectory:" in line.kind for line in suite.list_lines())
        reads_code = any(line.entry is not None and line.kind == "javascript" for line in suite.list_lines())
        found = {
            SEVERAL_PROVIDERS: several,
            EXACT_NAMES: names_tools,
            TRANSFORMED: _changes_output(self._default),
            AS_TEXT: reads_code,
        }
        return [note for note, holds in found.items() if holds]

    def _list_tests(self) -> Iterator[OriginTest]:
        default = self._default.get("vars").mapping()
        tests = self._root.get("tests")
        groups = list(self._root.get("scenarios").items())
        if tests.value in (None, []) and not groups:  # then promptfoo runs one test, of the defaults
            tests = tests._replace(value=[{}])
        for part in self._expand_files(tests):
            yield OriginTest(part, {**default, **part.get("vars").mapping()})
        for group in self._expand_parts(groups):
            for data in self._expand_files(group.get("config")):
                shared = list(data.get("assert").items())
                for part in self._expand_files(group.get("tests")):
                    own = {**default, **data.get("vars").mapping(), **part.get("vars").mapping()}
                    yield OriginTest(part, own, shared)

    def _expand_files(self, part: OriginPart) -> Iterator[OriginPart]:
        """The items of a list, those of files that it or one of them names instead."""
        yield from self._expand_parts([part] if isinstance(part.value, str) else part.items())

    def _expand_parts(self, parts: Sequence[OriginPart] | Iterator[OriginPart]) -> Iterator[OriginPart]:
        for part in map(_find_named_file, parts):
            if not isinstance(part.value, str):
                yield part
                continue
            for document in self._follow(part):
                inner = OriginPart(document.value, document)
                yield from map(read_table_test, inner.items()) if isinstance(document.value, list) else [inner]

    def _follow(self, part: OriginPart) -> Sequence[OriginDocument]:
        """The documents that a text names; a line that is not carried over if they can't be read."""
        reference = str(part.value).removeprefix(FILE)
        reason = "it is code, which is never executed here" if reference.split(":")[0].endswith(CODE) else ""
        if "://" in reference:
            reason = "it is on another server"
        if not reason:
            try:
                return self._files.read_beside(reference, part.document)
            except InvalidInput as error:
                reason = str(error.problems[0])
        self._others.append(ImportedLine(part.place, "file", None, reason))
        self._is_numbered = False
        return []

    def _expand(self, test: OriginTest) -> list[dict[str, Any]]:
        """The values of the variables in each run; raises OverLimit."""
        if any(isinstance(value, str) and value.startswith(FILE) and "*" in value for value in test.variables.values()):
            self._is_numbered = False  # a run for each file
        options = {**self._default.get("options").mapping(), **test.part.get("options").mapping()}
        return [dict(test.variables)] if options.get("disableVarExpansion") else expand_variables(test.variables)

    def _read_repeat(self, options: OriginPart, default: int = 1) -> int:
        found = options.get("repeat").value
        return (
            found if isinstance(found, int) and not isinstance(found, bool) and 0 < found <= MAX_SCENARIOS else default
        )

    def _varies(self, test: OriginTest) -> bool:
        """Whether a check uses a variable that has several values."""
        several = frozenset(name for name, value in test.variables.items() if has_several(value))
        return bool(several) and any(names_variable(part.value, several) for part in self._list_checks(test))

    def _list_checks(self, test: OriginTest) -> list[OriginPart]:
        """The checks of a test: the defaults first, as promptfoo does."""
        leaves_out = test.part.get("options").get("disableDefaultAsserts").value is True
        defaults = [] if leaves_out else list(self._default.get("assert").items())
        return [*defaults, *test.shared, *test.part.get("assert").items()]

    def _build_scenario(
        self, test: OriginTest, variables: Mapping[str, Any], number: int, runs: int
    ) -> ImportedScenario:
        threshold = _first(test.part.get("threshold").value, self._default.get("threshold").value)
        has_threshold = isinstance(threshold, int | float) and not isinstance(threshold, bool)
        lines: list[ImportedLine] = []
        for part in self._list_checks(test):
            lines += self._carry_part(part, variables, is_required=not has_threshold)
        self._checks += len(lines)
        if self._checks > MAX_CHECKS:
            raise OverLimit(
                f"more than {MAX_CHECKS:,} checks, with those that defaults and variables repeat; divide the file"
            )
        if not lines:
            lines = [ImportedLine(test.part.place, "test", None, "it has no checks, so promptfoo passes it always")]
        scenario = ImportedScenario(f"test-{number}", test.part.place, lines)
        scenario.spare_match = {"where": _match_numbers(number, runs)}
        if has_threshold:
            scenario.fields |= {"threshold": threshold, "trials": {"min_pass_rate": 1.0}}
            if any(line.entry is None for line in lines):
                scenario.notes.append(FEWER_CHECKS)
        self._note_programs(test, scenario)
        self._name_scenario(scenario, test)
        return scenario

    def _carry_part(self, part: OriginPart, variables: Mapping[str, Any], *, is_required: bool) -> list[ImportedLine]:
        part, check = self._resolve(part)
        if check.get("type") == SET and check.get("threshold") is None and is_required:
            inner = part.get("assert")  # all must pass, as if the set were not there
            return [line for each in inner.items() for line in self._carry_part(each, variables, is_required=True)]
        weight = check.get("weight", 1)
        decides = is_required and weight != 0
        line = build_line(
            part, str(check.get("type", "check")), lambda: carry_check(check, variables), is_required=decides
        )
        if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
            line.refuse("its weight is no number from 0")
        elif line.entry is not None and weight != 1:
            line.entry["weight"] = weight
        return [line]

    def _resolve(self, part: OriginPart) -> tuple[OriginPart, dict[str, Any]]:
        """A check, or the template that it names, with what the check says besides."""
        check = part.mapping()
        reference = check.get("$ref")
        if isinstance(reference, str) and reference.startswith(TEMPLATES):
            template = self._root.get("assertionTemplates").get(reference.removeprefix(TEMPLATES))
            return part, {**template.mapping(), **{key: each for key, each in check.items() if key != "$ref"}}
        return part, check

    def _note_programs(self, test: OriginTest, scenario: ImportedScenario) -> None:
        """Names the programs that change what is judged."""
        if _changes_output(test.part):
            scenario.notes.append(TRANSFORMED)
        if test.part.get("assertScoringFunction").value or self._default.get("assertScoringFunction").value:
            for line in scenario.lines:
                line.refuse("its scores are combined by a program, which is never executed here")

    def _name_scenario(self, scenario: ImportedScenario, test: OriginTest) -> None:
        """The id that promptfoo's results have; without one they are found by their number."""
        metadata = {**self._default.get("metadata").mapping(), **test.part.get("metadata").mapping()}
        named = metadata.get(SCENARIO_ID) or test.part.get("description").value
        scenario.spare_id = scenario.id
        if isinstance(named, str) and named.strip() and "*" not in named and named.isprintable() and "{{" not in named:
            scenario.id = named
        else:
            scenario.use_spare_id()
        if not self._is_numbered:
            _refuse_number(scenario)


def _refuse_number(scenario: ImportedScenario) -> None:
    """Names the checks of a test that could only be found by its number, and leaves no spare number to the others."""
    if not scenario.spare_id:
        for line in scenario.lines:
            line.refuse(UNKNOWN_NUMBER)
    scenario.spare_id = ""


def _distinguish(scenarios: Sequence[ImportedScenario]) -> None:
    """Gives scenarios of the same id their spare ones: the id alone does not say which trace is whose."""
    counts: dict[str, int] = {}
    for scenario in scenarios:
        counts[scenario.id] = counts.get(scenario.id, 0) + 1
    for scenario in scenarios:
        if counts[scenario.id] > 1 and scenario.spare_id:
            scenario.use_spare_id()
        elif counts[scenario.id] > 1:
            _refuse_number(scenario)


def _find_named_file(part: OriginPart) -> OriginPart:
    """The path of a program that is named with its settings; any other part as it stands."""
    named = part.get("path")
    return named if isinstance(named.value, str) and "assert" not in part.mapping() else part


def _changes_output(part: OriginPart) -> bool:
    """Whether a program changes the output before it is checked."""
    options = part.get("options").mapping()
    return bool(options.get("transform") or options.get("postprocess"))


def _match_numbers(number: int, runs: int) -> str:
    """The expression that finds promptfoo's results of a test, by the numbers of its runs."""
    if runs == 1:
        return f"metadata.custom.test == `{number}`"
    return f"metadata.custom.test >= `{number}` && metadata.custom.test <= `{number + runs - 1}`"


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)
