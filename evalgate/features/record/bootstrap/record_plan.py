"""The suite that a recording is for: its trials, the agent's files that it watches, and its masks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.errors import SettingError
from evalgate.features.record.application.staleness import SuiteFacts
from evalgate.features.record.measures.masks import Mask, Masks
from evalgate.measures.text.patterns import Pattern

if TYPE_CHECKING:
    from datetime import timedelta

    from evalgate.suite.models import Suite


class LoadedSuite(Struct):
    """A suite, the fingerprint of the files it watches, its longest age and its masks."""

    suite: Suite
    agent_hash: str | None
    longest_age: timedelta | None
    masks: Masks

    def find_facts(self, scenario: str | None, variant: str | None, trial: int) -> SuiteFacts:
        """What the suite says of one trial's cassette."""
        is_listed = any(
            each.id == scenario and (each.variant and each.variant.name) == variant and trial < max(1, each.rules.min)
            for each in self.suite.scenarios
        )
        return SuiteFacts(is_listed, self.agent_hash, self.longest_age)


def load_suite(path: str, cwd: str) -> LoadedSuite:
    """The suite of a file; raises SettingError if the path names several."""
    from evalgate.application.comparison.policies import policies_of
    from evalgate.bootstrap.sources import build_fingerprints, build_suite_files

    configuration = build_suite_files(cwd).load([path])
    if len(configuration.suites) != 1:
        raise SettingError(f"--suite takes one suite, {path!r} names {len(configuration.suites)}")
    suite = configuration.suites[0]
    freshness = policies_of(configuration, None).suites[suite.name].freshness
    watch = freshness.watch if freshness is not None else []
    return LoadedSuite(
        suite,
        build_fingerprints(cwd).compute_fingerprint(watch) if watch else None,
        freshness.longest_age if freshness is not None and freshness.max_age is not None else None,
        build_masks(suite.content.get("normalise") or []),
    )


def build_masks(entries: list[dict[str, Any]]) -> Masks:
    """The masks of a suite's `normalise`, which is checked with the suite."""
    rules = [
        Mask(
            entry["with"],
            Pattern(entry["regex"]) if "regex" in entry else None,
            tuple(entry["path"].split(".")) if "path" in entry else (),
        )
        for entry in entries
        if "with" in entry
    ]
    return Masks(rules, has_built_in=all(entry.get("built_in", True) for entry in entries))
