"""Reads the state at one time; implements `StateSource`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.errors import TraceError
from evalgate.features.record.adapters.state.command import run_state_command
from evalgate.features.record.adapters.state.files import look_at_files
from evalgate.features.record.models.state import Snapshot, StateNotReadError
from evalgate.measures.sequences.differences import ABSENT
from evalgate.settings.secret_variables import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.features.record.adapters.state.files import FileGlob


class StateReader(Struct, frozen=True):
    """Reads what `command` prints, decoded by `decode`, and the files that `globs` match; either may be empty."""

    cwd: str
    decode: Callable[[bytes], Any]
    command: Sequence[str] = ()
    globs: Sequence[FileGlob] = ()

    async def read(self, environ: Mapping[str, str]) -> Snapshot:
        """The state now; a problem that prevents reading it is part of it. `environ` is the agent's."""
        kept = {name: value for name, value in environ.items() if not is_secret_name(name)}
        try:
            data = self.decode(await run_state_command(self.command, kept, self.cwd)) if self.command else ABSENT
            files = await asyncio.to_thread(look_at_files, self.cwd, self.globs) if self.globs else None
        except StateNotReadError as error:
            return Snapshot(problem=str(error))
        except TraceError as error:
            return Snapshot(problem=f"its command printed no JSON: {error}")
        return Snapshot(data, files)
