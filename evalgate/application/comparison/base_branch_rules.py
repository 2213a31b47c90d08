"""Whose suites and policy decide: a run's own, or for a pull request those of the baseline's commit.

Main's rules are taken from the baseline, which holds them as they judged main: it is known to be made by a
push to this repository's own branch, lies at hand already, and says with its hash what they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.baseline_rules import earlier_rules
from evalgate.application.comparison.rules import config_hash
from evalgate.errors import RulesMissing, RulesUnreachable

if TYPE_CHECKING:
    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.models.results.results_rules import RulesDoc
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration

REMEDY = "a push to the base branch leaves a baseline that keeps its rules; `policy-from: head` does without"


class DecidingRules(NamedTuple):
    """The configuration that judges, what is told of it, and the baseline as the run's own rules see it."""

    configuration: Configuration
    told: RulesDoc
    known: LoadedBaseline


def rules_of_base(known: LoadedBaseline, own: Configuration, files: BaselineFiles) -> DecidingRules:
    """The baseline's. Raises RulesMissing where there are none to judge by, or not all of them."""
    status = known.info.status if known.info is not None else "none"
    if status == "unreachable":
        raise RulesUnreachable("the rules of the base branch can't be had: GitHub did not answer")
    earlier = earlier_rules(known, own, files)
    why = "there is no baseline that keeps them" if earlier is None else earlier.unknown
    if earlier is None or earlier.configuration is None or why is not None:
        raise RulesMissing(f"the rules of the base branch can't be had: {why} ({REMEDY})")
    told: RulesDoc = {
        "from": "base",
        "config_hash": config_hash(earlier.configuration),
        "proposed_config_hash": config_hash(own),
    }
    return DecidingRules(earlier.configuration, told, known)
