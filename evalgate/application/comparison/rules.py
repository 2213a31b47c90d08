"""The rules that judge a run, and how those of a baseline differ from them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.evaluators.core.registry import KINDS, versions
from evalgate.models.comparison.comparison import ChangedEvaluator, Drift
from evalgate.models.run.golden_result import DIMENSION_TYPE
from evalgate.records import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.comparison.comparison import BaselineStatus
    from evalgate.suite.models import Configuration

BUILT_IN = frozenset({*KINDS, DIMENSION_TYPE})
SEES_CHECKS = b'"convergence"'
"""The type whose `previous` figure is one of a check in the baseline."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides a verdict beside the traces: what the suites say, and which code reads it."""

    config_hash: str
    evaluators: Mapping[str, int]  # the version of each type of check that the suites use
    sees_checks: bool = True  # whether a check, or a golden, is held against single checks of the baseline


def rules_of(configuration: Configuration) -> Rules:
    """Today's rules."""
    known = versions()
    used = {
        assertion.type
        for suite in configuration.suites
        for scenario in suite.scenarios
        for assertion in scenario.assertions
    }
    evaluators = {kind: known[kind] for kind in sorted(used) if kind in known}
    return Rules(config_hash(configuration), evaluators, sees_checks(configuration))


def sees_checks(configuration: Configuration) -> bool:
    """Whether anything in these suites may look at single checks of a baseline: a golden, or an own type."""
    if any(scenario.golden is not None for suite in configuration.suites for scenario in suite.scenarios):
        return True
    if not versions().keys() <= BUILT_IN:
        return True
    return SEES_CHECKS in orjson.dumps([suite.written for suite in configuration.suites])


def config_hash(configuration: Configuration) -> str:
    """SHA-256 over what the suites and the project say; comments and layout do not count."""
    content = {"project": configuration.written, "suites": [suite.written for suite in configuration.suites]}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def drift_of(manifest: Mapping[str, Any], rules: Rules, found: BaselineStatus) -> Drift | None:
    """How the rules of a baseline with this manifest differ from today's; None where they are the same."""
    other_suites = manifest.get("config_hash") != rules.config_hash
    evaluators = changed_evaluators(manifest, rules)
    return Drift(found, other_suites, evaluators) if other_suites or evaluators else None


def changed_evaluators(manifest: Mapping[str, Any], rules: Rules) -> Sequence[ChangedEvaluator]:
    """Types that these suites use and whose version is another today. A type that is new has not changed."""
    then = manifest.get("evaluators")
    if not isinstance(then, dict):
        return []
    return [
        ChangedEvaluator(kind, then[kind], now)
        for kind, now in rules.evaluators.items()
        if type(then.get(kind)) is int and then[kind] != now
    ]
