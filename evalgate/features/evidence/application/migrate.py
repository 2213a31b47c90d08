"""Compares two finished runs of the same suites as arms, such as those of two models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.application.comparison.policies import policies_of
from evalgate.application.documents.run_documents import run_of
from evalgate.errors import RulesMissing
from evalgate.gate.arms.compare_arms import Arms, compare_arms
from evalgate.models.run.arms import ArmComparison
from evalgate.models.run.trials import list_agent_parts
from evalgate.reporting.results.clean_values import clean_record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evalgate.models.run.run import Run, ScenarioResult, SuiteResult
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration
    from evalgate.suite.policy import VariantComparison

MOST_NAMED = 5


def migrate(files: BaselineFiles, base: str, head: str, rules: VariantComparison) -> list[ArmComparison]:
    """The comparison of each suite, corrected over all of them together.

    The control is `base`, the treatment `head`. Raises RulesMissing if the runs were not judged by the same suites
    and versions of evaluators, or don't hold them.
    """
    configuration = require_same_rules(files, base, head)
    policies = policies_of(configuration, None).suites
    runs = [run_of(files.load(path).results) for path in (base, head)]
    names = _name_arms(runs, (base, head))
    control, treatment = ({suite.name: suite for suite in run.suites} for run in runs)
    asked = rules.model_copy(update=dict(zip(("control", "treatment"), names, strict=True)))
    pairs = [
        Arms(name, _index(control.get(name)), _index(treatment.get(name)), asked, policies[name].regression)
        for name in dict.fromkeys((*control, *treatment))
    ]
    return [clean_record(each, ArmComparison) for each in compare_arms(pairs)]


def _index(suite: SuiteResult | None) -> Mapping[tuple[str, str | None], ScenarioResult]:
    """The scenarios of a run that are not in quarantine, by id and variant."""
    scenarios = [] if suite is None else suite.scenarios
    return {(each.id, each.variant): each for each in scenarios if not each.quarantined}


def require_same_rules(files: BaselineFiles, base: str, head: str) -> Configuration:
    """The rules of two runs; raises RulesMissing, naming what differs, if they are not the same."""
    one, other = (_read_rules(files, path) for path in (base, head))
    differences = [*_list_differences(one, other), *_list_versions(files, base, head)]
    if differences:
        left = len(differences) - MOST_NAMED
        named = "; ".join([*differences[:MOST_NAMED], *([f"and {left} more"] if left > 0 else [])])
        raise RulesMissing(f"the runs were not judged by the same rules: {named} (judge both traces by one suite)")
    return other


def _read_rules(files: BaselineFiles, path: str) -> Configuration:
    rules = read_rules(files, path)
    if rules.configuration is None or rules.unknown is not None:
        hint = "give the baseline.zip of a run, or its folder"
        raise RulesMissing(f"{path}: it is not known which suites judged this run: {rules.unknown} ({hint})")
    return rules.configuration


def _list_differences(base: Configuration, head: Configuration) -> Iterator[str]:
    """What differs between the suites and projects of two runs; paths do not count."""
    before, now = ({suite.name: suite.content for suite in each.suites} for each in (base, head))
    yield from (f"suite {name} is only in the first run" for name in before.keys() - now.keys())
    yield from (f"suite {name} is only in the second run" for name in now.keys() - before.keys())
    for name in before.keys() & now.keys():
        keys = sorted(
            key for key in before[name].keys() | now[name].keys() if before[name].get(key) != now[name].get(key)
        )
        if keys:
            yield f"suite {name} differs in {', '.join(keys)}"
    if base.project_content != head.project_content:
        yield "the project file differs"


def _list_versions(files: BaselineFiles, base: str, head: str) -> Iterator[str]:
    before, now = ((files.load_run(path).manifest or {}).get("evaluators") for path in (base, head))
    if isinstance(before, dict) and isinstance(now, dict):
        yield from (
            f"evaluator {name} has another version"
            for name in sorted(before.keys() & now.keys())
            if before[name] != now[name]
        )


def _name_arms(runs: list[Run], paths: tuple[str, str]) -> tuple[str, str]:
    """The model of each run if both record one and they differ, else their paths, else their order."""
    models = [
        {parts.model for suite in run.suites for each in suite.scenarios for parts in list_agent_parts(each.trials)}
        for run in runs
    ]
    names = [next(iter(each)) for each in models if len(each) == 1]
    known = [name[:MOST_NAME] for name in names if name]
    if len(known) == len(paths) and known[0] != known[1]:
        return known[0], known[1]
    return (paths[0], paths[1]) if paths[0] != paths[1] else ("the first run", "the second run")


MOST_NAME = 100
"""Characters of a model's name that are shown."""
