"""The rules that judge a run, and how those of a baseline differ."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct

from evalgate.evaluators.core.registry import BUILT_IN_TYPES, evaluator_versions
from evalgate.models.comparison.comparison import BaselineDrift, ChangedEvaluator
from evalgate.models.run.golden import DIMENSION_TYPE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.models.comparison.comparison import BaselineStatus
    from evalgate.suite.models import Configuration

BUILT_IN = frozenset({*BUILT_IN_TYPES, DIMENSION_TYPE})
NEEDS_CHECKS = b'"convergence"'
"""The type whose `previous` value comes from an assertion of the baseline."""


class Rules(Struct, frozen=True):
    """What decides a verdict besides the traces: the suites, and the code that evaluates them."""

    config_hash: str
    paths_hash: str  # of the files of suites and project: globs are relative to them
    evaluators: Mapping[str, int]  # the version of each evaluator that the suites use
    needs_baseline_checks: bool = True  # whether anything compares with single assertions of the baseline


def rules_of(configuration: Configuration) -> Rules:
    """The rules of today's configuration."""
    all_versions = evaluator_versions()
    used = {
        assertion.type
        for suite in configuration.suites
        for scenario in suite.scenarios
        for assertion in scenario.assertions
    }
    evaluators = {kind: all_versions[kind] for kind in sorted(used) if kind in all_versions}
    return Rules(
        config_hash(configuration), paths_hash(configuration), evaluators, needs_baseline_checks(configuration)
    )


def needs_baseline_checks(configuration: Configuration) -> bool:
    """Whether these suites may read single assertions of a baseline: goldens and plugin evaluators may."""
    if any(scenario.golden is not None for suite in configuration.suites for scenario in suite.scenarios):
        return True
    if not evaluator_versions().keys() <= BUILT_IN:
        return True
    return NEEDS_CHECKS in orjson.dumps([suite.content for suite in configuration.suites])


def config_hash(configuration: Configuration) -> str:
    """SHA-256 over the content of suites and project; comments and layout do not count."""
    content = {"project": configuration.project_content, "suites": [suite.content for suite in configuration.suites]}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def paths_hash(configuration: Configuration) -> str:
    """SHA-256 over the paths of suites and project: a suite that moved may read other traces."""
    paths = [configuration.project_path, *(suite.path for suite in configuration.suites)]
    return hashlib.sha256(orjson.dumps(paths)).hexdigest()


def drift_of(manifest: Mapping[str, Any], rules: Rules, found: BaselineStatus) -> BaselineDrift | None:
    """How the rules of a baseline with this manifest differ from today's; None if they are the same."""
    other_suites = manifest.get("config_hash") != rules.config_hash
    evaluators = changed_evaluators(manifest, rules)
    return BaselineDrift(found, other_suites, evaluators) if other_suites or evaluators else None


def changed_evaluators(manifest: Mapping[str, Any], rules: Rules) -> Sequence[ChangedEvaluator]:
    """Types these suites use whose version changed. A new type does not count as changed."""
    baseline_versions = manifest.get("evaluators")
    if not isinstance(baseline_versions, dict):
        return []
    return [
        ChangedEvaluator(kind, baseline_versions[kind], now)
        for kind, now in rules.evaluators.items()
        if type(baseline_versions.get(kind)) is int and baseline_versions[kind] != now
    ]
