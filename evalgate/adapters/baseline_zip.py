"""`baseline.zip`: what a run leaves for later runs to be compared with."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import orjson

from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import EvalGateError, OverLimit, Problem, SettingError
from evalgate.measures.redaction import redact_value, without_hidden
from evalgate.models.document_names import BASELINE_SCHEMA
from evalgate.models.trace_document import to_document
from evalgate.ports import Baseline, BaselineParts
from evalgate.records import dataclass, replace
from evalgate.reporting.exports.results_json import load as load_results

if TYPE_CHECKING:
    import zipfile
    from collections.abc import Iterator, Sequence

    from evalgate.models.trace import Source, Trace
    from evalgate.ports import Files, TraceSpool


@dataclass(frozen=True, slots=True)
class ZipLimits:
    """Bytes of a baseline. `slack` is room for what deflate holds back and for the archive's directory."""

    packed: int = 64 * 1024 * 1024
    unpacked: int = 256 * 1024 * 1024
    slack: int = 2 * 1024 * 1024


LIMITS = ZipLimits()
NESTED = "baseline.zip"
TRACES = "traces.jsonl"
SUITES = "suites.json"
MAX_SUITES = 64_000_000
MAX_MANIFEST = 1_000_000
HOW_TO_KEEP = "run without --no-baseline-zip to keep them"
HOW_TO_FINISH = "name the --output-dir of a finished `evalgate run`"
_EPOCH = (1980, 1, 1, 0, 0, 0)


class Spool:
    """Traces of the run on disk, redacted, one a line; more than a baseline can hold is only counted."""

    def __init__(self, limits: ZipLimits) -> None:
        import tempfile  # a run that leaves no baseline does not pay for it

        self._limits = limits
        self._file: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (lives until the run has ended)
        self._size = 0
        self._seen: set[tuple[str, int | None, int | None]] = set()
        self.left_out = 0

    @property
    def is_full(self) -> bool:
        """Whether nothing more is kept."""
        return self.left_out > 0

    def add(self, trace: Trace) -> None:
        """Keeps one trace; one that two suites read is kept once."""
        if self._is_new(trace.source):
            self._keep(line_of(trace))

    def take(self, source: Source, line: bytes | None) -> None:
        """Keeps a line that was made elsewhere; None counts a trace for which there is no room."""
        if self._is_new(source):
            self._keep(line if line is None else without_hidden(line))

    def _is_new(self, source: Source) -> bool:
        place = (source.path, source.line, source.record)
        is_new = place not in self._seen
        self._seen.add(place)
        return is_new

    def _keep(self, line: bytes | None) -> None:
        if line is None or self.left_out or self._size + len(line) > self._limits.unpacked:
            self.left_out += 1  # and all after it: what is left out is left out from the end
            return
        self._size += len(line)
        self._file.write(line)

    def lines(self) -> Iterator[bytes]:
        """What was kept, in order."""
        self._file.seek(0)
        yield from self._file

    def close(self) -> None:
        """Drops what was kept."""
        self._file.close()


def line_of(trace: Trace) -> bytes:
    """The line of a trace in a baseline: redacted."""
    return orjson.dumps(redact_value(to_document(trace)), option=orjson.OPT_APPEND_NEWLINE)


class BaselineZips:
    """Reads and writes baselines; see ports.BaselineFiles."""

    def __init__(self, files: Files, limits: ZipLimits = LIMITS) -> None:
        self._files = files
        self._limits = limits

    def spool(self) -> TraceSpool:
        """A place for the traces of a baseline that is being made."""
        return Spool(self._limits)

    def load(self, path: str, *, whole: bool = True) -> Baseline:
        """A `baseline.zip` or `results.json`; raises SettingError or OverLimit. See the port for `whole`."""
        content = self._files.read(path, self._limits.packed, what="baseline")
        try:
            if content[:2] == b"PK":
                baseline = self._from_zip(content, whole=whole)
            else:
                baseline = Baseline(load_results(content, whole=whole), None)
        except ZipRefusedError as error:
            raise SettingError(Problem(f"the baseline {path} is refused: {error}")) from None
        except OverLimit:
            raise
        except EvalGateError as error:
            reasons = "; ".join(problem.message for problem in error.problems)
            raise SettingError(Problem(f"the baseline {path} can't be read: {reasons}")) from None
        if baseline.results["summary"] is None:
            raise SettingError(Problem(f"{path} holds no finished run", None, "its run ended in exit code 2"))
        return baseline

    def traces(self, path: str) -> Iterator[bytes]:
        """Lines of the traces that a `baseline.zip` keeps, see the port."""
        content = self._files.read(path, self._limits.packed, what="baseline")
        if content[:2] != b"PK":
            return
        try:
            archive = self._opened(content)
            if TRACES in archive.names():
                yield from archive.lines(TRACES)
        except ZipRefusedError as error:
            raise SettingError(Problem(f"the baseline {path} is refused: {error}")) from None

    def suites(self, path: str) -> bytes | None:
        """The suites that a `baseline.zip` keeps, see the port."""
        content = self._files.read(path, self._limits.packed, what="baseline")
        if content[:2] != b"PK":
            return None
        try:
            archive = self._opened(content)
            return archive.read(SUITES, MAX_SUITES) if SUITES in archive.names() else None
        except ZipRefusedError as error:
            raise SettingError(Problem(f"the baseline {path} is refused: {error}")) from None

    def _opened(self, content: bytes) -> SafeZip:
        archive = SafeZip(content, self._limits.unpacked)
        if archive.names() == [NESTED]:  # an upload step that zipped our zip
            archive = SafeZip(archive.read(NESTED), self._limits.unpacked)
        return archive

    def _from_zip(self, content: bytes, *, whole: bool) -> Baseline:
        archive = self._opened(content)
        manifest = _manifest(archive.read("manifest.json"))
        return Baseline(load_results(archive.read("results.json"), whole=whole), manifest)

    def create(self, folder: str, path: str) -> Sequence[Problem]:
        """Makes a baseline from the folder a run left; what it lacks is warned about."""
        made, results = posixpath.join(folder, NESTED), posixpath.join(folder, "results.json")
        finished = self.load(results).results if self._files.expand(results, ".") else None
        if self._files.expand(made, ".") and finished in (None, self.load(made).results):
            _save(path, self._files.read(made, self._limits.packed, what="baseline"))
            return []
        if finished is None:
            raise SettingError(Problem(f"{folder} holds no results.json", None, HOW_TO_FINISH))
        manifest = {
            "schema": BASELINE_SCHEMA,
            "commit": finished["commit"],
            "created_at": finished["created_at"],
        }
        content = self._files.read(results, self._limits.packed, what="results")
        said = self.write(path, BaselineParts(manifest, content, b"{}", None))
        lack = Problem(
            f"{folder} has no {NESTED} of this run: traces and suites are left out of {path}",
            None,
            HOW_TO_KEEP,
        )
        return [lack, *said]

    def write(self, path: str, parts: BaselineParts) -> Sequence[Problem]:
        """Writes the archive: same parts, same bytes. What had to be left out is warned about."""
        spool = parts.traces if isinstance(parts.traces, Spool) else None
        try:
            draft = Path(path).with_name(f".{Path(path).name}.part")
            draft.unlink(missing_ok=True)
            left_out = _write(draft, parts, spool, self._limits)
            draft.replace(path)  # what stood there goes, also where it is a link to elsewhere
        except OSError as error:
            raise SettingError(f"can't write {path}: {error.strerror or 'the system refused'}") from None
        if not left_out:
            return []
        message = f"{left_out:,} traces were left out of {NESTED}, which holds {self._limits.packed:,} bytes"
        return [Problem(message, None, "results are whole; only comparing behaviour needs the traces")]


def _save(path: str, content: bytes) -> None:
    try:
        Path(path).write_bytes(content)
    except OSError as error:
        raise SettingError(f"can't write {path}: {error.strerror or 'the system refused'}") from None


def _write(path: Path, parts: BaselineParts, spool: Spool | None, limits: ZipLimits) -> int:
    """Writes the archive; how many traces had to be left out."""
    import zipfile

    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(_entry("results.json"), parts.results)
        archive.writestr(_entry(SUITES), parts.suites)
        unpacked = len(parts.results) + len(parts.suites) + limits.slack
        kept, left_out = _write_traces(archive, spool, replace(limits, unpacked=limits.unpacked - unpacked))
        manifest = {**parts.manifest, "traces": {"kept": kept, "left_out": left_out}}
        archive.writestr(_entry("manifest.json"), orjson.dumps(manifest, option=orjson.OPT_SORT_KEYS))
    return left_out


def _write_traces(archive: zipfile.ZipFile, spool: Spool | None, limits: ZipLimits) -> tuple[int, int]:
    """How many traces fit, and how many did not; a line may turn out not to shrink at all."""
    if spool is None:
        return 0, 0
    kept, unpacked, full = 0, 0, False
    left_out = spool.left_out
    with archive.open(_entry(TRACES), "w") as member:
        for line in spool.lines():
            packed = archive.fp.tell() if archive.fp else 0
            unpacked += len(line)
            full = full or packed + len(line) > limits.packed - limits.slack or unpacked > limits.unpacked
            if full:
                left_out += 1
                continue
            member.write(line)
            kept += 1
    return kept, left_out


def _entry(name: str) -> zipfile.ZipInfo:
    import zipfile

    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.create_system = 3
    entry.external_attr = 0o100644 << 16
    return entry


def _manifest(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_MANIFEST:
        raise SettingError(f"its manifest.json is larger than {MAX_MANIFEST:,} bytes")
    try:
        manifest = orjson.loads(content)
        orjson.dumps(manifest)  # can't be done with what is nested too deep to be shown
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        raise SettingError("its manifest.json is no JSON") from None
    if not isinstance(manifest, dict) or manifest.get("schema") != BASELINE_SCHEMA:
        raise SettingError(f"its manifest.json is not of schema {BASELINE_SCHEMA}")
    return manifest
