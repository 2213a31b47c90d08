"""Which scenario a trace belongs to: exact ids first, then everything else in the order of the file."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

from evalgate.measures.globs import matches_id
from evalgate.measures.json_values import equal
from evalgate.measures.queries import QueryFailedError
from evalgate.models.trace import Trace
from evalgate.models.trace_view import view_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.models.trace import DamagedTrace
    from evalgate.suite.models import Match, Scenario, Suite

_DIGITS = re.compile(r"(\d{1,18})")
EVERYTHING = "*"


class Claim:
    """One scenario as it will be reported: a named one, or one id that a glob found."""

    __slots__ = ("id", "scenario")

    def __init__(self, scenario: Scenario, id_: str) -> None:
        self.scenario = scenario
        self.id = id_


class Claims:
    """Gives each trace of one suite to at most one scenario.

    Which one depends on other traces only where two globs match one id: the first to find it keeps it.
    """

    def __init__(self, suite: Suite) -> None:
        self._folder = suite.folder
        self._scenarios = suite.scenarios
        self._named = {each.id: Claim(each, each.id) for each in suite.scenarios if not each.is_glob}
        self._found: dict[str, Claim] = {}
        self._exact: dict[str, list[Scenario]] = {}
        self._others: list[Scenario] = []
        for scenario in suite.scenarios:
            wanted = scenario.match.scenario_id
            if scenario.match.is_exact and wanted is not None:
                self._exact.setdefault(wanted, []).append(scenario)
            else:
                self._others.append(scenario)

    def claim(self, record: Trace | DamagedTrace, scenario_id: str | None) -> Claim | None:
        """The scenario that the record belongs to, None where none asks for it."""
        exact = self._exact.get(scenario_id, []) if scenario_id is not None else []
        for scenario in (*exact, *self._others):
            if not self._fits(scenario.match, record, scenario_id):
                continue
            if not scenario.is_glob:
                return self._named[scenario.id]
            # A glob names its scenarios by the traces' ids; an id that is taken can't be named twice.
            if scenario_id is None or not matches_id(scenario.id, scenario_id) or scenario_id in self._named:
                continue
            claim = self._found.setdefault(scenario_id, Claim(scenario, scenario_id))
            if claim.scenario is scenario:
                return claim
        return None

    def all(self) -> Iterator[Claim]:
        """Every scenario to report: as the file lists them, a glob's in natural order of their ids.

        A glob other than `*` that found nothing stands for itself, so that it can't go missing unseen.
        """
        found: dict[str, list[Claim]] = {}
        for claim in self._found.values():
            found.setdefault(claim.scenario.id, []).append(claim)
        for scenario in self._scenarios:
            if not scenario.is_glob:
                yield self._named[scenario.id]
            elif scenario.id in found:
                yield from sorted(found[scenario.id], key=lambda claim: natural(claim.id))
            elif scenario.id != EVERYTHING:
                yield Claim(scenario, scenario.id)

    def _fits(self, match: Match, record: Trace | DamagedTrace, scenario_id: str | None) -> bool:
        if match.scenario_id is not None and (
            scenario_id is None or not matches_id(match.scenario_id, scenario_id)
        ):
            return False
        if match.path is not None and not self._on_path(match.path, record.source.path):
            return False
        if isinstance(record, Trace):
            return match.tags <= set(record.tags) and _holds(match, record)
        # Of a damaged record only the id and the file are known.
        return match.scenario_id is not None and not match.tags and match.where is None

    def _on_path(self, pattern: re.Pattern[str], path: str) -> bool:
        relative = posixpath.relpath(path, self._folder)
        return pattern.fullmatch(relative) is not None or pattern.fullmatch(path) is not None


def _holds(match: Match, trace: Trace) -> bool:
    """A `where` that fails on a trace does not hold for it, and one that finds nothing neither."""
    if match.where is None:
        return True
    try:
        value = match.where.search(view_of(trace))
    except QueryFailedError:
        return False
    empty: tuple[Any, ...] = (None, False, "", [], {})  # what JMESPath calls false
    return not any(equal(value, nothing) for nothing in empty)


def natural(text: str) -> list[tuple[int, int, str]]:
    """A sort key that puts 2 before 10.

    >>> sorted(["a10", "a2", "b"], key=natural)
    ['a2', 'a10', 'b']
    """
    parts = _DIGITS.split(text)
    return [(0, int(part), part) if index % 2 else (1, 0, part) for index, part in enumerate(parts)]
