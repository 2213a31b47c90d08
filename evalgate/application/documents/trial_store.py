"""Keeps the trials of a run compactly: each is encoded at once, and its document goes to a spool."""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING

import orjson

from evalgate.models.run.run import AssertionSummary, StoredTrial
from evalgate.models.run.trials import decode_trial, summarize_assertions
from evalgate.reporting.results.clean_values import clean_name
from evalgate.reporting.results.trial_doc import encode_assertions, encode_trial

if TYPE_CHECKING:
    from evalgate.models.run.chunks import Spool
    from evalgate.models.run.run import AssertionResult, TraceRef, TrialResult
    from evalgate.models.run.trial_doc import TrialDoc

MOST_ROWS = 10_000
"""Rows of shared results whose encoding is cached; a trial has one for each assertion."""
_TRACE = b'"trace":{'


class TrialStore:
    """The documents of a run's trials; implements `TrialDocuments`.

    All secrets must be known before the first trial: parts that trials share are encoded once.
    """

    def __init__(self, spool: Spool) -> None:
        self._spool = spool
        self._shared: dict[int, tuple[list[AssertionResult], AssertionSummary]] = {}  # by identity of the list
        self._rows = 0
        self._summaries: dict[AssertionSummary, AssertionSummary] = {}

    def keep(self, trial: TrialResult) -> StoredTrial:
        """Stores one trial."""
        summary, trace = self._summarize(trial.assertions), trial.trace
        if summary.end and trial.pricing is not None:  # what comes after the assertions is its own
            document, summary = encode_trial(trial, summary.end), self._intern(summary._replace(end=b""))
        else:
            document = encode_trial(trial, summary.end)
        return StoredTrial(
            trial.trial,
            trial.status,
            trial.score,
            trial.cost_usd,
            trial.latency_seconds,
            trial.total_tokens,
            trial.input_tokens,
            trial.output_tokens,
            trial.pricing is not None,
            summary,
            trace.named,
            trace.content,
            trace.number,
            trace.started_at,
            _list_raw_values(trace),
            self,
            self._spool.put(document),
            len(document),
            recorded=trace.recorded,
            digest=trace.digest,
            commit=trace.commit and intern(trace.commit),
        )

    def read(self, trial: StoredTrial) -> bytes:
        """See TrialDocuments."""
        document = self._spool.get(trial.start, trial.size)
        if trial.stale is not None:
            document = b'%b"stale":%b,%b' % (_TRACE, orjson.dumps(trial.stale), document[len(_TRACE) :])
        return b'{"trial":%d,%b%b' % (trial.trial, document, trial.summary.end)

    def load(self, trial: StoredTrial) -> TrialDoc:
        """See TrialDocuments."""
        found = decode_trial(self.read(trial))
        if trial.raw is not None:
            trace = found.trace
            trace.path, trace.commit, trace.agent_hash, trace.recorded_at = trial.raw
        return found

    def _summarize(self, assertions: list[AssertionResult]) -> AssertionSummary:
        shared = self._shared.get(id(assertions))
        if shared is not None:
            return shared[1]
        if not assertions or not all(each.is_shared for each in assertions):
            return self._intern(summarize_assertions(assertions))
        if self._rows > MOST_ROWS:
            self._shared.clear()
            self._rows = 0
        summary = self._intern(summarize_assertions(assertions, encode_assertions(assertions)))
        self._shared[id(assertions)] = assertions, summary
        self._rows += len(assertions)
        return summary

    def _intern(self, summary: AssertionSummary) -> AssertionSummary:
        return self._summaries.setdefault(summary, summary)


def _list_raw_values(trace: TraceRef) -> tuple[str, str | None, str | None, str | None] | None:
    raw = trace.path, trace.commit, trace.agent_hash, trace.recorded_at
    return raw if any(value is not None and clean_name(value) != value for value in raw) else None
