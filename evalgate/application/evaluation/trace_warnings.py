"""What traces warn about, told so that a thousand of them don't say the same thing a thousand times."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from evalgate.measures.values.json_values import shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.application.evaluation.scenario_matcher import Overlap
    from evalgate.models.trace.trace import Trace, TraceLocation, Warning_
    from evalgate.suite.models import Suite

MAX_WARNINGS = 50
"""Messages of traces that are told one by one."""


class Warnings:
    """What traces warn about: each message once, with its first place and how many traces share it."""

    def __init__(self, most: int | None = MAX_WARNINGS) -> None:
        """At most `most` messages are told one by one."""
        self._most = most
        self._first: dict[tuple[str, str], Warning_] = {}
        self._traces: Counter[tuple[str, str]] = Counter()
        self._untold: Counter[str] = Counter()
        self._of_suites: list[Warning_] = []
        self._unpriced: Counter[str] = Counter()

    def add(self, trace: Trace) -> None:
        """Takes in what one trace warns about."""
        for warning in trace.warnings:
            key = warning["code"], warning["message"]
            if key in self._first:
                self._traces[key] += 1
            else:
                place = " ".join(filter(None, (place_of(trace.source), warning["where"])))
                self._begin({**warning, "where": place}, 1)

    def counted(self) -> tuple[list[tuple[Warning_, int]], dict[str, int]]:
        """Each message with its first place and how many traces share it; models without price likewise."""
        return [(each, self._traces[key]) for key, each in self._first.items()], dict(self._unpriced)

    def take(self, counted: Iterable[tuple[Warning_, int]], unpriced: Mapping[str, int]) -> None:
        """Takes in what was counted elsewhere, of traces that come after those seen so far."""
        for warning, traces in counted:
            key = warning["code"], warning["message"]
            if key in self._first:
                self._traces[key] += traces
            else:
                self._begin(warning, traces)
        self._unpriced.update(unpriced)

    def _begin(self, warning: Warning_, traces: int) -> None:
        """A message that is new, told one by one as long as there is room."""
        if len(self._first) == self._most:
            self._untold[warning["code"]] += traces
        else:
            key = warning["code"], warning["message"]
            self._first[key] = warning
            self._traces[key] += traces

    def add_pricing(self, trace: Trace) -> None:
        """Takes in which models a trace could not be priced for, though there are prices."""
        pricing = trace.pricing
        if pricing is not None and pricing["table"] is not None:
            self._unpriced.update(pricing["missing_models"])

    def add_nothing_found(self, patterns: Sequence[str], suite: Suite) -> None:
        """No file at all: a misspelt path looks like a recorder that did not run."""
        named = shorten(", ".join(patterns))
        message = f"suite {suite.name}: no trace file matches {named}"
        self._of_suites.append({"code": "no_trace_files", "message": message, "where": suite.path})

    def add_overlap(self, overlap: Overlap, suite: Suite) -> None:
        """A trace that two variants ask for, said once a suite: its other one may go short of trials."""
        first, second = shorten(overlap.first, 60), shorten(overlap.second, 60)
        message = (
            f"suite {suite.name}: a trace of {shorten(overlap.scenario)} fits variants {first} and {second}; "
            f"it counts for {first}, which stands first"
        )
        where = place_of(overlap.source)
        self._of_suites.append({"code": "two_variants", "message": message, "where": where})

    def told(self) -> list[Warning_]:
        """The warnings in the order they came up; the long tail as one line a code."""
        rest: list[Warning_] = [
            {"code": code, "message": f"{count:,} more warnings of this kind", "where": None}
            for code, count in sorted(self._untold.items())
        ]
        return [*self._of_suites, *self._without_price(), *map(self._shared, self._first), *rest]

    def _without_price(self) -> list[Warning_]:
        """Once a run, however many models and traces."""
        if not self._unpriced:
            return []
        named = shorten(", ".join(sorted(self._unpriced)))
        message = f"no price is known for {named}: cost unknown; give `prices` in evalgate.yaml or a suite"
        return [{"code": "unknown_price", "message": message, "where": None}]

    def _shared(self, key: tuple[str, str]) -> Warning_:
        warning, more = self._first[key], self._traces[key] - 1
        if not more:
            return warning
        return {**warning, "message": f"{warning['message']} (and in {more:,} more traces)"}


def place_of(source: TraceLocation) -> str:
    """A recording, with its line in a file of many."""
    """The file, with the line or the number of the record where it holds many."""
    if source.line is not None:
        return f"{source.path}:{source.line}"
    return source.path if source.record is None else f"{source.path}#{source.record}"
