"""Which scenarios of a finished run to explain: the one that a person names, else what fails or acts differently."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, field

from evalgate.application.evaluation.scenario_selection import choose_id
from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.models.comparison.comparison import REGRESSIONS
from evalgate.reporting.text.behaviour_lines import list_notable
from evalgate.reporting.text.scenario_sections import SuiteScenario
from evalgate.reporting.text.wording import pluralize, scenario_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.results.baseline_run import TracePosition
    from evalgate.models.results.results import RemovedDoc, ResultsDoc, ScenarioDoc, SuiteDoc
    from evalgate.models.trace.trace import Trace

MOST_NAMED, MAX_IDS, MOST_EXPLAINED = 10, 8, 3
ONE = "evalgate explain SCENARIO"


class ExplainRequest(NamedTuple):
    """Which scenario to explain: suite and variant are only needed if its id is ambiguous."""

    id: str
    suite: str | None = None
    variant: str | None = None


class Explanation(Struct):
    """The scenario in its document; `removed` instead if only the baseline has it. `traces` are those of its trials."""

    document: ResultsDoc
    suite: SuiteDoc | None = None
    scenario: ScenarioDoc | None = None
    removed: RemovedDoc | None = None
    warnings: Sequence[Problem] = field(default_factory=tuple)
    traces: Mapping[TracePosition, Trace] = field(default_factory=dict)


class ChosenScenarios(NamedTuple):
    """The scenarios to explain, and a sentence about others that act differently; both may be empty."""

    found: Sequence[Explanation]
    rest: str = ""


def choose_unnamed(document: ResultsDoc, suite: str | None, variant: str | None, results: str) -> ChosenScenarios:
    """Chooses the only scenario that fails; where none does, the first that act differently.

    Raises SettingError if several fail, or the run has no scenario.
    """
    _check_suite(document, suite, results)
    if not any(each["scenarios"] for each in document["suites"]):
        raise SettingError(f"{results} has no scenario to explain")
    items = [each for each in _list_items(document) if _is_chosen(each, suite, variant)]
    failing = [each for each in items if _is_failing(each)]
    differing = [each for each in items if not _is_failing(each)]
    ids = [*dict.fromkeys(each.scenario["id"] for each in failing)]
    if len(ids) > 1:
        raise SettingError(
            Problem(f"{len(ids):,} scenarios {_name_fault(failing)}", None, f"name one of them: {_join(ids)}")
        )
    if ids:
        found = find_scenario(document, ExplainRequest(ids[0], suite, variant), results)
        return ChosenScenarios([found], _name_rest(differing))
    shown = [Explanation(document, each.suite, each.scenario) for each in differing[:MOST_EXPLAINED]]
    return ChosenScenarios(shown, _name_rest(differing[MOST_EXPLAINED:]))


def _list_items(document: ResultsDoc) -> Iterator[SuiteScenario]:
    """What a report names, then what does not pass and is quarantined or of a suite without traces."""
    notable = list_notable(document)
    known = {id(each.scenario) for each in notable}
    every = (SuiteScenario(each, scenario) for each in document["suites"] for scenario in each["scenarios"])
    yield from notable
    yield from (each for each in every if each.scenario["verdict"] != "PASS" and id(each.scenario) not in known)


def _is_chosen(item: SuiteScenario, suite: str | None, variant: str | None) -> bool:
    return suite in (None, item.suite["suite"]) and variant in (None, item.scenario["variant"])


def _is_failing(item: SuiteScenario) -> bool:
    return item.scenario["verdict"] != "PASS" or item.kind in REGRESSIONS


def _name_fault(failing: Sequence[SuiteScenario]) -> str:
    is_worse = any(each.scenario["verdict"] == "PASS" for each in failing)
    return "do not pass or got worse" if is_worse else "do not pass"


def _name_rest(items: Sequence[SuiteScenario]) -> str:
    names = [scenario_name(each.scenario["id"], each.scenario["variant"]) for each in items]
    verb = "acts" if len(names) == 1 else "act"
    return f"{pluralize(len(names), 'more scenario')} {verb} differently ({ONE}): {_join(names)}" if names else ""


def _join(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_IDS:,} more" if len(names) > MAX_IDS else ""
    return f"{', '.join(names[:MAX_IDS])}{more}"


def find_scenario(document: ResultsDoc, request: ExplainRequest, results: str) -> Explanation:
    """Finds the scenario in a document; raises SettingError if there is none, or several."""
    request = request._replace(id=_choose_id(document, request, results))
    matches = [
        Explanation(document, suite, scenario)
        for suite in document["suites"]
        for scenario in suite["scenarios"]
        if _is_requested(request, suite["suite"], scenario)
    ]
    gone = [
        Explanation(document, removed=removed)
        for removed in document["removed"]
        if _is_requested(request, removed["suite"], removed)
    ]
    if len(matches + gone) == 1:
        return (matches + gone)[0]
    if matches or gone:
        raise SettingError(_describe_ambiguity(matches + gone))
    raise SettingError(f"scenario `{request.id}` has no variant `{request.variant}` in these results")


def _is_requested(request: ExplainRequest, suite: str, scenario: ScenarioDoc | RemovedDoc) -> bool:
    return (
        scenario["id"] == request.id
        and request.suite in (None, suite)
        and request.variant in (None, scenario["variant"])
    )


def _describe_ambiguity(matches: Sequence[Explanation]) -> Problem:
    """The problem that several scenarios match, with the flags that select one."""
    named = []
    for match in matches[:MOST_NAMED]:
        scenario = match.scenario or match.removed
        suite = match.suite["suite"] if match.suite else match.removed["suite"] if match.removed else ""
        variant = f" --variant {scenario['variant']}" if scenario and scenario["variant"] else ""
        named.append(f"--suite {suite}{variant}")
    left = len(matches) - len(named)
    more = f" and {left} more" if left else ""
    return Problem(f"{len(matches)} scenarios have this id", None, f"add one of: {'; '.join(named)}{more}")


def _choose_id(document: ResultsDoc, request: ExplainRequest, results: str) -> str:
    """The id that is meant, of the requested suite if there is one; raises SettingError with a suggestion."""
    pairs = [(suite["suite"], each["id"]) for suite in document["suites"] for each in suite["scenarios"]]
    pairs += [(removed["suite"], removed["id"]) for removed in document["removed"]]
    _check_suite(document, request.suite, results)
    where = f"no suite of {results} has" if request.suite is None else f"suite `{request.suite}` has no"
    if request.suite is None and request.id in {each["scenario_id"] for each in document["unclaimed"]}:
        where = f"traces of the run record it, but {where}"
    ids = (id_ for suite, id_ in pairs if request.suite in (None, suite))
    return choose_id(request.id, ids, f"{where} scenario `{request.id}`")


def _check_suite(document: ResultsDoc, suite: str | None, results: str) -> None:
    """Raises SettingError if a suite is named that the results do not have."""
    suites = {each["suite"] for each in (*document["suites"], *document["removed"])}
    if suite is not None and suite not in suites:
        raise SettingError(Problem(f"{results} has no suite `{suite}`", None, suggest(suite, suites)))
