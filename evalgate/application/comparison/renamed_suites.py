"""Follows a suite that only got another name: its scenarios are compared, and neither removed nor new."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

import orjson
from msgspec.structs import replace

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.errors import Problem
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.models.approvals.approval import Approval, Approvals
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import SuiteDoc
    from evalgate.models.results.results_sections import ApprovalDoc
    from evalgate.ports import BaselineFiles
    from evalgate.suite.models import Configuration, Suite

    Named = TypeVar("Named", SuiteDoc, ApprovalDoc)

RENAMED = "renamed_suite"
"""The code of the warning that names a renamed suite."""
NOT_COMPARED = frozenset({"suite", "description", "traces"})
"""Keys of a suite that demand nothing of the agent."""


def follow_renames(baseline: LoadedBaseline, configuration: Configuration, files: BaselineFiles) -> LoadedBaseline:
    """The baseline with today's names of its suites, and a warning for each that has another one."""
    if baseline.results is None or baseline.info is None or baseline.info.path is None:
        return baseline
    today, before = {suite.name for suite in configuration.suites}, set(baseline.results.suite_sizes)
    if today >= before or before >= today:
        return baseline
    known = read_rules(files, baseline.info.path).configuration
    renames = {} if known is None else find_renames(known.suites, configuration.suites)
    if not renames:
        return baseline
    notes = [
        Problem(f"renamed {mark_name(old)} -> {mark_name(new)}: compared as the same suite", code=RENAMED)
        for old, new in renames.items()
    ]
    return replace(
        baseline,
        results=rename_results(baseline.results, renames),
        warnings=[*baseline.warnings, *notes],
        renames=renames,
    )


def find_renames(before: Sequence[Suite], now: Sequence[Suite]) -> dict[str, str]:
    """Today's name of each suite that has another one and demands the same; none where two are alike."""
    names = {suite.name for suite in before} & {suite.name for suite in now}
    gone, come = ([each for each in side if each.name not in names] for side in (before, now))
    counts = Counter(map(_digest, gone)), Counter(map(_digest, come))
    found = {_digest(each): each.name for each in come}
    return {
        each.name: found[digest]
        for each in gone
        for digest in [_digest(each)]
        if [count[digest] for count in counts] == [1, 1]
    }


def _digest(suite: Suite) -> str:
    content = {name: value for name, value in suite.content.items() if name not in NOT_COMPARED}
    return hashlib.sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()


def rename_results(run: BaselineRun, renames: Mapping[str, str]) -> BaselineRun:
    """The results with the new names."""
    document = run.document
    if document is not None:
        document = document.copy()
        document["suites"] = [_rename(each, renames) for each in document["suites"]]
    return replace(
        run,
        approvals=[_rename(each, renames) for each in run.approvals],
        suite_sizes={renames.get(name, name): size for name, size in run.suite_sizes.items()},
        entries={key._replace(suite=renames.get(key.suite, key.suite)): each for key, each in run.entries.items()},
        document=document,
    )


def _rename(named: Named, renames: Mapping[str, str]) -> Named:
    copy = named.copy()
    copy["suite"] = renames.get(named["suite"], named["suite"])
    return copy


def rename_approvals(approvals: Approvals, renames: Mapping[str, str]) -> Approvals:
    """Approvals of a suite's old name count for its new one."""

    def rename(approval: Approval) -> Approval:
        return replace(approval, suite=renames.get(approval.suite, approval.suite))

    if not renames:
        return approvals
    return replace(
        approvals, effective=tuple(map(rename, approvals.effective)), proposed=tuple(map(rename, approvals.proposed))
    )
