"""Finds which comparisons of variants fail the gate, or can't be judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.comparison.decision import VARIANT_WORDS, Reason
from evalgate.models.run.arms import LIFT, NOTHING_COMPARED, REGRESSION
from evalgate.scoring.wording import cut_quote, format_p_value, join_names

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from evalgate.models.run.arms import ArmComparison
    from evalgate.models.run.run import SuiteResult
    from evalgate.suite.policy import Policy

RECORD_BOTH = "record the same scenarios in both variants"


def find_variant_reasons(suite: SuiteResult, arms: Sequence[ArmComparison], policy: Policy) -> Iterator[Reason]:
    """A reason for each word of `fail_on` by which a comparison fails the gate, or why it can't be judged."""
    words = set(VARIANT_WORDS).intersection(policy.fail_on)
    compared = {(each.control, each.treatment): each for each in arms if each.suite == suite.name}
    for rules in policy.compare_variants if words else ():
        found = compared.get(rules.arms)
        if found is None:
            arms_text = f"{cut_quote(rules.control)} -> {cut_quote(rules.treatment)}"
            message = f"{arms_text}: the suite has no scenario in these variants; {RECORD_BOTH}"
            yield Reason("nothing_compared", message, suite.name, None, rules.treatment)
        else:
            yield from _find_reasons(found, words)


def _find_reasons(found: ArmComparison, words: Collection[str]) -> Iterator[Reason]:
    if found.finding == NOTHING_COMPARED and words:
        message = f"{name_arms(found)}: no scenario has a verdict in both; {RECORD_BOTH}"
        yield Reason("nothing_compared", message, found.suite, None, found.treatment)
    elif "variant_regression" in words and found.finding == REGRESSION:
        yield Reason("variant_regression", explain_regression(found), found.suite, None, found.treatment)
    if "no_lift" in words and found.require == "lift" and found.finding not in (LIFT, NOTHING_COMPARED):
        yield Reason("no_lift", explain_no_lift(found), found.suite, None, found.treatment)


def name_arms(found: ArmComparison) -> str:
    """Control and treatment, for a message."""
    return f"{cut_quote(found.control)} -> {cut_quote(found.treatment)}"


def explain_regression(found: ArmComparison) -> str:
    """Why the treatment is worse than the control."""
    parts = []
    if found.is_significant and found.worse > found.better:
        parts.append(_describe_test(found))
    if certain := found.certainly_broken:
        names = join_names([each.id for each in certain])
        parts.append(f"{names} broke beyond chance, also among all scenarios that were tested")
    return f"{name_arms(found)}: {'; '.join(parts)}"


def explain_no_lift(found: ArmComparison) -> str:
    """Why there is no evidence that the treatment is better than the control."""
    return f"{name_arms(found)}: no evidence that it is better, which `require: lift` asks for: {_describe_test(found)}"


def _describe_test(found: ArmComparison) -> str:
    what = "scenarios" if found.test == "sign" else "pairs of trials"
    test = "sign test" if found.test == "sign" else "McNemar's test"
    return f"{found.worse} {what} got worse, {found.better} better ({test} {format_p_value(found.p_corrected)})"
