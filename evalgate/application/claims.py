"""Which scenario and variant a trace belongs to: exact ids first, then the rest in the order of the file."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.measures.globs import matches_id
from evalgate.measures.json_values import equal
from evalgate.measures.queries import QueryFailedError
from evalgate.models.trace import Trace
from evalgate.models.trace_view import view_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace import DamagedTrace
    from evalgate.suite.models import Match, Scenario, Suite

_DIGITS = re.compile(r"(\d{1,18})")
EVERYTHING = "*"


class Claim:
    """One scenario as it will be reported: a named one, or one id that a glob found; in one variant."""

    __slots__ = ("id", "scenario")

    def __init__(self, scenario: Scenario, id_: str) -> None:
        self.scenario = scenario
        self.id = id_

    @property
    def variant(self) -> str | None:
        """The name of the variant, None where the scenario has none."""
        return self.scenario.variant.name if self.scenario.variant else None


class Overlap(NamedTuple):
    """A record that two variants of a scenario ask for; it counts for the first."""

    record: Trace | DamagedTrace
    scenario: str
    first: str
    second: str


class Claims:
    """Gives each trace of one suite to at most one scenario, and there to at most one variant.

    Which one depends on other traces only where two globs match one id: the first to find it keeps it.
    `overlap` is the first trace found that two variants ask for.
    """

    def __init__(self, suite: Suite) -> None:
        self._folder = suite.folder
        self._crossed: dict[str, list[Scenario]] = {}  # by the id as written, one a variant
        for scenario in suite.scenarios:
            self._crossed.setdefault(scenario.id, []).append(scenario)
        self._found: dict[str, str] = {}  # ids that globs found, with the glob that keeps them
        self._exact: dict[str, list[Scenario]] = {}
        self._others: list[Scenario] = []
        for scenario, *_ in self._crossed.values():
            wanted = scenario.match.scenario_id
            if scenario.match.is_exact and wanted is not None:
                self._exact.setdefault(wanted, []).append(scenario)
            else:
                self._others.append(scenario)
        self.overlap: Overlap | None = None

    def claim(self, record: Trace | DamagedTrace, scenario_id: str | None) -> Claim | None:
        """The scenario that the record belongs to, None where none asks for it.

        A record of a scenario that fits none of its variants belongs to no other scenario either.
        """
        exact = self._exact.get(scenario_id, []) if scenario_id is not None else []
        for scenario in (*exact, *self._others):
            if not self._fits_scenario(scenario.match, record, scenario_id):
                continue
            if not scenario.is_glob:
                variant = self._variant(scenario, record, scenario_id)
                return Claim(variant, scenario.id) if variant else None
            # A glob names its scenarios by the traces' ids; an id that is taken can't be named twice.
            if (
                scenario_id is None
                or not matches_id(scenario.id, scenario_id)
                or scenario_id in self._crossed
            ):
                continue
            if self._found.get(scenario_id, scenario.id) == scenario.id:
                variant = self._variant(scenario, record, scenario_id)
                if variant is None:
                    return None
                self._found[scenario_id] = scenario.id
                return Claim(variant, scenario_id)
        return None

    def count(self) -> int:
        """How many scenarios there are to report."""
        return sum(len(self._crossed[pattern]) * len(ids) for pattern, ids in self._ids())

    def all(self) -> Iterator[Claim]:
        """Every scenario to report: as the file lists them, a glob's in natural order of their ids.

        Each stands there in all its variants.
        """
        for pattern, ids in self._ids():
            for id_ in sorted(ids, key=natural):
                yield from (Claim(scenario, id_) for scenario in self._crossed[pattern])

    def _ids(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The ids that each entry reports, as the file lists the entries.

        A glob other than `*` that found nothing stands for itself, so that it can't go missing unseen.
        """
        found: dict[str, list[str]] = {}
        for id_, pattern in self._found.items():
            found.setdefault(pattern, []).append(id_)
        for pattern, (scenario, *_) in self._crossed.items():
            if not scenario.is_glob or (pattern not in found and pattern != EVERYTHING):
                yield pattern, [pattern]
            else:
                yield pattern, found.get(pattern, [])

    def _variant(
        self, scenario: Scenario, record: Trace | DamagedTrace, scenario_id: str | None
    ) -> Scenario | None:
        """The scenario in the first variant that the record fits.

        A second one is looked for until one is found, to be told once.
        """
        first: Scenario | None = None
        for each in self._crossed[scenario.id]:
            if each.variant is None:
                return each
            if not self._fits(each.variant.match, record, scenario_id):
                continue
            if first is not None and first.variant is not None:
                self.overlap = Overlap(record, scenario.id, first.variant.name, each.variant.name)
                return first
            first = each
            if self.overlap is not None:
                break
        return first

    def _fits_scenario(self, match: Match, record: Trace | DamagedTrace, scenario_id: str | None) -> bool:
        """A damaged record belongs to a scenario by its id and nothing less."""
        is_known = isinstance(record, Trace) or match.scenario_id is not None
        return is_known and self._fits(match, record, scenario_id)

    def _fits(self, match: Match, record: Trace | DamagedTrace, scenario_id: str | None) -> bool:
        if match.scenario_id is not None and (
            scenario_id is None or not matches_id(match.scenario_id, scenario_id)
        ):
            return False
        if match.path is not None and not self._on_path(match.path, record.source.path):
            return False
        if isinstance(record, Trace):
            return match.tags <= set(record.tags) and _holds(match, record)
        return not match.tags and match.where is None  # of a damaged record only id and file are known

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
