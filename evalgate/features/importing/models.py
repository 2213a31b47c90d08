"""A suite of another tool as it is carried over: each check with the entry that it became, or why it has none."""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import Struct, field

FEW_SCENARIOS = 2
RECORDED_GRADE = "the grade of a model, which the trace must hold as a score of this name"
MAX_SCENARIOS = 2_000
MAX_CHECKS = 20_000
"""Of a file, with what defaults and variables repeat."""


class CannotCarry(Exception):
    """A check that has no equal here; the text says why. `offer` checks the recorded grade of what a model judges."""

    def __init__(self, reason: str, offer: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.offer = offer


class CarriedCheck(NamedTuple):
    """An assertion that judges as the original does; `difference` is what it judges otherwise, if anything."""

    entry: dict[str, Any]
    difference: str = ""


class ImportedLine(Struct):
    """A line of the origin: `place` and `kind` name it; `entry` is the assertion, None where `reason` says why not.

    With an entry, `reason` is what it judges otherwise. `offer` is an assertion on a recorded grade.
    """

    place: str
    kind: str
    entry: dict[str, Any] | None = None
    reason: str = ""
    offer: dict[str, Any] | None = None

    def refuse(self, reason: str) -> None:
        """The line is not carried over after all."""
        self.entry, self.reason = None, reason


class ImportedScenario(Struct):
    """A test of the origin: `fields` besides the id, `spare_id` and `spare_match` where another scenario has its id.

    `notes` say what is judged otherwise in all of it.
    """

    id: str
    place: str
    lines: list[ImportedLine]
    notes: list[str] = field(default_factory=list)
    fields: dict[str, Any] = field(default_factory=dict)
    spare_id: str = ""
    spare_match: dict[str, Any] = field(default_factory=dict)

    @property
    def is_carried(self) -> bool:
        """Whether a check of it is."""
        return any(line.entry is not None for line in self.lines)

    def use_spare_id(self) -> None:
        """Takes the id that no other scenario has."""
        self.id, self.spare_id = self.spare_id, ""
        self.fields = {"match": self.spare_match, **self.fields}


class ImportedSuite(Struct):
    """A file of another tool: what all scenarios share, the scenarios, and what is not of one scenario.

    `notes` are what a person should know of the whole.
    """

    tool: str
    name: str
    path: str
    scenarios: list[ImportedScenario]
    defaults: list[ImportedLine] = field(default_factory=list)
    others: list[ImportedLine] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def share_first_checks(self) -> None:
        """Makes the checks with which all scenarios begin those of the suite, as `defaults` are."""
        if len(self.scenarios) < FEW_SCENARIOS or any("threshold" in scenario.fields for scenario in self.scenarios):
            return
        first = self.scenarios[0].lines
        count = min(len(scenario.lines) for scenario in self.scenarios)
        while count and any(scenario.lines[:count] != first[:count] for scenario in self.scenarios):
            count -= 1
        self.defaults = first[:count]
        for scenario in self.scenarios:
            scenario.lines = scenario.lines[count:]

    def use_scores(self) -> None:
        """Carries over what a model judges, as checks of its recorded grades."""
        for line in self.list_lines():
            if line.entry is None and line.offer is not None:
                line.entry, line.reason = line.offer, RECORDED_GRADE

    def list_lines(self) -> list[ImportedLine]:
        """All lines, in the order of the suite."""
        of_scenarios = [line for scenario in self.scenarios for line in scenario.lines]
        return [*self.others, *self.defaults, *of_scenarios]
