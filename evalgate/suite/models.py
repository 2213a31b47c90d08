"""Suites ready to run: expressions and patterns compiled, defaults applied, places kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

    from evalgate.errors import Location, Problem
    from evalgate.evaluators.assertion import Assertion
    from evalgate.measures.queries import Query
    from evalgate.scoring.scenario import TrialRules
    from evalgate.suite.files import PolicyEntry


@dataclass(frozen=True, slots=True)
class Match:
    """Which traces a scenario asks for. `scenario_id` may hold `*`; None where other criteria decide."""

    scenario_id: str | None
    path: re.Pattern[str] | None = None
    tags: frozenset[str] = frozenset()
    where: Query | None = None

    @property
    def is_exact(self) -> bool:
        """True where it names one id: such scenarios claim their traces before any glob."""
        return self.scenario_id is not None and "*" not in self.scenario_id


@dataclass(frozen=True, slots=True)
class Scenario:
    """One situation to judge. An id with `*` stands for one scenario of every id it matches."""

    id: str
    match: Match
    threshold: float
    rules: TrialRules
    assertions: Sequence[Assertion]
    location: Location | None

    @property
    def is_glob(self) -> bool:
        """True where one entry makes many scenarios."""
        return "*" in self.id


@dataclass(frozen=True, slots=True)
class Suite:
    """One suite file. `folder` is what its globs are relative to; `traces` None where it names none."""

    name: str
    path: str
    folder: str
    traces: Sequence[str] | None
    form: str
    scenario_from: Query | None
    scenarios: Sequence[Scenario]
    policy: PolicyEntry
    written: dict[str, Any]  # the file's own content, for the baseline


@dataclass(frozen=True, slots=True)
class Configuration:
    """All suites of a run, what their project says, and what a person should know about them."""

    suites: Sequence[Suite]
    policy: PolicyEntry
    warnings: Sequence[Problem]
    written: dict[str, Any]  # the project file's own content, {} without one
