"""Reads and writes `baseline.zip`: what a run leaves so that later runs can be compared with it."""

from __future__ import annotations

import posixpath
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO
from zlib import crc32

import orjson

from evalgate.adapters.archives.baseline_writer import MANIFEST, RESULTS, SUITES, TRACES, ZipLimits
from evalgate.adapters.file_writer import open_to_write
from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import EvalGateError, Location, OverLimit, Problem, SettingError
from evalgate.models.results.document_names import (
    BASELINE_SCHEMA,
    BASELINE_SCHEMA_1,
    WRITTEN_BY_A_NEWER,
    is_newer,
)
from evalgate.ports import Baseline, BaselineParts, ComparableBaseline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.trace.trace import Trace
    from evalgate.ports import Files, TraceSpool


LIMITS = ZipLimits()
KNOWN_SCHEMAS = (BASELINE_SCHEMA, BASELINE_SCHEMA_1)
NESTED, JSON = "baseline.zip", ".json"
MAX_SUITES = 64_000_000
MAX_MANIFEST = 1_000_000
HOW_TO_KEEP = "run without --no-baseline-zip to include them"
HOW_TO_FINISH = "run `evalgate run` first, or pass the --output-dir of a finished one"
HOW_TO_WRITE = f"run again without --no-baseline-zip or --watch, and not compared with that {NESTED}"
JUDGED = frozenset({"pass", "fail"})


class BaselineZips:
    """Reads and writes baselines; implements `BaselineFiles`."""

    def __init__(self, files: Files, limits: ZipLimits = LIMITS) -> None:
        self._files = files
        self._limits = limits

    def open_spool(self, encode: Callable[[Trace], bytes]) -> TraceSpool:
        """A spool for the traces of a baseline that is being written; see the port."""
        from evalgate.adapters.archives.baseline_writer import (
            BaselineTraceSpool,  # only for runs that write a baseline
        )

        return BaselineTraceSpool(self._limits, encode)

    def load(self, path: str) -> Baseline:
        """Reads a `baseline.zip` or `results.json`; raises SettingError or OverLimit. See the port."""
        from evalgate.reporting.results.load_results import load_results

        content = self._read(path)
        with _add_path_to_errors(path):
            archive = self._open_archive(path, content)
            if archive is None:
                baseline = Baseline(load_results(content), None)
            else:
                manifest = _parse_manifest(archive.read(MANIFEST))
                baseline = Baseline(load_results(archive.read(RESULTS)), manifest)
        if baseline.results["summary"] is None:
            raise _unfinished_run_error(path)
        return baseline

    def load_run(self, path: str, *, whole: bool = False) -> ComparableBaseline:
        """Reads as much of a baseline as a comparison needs; see the port."""
        content = self._read(path)
        with _add_path_to_errors(path):
            archive = self._open_archive(path, content)
            if archive is None:
                baseline = ComparableBaseline(_load_run(content, whole=whole), None)
            else:
                manifest = _parse_manifest(archive.read(MANIFEST))
                baseline = ComparableBaseline(_load_run(archive.read(RESULTS), whole=whole), manifest)
        if baseline.run.summary is None:
            raise _unfinished_run_error(path)
        return baseline

    def read_traces(self, path: str) -> Iterator[bytes]:
        """Yields the lines of a baseline's traces; see the port."""
        content = self._read(path)
        with _add_path_to_errors(path):
            archive = self._open_archive(path, content)
            if archive is not None and TRACES in archive.names():
                yield from archive.lines(TRACES)

    def read_suites(self, path: str) -> bytes | None:
        """The suites that a `baseline.zip` holds; see the port."""
        content = self._read(path)
        with _add_path_to_errors(path):
            archive = self._open_archive(path, content)
            if archive is None or SUITES not in archive.names():
                return None
            return archive.read(SUITES, MAX_SUITES)

    def _read(self, path: str) -> bytes:
        try:
            return self._read_file(path)
        except SettingError as error:
            if error.problems[0].message != f"{WHAT} does not exist":
                raise
            saved = self._files.expand(SAVED, ".")
            hint = f"did you mean {saved[0].path}?" if saved else HOW_TO_SAVE
            raise SettingError(Problem(error.problems[0].message, Location(path), hint)) from None

    def _read_file(self, path: str) -> bytes:
        if path.endswith(JSON):  # what the archive has of it may be as large
            return self._files.read(path, self._limits.unpacked, what="file of results")
        return self._files.read(path, self._limits.packed, what=WHAT)

    def _open_archive(self, path: str, content: bytes) -> SafeZip | _UnpackedZip | None:
        """The archive, also one that was unpacked beside its manifest; None if the file is neither.

        A `.zip` that holds JSON is read as results; other content that is no zip is refused as such.
        """
        if posixpath.basename(path) == MANIFEST:
            return _UnpackedZip(self._files, posixpath.dirname(path), self._limits.unpacked)
        if content[:2] != b"PK":
            if path.endswith(".zip") and not content.lstrip().startswith(b"{"):
                raise SettingError("it is not a zip file")
            return None
        archive = SafeZip(content, self._limits.unpacked)
        if archive.names() == [NESTED]:  # an upload step zipped the zip again
            archive = SafeZip(archive.read(NESTED), self._limits.unpacked)
        return archive

    def create(self, folder: str, path: str, stream: BinaryIO) -> Sequence[Problem]:
        """Builds a baseline from the output folder of a run; returns warnings about missing parts.

        `path` is the name of `stream` in them. Raises SettingError, and OSError if writing fails.
        """
        finished, archive = self._find_run(folder)
        if archive is not None:
            stream.write(archive)
            return []
        if finished is None:
            raise _no_run_error(folder)
        _require_measured(finished, folder)
        manifest = {
            "schema": BASELINE_SCHEMA,
            "commit": finished["commit"],
            "created_at": finished["created_at"],
        }
        content = self._files.read(posixpath.join(folder, RESULTS), self._limits.packed, what="results")
        parts = BaselineParts(manifest, content, b"{}", None)
        warnings = self._write(stream, parts)
        missing_parts = Problem(
            f"{folder} has no {NESTED} of this run: traces and suites are left out of {path}",
            None,
            HOW_TO_KEEP,
        )
        return [missing_parts, *warnings]

    def read_finished(self, folder: str) -> tuple[ResultsDoc, bytes]:
        """The results of the last run in an output folder, and its `baseline.zip`.

        Raises SettingError unless the run passed or failed, and the zip is of this run.
        """
        finished, archive = self._find_run(folder)
        if finished is None:
            raise _no_run_error(folder)
        if finished["verdict"] not in JUDGED:
            reasons = "; ".join(reason["message"] for reason in finished["reasons"])
            raise SettingError(Problem(f"the run in {folder} can't be a baseline: it could not judge", None, reasons))
        _require_measured(finished, folder)
        if archive is None:
            raise SettingError(Problem(f"{folder} has no {NESTED} of its last run", None, HOW_TO_WRITE))
        return finished, archive

    def _find_run(self, folder: str) -> tuple[ResultsDoc | None, bytes | None]:
        """The results in an output folder, and the `baseline.zip` if it is of the same run."""
        existing, results = posixpath.join(folder, NESTED), posixpath.join(folder, RESULTS)
        finished = self.load(results).results if self._files.expand(results, ".") else None
        if not self._files.expand(existing, ".") or finished not in (None, self.load(existing).results):
            return finished, None
        return finished, self._read(existing)

    def write(self, path: str, parts: BaselineParts) -> Sequence[Problem]:
        """Writes the archive, deterministically; returns a warning about traces that were left out."""
        try:
            with open_to_write(path, is_own=True) as stream:
                return self._write(stream, parts)
        except OSError as error:
            raise SettingError(f"can't write {path}: {error.strerror or 'unknown error'}") from None

    def _write(self, stream: BinaryIO, parts: BaselineParts) -> Sequence[Problem]:
        from evalgate.adapters.archives.baseline_writer import write_archive

        left_out = write_archive(stream, parts, self._limits)
        if not left_out:
            return []
        message = f"{left_out:,} traces were left out of {NESTED}, which is limited to {self._limits.packed:,} bytes"
        return [Problem(message, None, "the results are complete; only trajectory diffs need the traces")]


class _UnpackedZip:
    """The members of a `baseline.zip` as files, as `gh run download` leaves them."""

    def __init__(self, files: Files, folder: str, limit: int) -> None:
        self._files, self._folder, self._limit = files, folder, limit

    def names(self) -> list[str]:
        """Names of the members that exist."""
        return [name for name in (MANIFEST, RESULTS, SUITES, TRACES) if self._files.expand(self._path(name), ".")]

    def read(self, name: str, max_bytes: int | None = None) -> bytes:
        """Reads a member; raises SettingError or OverLimit."""
        return self._files.read(self._path(name), max_bytes or self._limit, what=name)

    def lines(self, name: str) -> Iterator[bytes]:
        """Yields the lines of a member."""
        return iter(self.read(name).splitlines(keepends=True))

    def _path(self, name: str) -> str:
        return posixpath.join(self._folder, name)


@contextmanager
def _add_path_to_errors(path: str) -> Iterator[None]:
    """Names the baseline's path in errors about its content."""
    try:
        yield
    except ZipRefusedError as error:
        raise SettingError(Problem(f"the baseline {path} is refused: {error}")) from None
    except OverLimit:
        raise
    except EvalGateError as error:
        reasons = "; ".join(problem.message for problem in error.problems)
        if not path.endswith(_SUFFIXES):
            raise SettingError(Problem(f"{path} is no baseline", None, WHAT_IT_IS)) from None
        raise SettingError(Problem(f"the baseline {path} can't be read: {reasons}")) from None


_SUFFIXES = (".zip", ".json")
WHAT = "baseline"
SAVED = ".evalgate/saved/*.zip"
HOW_TO_SAVE = "`evalgate baseline save` keeps the one of the last run"
WHAT_IT_IS = "a baseline is the baseline.zip or results.json of an earlier run, or the folder that holds one"
UNFIT = {
    "not_measured": "outages left it unmeasured",
    "no_traces": "a suite found no traces",
    "empty_glob": "a glob of a suite found no traces",
}
"""Reasons for which a run can't be a baseline."""


def _require_measured(finished: ResultsDoc, folder: str) -> None:
    """Raises SettingError for a run in which what a baseline needs is missing."""
    for each in finished["reasons"]:
        if each["code"] in UNFIT:
            message = f"the run in {folder} can't be a baseline: {UNFIT[each['code']]}"
            raise SettingError(Problem(message, None, each["message"]))


def _no_run_error(folder: str) -> SettingError:
    return SettingError(Problem(f"there is no finished run at {folder}", None, HOW_TO_FINISH))


def _unfinished_run_error(path: str) -> SettingError:
    return SettingError(Problem(f"{path} contains no finished run", None, "its run ended with exit code 2"))


def _load_run(results: bytes, *, whole: bool) -> BaselineRun:
    from evalgate.reporting.results.load_results import load_baseline_run  # most runs have no baseline

    return load_baseline_run(results, f"{len(results)}-{crc32(results):08x}", whole=whole)


def _parse_manifest(content: bytes) -> dict[str, Any]:
    if len(content) > MAX_MANIFEST:
        raise SettingError(f"its manifest.json is larger than {MAX_MANIFEST:,} bytes")
    try:
        manifest = orjson.loads(content)
        orjson.dumps(manifest)  # fails for a manifest that is nested too deep to print
    except (orjson.JSONDecodeError, orjson.JSONEncodeError):
        raise SettingError("its manifest.json is not valid JSON") from None
    if isinstance(manifest, dict) and is_newer(manifest.get("schema"), BASELINE_SCHEMA):
        raise SettingError(WRITTEN_BY_A_NEWER)
    if not isinstance(manifest, dict) or manifest.get("schema") not in KNOWN_SCHEMAS:
        raise SettingError(f"its manifest.json does not have the schema {BASELINE_SCHEMA}")
    return manifest
