"""What `init` prints of a suite: what it was learnt from, what it would notice, what its first run shows."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from evalgate.features.learn.application.inference.build_suite import describe_unnoticed
from evalgate.features.learn.application.inference.checks import MANY
from evalgate.features.learn.application.inference.infer import MIXED
from evalgate.features.learn.application.inference.suite_text import list_briefly
from evalgate.features.learn.application.tool_kinds import list_kinds
from evalgate.features.learn.reporting.mutation_table import SHORT
from evalgate.models.trace.trace import format_place
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.features.learn.application.inference.build_suite import BuiltSuite
    from evalgate.features.learn.application.inference.pass_rates import FailedTrials, RecordedFailures
    from evalgate.features.learn.application.inference.trace_choice import FoundTraces

MAX_NAMED, MAX_WEAKEST = 5, 3


def describe_built_suite(built: BuiltSuite, path: str) -> Iterator[str]:
    """What the suite was learnt from, what it would notice, and what its first run shows."""
    found = built.found
    scenarios = pluralize(len(built.draft.written), "scenario")
    size = f"{built.text.count(chr(10)):,} lines"
    passed = f"the {len(found.passing):,} of {pluralize(found.read, 'trace')} that passed"
    yield f"{scenarios} in {size}, learnt from {passed} ({_describe_results(found)})"
    if found.failing:
        yield f"from {pluralize(len(found.failing), 'trace')} that did not pass only what distinguishes them"
    for note in _list_unused(built):
        yield f"not used: {note}"
    yield from _describe_failures(built.failures)
    if built.draft.mixed:
        named = list_briefly(built.draft.mixed)
        yield f"warning: {MIXED}: {named}"
    if built.draft.hollow:
        count = pluralize(len(built.draft.hollow), "scenario")
        yield f"an agent that does nothing passes {count}: {list_briefly(built.draft.hollow)}; add what each must do"
    if built.draft.unchecked:
        named = list_briefly(built.draft.unchecked)
        whose = "its" if len(built.draft.unchecked) == 1 else "their"
        yield f"{pluralize(len(built.draft.unchecked), 'scenario')} without a check of {whose} own: {named}"
    yield _describe_changes(built, path)
    if weakest := _list_weakest(built):
        yield f"least of all: {', '.join(weakest)}"
    if offered := sum(len(scenario.offers) for scenario in built.draft.written):
        yield f"not checked: {pluralize(offered, 'line')} of values that all trials share; {_advise(built)}"
    if asked := sum(scenario.prompt is not None for scenario in built.draft.written):
        yield f"the suite names the request of {pluralize(asked, 'scenario')}: read it before you commit"
    changing, others = list_kinds(found.readable)
    if changing or others:
        sides = f"{list_briefly(changing) or 'none'}; as look-ups: {list_briefly(others) or 'none'}"
        yield f"taken as changing something: {sides} (`--lookup TOOL` or `--no-lookup TOOL` if that is wrong)"
    yield f"next: evalgate run {shlex.quote(path)}"


def _advise(built: BuiltSuite) -> str:
    """How values are checked that the suite has in comments."""
    strict = f"or `--strictness strict` checks them in scenarios of {MANY} trials and more"
    return f"remove its `#`{'' if built.draft.strictness == 'strict' else f', {strict}'}"


def _describe_changes(built: BuiltSuite, path: str) -> str:
    """How many small changes the suite catches, and how many of them fail the gate."""
    total, possible = built.caught.total, built.caught.possible
    caught = (
        f"catches {total.caught:,} of {pluralize(total.tried, 'small change')}, {total.gated:,} by failing the gate"
    )
    command = f"evalgate mutate {shlex.quote(path)}"
    if possible == total.tried:
        return f"{caught} (`{command}` lists the others)"
    return f"{caught}, chosen evenly from {possible:,} (`{command} --max {possible}` tries all, so its share differs)"


def _list_weakest(built: BuiltSuite) -> list[str]:
    """The kinds of changes that the suite catches least, those that it catches less often than not."""
    tallies = [(SHORT[name], tally) for name, tally in built.caught.operators.items()]
    weak = [(name, tally) for name, tally in tallies if tally.tried and 2 * tally.caught < tally.tried]
    weak.sort(key=lambda each: each[1].score or 0.0)
    return [f"{name} ({tally.caught:,} of {tally.tried:,})" for name, tally in weak[:MAX_WEAKEST]]


def _describe_results(found: FoundTraces) -> str:
    if not found.results:
        return "none of them records a result, so those count as passed that ended without an error"
    names = ", ".join(sorted(found.results))
    unknown = len(found.passing) - found.results.total()
    return f"recorded: {names}" + (f"; {unknown:,} record no result and ended without an error" if unknown else "")


def _list_unused(built: BuiltSuite) -> Iterator[str]:
    """Traces and files that nothing was learnt from, each kind on a line."""
    found = built.found
    if found.without_calls:
        places = [
            format_place(each.path, each.line, each.record) for each in (trace.source for trace in found.without_calls)
        ]
        names = list_briefly(places)
        yield f"{pluralize(len(found.without_calls), 'trace')} without a record of what the agent did: {names}"
    if found.unreadable:
        path, reason = next(iter(found.unreadable.items()))
        yield f"{pluralize(len(found.unreadable), 'file')} that can't be read, such as {path}: {reason}"
    if found.surplus:
        yield f"{pluralize(len(found.surplus), 'trace')} more that passed, which the suite judges too"
    if found.left_out:
        yield f"{pluralize(found.left_out, 'trace')} more than `init` judges: `evalgate run` shows whether they pass"
    for place, reason in list(found.damaged.items())[:MAX_NAMED]:
        yield f"a trace that can't be read, which fails a run until it is removed: {place}: {reason}"
    if len(found.damaged) > MAX_NAMED:
        yield f"{len(found.damaged) - MAX_NAMED:,} more traces that can't be read"
    yield from built.draft.omitted
    empty = len(built.draft.scenarios) - len(built.draft.written)
    if empty:
        yield f"{pluralize(empty, 'scenario')} in which nothing can be checked, or whose id no suite can hold"


def _describe_failures(failures: RecordedFailures) -> Iterator[str]:
    """What trials that failed when they were recorded mean for the suite."""
    headings = {
        "demands that some trials pass in": [each for each in failures.failed if each.least],
        "checks that fail only lower the score, since too few trials passed to demand them, in": [
            each for each in failures.failed if each.least == 0
        ],
        "the first run fails in": [each for each in failures.failed if each.least is None],
    }
    for heading, failed in headings.items():
        if failed:
            yield f"{heading} {pluralize(len(failed), 'scenario')} with recorded failures:"
            for each in failed[:MAX_NAMED]:
                yield f"  {each.scenario}: {_describe_trials(each)}"
            if len(failed) > MAX_NAMED:
                yield f"  and {len(failed) - MAX_NAMED:,} more"
    if failures.unnoticed:
        yield describe_unnoticed(failures)
    elif failures.recorded:
        yield f"in every recorded failure ({failures.recorded:,}) a check of the suite fails"


def _describe_trials(failed: FailedTrials) -> str:
    """In how many trials a check fails, and what these recorded."""
    verb = "fails" if failed.failed == 1 else "fail"
    return f"{failed.failed:,} of {failed.trials:,} trials {verb} a check (recorded: {', '.join(failed.results)})"
