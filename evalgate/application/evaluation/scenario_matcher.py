"""Matches traces to scenarios and variants: exact ids first, then in file order."""

from __future__ import annotations

import posixpath
import re
from heapq import merge
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.evaluators.core.evaluator import describe_missing, find_missing
from evalgate.evaluators.core.queries import query_evidence
from evalgate.measures.jmespath.query import QueryFailedError, follow_path
from evalgate.measures.text.globs import matches_id
from evalgate.measures.values.json_values import json_equal, shorten
from evalgate.models.trace.trace import Trace
from evalgate.models.trace.trace_view import get_view

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.measures.jmespath.query import Query
    from evalgate.models.run.run import TraceRef
    from evalgate.models.trace.trace import DamagedTrace, TraceLocation
    from evalgate.suite.models import Match, Scenario, Suite

_DIGITS = re.compile(r"(\d{1,18})")
EVERYTHING = "*"
MOST_KNOWN = 1_000
"""Ids whose scenarios are cached."""


class ScenarioClaim(NamedTuple):
    """One scenario to report, in one variant: a named one, or an id that a glob matched."""

    scenario: Scenario
    id: str

    @property
    def variant(self) -> str | None:
        """The name of the variant, None if the scenario has no variants."""
        return self.scenario.variant.name if self.scenario.variant else None


class UndecidedMatchError(Exception):
    """A `where` needs evidence that the trace lacks, or compares text with a number: its scenario is unknown."""


class ScenarioCandidate(NamedTuple):
    """A scenario that may match a record: the index of its entry, and of the fitting variant.

    `scenario` is None if no variant of the entry fits; `rival` is a second one that does.
    """

    entry: int
    scenario: int | None
    rival: int | None = None


class Overlap(NamedTuple):
    """A record that fits two variants of a scenario; it counts for the first."""

    source: TraceLocation | TraceRef
    scenario: str
    first: str
    second: str


class ScenarioMatcher:
    """Matches each trace of one suite to at most one scenario and variant.

    The result depends on other traces only if two globs match one id: the first glob to match it keeps it. So
    `candidates` may be called anywhere and in any order; `choose` must see every record, in order. `overlap`
    is the first trace that fits two variants.
    """

    def __init__(self, suite: Suite) -> None:
        self._folder = suite.folder
        self._scenarios = suite.scenarios
        self._places_by_id: dict[str, list[int]] = {}  # by id as written: one index in the suite for each variant
        for place, scenario in enumerate(suite.scenarios):
            self._places_by_id.setdefault(scenario.id, []).append(place)
        self._glob_by_id: dict[str, str] = {}  # ids that globs matched, with the glob that keeps them
        self._exact: dict[str, list[int]] = {}
        others: list[int] = []
        for place, *_ in self._places_by_id.values():
            match = suite.scenarios[place].match
            if match.is_exact and match.scenario_id is not None:
                self._exact.setdefault(match.scenario_id, []).append(place)
            else:
                others.append(place)
        self._others = EntryIndex(suite.scenarios, others)
        self.overlap: Overlap | None = None
        self._ids_decide = all(_matches_id_only(each.match) and each.variant is None for each in suite.scenarios)
        self._known: dict[str | None, list[ScenarioCandidate]] = {}  # if all records with one id match alike

    def candidates(self, record: Trace | DamagedTrace, scenario_id: str | None) -> list[ScenarioCandidate]:
        """The scenarios that may match the record, in the order they are tried.

        There are several only if one id matches globs that also test something else than the id. Raises
        UndecidedMatchError.
        """
        if not self._ids_decide or not isinstance(record, Trace):
            return self._find_candidates(record, scenario_id)
        found = self._known.get(scenario_id)
        if found is None:
            found = self._find_candidates(record, scenario_id)
            if len(self._known) < MOST_KNOWN:
                self._known[scenario_id] = found
        return found

    def _find_candidates(self, record: Trace | DamagedTrace, scenario_id: str | None) -> list[ScenarioCandidate]:
        found: list[ScenarioCandidate] = []
        exact = self._exact.get(scenario_id, []) if scenario_id is not None else []
        for place in chain(exact, self._others.find(record, scenario_id)):
            scenario = self._scenarios[place]
            if not self._fits_scenario(scenario.match, record, scenario_id):
                continue
            # A glob names its scenarios after ids of traces; an id listed in the suite can't be reused.
            if scenario.is_glob and (
                scenario_id is None or not matches_id(scenario.id, scenario_id) or scenario_id in self._places_by_id
            ):
                continue
            found.append(self._candidate(place, record, scenario_id))
            if not scenario.is_glob or _matches_id_only(scenario.match):
                break
        return found

    def choose(
        self, candidates: Sequence[ScenarioCandidate], scenario_id: str | None, source: TraceLocation | TraceRef
    ) -> int | None:
        """Which of a record's candidates matches, or None. Remembers ids that a glob matched."""
        for number, candidate in enumerate(candidates):
            entry = self._scenarios[candidate.entry]
            if entry.is_glob and scenario_id is not None:
                if self._glob_by_id.get(scenario_id, entry.id) != entry.id:
                    continue
                if candidate.scenario is not None:
                    self._glob_by_id[scenario_id] = entry.id
            if self.overlap is None and candidate.scenario is not None and candidate.rival is not None:
                names = self._variant_name(candidate.scenario), self._variant_name(candidate.rival)
                self.overlap = Overlap(source, entry.id, *names)
            return number
        return None

    def make_claim(self, index: int, scenario_id: str | None) -> ScenarioClaim:
        """The claim on the scenario at `index` of the suite."""
        scenario = self._scenarios[index]
        id_ = scenario_id if scenario.is_glob and scenario_id is not None else scenario.id
        return ScenarioClaim(scenario, id_)

    def count(self) -> int:
        """How many scenarios are reported."""
        return sum(len(self._places_by_id[pattern]) * len(ids) for pattern, ids in self._ids())

    def all_claims(self) -> Iterator[tuple[int, ScenarioClaim]]:
        """Every scenario to report with its index, in all variants, in file order; ids of a glob in natural order."""
        for pattern, ids in self._ids():
            for id_ in sorted(ids, key=natural):
                yield from (
                    (place, ScenarioClaim(self._scenarios[place], id_)) for place in self._places_by_id[pattern]
                )

    def _ids(self) -> Iterator[tuple[str, Sequence[str]]]:
        """The ids that each entry reports, in file order.

        A glob other than `*` that matched nothing is reported by its own pattern, so that it is noticed.
        """
        found: dict[str, list[str]] = {}
        for id_, pattern in self._glob_by_id.items():
            found.setdefault(pattern, []).append(id_)
        for pattern, (place, *_) in self._places_by_id.items():
            if not self._scenarios[place].is_glob or (pattern not in found and pattern != EVERYTHING):
                yield pattern, [pattern]
            else:
                yield pattern, found.get(pattern, [])

    def _candidate(self, entry: int, record: Trace | DamagedTrace, scenario_id: str | None) -> ScenarioCandidate:
        """The entry with the first variant that the record fits.

        A second one is searched for until the first overlap is found, since only one is reported.
        """
        first: int | None = None
        for place in self._places_by_id[self._scenarios[entry].id]:
            variant = self._scenarios[place].variant
            if variant is None:
                return ScenarioCandidate(entry, place)
            if not self._fits(variant.match, record, scenario_id):
                continue
            if first is not None:
                return ScenarioCandidate(entry, first, place)
            first = place
            if self.overlap is not None:
                break
        return ScenarioCandidate(entry, first)

    def _variant_name(self, place: int) -> str:
        variant = self._scenarios[place].variant
        return "" if variant is None else variant.name

    def _fits_scenario(self, match: Match, record: Trace | DamagedTrace, scenario_id: str | None) -> bool:
        """A damaged record belongs to a scenario only by its id."""
        is_known = isinstance(record, Trace) or match.scenario_id is not None
        return is_known and self._fits(match, record, scenario_id)

    def _fits(self, match: Match, record: Trace | DamagedTrace, scenario_id: str | None) -> bool:
        if match.scenario_id is not None and (scenario_id is None or not matches_id(match.scenario_id, scenario_id)):
            return False
        if match.path is not None and not self._on_path(match.path, record.source.path):
            return False
        if isinstance(record, Trace):
            return (not match.tags or match.tags <= set(record.tags)) and _matches_where(match, record)
        return not match.tags and match.where is None  # only id and file are known of a damaged record

    def _on_path(self, pattern: re.Pattern[str], path: str) -> bool:
        relative = posixpath.relpath(path, self._folder)
        return pattern.fullmatch(relative) is not None or pattern.fullmatch(path) is not None


class EntryIndex:
    """Finds the entries of a suite that a trace may match without asking each: by their index in the suite.

    It looks them up by what their ids begin with, or by a `where` of `path == 'text'`. So the time of matching grows
    with scenarios plus traces, not with their product.
    """

    def __init__(self, scenarios: Sequence[Scenario], entries: Sequence[int]) -> None:
        self._rest: list[int] = []
        self._by_head: dict[str, list[int]] = {}
        self._equal: dict[tuple[str, ...], dict[str, list[int]]] = {}
        for entry in entries:
            match = scenarios[entry].match
            if match.scenario_id is not None:
                self._by_head.setdefault(match.scenario_id.partition("*")[0], []).append(entry)
            elif match.where is not None and match.where.equality is not None:
                equality = match.where.equality
                self._equal.setdefault(equality.path, {}).setdefault(equality.text, []).append(entry)
            else:
                self._rest.append(entry)
        self._lengths = sorted({len(head) for head in self._by_head})

    def find(self, record: Trace | DamagedTrace, scenario_id: str | None) -> Iterable[int]:
        """The entries that may match the record, in the suite's order.

        Each `where` is among them for a trace with incomplete evidence, on which it may be undecided.
        """
        return merge(self._rest, *self._find_by_head(scenario_id), *self._find_by_where(record))

    def _find_by_head(self, scenario_id: str | None) -> Iterator[Sequence[int]]:
        for length in self._lengths:
            if scenario_id is None or length > len(scenario_id):
                return
            yield self._by_head.get(scenario_id[:length], ())

    def _find_by_where(self, record: Trace | DamagedTrace) -> Iterator[Sequence[int]]:
        if not isinstance(record, Trace):
            return  # only id and file are known of a damaged record
        view = get_view(record)
        for path, texts in self._equal.items():
            if record.gaps:
                yield from texts.values()
            elif isinstance(value := follow_path(view, *path), str):
                yield texts.get(value, ())


def _matches_id_only(match: Match) -> bool:
    """Whether all records with one id match, or none."""
    return match.path is None and match.where is None and not match.tags


def _matches_where(match: Match, trace: Trace) -> bool:
    """Whether `where` matches; it does not if it fails on the trace or finds nothing. Raises UndecidedMatchError."""
    if match.where is None:
        return True
    if trace.gaps and (missing := find_missing(trace, query_evidence(match.where))):
        raise UndecidedMatchError(
            f"match.where {shorten(match.where.expression, 60)}: {describe_missing(trace, missing)}"
        )
    found = {_finds_something(each, trace) for each in match.where.list_readings()}
    if len(found) > 1:
        raise UndecidedMatchError(
            f"match.where {shorten(match.where.expression, 60)}: a comparison of text with a number decides it"
        )
    return True in found


def _finds_something(query: Query, trace: Trace) -> bool:
    try:
        value = query.search(get_view(trace))
    except QueryFailedError:
        return False
    empty: tuple[Any, ...] = (None, False, "", [], {})  # what JMESPath calls false
    return not any(json_equal(value, nothing) for nothing in empty)


def natural(text: str) -> list[tuple[int, int, str]]:
    """A sort key that puts 2 before 10.

    >>> sorted(["a10", "a2", "b"], key=natural)
    ['a2', 'a10', 'b']
    """
    parts = _DIGITS.split(text)
    return [(0, int(part), part) if index % 2 else (1, 0, part) for index, part in enumerate(parts)]
