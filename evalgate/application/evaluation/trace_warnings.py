"""Collects warnings about traces, so that equal ones are reported once."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from evalgate.application.evaluation.named_tools import build_typo_warning
from evalgate.measures.prices import describe_unpriced
from evalgate.measures.values.json_values import mark_name
from evalgate.models.trace.trace import IGNORED_FIELD, describe_ignored, format_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from evalgate.application.evaluation.named_tools import NamedTools
    from evalgate.application.evaluation.scenario_matcher import Overlap
    from evalgate.evaluators.kinds.calls.similar_tools import SimilarTools
    from evalgate.models.run.run import SuiteResult, TraceRef
    from evalgate.models.run.trial_doc import TraceDoc
    from evalgate.models.trace.trace import Trace, TraceLocation, Warning_
    from evalgate.suite.models import Suite

MAX_WARNINGS = 50
"""How many different messages are listed."""
DUPLICATES, DECISIVE_COPIES = "duplicates", "decisive_copies"


class WarningCollector:
    """Collects warnings: each message once, with its first location and the number of traces."""

    def __init__(self, most: int | None = MAX_WARNINGS) -> None:
        """Lists at most `most` different messages."""
        self._most = most
        self._first: dict[tuple[str, str], Warning_] = {}
        self._traces: Counter[tuple[str, str]] = Counter()
        self._overflow: Counter[str] = Counter()
        self._of_suites: list[Warning_] = []
        self._unpriced: Counter[str] = Counter()
        self._ignored: dict[str, Warning_] = {}

    def add(self, trace: Trace) -> None:
        """Adds the warnings of one trace, a message about two parts of it once."""
        messages: dict[tuple[str, str], Warning_] = {}
        for warning in trace.warnings:
            messages.setdefault((warning["code"], warning["message"]), warning)
        for key, warning in messages.items():
            if key in self._first:
                self._traces[key] += 1
            else:
                place = " ".join(filter(None, (format_location(trace.source), warning["where"])))
                self._add_new({**warning, "where": place}, 1)

    def count_messages(self) -> tuple[list[tuple[Warning_, int]], dict[str, int]]:
        """Each message with its first location and number of traces; models without price likewise."""
        found = [(each, self._traces[key]) for key, each in self._first.items()]
        return [*found, *((each, 1) for each in self._ignored.values())], dict(self._unpriced)

    def add_counts(self, counts: Iterable[tuple[Warning_, int]], unpriced: Mapping[str, int]) -> None:
        """Adds counts collected elsewhere, of traces that come after those added so far."""
        for warning, traces in counts:
            key = warning["code"], warning["message"]
            if key in self._first:
                self._traces[key] += traces
            else:
                self._add_new(warning, traces)
        self._unpriced.update(unpriced)

    def _add_new(self, warning: Warning_, traces: int) -> None:
        """Adds a new message; once the limit is reached, only counts it. Ignored fields are kept, but not listed."""
        if warning["code"] == IGNORED_FIELD:
            self._ignored[warning["message"]] = warning
        elif len(self._first) == self._most:
            self._overflow[warning["code"]] += traces
        else:
            key = warning["code"], warning["message"]
            self._first[key] = warning
            self._traces[key] += traces

    def add_pricing(self, trace: Trace) -> None:
        """Adds the models for which a trace could not be priced although there are prices."""
        pricing = trace.pricing
        if pricing is not None and pricing["table"] is not None:
            self._unpriced.update(pricing["missing_models"])

    def add_nothing_found(self, suite: SuiteResult) -> None:
        """Warns of globs without files: a misspelt path looks like a recorder that did not run."""
        message = f"suite {mark_name(suite.name)}: no trace file matches {mark_name(suite.unmatched or '', 400)}"
        self._of_suites.append({"code": "no_trace_files", "message": message, "where": suite.path})

    def add_not_ignored(self, suite: Suite) -> None:
        """Warns of fields that a suite ignores and no trace of the run has."""
        paths = (*suite.ignored.paths, *(suite.custom.ignored.paths if suite.custom is not None else ()))
        for path in dict.fromkeys(paths):
            if describe_ignored(path) not in self._ignored:
                message = f"suite {suite.name}: no trace has the ignored field {mark_name(path, 120)}"
                self._of_suites.append({"code": "nothing_ignored", "message": message, "where": suite.path})

    def add_duplicates(self, suite: SuiteResult) -> None:
        """Warns of scenarios with traces that are alike."""
        for scenario in suite.scenarios:
            name = scenario.id if scenario.variant is None else f"{scenario.id} {scenario.variant}"
            for note in scenario.duplicates:
                code = DECISIVE_COPIES if note.is_decisive else DUPLICATES
                message = f"suite {mark_name(suite.name)}, {mark_name(name, 120)}: {note.text}"
                self._add_new({"code": code, "message": message, "where": suite.path}, 1)

    def add_overlap(self, overlap: Overlap, suite: Suite) -> None:
        """Warns once a suite of a trace that matches two variants: the other may lack trials."""
        first, second = mark_name(overlap.first), mark_name(overlap.second)
        message = (
            f"suite {suite.name}: a trace of {mark_name(overlap.scenario, 120)} matches variants {first} and {second}; "
            f"it counts for {first}, which comes first"
        )
        where = format_location(overlap.source)
        self._of_suites.append({"code": "two_variants", "message": message, "where": where})

    def add_likely_typos(self, tools: NamedTools, suite: Suite, similar: SimilarTools | None) -> None:
        """Warns of tools whose names seem to be misspelt, without which a check passes, unless `similar` says why."""
        found = (
            each
            for each in tools.find_typos()
            if similar is None or each.similar is None or not similar.explains(each.tool.name, each.similar)
        )
        self._of_suites += [build_typo_warning(typo, suite) for typo in islice(found, MAX_WARNINGS)]

    def add_of_suite(self, warnings: Iterable[Warning_]) -> None:
        """Adds warnings that are about a suite and its traces as a whole."""
        self._of_suites += warnings

    def list_warnings(self) -> list[Warning_]:
        """The warnings in order of appearance; those over the limit as one line for each code."""
        rest: list[Warning_] = [
            {"code": code, "message": f"{count:,} more warnings of this kind", "where": None}
            for code, count in sorted(self._overflow.items())
        ]
        return [*self._of_suites, *self._without_price(), *map(self._with_trace_count, self._first), *rest]

    def _without_price(self) -> list[Warning_]:
        """One warning for all models and traces of a run."""
        if not self._unpriced:
            return []
        message = describe_unpriced(self._unpriced, mark_name)
        return [{"code": "unknown_price", "message": message, "where": None}]

    def _with_trace_count(self, key: tuple[str, str]) -> Warning_:
        warning, more = self._first[key], self._traces[key] - 1
        if not more:
            return warning
        noun = "trace" if more == 1 else "traces"
        return {**warning, "message": f"{warning['message']} (and in {more:,} more {noun})"}


def format_location(source: TraceLocation | TraceRef | TraceDoc) -> str:
    """The file, with the line or number of the trace if it holds several."""
    return format_place(source.path, source.line, source.record)
