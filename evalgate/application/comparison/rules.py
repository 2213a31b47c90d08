"""The rules that judge a run, and how those of a baseline differ."""

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
"""The type whose `previous` value comes from an assertion of the baseline."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What decides a verdict besides the traces: the suites, and the code that evaluates them."""

    config_hash: str
    evaluators: Mapping[str, int]  # the version of each evaluator that the suites use
    sees_checks: bool = True  # whether anything compares with single assertions of the baseline


def rules_of(configuration: Configuration) -> Rules:
    """The rules of today's configuration."""
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
    """Whether these suites may read single assertions of a baseline: goldens and plugin evaluators may."""
    if any(scenario.golden is not None for suite in configuration.suites for scenario in suite.scenarios):
        return True
    if not versions().keys() <= BUILT_IN:
        return True
    return SEES_CHECKS in orjson.dumps([suite.written for suite in configuration.suites])


def config_hash(configuration: Configuration) -> str:
    """SHA-256 over the content of suites and project; comments and layout do not count."""
    content = {"project": configuration.written, "suites": [suite.written for suite in configuration.suites]}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def drift_of(manifest: Mapping[str, Any], rules: Rules, found: BaselineStatus) -> Drift | None:
    """How the rules of a baseline with this manifest differ from today's; None if they are the same."""
    other_suites = manifest.get("config_hash") != rules.config_hash
    evaluators = changed_evaluators(manifest, rules)
    return Drift(found, other_suites, evaluators) if other_suites or evaluators else None


def changed_evaluators(manifest: Mapping[str, Any], rules: Rules) -> Sequence[ChangedEvaluator]:
    """Types these suites use whose version changed. A new type does not count as changed."""
    then = manifest.get("evaluators")
    if not isinstance(then, dict):
        return []
    return [
        ChangedEvaluator(kind, then[kind], now)
        for kind, now in rules.evaluators.items()
        if type(then.get(kind)) is int and then[kind] != now
    ]
