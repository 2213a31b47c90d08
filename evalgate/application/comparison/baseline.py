"""The baseline of a run: loaded, checked against today's configuration, and built for the next run."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
from msgspec import Struct
from msgspec.structs import replace

from evalgate.application.comparison.rules import changed_evaluators, config_hash, drift_of, paths_hash
from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.evaluators.core.registry import evaluator_versions
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.results.document_names import BASELINE_SCHEMA, SUITES_SCHEMA
from evalgate.ports import BaselineParts
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.comparison.rules import Rules
    from evalgate.application.messages.request import JudgeRequest
    from evalgate.models.comparison.baseline_run import BaselineRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports import BaselineFiles, ComparableBaseline, TraceSpool
    from evalgate.suite.models import Configuration

NAME = "baseline.zip"
FOUND = frozenset({"exact", "ancestor", "latest"})
SHORT_SHA = 7


class LoadedBaseline(Struct, frozen=True):
    """The baseline: how it was found, its results if readable, and warnings.

    `has_same_suites` is whether the same suites at the same paths judged it, None if it does not record that.
    """

    info: BaselineInfo | None
    results: BaselineRun | None = None
    warnings: Sequence[Problem] = ()
    has_same_suites: bool | None = None
    has_same_versions: bool = True


def load_baseline(request: JudgeRequest, files: BaselineFiles, rules: Rules, now: datetime) -> LoadedBaseline:
    """Loads the requested baseline. If the user named it, it must be readable; a found one need not be."""
    info = request.baseline
    if info is None or info.path is None:
        return LoadedBaseline(info)
    try:
        baseline = files.load_run(info.path, whole=rules.needs_baseline_checks)
        _check_commit(info, baseline)
    except InvalidInput as error:
        if request.baseline_required:
            raise
        return LoadedBaseline(BaselineInfo("none"), None, error.problems)
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
    if drift is not None:
        loaded = replace(loaded, info=replace(complete_info, status="drifted", drift=drift))
    return loaded


def _has_same_suites(manifest: Mapping[str, Any], rules: Rules) -> bool | None:
    manifest_hash = manifest.get("config_hash")
    if not isinstance(manifest_hash, str):
        return None
    return manifest_hash == rules.config_hash and manifest.get("paths_hash") == rules.paths_hash


def _check_commit(info: BaselineInfo, baseline: ComparableBaseline) -> None:
    """Checks that a found baseline is of its own run's commit, since a run may upload another's file."""
    commit = (baseline.manifest or {}).get("commit")
    if info.status in FOUND and info.sha is not None and commit not in (None, info.sha):
        raise SettingError(f"the baseline of {info.sha[:SHORT_SHA]} was made for another commit")


def _complete_info(info: BaselineInfo, baseline: ComparableBaseline, now: datetime) -> BaselineInfo:
    age = info.age_seconds
    if age is None:
        age = _age(baseline.run.created_at, now)
    return replace(info, sha=info.sha or baseline.run.commit, age_seconds=age)


def _other_versions(manifest: Mapping[str, Any], rules: Rules) -> list[Problem]:
    """A warning if evaluator versions differ, since a baseline the user named is never `drifted`."""
    changed = changed_evaluators(manifest, rules)
    if not changed:
        return []
    names = ", ".join(each.type for each in changed)
    return [Problem(f"the baseline was made with other versions of {names}, which may cause changes")]


def _age(created_at: str, now: datetime) -> int:
    return max(0, int((now - datetime.fromisoformat(created_at)).total_seconds()))


def build_baseline_parts(
    request: JudgeRequest, configuration: Configuration, results: ResultsDoc, content: Content, traces: TraceSpool
) -> BaselineParts:
    """Builds the baseline of this run; `content` is its results as written."""
    manifest: dict[str, Any] = {
        "schema": BASELINE_SCHEMA,
        "commit": request.commit,
        "branch": request.branch,
        "run": request.run_id,
        "created_at": results["created_at"],
        "config_hash": config_hash(configuration),
        "paths_hash": paths_hash(configuration),
        "evalgate_version": __version__,
        "evaluators": evaluator_versions(),
    }
    suites = {
        "schema": SUITES_SCHEMA,
        "project": configuration.project_content,
        "project_path": configuration.project_path,
        "suites": [{"path": suite.path, "suite": suite.content} for suite in configuration.suites],
    }
    suites_json = orjson.dumps(suites, option=orjson.OPT_SORT_KEYS)
    return BaselineParts(manifest, content, suites_json, traces)
