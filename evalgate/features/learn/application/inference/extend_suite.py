"""Appends the scenarios of a trace file to the text of an existing suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.application.evaluation.evaluate import TraceChoice
from evalgate.errors import Location, Problem, SettingError, SuiteError
from evalgate.features.learn.application.inference.draft import DraftScenario, DraftSuite, SuiteHead
from evalgate.features.learn.application.inference.infer import infer_alone, is_usable_id
from evalgate.features.learn.application.inference.insert import find_end, find_indent, insert_lines
from evalgate.features.learn.application.inference.observations import TraceSet
from evalgate.features.learn.application.inference.pass_rates import ScenarioTrials, allow_recorded_failures
from evalgate.features.learn.application.inference.self_check import MAX_ROUNDS, check_draft, find_failing
from evalgate.features.learn.application.inference.suite_text import format_scenario
from evalgate.features.learn.application.inference.trace_choice import records_calls
from evalgate.measures.redaction.redact import redact
from evalgate.models.trace.trace import Trace
from evalgate.reporting.text.flow_style import format_value
from evalgate.scoring.recorded_result import find_recorded_result, is_passing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.features.learn.application.inference.build_suite import InferenceSources
    from evalgate.features.learn.application.inference.checks import Strictness
    from evalgate.ports import SuiteSource
    from evalgate.suite.models import Suite

MAX_BYTES = 1_000_000
MAX_SHOWN = 200
RULES_OF_ALL = frozenset({"no_loops", "max_tool_errors"})
"""Limits that a suite sets for all scenarios: a stricter one, learnt from few trials, would undo a loosened limit."""


class ExtendedSuite(NamedTuple):
    """The text of a suite with scenarios appended, and their ids.

    `left_out` are checks that do not hold, or that no suite can hold; `failing` are checks that the suite had already
    and that fail on the added traces; `red` are the added scenarios that the next run fails, and `missed` the recorded
    failures in them in which no check fails.
    """

    text: str
    added: Sequence[str]
    left_out: Sequence[str]
    failing: Sequence[str]
    red: Sequence[str]
    missed: Sequence[str]


def extend_suite(path: str, trace: str, strictness: Strictness, sources: InferenceSources) -> ExtendedSuite:
    """Appends the scenarios of a trace file; raises SettingError.

    The suite must find the file by its `traces`, as it will in a run.
    """
    suite = sources.suites.load([path]).suites[0]
    readable, tools = _read_named(suite, path, trace, sources)
    named = list(filter(is_passing, readable))
    found = TraceSet(named, [each for each in readable if not is_passing(each)], tools)
    new = _choose_new(suite, path, trace, found)
    extension = _Extension(sources.files.read(path, MAX_BYTES, what="suite").decode(), path, suite)
    extension.left_out += [f"checks of the tool {redact(tool)[:MAX_SHOWN]}" for tool in found.unusable]
    known = list(_list_entries(suite.content.get("defaults", {}).get("assertions", [])))
    for draft in _draft_scenarios(suite, new, found, strictness, sources.suites):
        extension.add(draft, known)
    failing = extension.check([each for each in named if each.scenario_id in new], sources.suites)
    if not extension.added:
        raise SettingError(f"nothing can be checked in {trace}; `evalgate traces` shows which evidence it lacks")
    text = extension.render()[0]
    extended = sources.suites.parse_text(text.removeprefix("\ufeff"), path)
    trials = ScenarioTrials.group(extended, [each for each in readable if each.scenario_id in extension.added])
    red = [each for each in trials if each.is_red]
    names = {*failing, *(name for each in red for name in each.list_failed())}
    missed = [each.find_unnoticed() for each in trials]
    return ExtendedSuite(
        text,
        extension.added,
        extension.left_out,
        sorted(names),
        [each.scenario.id for each in red],
        [each.describe() for each in missed if each.trials],
    )


class _Extension:
    """Scenarios to be appended to the text of a suite."""

    def __init__(self, text: str, path: str, suite: Suite) -> None:
        self._text, self._path, self._suite = text, path, suite
        self._indent = find_indent(text, path)
        defaults = suite.content.get("defaults", {}).get("assertions", [])
        self._limited = RULES_OF_ALL & {entry.get("type") for entry in defaults if isinstance(entry, dict)}
        self._drafts: list[DraftScenario] = []
        self.left_out: list[str] = []

    @property
    def added(self) -> list[str]:
        """The ids of the scenarios that check something."""
        return [draft.id for draft in self._drafts if not (draft.is_empty or draft.is_left_out)]

    def add(self, draft: DraftScenario, known: Sequence[Mapping[str, Any]]) -> None:
        """Adds a scenario, without what the suite checks in all of them, be its limit another one."""
        draft.checks = [
            check for check in draft.checks if check.entry not in known and check.entry.get("type") not in self._limited
        ]
        self._drafts.append(draft)

    def render(self) -> tuple[str, dict[int, tuple[DraftScenario, int | None]]]:
        """The extended text, and the scenario and check of each added line, from 1."""
        lines: list[str] = []
        places: dict[int, tuple[DraftScenario, int | None]] = {}
        start = find_end(self._text, self._path) + 1
        for draft in self._drafts:
            if not (draft.is_empty or draft.is_left_out):
                written, at = format_scenario(draft.describe(), self._indent)
                places[start + len(lines)] = draft, None
                places |= {start + len(lines) + line: (draft, number) for line, number in at.items()}
                lines += written
        return insert_lines(self._text, self._path, lines), places

    def check(self, traces: Sequence[Trace], suites: SuiteSource) -> list[str]:
        """Leaves out what fails on these traces; returns the names of the suite's other checks that fail."""
        for _ in range(MAX_ROUNDS):
            text, places = self.render()
            try:
                suite = suites.parse_text(text.removeprefix("\ufeff"), self._path)
            except SuiteError as error:
                lines = {found.location.line or 0 for found in error.problems if found.location}
                if lines.isdisjoint(places):
                    raise
            else:
                self._require_added(suite)
                failing = list(find_failing(suite, traces))
                lines = {line for each in failing for line in each.lines}
                if lines.isdisjoint(places):
                    return sorted({name for each in failing for name in each.names})
            for line in sorted(places.keys() & lines, reverse=True):
                self._leave_out(*places[line])
        return []

    def _require_added(self, suite: Suite) -> None:
        """Raises SuiteError unless the extended suite has the scenarios that it had, and then those added."""
        had, has = (each.content.get("scenarios", []) for each in (self._suite, suite))
        if has[: len(had)] != had or [each.get("id") for each in has[len(had) :]] != self.added:
            message = "nothing can be added: the last lines of `scenarios:` are not where they seem to end"
            hint = "a quoted text of several lines or an unusual line break may be the cause; add it by hand"
            raise SuiteError(Problem(message, Location(self._path), hint))

    def _leave_out(self, draft: DraftScenario, number: int | None) -> None:
        if number is None:
            self.left_out.append(f"all of {redact(draft.id)[:MAX_SHOWN]}")
            draft.is_left_out = True
        elif number < len(draft.checks):
            self.left_out.append(format_value(draft.checks.pop(number).entry)[:MAX_SHOWN])


def _list_entries(assertions: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    """The assertions that every scenario has, also below a condition, without whether they are required."""
    for entry in assertions:
        if isinstance(entry, dict):
            yield {key: value for key, value in entry.items() if key != "required"}
            yield from _list_entries(entry.get("then", ()))


def _draft_scenarios(
    suite: Suite, ids: Sequence[str], found: TraceSet, strictness: Strictness, suites: SuiteSource
) -> list[DraftScenario]:
    """The scenarios with what failed trials mean for them, as `init` writes them in a suite of their own."""
    drafts = [infer_alone(id_, found, strictness) for id_ in ids]
    draft = DraftSuite(
        SuiteHead(suite.name, suite.traces or [], kinds=suite.tool_kinds), strictness, [], drafts, len(found.traces)
    )

    def load(text: str) -> Suite:
        return suites.parse_text(text, suite.path)

    trials = [each for id_ in ids for each in (*found.scenarios[id_], *found.failed.get(id_, ()))]
    if check_draft(draft, [each for id_ in ids for each in found.scenarios[id_]], load) is not None:
        allow_recorded_failures(draft, trials, load)
    return draft.scenarios


def _read_named(suite: Suite, path: str, trace: str, sources: InferenceSources) -> tuple[list[Trace], frozenset[str]]:
    """The traces of a file that the suite finds, and the tools of all its traces.

    Raises SettingError unless one of the file passed.
    """
    wanted = {file.path for file in sources.files.expand(trace, ".")}
    if not wanted:
        raise SettingError(Problem(f"no trace file at {trace!r}", None, "name a file or folder, not one trace in it"))
    records = sources.traces.read(*TraceChoice().resolve_for_suite(suite))
    named: list[Trace] = []
    tools = set[str]()
    for record in records:
        if isinstance(record, Trace):
            tools.update(record.called)
            record.take_kinds(suite.tool_kinds)
            named += [record] if record.source.path in wanted else []
    if not named:
        patterns = ", ".join(suite.traces or ["nothing"])
        hint = f"its `traces`, relative to its folder, are {patterns}: move the file there, or add it to them"
        raise SettingError(Problem(f"suite {path} does not find {trace!r}", None, hint))
    passing = list(filter(is_passing, named))
    if not passing:
        hint = "a scenario is learnt from a trace that passed"
        raise SettingError(Problem(f"no trace in {trace!r} passed: {_describe_end(named[0])}", None, hint))
    if not any(map(records_calls, passing)):
        raise SettingError(f"{trace} records nothing of what the agent did")
    return named, frozenset(tools)


def _describe_end(trace: Trace) -> str:
    result = find_recorded_result(trace)
    found = f"has the status {trace.status}" if result is None else f"records {result.describe()}"
    return f"the first one {found}"


def _choose_new(suite: Suite, path: str, trace: str, found: TraceSet) -> list[str]:
    known = {scenario.id for scenario in suite.scenarios}
    unusable = [id_ for id_ in found.scenarios if not is_usable_id(id_)]
    if unusable:
        raise SettingError(f"{trace} has a scenario whose id is a secret or contains *: {redact(unusable[0])[:80]!r}")
    new = [id_ for id_ in found.scenarios if id_ not in known]
    if not new:
        raise SettingError(f"suite {path} has a scenario {', '.join(found.scenarios)} already")
    return new
