"""The checks that all scenarios share, and those that only some need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.application.evaluation.scenario_matcher import natural
from evalgate.evaluators.core.assertion import SCENARIO_ID_PATH
from evalgate.features.learn.application.inference.arguments import infer_schemas
from evalgate.features.learn.application.inference.checks import MANY, SURE, InferredCheck, Strictness, choose_one
from evalgate.features.learn.application.inference.observations import SUPPORT, TraceSet
from evalgate.features.learn.application.inference.ordering import cover_pairs
from evalgate.features.learn.application.inference.outcomes import (
    GENERAL_RULES,
    build_repeat_rule,
    limit_amounts,
    limit_repeats,
)
from evalgate.features.learn.measures.argument_sources import infer_sources

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.features.learn.application.inference.outcomes import GeneralRule

MAX_RULES = 20
AGREEING_SHARE, KEPT_SHARE = 0.75, 0.9
MAX_EXCEPTIONS, EXCEPTED_SHARE = 100, 3
"""A check is shared if the ids of the scenarios in which it does not hold are so short, and they are one in so many."""


def infer_shared(
    traces: TraceSet, ids: Sequence[str], strictness: Strictness
) -> tuple[list[InferredCheck], dict[str, list[InferredCheck]]]:
    """The checks of every scenario, and by id those that a scenario needs besides.

    With one scenario there is nothing to share.
    """
    own: dict[str, list[InferredCheck]] = {id_: [] for id_ in ids}
    shared: list[InferredCheck] = []
    for rule in (*GENERAL_RULES, build_repeat_rule(strictness)):
        shared += _share(rule, traces, own)
    for id_ in ids:
        own[id_] += limit_repeats(traces.scenarios[id_], strictness)
    limits = list(limit_amounts(traces.traces, strictness))
    if len(ids) == 1:
        own[ids[0]] += limits
        limits = []
    if strictness != "loose":
        shared += _infer_rules_of_tools(traces)
    return [*shared, *limits], own


def _share(rule: GeneralRule, traces: TraceSet, own: dict[str, list[InferredCheck]]) -> Iterator[InferredCheck]:
    """The checks of a rule that holds in all scenarios, or in most; else it goes to the scenarios that it is about."""
    holding = {id_ for id_ in own if all(map(rule.holds, traces.scenarios[id_]))}
    others = [id_ for id_ in own if id_ not in holding]
    about = [id_ for id_ in own if id_ in holding and any(map(rule.about, traces.scenarios[id_]))]
    checks = [InferredCheck(entry) for entry in rule.entries]
    if not about:
        return
    if not _is_steady(rule, traces):
        for id_ in about:
            trials = [*traces.scenarios[id_], *traces.failed.get(id_, ())]
            own[id_] += checks if len(trials) >= SURE and all(map(rule.holds, trials)) else []
    elif len(own) > 1 and not others:
        yield from checks
    elif len(own) > MANY and can_except(others, len(own)):
        yield InferredCheck({"when": {"path": SCENARIO_ID_PATH, "not_in": others}, "then": list(rule.entries)})
    else:
        for id_ in about:
            own[id_] += checks


def can_except(ids: Sequence[str], scenarios: int) -> bool:
    """Whether a check of all scenarios may name those that it is not for: their ids are short, and they are few."""
    return len(ids) <= scenarios // EXCEPTED_SHARE and len(", ".join(ids)) <= MAX_EXCEPTIONS


def except_scenarios(check: InferredCheck, ids: Collection[str], scenarios: int) -> InferredCheck | None:
    """The check for all scenarios but these, besides those that it excepts already; None if they are too many."""
    entry = check.score_only().entry
    condition, listed, then = entry.get("when"), [], [entry]
    if isinstance(condition, dict) and condition.get("path") == SCENARIO_ID_PATH and "not_in" in condition:
        listed, then = condition["not_in"], entry["then"]
    excepted = sorted({*listed, *ids}, key=natural)
    if not can_except(excepted, scenarios):
        return None
    return check._replace(entry={"when": {"path": SCENARIO_ID_PATH, "not_in": excepted}, "then": then})


def list_excepted_checks(check: InferredCheck) -> list[InferredCheck]:
    """The checks that scenarios lack which a check excepts."""
    return [InferredCheck(entry) for entry in check.entry["then"]]


def _is_steady(rule: GeneralRule, traces: TraceSet) -> bool:
    """Whether passing trials of one scenario mostly agree on a rule: else another trial may break it and pass.

    With one trial each this is not known, but that many scenarios break the rule shows that trials do.
    """
    holding = [list(map(rule.holds, trials)) for trials in traces.scenarios.values()]
    groups = [group for group in holding if len(group) > 1]
    ever = sum(map(any, groups))
    if ever < MANY:
        return len(holding) < SUPPORT or sum(map(all, holding)) >= KEPT_SHARE * len(holding)
    return sum(map(all, groups)) >= AGREEING_SHARE * ever


def _infer_rules_of_tools(traces: TraceSet) -> list[InferredCheck]:
    """Which tools there are, with which arguments, together and in which order."""
    count = len(traces.traces)
    found: list[InferredCheck] = []
    if count >= MANY and traces.tools and not traces.unusable:
        entry: dict[str, Any] = {"type": "allowed_tools", "tools": list(traces.tools)}
        found.append(InferredCheck(entry, f"no other in {count:,} traces"))
    found += infer_schemas(traces)
    found += (InferredCheck(*each) for each in infer_sources(traces.scenarios, traces.compared))
    found += [rule.build_check() for rule in cover_pairs(traces.never_after, MAX_RULES)]
    for first, seconds in traces.companions.items():
        called: dict[str, Any] = {"type": "tool_called", "tool": choose_one(seconds)}
        if len(seconds) > 1:
            called = {"type": "tool_sequence", "sequence": [choose_one(seconds)]}
        entry = {"when": called, "then": [{"type": "tool_called", "tool": first}]}
        found.append(InferredCheck(entry))
    return found
