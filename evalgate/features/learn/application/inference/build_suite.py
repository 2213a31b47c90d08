"""Builds a suite out of traces: reads them, infers a draft, checks it, and counts which small changes it catches."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from evalgate.errors import Problem, SettingError
from evalgate.features.learn.application.inference.draft import DraftSuite, SuiteHead
from evalgate.features.learn.application.inference.infer import infer_suite
from evalgate.features.learn.application.inference.pass_rates import RecordedFailures, allow_recorded_failures
from evalgate.features.learn.application.inference.self_check import check_draft, mark_hollow
from evalgate.features.learn.application.inference.suite_text import list_briefly
from evalgate.features.learn.application.inference.trace_choice import FoundTraces, InferenceOptions, find_traces
from evalgate.features.learn.application.mutation.score import MutationRun
from evalgate.models.mutation import MAX_CHANGES
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.features.learn.application.inference.checks import Strictness
    from evalgate.models.mutation import MutationReport
    from evalgate.models.trace.trace import Trace
    from evalgate.ports import Files, PriceTable, Progress, SuiteSource, TraceSource
    from evalgate.suite.models import Suite

MIN_CHANGES = 50
MAX_COMPARISONS = 15_000_000
"""Comparisons of a call with a name in a check."""


class InferenceSources(Struct, frozen=True):
    """Where files, traces and suites come from."""

    files: Files
    traces: TraceSource
    suites: SuiteSource
    prices: PriceTable | None = None


class BuiltSuite(Struct):
    """A suite ready to be written, the traces it was learnt from, and how many small changes it catches."""

    text: str
    draft: DraftSuite
    found: FoundTraces
    failures: RecordedFailures
    caught: MutationReport


def build_suite(options: InferenceOptions, sources: InferenceSources, progress: Progress) -> BuiltSuite:
    """Reads the traces, infers and checks a suite; raises SettingError if no trace passed or nothing was learnt."""
    found = find_traces(options, sources.files, sources.traces, progress)
    if not found.passing:
        raise SettingError(_explain_no_trace(found))

    def load(text: str) -> Suite:
        return sources.suites.parse_text(text, options.path)

    head = SuiteHead(options.name, found.patterns, options.form, options.schema, options.kinds)
    drafted = draft_suite(found, head, options.strictness, load)
    if drafted is None:
        hint = "`evalgate traces` shows which evidence they lack"
        raise SettingError(
            Problem("nothing can be checked: no calls and no answers, or ids that no suite can hold", None, hint)
        )
    text, _ = drafted.draft.render()
    caught = count_caught(load(text), found.readable, drafted.draft.count_names(), sources.prices, progress)
    return BuiltSuite(text, drafted.draft, found, drafted.failures, caught)


class DraftedSuite(NamedTuple):
    """A draft that all passing traces pass, and what recorded failures mean for it."""

    draft: DraftSuite
    failures: RecordedFailures


def draft_suite(
    found: FoundTraces, head: SuiteHead, strictness: Strictness, load: Callable[[str], Suite]
) -> DraftedSuite | None:
    """Infers a suite and checks it with all traces; None if nothing can be checked. `load` parses a suite's text."""
    draft = infer_suite(found.passing, head, strictness, found.failing, found.trials)
    if found.unlearnt:
        draft.notes.insert(0, f"no scenario for {list_briefly(found.unlearnt)}: no trial passed")
    if check_draft(draft, found.passing, load) is None:
        return None
    failures = allow_recorded_failures(draft, found.readable, load)
    mark_hollow(draft, found.passing, load)
    if failures.unnoticed:
        draft.notes.append(describe_unnoticed(failures))
    return DraftedSuite(draft, failures)


def describe_unnoticed(failures: RecordedFailures) -> str:
    """The recorded failures that the suite would still pass, by scenario."""
    where = list_briefly([each.describe() for each in failures.unnoticed])
    verb = "passes" if failures.missed == 1 else "pass"
    recorded = pluralize(failures.recorded, "recorded failure")
    more = f"; {failures.scored:,} more only lower the score" if failures.scored else ""
    return f"{failures.missed:,} of {recorded} still {verb} every check of this suite: {where}{more}"


def _explain_no_trace(found: FoundTraces) -> Problem:
    hint = "a suite is learnt from runs that succeeded; see `evalgate traces`"
    if found.without_calls and not found.failing:
        return Problem(
            f"{pluralize(len(found.without_calls), 'trace')} read, but none records what the agent did", None, hint
        )
    unreadable = pluralize(len(found.unreadable), "file")
    why = next(iter(found.unreadable.items()), None)
    if why is not None and not found.read:
        return Problem(f"no trace can be read, in {unreadable}: {why[0]}: {why[1]}", None, "see `evalgate traces`")
    return Problem(f"no trace passed, of {found.read:,} read ({unreadable} could not be read)", None, hint)


def choose_number_of_changes(calls: int, names: int) -> int:
    """How many changes are tried, so that trying them takes seconds: each name in a check is compared with each call.

    >>> choose_number_of_changes(10, 40), choose_number_of_changes(2_000, 700)
    (10000, 50)
    """
    return max(MIN_CHANGES, min(MAX_CHANGES, MAX_COMPARISONS // max(1, calls * names)))


def count_caught(
    suite: Suite, traces: Sequence[Trace], names: int, prices: PriceTable | None, progress: Progress
) -> MutationReport:
    """Tries small changes as `mutate` does, fewer of long traces and where a scenario's checks list many `names`."""
    run = MutationRun([suite], prices)
    ordered: list[Trace] = sorted(traces, key=_find_position)
    run.add_traces(0, ordered, progress)
    run.choose(choose_number_of_changes(max(len(trace.tool_calls) for trace in traces), names))
    return run.try_changes(None, progress)


def _find_position(trace: Trace) -> tuple[str, int, int]:
    """Where a trace was read, in the order of reading."""
    source = trace.source
    return source.path, source.line or 0, source.record or 0
