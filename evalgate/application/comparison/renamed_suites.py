"""Follows a suite that only got another name: its scenarios are compared, and neither removed nor new."""

from __future__ import annotations

import hashlib
from collections import Counter
from posixpath import relpath
from typing import TYPE_CHECKING, TypeVar

import orjson
from msgspec.structs import replace

from evalgate.application.comparison.baseline_rules import read_rules
from evalgate.errors import Problem
from evalgate.measures.values.json_values import mark_name

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from evalgate.application.comparison.baseline import LoadedBaseline
    from evalgate.application.messages.request import Tools
    from evalgate.models.approvals.approval import Approval, Approvals
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import SuiteDoc
    from evalgate.models.results.results_sections import ApprovalDoc
    from evalgate.ports import BaselineFiles, SuiteSource
    from evalgate.suite.models import Configuration, Suite

    Named = TypeVar("Named", SuiteDoc, ApprovalDoc)

RENAMED, NOT_READ = "renamed_suite", "suite_not_read"
"""The codes of the warnings that name a renamed suite, and one that is still there and not judged."""
NOT_COMPARED = frozenset({"suite", "description", "traces"})
"""Keys of a suite that demand nothing of the agent."""


def follow_renames(
    baseline: LoadedBaseline, configuration: Configuration, files: Mapping[str, str], folder: str, tools: Tools
) -> LoadedBaseline:
    """The baseline with today's names of its suites, and a warning for each that has another one.

    `files` are those of the run's own suites, `folder` is the working directory in a workflow. A suite of the baseline
    whose file still holds it, and which is not one of these, was not renamed: it is another gate's, or was taken out of
    this one, and is compared with no suite of another name, or in another working directory.
    """
    if baseline.results is None or baseline.info is None or baseline.info.path is None:
        return baseline
    kept = _find_kept(baseline.results.suite_files, files, folder, tools.suites)
    renames, notes = _find_renames(baseline, kept, configuration, tools.baselines), list[Problem]()
    notes += [
        Problem(f"renamed {mark_name(old)} -> {mark_name(new)}: compared as the same suite", code=RENAMED)
        for old, new in renames.items()
    ]
    if kept and not files.items() & baseline.results.suite_files.items() and not renames:
        notes.append(_warn_of_other_gate(kept))
    names = {suite.name for suite in configuration.suites}
    renames |= {name: f"{name} ({path})" for name, path in kept.items() if name in names and _is_outside(path, folder)}
    if not renames:
        return replace(baseline, warnings=[*baseline.warnings, *notes])
    return replace(
        baseline,
        results=rename_results(baseline.results, renames),
        warnings=[*baseline.warnings, *notes],
        has_same_suites=False,
        renames=renames,
    )


def _find_kept(before: Mapping[str, str], now: Mapping[str, str], folder: str, suites: SuiteSource) -> dict[str, str]:
    """The files of the baseline's suites, by name, that are not judged and still hold a suite of that name."""
    judged = {*now.values()}
    left = {name: path for name, path in before.items() if path not in judged and not path.startswith(("/", ".."))}
    return {name: path for name, path in left.items() if suites.find_name(relpath(path, folder or ".")) == name}


def _is_outside(path: str, folder: str) -> bool:
    return relpath(path, folder or ".").startswith("..")


def _warn_of_other_gate(kept: Mapping[str, str]) -> Problem:
    name, path = next(iter(kept.items()))
    more = f" and {len(kept) - 1:,} more" if len(kept) > 1 else ""
    message = f"the baseline judged {mark_name(path)} ({mark_name(name)}){more}, which is still there and is not read"
    hint = "where another gate judges it, give each gate its own `baseline-artifact`"
    return Problem(f"{message}: {hint}", code=NOT_READ)


def _find_renames(
    baseline: LoadedBaseline, kept: Collection[str], configuration: Configuration, files: BaselineFiles
) -> dict[str, str]:
    if baseline.results is None or baseline.info is None or baseline.info.path is None:
        return {}
    today, before = {suite.name for suite in configuration.suites}, baseline.results.suite_sizes.keys() - {*kept}
    if today >= before or before >= today:
        return {}
    known = read_rules(files, baseline.info.path).configuration
    gone = [] if known is None else [suite for suite in known.suites if suite.name not in kept]
    return find_renames(gone, configuration.suites)


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


def rename_approvals(approvals: Approvals, renames: Mapping[str, str], configuration: Configuration) -> Approvals:
    """Approvals of a suite's old name count for its new one, which is one of today's names."""
    names = {suite.name for suite in configuration.suites}
    followed = {old: new for old, new in renames.items() if new in names}

    def rename(approval: Approval) -> Approval:
        return replace(approval, suite=followed.get(approval.suite, approval.suite))

    if not followed:
        return approvals
    return replace(
        approvals, effective=tuple(map(rename, approvals.effective)), proposed=tuple(map(rename, approvals.proposed))
    )
