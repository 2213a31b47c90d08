"""The rules that judged a baseline, read from the suites in it; for a pull request they may decide.

Such a baseline is known to come from a push to this repository's own branch, is already on disk, and identifies
its rules by their hash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import orjson
from msgspec.structs import replace

from evalgate.application.comparison.baseline import config_hash
from evalgate.errors import BaselineUnreadable, InvalidInput, RulesMissing, RulesUnreachable
from evalgate.gate.common.scenarios import ScenarioIndex
from evalgate.models.approvals.approval import IdentifiedCheck

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.models.comparison.comparison import BaselineInfo, ScenarioKey
    from evalgate.models.results.results_sections import RulesDoc
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration


NO_SUITES = "the baseline holds no suites"
UNREADABLE = "this version can't read its suites"


class BaselineRules(NamedTuple):
    """The suites of the baseline; today's if they are the same.

    `configuration` is None if they are unavailable; `unknown` gives the reason. It may also name single
    suites that can no longer be read.
    """

    configuration: Configuration | None
    is_same: bool = False
    unknown: str | None = None


def list_base_checks(base: BaselineRules | None, key: ScenarioKey) -> Sequence[IdentifiedCheck] | None:
    """The checks that the base's suites have for a scenario; None if its suites are not known."""
    if base is None or base.configuration is None:
        return None
    found = list_checks(base.configuration, key)
    return None if found is None and base.unknown else found or []


def list_checks(configuration: Configuration, key: ScenarioKey) -> Sequence[IdentifiedCheck] | None:
    """The checks of a scenario; None without its suite."""
    suite = next((each for each in configuration.suites if each.name == key.suite), None)
    if suite is None:
        return None
    scenario = ScenarioIndex(suite).find_scenarios(key.id).get(key.variant)
    return [IdentifiedCheck(each.name, each.digest, each.type) for each in scenario.assertions] if scenario else []


def load_baseline_rules(
    baseline: LoadedBaseline, configuration: Configuration, files: BaselineFiles
) -> BaselineRules | None:
    """The rules of the baseline; None without a baseline."""
    if baseline.results is None or baseline.info is None or baseline.info.path is None:
        return None
    if baseline.has_same_suites:
        return BaselineRules(configuration, is_same=True)
    rules = read_rules(files, baseline.info.path)
    if not baseline.renames or rules.configuration is None:
        return rules
    return rules._replace(configuration=_rename_suites(rules.configuration, baseline.renames))


def name_changed_files(
    info: BaselineInfo | None, rules: BaselineRules | None, configuration: Configuration
) -> BaselineInfo | None:
    """The baseline, with the suites whose content changed in its drift, and the settings of the project that did."""
    before = rules.configuration if rules is not None else None
    if info is None or info.drift is None or before is None:
        return info
    old, new = ({suite.path: suite.content for suite in each.suites} for each in (before, configuration))
    files = [path for path in dict.fromkeys([*new, *old]) if old.get(path) != new.get(path)]
    old, new = before.project_content, configuration.project_content
    settings = [key for key in sorted({*old, *new}) if old.get(key) != new.get(key)]
    if settings:
        project = configuration.project_path or before.project_path
        files.append(f"{project}: {', '.join(settings)}" if project else ", ".join(settings))
    return replace(info, drift=info.drift._replace(changed_files=files))


def _rename_suites(configuration: Configuration, renames: Mapping[str, str]) -> Configuration:
    """The baseline's suites with the new names."""
    suites = [replace(suite, name=renames.get(suite.name, suite.name)) for suite in configuration.suites]
    return replace(configuration, suites=suites)


def read_rules(files: BaselineFiles, path: str) -> BaselineRules:
    """Reads the suites in a baseline, ready to run."""
    from evalgate.suite.baseline_suites import parse_baseline_suites

    try:
        content = files.read_suites(path)
        if content is None:
            return BaselineRules(None, unknown=NO_SUITES)
        found = parse_baseline_suites(orjson.loads(content))
    except (InvalidInput, orjson.JSONDecodeError):
        found = None
    if found is None:
        return BaselineRules(None, unknown=UNREADABLE)
    unread = f"this version can't read {', '.join(found.unread[:3])} in the baseline" if found.unread else None
    return BaselineRules(found.configuration, unknown=unread)


REMEDY = "a push to the base branch creates a baseline with its rules; `policy-from: head` works without them"


class DecidingRules(NamedTuple):
    """The configuration that judges, its section of the results, and the baseline as compared with it."""

    configuration: Configuration
    document: RulesDoc
    baseline: LoadedBaseline


def rules_of_base(baseline: LoadedBaseline, own: Configuration, files: BaselineFiles) -> DecidingRules:
    """The baseline's rules. Raises RulesMissing if it holds none, or not all of them can be read.

    If the baseline itself can't be read, that is BaselineUnreadable.
    """
    status = baseline.info.status if baseline.info is not None else "none"
    if baseline.info is not None and status == "unreachable":
        problem = baseline.info.problem or "the baseline could not be fetched"
        raise RulesUnreachable(f"the rules of the base branch are not available: {problem}")
    if status == "refused" and baseline.warnings:
        problems = "; ".join(problem.message for problem in baseline.warnings)
        raise BaselineUnreadable(f"the rules of the base branch are not available: {problems} ({REMEDY})")
    if baseline.info is not None and status == "refused" and baseline.info.problem:
        raise RulesMissing(f"the rules of the base branch are not available: {baseline.info.problem}")
    if baseline.info is not None and baseline.info.off_by:
        raise RulesMissing(f"the rules of the base branch are not available: {baseline.info.off_by} was set")
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
