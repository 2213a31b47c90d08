"""Infers a suite from passing traces, as a draft."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.features.learn.application.inference.calls import infer_calls
from evalgate.features.learn.application.inference.checks import MANY, SURE, require_from_many
from evalgate.features.learn.application.inference.draft import DraftScenario, DraftSuite, SuiteHead
from evalgate.features.learn.application.inference.observations import TraceSet
from evalgate.features.learn.application.inference.outcomes import expect_facts
from evalgate.features.learn.application.inference.shared import infer_shared
from evalgate.features.learn.application.inference.shared_values import (
    expect_state,
    find_answer_literals,
    find_codes,
    find_prompt,
    offer,
)
from evalgate.features.learn.application.inference.suite_text import list_briefly
from evalgate.features.learn.application.inference.variants import find_variants
from evalgate.features.learn.measures.usable_names import is_usable_name, list_named_tools
from evalgate.measures.redaction.redact import redact, redact_value
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.features.learn.application.inference.checks import InferredCheck, Strictness
    from evalgate.models.trace.trace import Trace

MAX_SCENARIOS = 2_000
MAX_NAMED, MAX_TOOL = 10, 60
MIXED = "trials of several tasks have the same id, so one suite for each task is better"


def is_usable_id(id_: str) -> bool:
    """Whether a suite may name a scenario so: its id is no pattern and no secret."""
    return "*" not in id_ and redact(id_) == id_


def infer_suite(
    traces: Iterable[Trace],
    head: SuiteHead,
    strictness: Strictness,
    failed: Iterable[Trace] = (),
    recorded: Mapping[str, int] | None = None,
) -> DraftSuite:
    """Infers a suite from traces that passed, and others that failed, in any order.

    `recorded` is how many trials a scenario has in all.
    """
    found = TraceSet(traces, failed)
    usable = [id_ for id_ in found.scenarios if is_usable_id(id_)]
    kept = usable[:MAX_SCENARIOS]
    shared, own = infer_shared(found, kept, strictness)
    draft = DraftSuite(head, strictness, list(filter(_is_clean, shared)), [], len(found.traces))
    if len(usable) < len(found.scenarios):
        draft.omitted.append(
            f"{pluralize(len(found.scenarios) - len(usable), 'scenario')} with a secret or * in the id"
        )
    if len(usable) > len(kept):
        more = pluralize(len(usable) - len(kept), "scenario")
        draft.omitted.append(f"{more} above {MAX_SCENARIOS:,}, from {redact(usable[len(kept)])} on")
    for id_ in kept:
        scenario = infer_scenario(id_, found, strictness)
        scenario.checks += filter(_is_clean, own[id_])
        scenario.recorded = max(scenario.recorded, (recorded or {}).get(id_, 0))
        draft.scenarios.append(scenario)
    _note_unsteady(draft, found)
    _note_mixed(draft, found)
    draft.variants = find_variants(found)
    return draft


def infer_scenario(id_: str, traces: TraceSet, strictness: Strictness) -> DraftScenario:
    """Infers one scenario from its passing trials, without what scenarios share."""
    trials = traces.scenarios[id_]
    checks = [*infer_calls(trials, traces.failed.get(id_, ()), traces, strictness), *expect_facts(trials)]
    checks += expect_state(trials)
    draft = DraftScenario(id_, list(filter(_is_clean, checks)), len(trials), len(trials), prompt=find_prompt(trials))
    draft.notes += _note_differences(trials)
    values = [*find_codes(trials, traces.failed.get(id_, ())), *find_answer_literals(trials)]
    if strictness == "strict" and len(trials) >= MANY:
        draft.checks += [require_from_many(check, trials) for check in values if _is_clean(check)]
    else:
        draft.offers += offer(values)
    return draft


def infer_alone(id_: str, found: TraceSet, strictness: Strictness) -> DraftScenario:
    """Infers a scenario for a suite that has others: with all that it needs itself."""
    traces = TraceSet(found.scenarios[id_], found.failed.get(id_, ()), found.tools)
    draft = infer_scenario(id_, traces, strictness)
    draft.recorded += len(traces.failed.get(id_, ()))
    _, own = infer_shared(traces, [id_], strictness)
    draft.checks += filter(_is_clean, own[id_])
    return draft


def _is_clean(check: InferredCheck) -> bool:
    """Whether redaction leaves a check as it is, and it names no tool by what a suite would read as a pattern."""
    clean: Mapping[str, object] = redact_value(check.entry)
    return clean == check.entry and all(map(is_usable_name, list_named_tools(check.entry)))


def _note_differences(trials: Sequence[Trace]) -> list[str]:
    """The tools that some trials call."""
    called = [set(trace.called) for trace in trials]
    counts = {tool: sum(tool in each for each in called) for tool in sorted(set().union(*called))}
    found = [f"{tool} ({count:,})" for tool, count in counts.items() if count < len(trials) and is_usable_name(tool)]
    return [f"in some of {len(trials):,} trials: {', '.join(found[:MAX_NAMED])}"] if found else []


def _note_unsteady(draft: DraftSuite, traces: TraceSet) -> None:
    names = [tool for tool in traces.unsteady if is_usable_name(tool)]
    if names:
        few = f"required only where all of {SURE} trials call them, or no failed one does"
        draft.notes.append(f"passing trials differ in {list_briefly(names)}: {few}")
    if traces.unusable:
        shown = list_briefly([tool[:MAX_TOOL] for tool in traces.unusable])
        draft.notes.append(f"no check names these tools, which are patterns, secrets or too long in a suite: {shown}")


def _note_mixed(draft: DraftSuite, traces: TraceSet) -> None:
    """Names scenarios whose trials were recorded for several tasks: formats number the samples of each task from 1."""
    mixed = [
        id_
        for id_, trials in traces.scenarios.items()
        if len({task for trace in trials if isinstance(task := trace.metadata.get("task"), str)}) > 1
    ]
    if mixed:
        draft.mixed = mixed
        draft.notes.append(f"{MIXED}: {list_briefly(mixed)}")
