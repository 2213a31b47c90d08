"""Writes what one trial recorded: its cassette, and its trace."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.features.record.application.evidence import (
    RECORDING_ID,
    SKILLS,
    TrialEvidence,
    build_failed_file,
    build_file,
)
from evalgate.features.record.application.failed_calls import find_failed_call
from evalgate.features.record.application.outcome import TrialOutcome
from evalgate.features.record.measures.canonical import RULES_VERSION
from evalgate.features.record.models.cassette import MAX_BYTES, WARN_BYTES, CassetteHeader
from evalgate.features.record.models.run import ProcessRun
from evalgate.models.trace.trace import AGENT_COMMAND, BASE_URLS
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.features.record.application.trials import RecordedTrial
    from evalgate.features.record.models.cassette import CacheMode
    from evalgate.features.record.models.exchange import TrialId
    from evalgate.features.record.models.run import AgentEnd, TrialSpans
    from evalgate.features.record.ports import CassetteStore, TraceReaders, TraceStore
    from evalgate.models.trace.trace import Trace


class Outputs(Struct, frozen=True):
    """Where a recording writes to, and how its traces are made; `note` prints a line."""

    cassettes: CassetteStore
    traces: TraceStore
    readers: TraceReaders
    note: Callable[[str], None]


class CodeVersion(Struct, frozen=True):
    """What of the agent's code ran: its commit and the fingerprint of its files; `created` is RFC 3339, the run's.

    `recording_id` is equal for all traces that one recording writes. `skills` names each with the digest of its text.
    `command` is the agent's, as a shell reads it, after options of the recording that change what a trace has.
    `base_urls` says of each provider that is not asked at its default where it is asked, as a trace keeps that.
    """

    created: str
    commit: str | None = None
    agent_hash: str | None = None
    recording_id: str | None = None
    skills: str | None = None
    command: str | None = None
    base_urls: Mapping[str, str] = {}


class TrialWriter:
    """Writes the files of trials."""

    def __init__(self, outputs: Outputs, mode: CacheMode, remove_addresses: Callable[[bytes], bytes]) -> None:
        self._outputs, self._mode, self._remove_addresses = outputs, mode, remove_addresses
        self._recorded: set[TrialId] = set()
        self._failed: list[tuple[TrialEvidence, dict[str, str | None]]] = []
        """Runs that failed, or hung, before anything of them was recorded."""

    def write(
        self, recorded: RecordedTrial, end: AgentEnd, version: CodeVersion, spans: TrialSpans | None
    ) -> TrialOutcome:
        """Writes the cassette and the trace of a trial; a trial in which a request was missing has no trace."""
        trial, note = recorded.trial, self._outputs.note
        outcome = TrialOutcome(trial, end.code, end.has_timed_out, end.interrupted, end.reached)
        outcome.add_calls(recorded.exchanges)
        outcome.failed_call = find_failed_call(recorded.exchanges)
        outcome.misses = len(recorded.misses)
        self._note_misses(recorded)
        outcome.is_too_large = self._write_cassette(recorded, end, version)
        if recorded.misses:
            return outcome
        evidence = TrialEvidence(trial, end, spans=spans, own=recorded.own_trace, state=recorded.state)
        if (reason := (recorded.state or {}).get("outage")) is not None:
            note(f"{trial}: {reason}")
            outcome.unmeasured = 1
        if recorded.exchanges:
            evidence.calls = self._build_trace(recorded, version)
        outcome.spans = evidence.span_count
        origin = {
            "evalgate.commit": version.commit,
            "evalgate.agent_hash": version.agent_hash,
            RECORDING_ID: version.recording_id,
            SKILLS: version.skills,
            AGENT_COMMAND: version.command,
        }
        built = build_file(evidence, origin, self._outputs.readers, note)
        if built is not None:
            if trial.scenario is None:
                note("warning: nothing names the scenario of this run, so no suite judges it: use --scenario")
            self._write_trace(trial, built)
            outcome.traces = 1
        elif (end.has_timed_out or (end.code and not end.was_stopped)) and trial.scenario is not None:
            self._failed.append((evidence, origin))
        return outcome

    def write_failed(self) -> list[TrialId]:
        """Writes a trace of each such run, if another trial of its scenario has one.

        Without it the others would be judged as if there had been no such run. A scenario without any trace is missing.
        """
        failed = [each for each in self._failed if each[0].trial._replace(trial=0) in self._recorded]
        for evidence, origin in failed:
            self._write_trace(evidence.trial, build_failed_file(evidence, origin, self._outputs.readers))
        return [evidence.trial for evidence, _ in failed]

    def _write_trace(self, trial: TrialId, built: tuple[str, bytes]) -> None:
        suffix, content = built
        self._outputs.traces.write(trial, suffix, self._remove_addresses(content))
        self._recorded.add(trial._replace(trial=0))

    def _note_misses(self, recorded: RecordedTrial) -> None:
        """Prints which requests the cassette lacks, and how to record them."""
        note, trial = self._outputs.note, recorded.trial
        if recorded.misses and recorded.cassette is None:
            path = self._outputs.cassettes.path(trial)
            note(f"{trial}: there is no cassette {path}: `--cache write` records one, with the provider's key")
            return
        for line in [line for miss in recorded.misses for line in miss.describe()]:
            note(line)
        if recorded.misses:
            note(f"{trial}: no trace is written; if the change is intended, `evalgate cassettes refresh` records again")

    def _write_cassette(self, recorded: RecordedTrial, end: AgentEnd, version: CodeVersion) -> bool:
        """Writes the cassette of a trial, unless it stays as it is; returns whether one was asked for and too large."""
        trial, note, store = recorded.trial, self._outputs.note, self._outputs.cassettes
        if self._mode == "write" and end.describe() is not None:
            note(f"{trial}: the agent failed, so its cassette stays as it is")
            return False
        header = CassetteHeader(
            **trial._asdict(),
            created=version.created,
            evalgate=__version__,
            rules_version=RULES_VERSION,
            agent_hash=version.agent_hash,
            commit=version.commit,
        )
        cassette = recorded.build_cassette(header)
        if cassette is None:
            return False
        for place in sorted(set(recorded.redacted)):
            note(f"warning: {trial}: a response holds a secret, which the cassette and a replay don't ({place})")
        size, path = store.write(trial, cassette), store.path(trial)
        if size > MAX_BYTES:
            note(f"warning: {path} would have {size:,} bytes, more than {MAX_BYTES:,}: it is not written")
            return self._mode == "write"
        if size > WARN_BYTES:
            note(f"warning: {path} has {size:,} bytes: shorten what the agent sends, so that it can be reviewed")
        return False

    def _build_trace(self, recorded: RecordedTrial, version: CodeVersion) -> Trace:
        trial, metadata = recorded.trial, _describe_replay(recorded)
        asked = {each.request.provider for each in recorded.exchanges if not each.is_replayed}
        if places := [place for name, place in version.base_urls.items() if name in asked]:
            metadata[BASE_URLS] = ",".join(places)
        run = ProcessRun(trial, build_trace_id(trial), version.commit, version.agent_hash, metadata)
        return self._outputs.readers.build_trace(recorded.exchanges, run)


def build_trace_id(trial: TrialId) -> str:
    """The id of a trial's trace, equal in each run."""
    return hashlib.sha256("\0".join(map(str, trial)).encode("utf-8", "replace")).hexdigest()[:32]


def _describe_replay(recorded: RecordedTrial) -> dict[str, Any]:
    """The metadata that names the cassette of a replayed trace."""
    if recorded.cassette is None or not any(exchange.is_replayed for exchange in recorded.exchanges):
        return {}
    header = recorded.cassette.header
    found = {"cassette_commit": header.commit, "cassette_agent_hash": header.agent_hash}
    known = {f"evalgate.{name}": value for name, value in found.items() if value is not None}
    return {"evalgate.replayed": True, **known}
