"""Writes `shard.zip`, the results of one shard of a run, and reads it as untrusted input for `merge`."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from contextlib import suppress
from typing import TYPE_CHECKING, BinaryIO

import msgspec

from evalgate.adapters.archives.baseline_writer import build_entry
from evalgate.adapters.file_writer import open_to_write
from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError
from evalgate.errors import Location, Problem, SettingError, report_full_temp_folder
from evalgate.ports.shards import ShardHead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from evalgate.ports import Files, FoundFile

NAME = "shard.zip"
HEAD, BATCHES, TRACES = "shard.json", "found.jsonl", "traces.jsonl"
MAX_PACKED, MAX_UNPACKED = 512_000_000, 4_000_000_000
MAX_HEAD, MAX_LINE = 64_000_000, 64_000_000


class ShardWriter:
    """Writes a shard through temporary files; implements `ShardDraft`.

    `make_path` makes the folder and gives the path; it is called once the shard is judged.
    """

    def __init__(self, make_path: Callable[[], str]) -> None:
        self._make_path = make_path
        with report_full_temp_folder():
            self._batches: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (open until the shard is written)
            self._traces: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  (the same)

    def add(self, batch: bytes, trace_lines: Sequence[bytes]) -> None:
        """Adds one batch, and its traces for a baseline."""
        with report_full_temp_folder():
            self._batches.write(batch)
            self._traces.writelines(trace_lines)

    def finish(self, head: ShardHead) -> None:
        """Writes the shard, atomically."""
        with report_full_temp_folder():
            for file in (self._batches, self._traces):
                file.seek(0)  # writes what is buffered
        path = self._make_path()
        try:
            with (
                open_to_write(path, is_own=True) as stream,
                zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive,
            ):
                archive.writestr(build_entry(HEAD), msgspec.json.encode(head))
                for name, content in ((BATCHES, self._batches), (TRACES, self._traces)):
                    with archive.open(build_entry(name), "w", force_zip64=True) as member:
                        shutil.copyfileobj(content, member, 1 << 20)
        except OSError as error:
            raise SettingError(f"can't write {path}: {error.strerror or 'unknown error'}") from None

    def close(self) -> None:
        """Deletes the temporary files; what is still buffered may not fit on the disk."""
        for file in (self._batches, self._traces):
            with suppress(OSError):
                file.close()


class ShardReader:
    """Finds and opens shards."""

    def __init__(self, files: Files) -> None:
        self._files = files

    def open(self, patterns: Sequence[str]) -> Sequence[ZippedShard]:
        """Opens the shards that files, folders or globs name; raises SettingError for one that finds none."""
        found: dict[str, FoundFile] = {}
        for pattern in patterns:
            matches = [each for each in self._files.expand(pattern, ".") if each.path.endswith(".zip")]
            if not matches:
                hint = f"pass the {NAME} files that `evalgate run --shard` wrote, or a folder that contains them"
                raise SettingError(Problem(f"no shard at {pattern!r}", None, hint))
            found.update((each.real, each) for each in matches)
        return [self._open_shard(each) for each in sorted(found.values())]

    def _open_shard(self, file: FoundFile) -> ZippedShard:
        content = self._files.read(file.real, MAX_PACKED, what="shard")
        try:
            archive = SafeZip(content, MAX_UNPACKED)
            head = msgspec.json.decode(archive.read(HEAD, MAX_HEAD), type=ShardHead)
        except ZipRefusedError as error:
            raise damaged_shard_error(file.path, str(error)) from None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise damaged_shard_error(file.path, f"its {HEAD} was not written by this version of EvalGate") from None
        return ZippedShard(file.path, archive, head)


class ZippedShard:
    """A shard read from a zip; implements `OpenShard`."""

    def __init__(self, path: str, archive: SafeZip, head: ShardHead) -> None:
        self.path, self.head = path, head
        self._archive = archive

    def read_batches(self) -> Iterator[bytes]:
        """Yields one line per batch."""
        return self._member_lines(BATCHES)

    def read_traces(self) -> Iterator[bytes]:
        """Yields the traces for a baseline, one per line."""
        return self._member_lines(TRACES)

    def _member_lines(self, name: str) -> Iterator[bytes]:
        try:
            yield from self._archive.lines(name, MAX_LINE)
        except ZipRefusedError as error:
            raise damaged_shard_error(self.path, str(error)) from None


def damaged_shard_error(path: str, reason: str) -> SettingError:
    """The error for an invalid shard."""
    return SettingError(Problem(f"this shard can't be merged: {reason}", Location(path)))
