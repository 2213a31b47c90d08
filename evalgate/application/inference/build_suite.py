"""Builds a suite out of traces: reads them, infers a draft, checks it, and counts which small changes it catches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from evalgate.application.inference.infer import DraftSuite, SuiteHead, infer_suite
from evalgate.application.inference.self_check import check_draft
from evalgate.application.inference.trace_choice import FoundTraces, InferenceOptions, find_traces
from evalgate.application.mutation.score import MutationRun
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.models.mutation import Tally
    from evalgate.models.trace.trace import Trace
    from evalgate.ports import Files, Progress, SuiteSource, TraceSource
    from evalgate.suite.models import Suite

MAX_CHANGES = 2_000


class InferenceSources(Struct, frozen=True):
    """Where files, traces and suites come from."""

    files: Files
    traces: TraceSource
    suites: SuiteSource


class BuiltSuite(Struct):
    """A suite ready to be written, the traces it was learnt from, and how many small changes it catches."""

    text: str
    draft: DraftSuite
    found: FoundTraces
    caught: Tally
    without_check: Sequence[str] = field(default_factory=list)


def build_suite(options: InferenceOptions, sources: InferenceSources, progress: Progress) -> BuiltSuite:
    """Reads the traces, infers and checks a suite; raises SettingError if no trace passed or nothing was learnt."""
    found = find_traces(options, sources.files, sources.traces, progress)
    if not found.passing:
        message = f"no trace passed, of {found.failing:,} read ({found.unreadable:,} could not be read)"
        raise SettingError(Problem(message, None, "a suite is learnt from runs that succeeded; see `evalgate traces`"))
    head = SuiteHead(options.name, found.patterns, options.form, options.schema)
    draft = infer_suite(found.passing, head, options.strictness)
    draft.notes += _describe_unused(found)
    suite = check_draft(draft, found.passing, lambda text: sources.suites.parse_text(text, options.path))
    if suite is None:
        hint = "`evalgate traces` shows which evidence they lack"
        raise SettingError(
            Problem("nothing can be checked: no calls and no answers, or ids that no suite can hold", None, hint)
        )
    empty = [scenario.id for scenario in draft.scenarios if scenario.is_empty]
    if empty:
        reason = "in which nothing can be checked, or whose id no suite can hold"
        draft.notes.append(f"left out: {len(empty):,} scenarios {reason}")
    text, _ = draft.render()
    caught = count_caught(sources.suites.parse_text(text, options.path), found.passing, progress)
    return BuiltSuite(text, draft, found, caught, empty)


def _describe_unused(found: FoundTraces) -> list[str]:
    counts = [
        (found.failing, "did not pass"),
        (found.unreadable, "could not be read"),
        (found.left_out, "passed too"),
    ]
    return [f"not used: {count:,} traces that {why}" for count, why in counts if count]


def count_caught(suite: Suite, traces: Sequence[Trace], progress: Progress) -> Tally:
    """How many small changes to these traces the suite catches."""
    run = MutationRun([suite], None)
    run.add_traces(0, traces, progress)
    run.choose(MAX_CHANGES)
    return run.try_changes(None, progress).total
