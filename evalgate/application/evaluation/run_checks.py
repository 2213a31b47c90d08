"""Checks what a run needs beyond single files: settings for its traces, and ids that differ."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.application.evaluation.trace_warnings import format_location
from evalgate.errors import Location, Problem, SettingError, SuiteError
from evalgate.evaluators.core.field_problems import suggest
from evalgate.gate.common.scenarios import find_baseline_key
from evalgate.measures.redaction.redact import get_project_secrets
from evalgate.measures.values.json_values import mark_name
from evalgate.models.comparison.comparison import list_scenarios
from evalgate.models.run.run import StoredTrial
from evalgate.suite.models import CUSTOM

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.application.messages.request import SourceChoice
    from evalgate.models.run.run import Run, ScenarioResult, SuiteResult, TraceRef, Trial
    from evalgate.models.run.trial_doc import TraceDoc
    from evalgate.models.trace.trace import Warning_
    from evalgate.ports import TraceSource
    from evalgate.suite.models import Configuration

    _Trace = TraceRef | TraceDoc

AUTO = "auto"


def check_traces(configuration: Configuration, sources: SourceChoice, traces: TraceSource) -> None:
    """Checks what needs suites and flags together; raises SettingError listing every error."""
    problems = format_problems(configuration, traces, sources.form)
    for suite in configuration.suites:
        if sources.traces is None and suite.traces is None:
            hint = "add `traces: [...]` to it or to `defaults` of evalgate.yaml, or use --traces"
            problems.append(Problem(f"suite `{suite.name}` has no `traces`", Location(suite.path), hint))
        elif sources.traces is None and any("://" in pattern for pattern in suite.traces or ()):
            hint = "a URL may only be given on the command line: --traces"
            problems.append(Problem(f"`traces` of suite `{suite.name}` contains a URL", Location(suite.path), hint))
    if problems:
        raise SettingError(*problems)


def format_problems(configuration: Configuration, traces: TraceSource, form: str | None = None) -> list[Problem]:
    """Unknown formats in the flag and in suites."""
    places = [(suite.format_name, suite.format_location or Location(suite.path)) for suite in configuration.suites]
    named = [(each, place) for each, place in [(form, None), *places] if each not in (None, AUTO, CUSTOM)]
    formats = [AUTO, *traces.formats(), CUSTOM] if named else []  # listing them loads them all
    unknown = [
        Problem(f"unknown format {each!r}", place, suggest(each, formats))
        for each, place in named
        if each not in formats
    ]
    without_custom = [
        Problem(f"suite `{suite.name}` has no `custom`, which `--format custom` needs", Location(suite.path))
        for suite in configuration.suites
        if form == CUSTOM and suite.custom is None
    ]
    return unknown + without_custom


MOST_LOOK_ALIKES = 20
HINT = "they can't be compared separately; give them ids that `redact` does not change"


def check_ids(run: Run) -> list[Warning_]:
    """Warnings about ids that look alike or share a recording; raises SuiteError if `redact` makes two equal."""
    _require_distinct_redacted_ids(run)
    return [*_find_shared_recordings(run), *_find_look_alike_ids(run)]


def _find_shared_recordings(run: Run) -> list[Warning_]:
    """A warning for each suite in which one recording was written for several scenarios."""
    found: list[Warning_] = []
    for suite in run.suites:
        shared = list(_iter_shared(suite))
        if shared:
            one, other, places = shared[0]
            more = f" (and {len(shared) - 1:,} more)" if len(shared) > 1 else ""
            files = " and ".join(mark_name(format_location(each), 120) for each in places)
            same = f"the recording of {mark_name(other)} is that of {mark_name(one)}{more}"
            message = f"{same}, equal in all but what names it: {files}"
            found.append({"code": "shared_recording", "message": message, "where": suite.path})
    return found


def _iter_shared(suite: SuiteResult) -> Iterator[tuple[str, str, tuple[_Trace, _Trace]]]:
    """Scenarios with the recording of an earlier one, and where both lie.

    Two runs don't begin at the same time and measure the same; traces that people write have no measures.
    """
    first: dict[int, tuple[ScenarioResult, Trial]] = {}
    for scenario in suite.scenarios:
        for trial in scenario.trials:
            digest = trial.digest if isinstance(trial, StoredTrial) else trial.trace.digest
            if digest is None:
                continue
            other, same = first.setdefault(digest, (scenario, trial))
            is_measured = bool(trial.latency_seconds or trial.total_tokens)
            if other is not scenario and is_measured and trial.trace.recorded_at is not None:
                yield _name(other), _name(scenario), (same.trace, trial.trace)
                break


def _name(scenario: ScenarioResult) -> str:
    return scenario.id if scenario.variant is None else f"{scenario.id}[{scenario.variant}]"


def _require_distinct_redacted_ids(run: Run) -> None:
    if get_project_secrets() is None:
        return
    counts = Counter(find_baseline_key(key, ()) for key, _ in list_scenarios(run.suites))
    same = [
        Problem(f"{count:,} scenarios have the id `{key.id}` after redaction", None, HINT)
        for key, count in counts.items()
        if count > 1
    ]
    if same:
        raise SuiteError(*same)


def _find_look_alike_ids(run: Run) -> list[Warning_]:
    """Suites name no two ids that look alike, so traces named at least one of them."""
    ids = {suite.path: list(dict.fromkeys(each.id for each in suite.scenarios)) for suite in run.suites}
    if all(map(str.isascii, (each for names in ids.values() for each in names))):
        return []
    from evalgate.measures.text.plain_text import describe_look_alike, find_look_alikes

    found: list[Warning_] = [
        {"code": "look_alike_ids", "message": f"scenario {describe_look_alike(names, each)}", "where": path}
        for path, names in ids.items()
        for each in find_look_alikes(names)
    ]
    more = len(found) - MOST_LOOK_ALIKES
    rest: Warning_ = {"code": "look_alike_ids", "message": f"{more:,} more ids look like others", "where": None}
    return [*found[:MOST_LOOK_ALIKES], *([rest] if more > 0 else [])]
