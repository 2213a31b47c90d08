"""Converts the paths of a results document to paths from the repository's root, where GitHub looks for files."""

from __future__ import annotations

import posixpath
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

from msgspec.structs import replace

from evalgate.models.approvals.approval import FILE as APPROVALS_FILE
from evalgate.models.run.trials import TrialDocs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.results.results import ResultsDoc, ScenarioDoc, SuiteDoc, WarningDoc
    from evalgate.models.run.trial_doc import LocationDoc, TrialDoc

T = TypeVar("T", bound="Mapping[str, Any]")
BELOW = " below "
"""Separates globs from the folder that they search, in the field `unmatched` of a suite."""


def with_root_paths(document: ResultsDoc) -> ResultsDoc:
    """A copy whose paths start at the repository's root; the document itself if they do already.

    The document's own paths are relative to its working directory, by which later runs find their baseline's.
    """
    folder = document.get("working_directory")
    if not folder:
        return document
    suites = [_convert_suite(suite, folder) for suite in document["suites"]]
    globs = {
        old["unmatched"]: new["unmatched"]
        for old, new in zip(document["suites"], suites, strict=True)
        if "unmatched" in old
    }
    baseline = document["baseline"]
    converted: ResultsDoc = {
        **document,
        "suites": suites,
        "reasons": [_convert_globs(_with_location(each, folder), globs) for each in document["reasons"]],
        "warnings": [_convert_globs(_convert_warning(each, folder), globs) for each in document["warnings"]],
        "unclaimed": [{**each, "path": join_folder(folder, each["path"])} for each in document["unclaimed"]],
    }
    if "weakenings" in document:
        converted["weakenings"] = [_with_location(each, folder) for each in document["weakenings"]]
    if baseline and baseline["path"]:
        converted["baseline"] = {**baseline, "path": join_folder(folder, baseline["path"])}
    return converted


def join_folder(folder: str, path: str) -> str:
    """The path from the root; absolute ones stay, and so does the approvals file, which lies in the root."""
    if path.partition(":")[0] == APPROVALS_FILE:
        return path
    return posixpath.normpath(posixpath.join(folder, path))


def _convert_suite(suite: SuiteDoc, folder: str) -> SuiteDoc:
    converted: SuiteDoc = {
        **suite,
        "path": join_folder(folder, suite["path"]),
        "scenarios": [_convert_scenario(scenario, folder) for scenario in suite["scenarios"]],
    }
    globs, below, searched = suite.get("unmatched", "").rpartition(BELOW)
    if globs:
        searched = "." if searched == "the working directory" else searched
        converted["unmatched"] = f"{globs}{below}{join_folder(folder, searched)}"
    return converted


def _convert_scenario(scenario: ScenarioDoc, folder: str) -> ScenarioDoc:
    trials, convert = scenario["trials"], partial(_convert_trial, folder=folder)
    converted = TrialDocs(trials.trials, convert) if isinstance(trials, TrialDocs) else [*map(convert, trials)]
    return {**_with_location(scenario, folder), "trials": converted}


def _convert_trial(trial: TrialDoc, folder: str) -> TrialDoc:
    """Converts a trial; the reason of one that could not be read begins with the path of its trace."""
    path, reason = trial.trace.path, trial.reason
    moved = join_folder(folder, path)
    if reason and reason.startswith((f"{path}:", f"{path}#")):
        reason = moved + reason.removeprefix(path)
    assertions = [replace(each, location=_convert_location(each.location, folder)) for each in trial.assertions]
    return replace(trial, trace=replace(trial.trace, path=moved), reason=reason, assertions=assertions)


def _convert_warning(warning: WarningDoc, folder: str) -> WarningDoc:
    where = warning["where"]
    return {**warning, "where": where and join_folder(folder, where)}


def _with_location(entry: T, folder: str) -> T:
    location: LocationDoc | None = entry.get("location")
    return entry if location is None else cast("T", {**entry, "location": _convert_location(location, folder)})


def _convert_location(location: LocationDoc | None, folder: str) -> LocationDoc | None:
    return location and replace(location, file=join_folder(folder, location.file))


def _convert_globs(entry: T, globs: Mapping[str, str]) -> T:
    """Replaces the globs that found nothing, which some messages quote with the folder below which they search."""
    message: str = entry["message"]
    for old, new in globs.items():
        message = message.replace(old, new)
    return cast("T", {**entry, "message": message})
