"""The baseline of a run: loaded, its rules compared with today's, and built for the next run."""

from __future__ import annotations

import hashlib
import posixpath
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.evaluators.core.registry import built_in_class
from evalgate.models.comparison.comparison import BASELINE_REFUSED, BaselineDrift, BaselineInfo, ChangedEvaluator
from evalgate.models.results.document_names import BASELINE_SCHEMA, SUITES_SCHEMA
from evalgate.ports import BaselineParts
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.messages.request import BaselinePlan
    from evalgate.models.comparison.comparison import BaselineStatus
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports import BaselineFiles, ComparableBaseline, TraceSpool
    from evalgate.ports.outputs import RunSubject
    from evalgate.suite.models import Configuration


class Rules(Struct, frozen=True):
    """What decides a verdict besides the traces: the suites, and the code that evaluates them."""

    config_hash: str
    paths_hash: str  # of the files of suites and project: globs are relative to them
    evaluators: Mapping[str, int]  # the version of each evaluator that the suites use
    needs_baseline_checks: bool = True  # whether anything compares with single assertions of the baseline
    suites: Mapping[str, Any] = {}  # content of suites and project, as a baseline keeps it


def rules_of(configuration: Configuration) -> Rules:
    """The rules of today's configuration."""
    return Rules(
        config_hash(configuration),
        paths_hash(configuration),
        versions_of(configuration),
        needs_baseline_checks(configuration),
        list_suites(configuration),
    )


def identify_rules(configuration: Configuration, versions: Mapping[str, int] | None = None) -> str:
    """What identifies the rules that judged a trial, so that trials of several runs can be pooled.

    Policies judge no trial and do not count. `versions` are those of the evaluators then, today's by default.
    """
    contents = [configuration.project_content, *(suite.content for suite in configuration.suites)]
    rules = [{name: value for name, value in (each or {}).items() if name != "policy"} for each in contents]
    known = versions_of(configuration) if versions is None else versions
    return hashlib.sha256(orjson.dumps([rules, known], option=orjson.OPT_SORT_KEYS)).hexdigest()


def needs_baseline_checks(configuration: Configuration) -> bool:
    """Whether these suites may read single assertions of a baseline."""
    if any(scenario.golden is not None for suite in configuration.suites for scenario in suite.scenarios):
        return True
    return any(map(_may_read_baseline, versions_of(configuration)))


def _may_read_baseline(type_name: str) -> bool:
    """Whether an evaluator compares with the baseline: those of plugins may."""
    found = built_in_class(type_name)
    return found is None or found.reads_baseline


def versions_of(configuration: Configuration) -> dict[str, int]:
    """The version of each evaluator that the suites use, also within groups, and of golden scoring."""
    found: dict[str, int] = {}
    for suite in configuration.suites:
        for scenario in suite.scenarios:
            for assertion in scenario.assertions:
                found.update(assertion.versions)
    return dict(sorted(found.items()))


def config_hash(configuration: Configuration) -> str:
    """SHA-256 over the content of suites and project; comments and layout do not count."""
    content = {"project": configuration.project_content, "suites": [suite.content for suite in configuration.suites]}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def paths_hash(configuration: Configuration) -> str:
    """SHA-256 over the paths of suites and project: a suite that moved may read other traces."""
    paths = [configuration.project_path, *(suite.path for suite in configuration.suites)]
    return hashlib.sha256(orjson.dumps(paths)).hexdigest()


def list_suites(configuration: Configuration) -> Mapping[str, Any]:
    """The content of suites and project, as a baseline keeps it."""
    return {
        "project": configuration.project_content,
        "project_path": configuration.project_path,
        "suites": [{"path": suite.path, "suite": suite.content} for suite in configuration.suites],
    }


def list_files(configuration: Configuration, folder: str) -> dict[str, str]:
    """The files of the suites by name, in a workflow, which names the folder, from the workspace."""
    return {suite.name: posixpath.normpath(posixpath.join(folder, suite.path)) for suite in configuration.suites}


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


NAME = "baseline.zip"
FOUND = frozenset({"exact", "ancestor", "latest"})
SHORT_SHA = 7
TAG = "refs/tags/"


class LoadedBaseline(Struct, frozen=True):
    """The baseline: how it was found, its results if readable, and warnings.

    `has_same_suites` is whether the same suites at the same paths judged it, None if it does not record that. `renames`
    has today's names of its suites that had another one.
    """

    info: BaselineInfo | None
    results: BaselineRun | None = None
    warnings: Sequence[Problem] = ()
    has_same_suites: bool | None = None
    has_same_versions: bool = True
    renames: Mapping[str, str] = {}


def load_baseline(plan: BaselinePlan, files: BaselineFiles, rules: Rules, now: datetime) -> LoadedBaseline:
    """Loads the requested baseline. If the user named it, it must be readable; a found one need not be."""
    info = plan.info
    if info is None or info.path is None:
        return LoadedBaseline(info)
    try:
        baseline = files.load_run(info.path, whole=rules.needs_baseline_checks)
        _check_commit(info, baseline)
    except InvalidInput as error:
        if plan.is_required:
            raise
        refused = [problem._replace(code=BASELINE_REFUSED) for problem in error.problems]
        return LoadedBaseline(BaselineInfo("refused"), None, refused)
    complete_info = _complete_info(info, baseline, now)
    manifest = baseline.manifest or {}
    loaded = LoadedBaseline(
        complete_info,
        baseline.run,
        has_same_suites=_has_same_suites(manifest, rules),
        has_same_versions=not changed_evaluators(manifest, rules),
    )
    if info.status not in FOUND:
        return replace(loaded, warnings=_other_versions(manifest, rules))
    drift = drift_of(manifest, rules, info.status)
    if drift is not None and drift.has_changed_suites and _only_adds_scenarios(files, info.path, rules, baseline.run):
        drift = drift._replace(has_changed_suites=False) if drift.evaluators else None
    if drift is not None:
        loaded = replace(loaded, info=replace(complete_info, status="drifted", drift=drift))
    return loaded


def _only_adds_scenarios(files: BaselineFiles, path: str, rules: Rules, run: BaselineRun) -> bool:
    from evalgate.application.comparison.added_scenarios import only_adds_scenarios

    try:
        kept = files.read_suites(path)
    except InvalidInput:  # reading the rules for other purposes says why
        return False
    judged = {(key.suite, key.id) for key in run.entries}
    return only_adds_scenarios(kept, rules.suites, judged)


def _has_same_suites(manifest: Mapping[str, Any], rules: Rules) -> bool | None:
    manifest_hash = manifest.get("config_hash")
    if not isinstance(manifest_hash, str):
        return None
    return manifest_hash == rules.config_hash and manifest.get("paths_hash") == rules.paths_hash


def _check_commit(info: BaselineInfo, baseline: ComparableBaseline) -> None:
    """Checks that a found baseline is of its own run's commit, since a run may upload another's file.

    In GitHub's lists a tag looks like a branch of its name; the manifest of its run does not.
    """
    manifest = baseline.manifest or {}
    if info.status not in FOUND or info.sha is None:
        return
    if manifest.get("commit") not in (None, info.sha):
        raise SettingError(f"the baseline of {info.sha[:SHORT_SHA]} was made for another commit")
    if str(manifest.get("branch")).startswith(TAG):
        raise SettingError(f"the baseline of {info.sha[:SHORT_SHA]} was made for a tag")


def _complete_info(info: BaselineInfo, baseline: ComparableBaseline, now: datetime) -> BaselineInfo:
    age = info.age_seconds
    if age is None:
        age = max(0, int((now - datetime.fromisoformat(baseline.run.created_at)).total_seconds()))
    manifest = baseline.manifest or {}
    legs, attempt = (found if isinstance(found := manifest.get(name), int) else 0 for name in ("legs", "attempt"))
    made = replace(info, legs=legs, attempt=max(1, attempt), event=str(manifest.get("event") or ""))
    return replace(made, sha=info.sha or baseline.run.commit, age_seconds=age)


def _other_versions(manifest: Mapping[str, Any], rules: Rules) -> list[Problem]:
    """A warning if evaluator versions differ, since a baseline the user named is never `drifted`."""
    changed = changed_evaluators(manifest, rules)
    if not changed:
        return []
    names = ", ".join(each.type for each in changed)
    return [Problem(f"the baseline was made with other versions of {names}, which may cause changes")]


def build_baseline_parts(
    subject: RunSubject, configuration: Configuration, results: ResultsDoc, content: Content, traces: TraceSpool
) -> BaselineParts:
    """Builds the baseline of this run; `content` is its results as written."""
    manifest: dict[str, Any] = {
        "schema": BASELINE_SCHEMA,
        "commit": subject.commit,
        "branch": subject.branch,
        "run": subject.run_id,
        "created_at": results["created_at"],
        "config_hash": config_hash(configuration),
        "paths_hash": paths_hash(configuration),
        "evalgate_version": __version__,
        "evaluators": versions_of(configuration),
        **({"legs": subject.legs} if subject.legs else {}),
        **({"event": subject.event, "attempt": subject.attempt} if subject.event else {}),
    }
    suites = {"schema": SUITES_SCHEMA, **list_suites(configuration)}
    suites_json = orjson.dumps(suites, option=orjson.OPT_SORT_KEYS)
    return BaselineParts(manifest, content, suites_json, traces)
