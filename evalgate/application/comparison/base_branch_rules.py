"""The suites and policy that decide: the run's own, or the baseline commit's for a pull request.

The base branch's rules are read from the baseline, which holds those that judged it: it is known to come from
a push to this repository's own branch, is already on disk, and identifies its rules by their hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from evalgate.application.comparison.baseline_rules import load_baseline_rules
from evalgate.application.comparison.rules import config_hash
from evalgate.errors import RulesMissing, RulesUnreachable

if TYPE_CHECKING:
    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.models.results.results_sections import RulesDoc
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration

REMEDY = "a push to the base branch creates a baseline with its rules; `policy-from: head` works without them"


class DecidingRules(NamedTuple):
    """The configuration that judges, its section of the results, and the baseline as compared with it."""

    configuration: Configuration
    document: RulesDoc
    baseline: LoadedBaseline


def rules_of_base(baseline: LoadedBaseline, own: Configuration, files: BaselineFiles) -> DecidingRules:
    """The baseline's rules. Raises RulesMissing if it holds none, or not all of them can be read."""
    status = baseline.info.status if baseline.info is not None else "none"
    if status == "unreachable":
        raise RulesUnreachable("the rules of the base branch are not available: GitHub did not respond")
    baseline_rules = load_baseline_rules(baseline, own, files)
    why = "no baseline contains them" if baseline_rules is None else baseline_rules.unknown
    if baseline_rules is None or baseline_rules.configuration is None or why is not None:
        raise RulesMissing(f"the rules of the base branch are not available: {why} ({REMEDY})")
    document: RulesDoc = {
        "from": "base",
        "config_hash": config_hash(baseline_rules.configuration),
        "proposed_config_hash": config_hash(own),
    }
    return DecidingRules(baseline_rules.configuration, document, baseline)
