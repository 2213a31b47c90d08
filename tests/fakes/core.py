"""Fakes of the core's ports: suites from text, traces from a list, an output folder in memory."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
from msgspec.structs import replace

from evalgate.adapters.files.disk_spool import DiskSpool
from evalgate.adapters.formats.open.stored_traces import encode_stored_trace, read_stored_trace
from evalgate.adapters.progress import SilentProgress
from evalgate.adapters.suites.approvals_file import read_approvals
from evalgate.adapters.suites.yaml_tree import load
from evalgate.application.judge.judge import Tools
from evalgate.bootstrap.outputs import load_output
from evalgate.bootstrap.sources import calibrate_history, make_mutation_comparer
from evalgate.errors import SettingError, SuiteError, TraceError
from evalgate.models.trace.trace_document import encode_trace
from evalgate.ports import Baseline, ComparableBaseline, FoundFile, NearbyTraces
from evalgate.reporting.results.load_results import convert_baseline_run
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.models import Configuration
from evalgate.suite.parse import SharedDefaults, parse_suite
from evalgate.suite.suite_file import Defaults, PolicyEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from evalgate.errors import Problem
    from evalgate.models.approvals.approval import Approval, ApprovalFile
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.trace.trace import Trace, TraceRecord
    from evalgate.ports import BaselineParts, TraceSpool

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


class SuiteTexts:
    """Suites written in the test; a single text or one each."""

    def __init__(self, *texts: str, policy: PolicyEntry | None = None) -> None:
        self._texts = texts
        self._policy = policy or PolicyEntry()

    def load(self, configs: Sequence[str]) -> Configuration:
        diagnostics, suites, warnings = Diagnostics(), [], []
        for number, text in enumerate(self._texts):
            path = f"suite{number}.yaml"
            document = load(text, path)
            suite, found_warnings = parse_suite(document, path, ".", SharedDefaults(None, Defaults()), diagnostics)
            suites.append(suite)
            warnings += found_warnings
        if diagnostics.problems:
            raise SuiteError(*diagnostics.problems)
        return Configuration([suite for suite in suites if suite is not None], self._policy, warnings, {})

    def load_approvals(self, file: ApprovalFile) -> Sequence[Approval]:
        return read_approvals(file)


class TraceList:
    """Traces made in the test, handed to every suite."""

    def __init__(self, records: Iterable[TraceRecord] = ()) -> None:
        self._records = list(records)

    def read(self, patterns: Sequence[str], base: str, form: str) -> Iterator[TraceRecord]:
        return iter(self._records)

    def find_files(self, patterns: Sequence[str], base: str) -> Sequence[FoundFile]:
        return [FoundFile("t.json", "t.json", "t.json")] if self._records else []

    def find_nearby(self) -> Sequence[NearbyTraces]:
        return ()

    def formats(self) -> Sequence[str]:
        return ["native"]

    def restore_trace(self, line: bytes) -> Trace | None:
        try:
            return read_stored_trace(line)
        except TraceError:
            return None

    def encode_trace(self, trace: Trace) -> bytes:
        return encode_stored_trace(trace)


class MemoryBaselines:
    """Baselines by path, in memory."""

    def __init__(self, **results: ResultsDoc) -> None:
        self._baselines = {path: Baseline(document, None) for path, document in results.items()}
        self.written: dict[str, BaselineParts] = {}
        self.kept: list[str] = []
        self.stored: dict[str, list[Trace]] = {}
        self.kept_suites: dict[str, bytes] = {}

    def load(self, path: str, *, whole: bool = True) -> Baseline:
        if path not in self._baselines:
            raise SettingError(f"no baseline {path}")
        return self._baselines[path]

    def load_run(self, path: str, *, whole: bool = False) -> ComparableBaseline:
        found = self.load(path)
        run = convert_baseline_run(found.results, path)
        return ComparableBaseline(run if whole else replace(run, document=None), found.manifest)

    def put(self, path: str, baseline: Baseline) -> None:
        self._baselines[path] = baseline

    def read_traces(self, path: str) -> Iterator[bytes]:
        return (orjson.dumps(encode_trace(trace)) for trace in self.stored.get(path, ()))

    def read_suites(self, path: str) -> bytes | None:
        return self.kept_suites.get(path)

    def open_spool(self, encode: Callable[[Trace], bytes]) -> TraceSpool:
        return _Spool(self.kept)

    def write(self, path: str, parts: BaselineParts) -> Sequence[Problem]:
        self.written[path] = parts
        return []


class _Spool:
    def __init__(self, kept: list[str]) -> None:
        self._kept = kept

    def add(self, trace: Trace) -> None:
        self._kept.append(trace.trace_id)

    def lines(self) -> Iterator[bytes]:
        return iter(())

    def close(self) -> None:
        return


class MemoryFolder:
    """An output folder in memory."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def require_writable(self) -> None:
        return

    def path(self, name: str) -> str:
        return f"out/{name}"

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content

    def replace_all(self, contents: Mapping[str, bytes], stale: Collection[str]) -> None:
        self.files = {name: content for name, content in self.files.items() if name not in stale} | {**contents}


class FixedClock:
    """Always the same moment."""

    def now(self) -> datetime:
        return NOW


def make_tools(*suites: str, traces: Iterable[TraceRecord] = (), **given: Any) -> Tools:
    """Tools over fakes; `policy` and `baselines` may be given."""
    return Tools(
        SuiteTexts(*suites, policy=given.get("policy")),
        TraceList(traces),
        given.get("baselines") or MemoryBaselines(),
        MemoryFolder(),
        FixedClock(),
        SilentProgress(),
        DiskSpool,
        load_output,
        make_mutation_comparer=make_mutation_comparer,
        calibrate=calibrate_history,
        fingerprints=given.get("fingerprints"),
    )
