"""The baseline of a run: taken in, held against today's configuration, and made for the next one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson

from evalgate.errors import InvalidInput, Problem
from evalgate.evaluators.registry import KINDS
from evalgate.models.comparison import BaselineInfo
from evalgate.models.results import BASELINE_SCHEMA
from evalgate.ports import BaselineParts
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.application.request import JudgeRequest
    from evalgate.models.results import ResultsDoc
    from evalgate.ports import Baseline, BaselineFiles, TraceSpool
    from evalgate.suite.models import Configuration

SUITES_SCHEMA = "evalgate.suites/1"
NAME = "baseline.zip"
FOUND = frozenset({"exact", "ancestor", "latest"})


@dataclass(frozen=True, slots=True)
class KnownBaseline:
    """What is known of the baseline: how it was found, its results if readable, what to warn of."""

    info: BaselineInfo | None
    results: ResultsDoc | None = None
    warnings: Sequence[Problem] = ()


def take_in(request: JudgeRequest, files: BaselineFiles, config_hash: str, now: datetime) -> KnownBaseline:
    """Loads what the request names. One the user named must be readable; a found one may not be."""
    info = request.baseline
    if info is None or info.path is None:
        return KnownBaseline(info)
    try:
        baseline = files.load(info.path, whole=False)
    except InvalidInput as error:
        if request.baseline_required:
            raise
        return KnownBaseline(BaselineInfo("none"), None, error.problems)
    return KnownBaseline(_described(info, baseline, config_hash, now), baseline.results)


def _described(info: BaselineInfo, baseline: Baseline, config_hash: str, now: datetime) -> BaselineInfo:
    """The baseline with its commit and age, called drifted where it was made under other rules."""
    age = info.age_seconds
    if age is None:
        age = _age(baseline.results["created_at"], now)
    described = replace(info, sha=info.sha or baseline.results["commit"], age_seconds=age)
    manifest = baseline.manifest or {}
    same = manifest.get("config_hash") == config_hash and manifest.get("evaluators") == evaluator_versions()
    if info.status in FOUND and not same:
        return replace(described, status="drifted")
    return described


def _age(created_at: str, now: datetime) -> int:
    return max(0, int((now - datetime.fromisoformat(created_at)).total_seconds()))


def config_hash(configuration: Configuration) -> str:
    """SHA-256 over what the suites and the project say; comments and layout do not count."""
    content = {"project": configuration.written, "suites": [suite.written for suite in configuration.suites]}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def evaluator_versions() -> dict[str, int]:
    """The version of every evaluator: it rises when the same trace could be judged otherwise."""
    return dict.fromkeys(sorted(KINDS), 1)


def parts_of(
    request: JudgeRequest, configuration: Configuration, results: bytes, created_at: str, traces: TraceSpool
) -> BaselineParts:
    """What goes into the baseline that this run leaves."""
    manifest: dict[str, Any] = {
        "schema": BASELINE_SCHEMA,
        "commit": request.commit,
        "branch": request.branch,
        "run": request.run_id,
        "created_at": created_at,
        "config_hash": config_hash(configuration),
        "evalgate_version": __version__,
        "evaluators": evaluator_versions(),
    }
    suites = {
        "schema": SUITES_SCHEMA,
        "project": configuration.written,
        "suites": [{"path": suite.path, "suite": suite.written} for suite in configuration.suites],
    }
    return BaselineParts(manifest, results, orjson.dumps(suites, option=orjson.OPT_SORT_KEYS), traces)
