"""The folder of cassettes: below the working directory, read and written without following a link."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from evalgate.adapters.file_writer import open_to_write
from evalgate.bootstrap.sources import build_workspace
from evalgate.errors import SettingError
from evalgate.features.record.adapters.exchanges.cassette_file import decode_cassette, encode_cassette
from evalgate.features.record.adapters.exchanges.trace import build_trace
from evalgate.features.record.adapters.trial_folder import TrialFolder
from evalgate.features.record.application.trial_writer import build_trace_id
from evalgate.features.record.application.trials import load_exchange
from evalgate.features.record.models.cassette import MAX_BYTES, ReplayNote
from evalgate.features.record.models.run import ProcessRun
from evalgate.models.results.document_names import EXCHANGE_SCHEMA
from evalgate.models.trace.trace import TraceLocation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from evalgate.features.record.models.cassette import Cassette
    from evalgate.features.record.models.exchange import TrialId
    from evalgate.models.trace.trace import Trace

REPLAYS = ".evalgate/replays.json"
DEFAULT_FOLDER = "evals/cassettes"
SUFFIX = ".jsonl"
WHAT = "the cassette"


class CassetteFolder:
    """Cassettes by trial; implements `CassetteStore`."""

    def __init__(self, cwd: str, folder: str = DEFAULT_FOLDER) -> None:
        self._folder = os.path.relpath(Path(cwd, folder), cwd)
        self._files = TrialFolder(cwd, self._folder, is_inside=True)
        self._workspace = build_workspace(cwd, cwd)

    def path(self, trial: TrialId) -> str:
        """The path of a trial's cassette, relative to the working directory."""
        return self._files.path(trial, SUFFIX)

    def load(self, trial: TrialId) -> Cassette | None:
        """The cassette of a trial, None without one. Raises InvalidInput for one that is refused."""
        path = self.path(trial)
        if not self._files.exists(path):
            return None
        return decode_cassette(self._workspace.read(path, MAX_BYTES, what=WHAT), path, trial)

    def load_all(self) -> Iterator[tuple[str, Cassette]]:
        """Every cassette of the folder with its path, sorted; raises InvalidInput for one that is refused."""
        for file in self._workspace.expand(self._folder, "."):
            if file.path.endswith(SUFFIX):
                yield file.path, decode_cassette(self._workspace.read(file.path, MAX_BYTES, what=WHAT), file.path)

    def write(self, trial: TrialId, cassette: Cassette) -> int:
        """Writes a cassette as a whole; returns its size in bytes, and writes none above 20 MB."""
        data = encode_cassette(cassette)
        if len(data) <= MAX_BYTES:
            self._files.write(self.path(trial), data)
        return len(data)

    def rewrite(self, path: str, cassette: Cassette) -> None:
        """Writes a cassette that was read from this path."""
        self._files.write(path, encode_cassette(cassette))

    def remove(self, path: str) -> None:
        """Deletes a cassette, and its folder if that is empty then."""
        self._files.remove(path)


def rebuild_trace(cassette: Cassette, path: str) -> Trace:
    """The trace that a replay of all exchanges of a cassette would have."""
    header = cassette.header
    exchanges = [load_exchange(each) for each in cassette.exchanges]
    for number, exchange in enumerate(exchanges):
        exchange.arrived_at = float(number)
    trial = header.trial_id
    run = ProcessRun(trial, build_trace_id(trial), commit=header.commit, agent_hash=header.agent_hash)
    trace = build_trace(exchanges, run)
    trace.source = TraceLocation(path, format=EXCHANGE_SCHEMA)
    return trace


def read_replays(cwd: str) -> dict[str, ReplayNote]:
    """What the last replays used, by the path of the cassette; empty if nothing is known."""
    try:
        return msgspec.json.decode(Path(cwd, REPLAYS).read_bytes(), type=dict[str, ReplayNote])
    except (OSError, msgspec.DecodeError):
        return {}


def write_replays(cwd: str, notes: dict[str, ReplayNote]) -> None:
    """Notes what replays used, besides what is known of other cassettes."""
    if not notes:
        return
    path = Path(cwd, REPLAYS)
    try:
        path.parent.mkdir(exist_ok=True)
        with open_to_write(os.fspath(path), is_own=True) as stream:
            stream.write(msgspec.json.encode(read_replays(cwd) | notes, order="sorted"))
    except OSError as error:
        raise SettingError(f"can't write {REPLAYS}: {error.strerror or 'unknown error'}") from None
