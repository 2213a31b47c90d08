"""Runs the command that prints the state, without a shell, and reads at most 1 MB within 30 seconds."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import IO, TYPE_CHECKING

from evalgate.features.record.models.state import StateNotReadError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MOST_BYTES = 2**20
LONGEST = 30.0
"""Seconds."""


async def run_state_command(
    command: Sequence[str], environ: Mapping[str, str], cwd: str, longest: float = LONGEST
) -> bytes:
    """What the command prints; raises StateNotReadError if it fails. Its processes are ended."""
    reader, writer = os.pipe()
    with os.fdopen(reader, "rb") as pipe:
        try:
            process = await asyncio.create_subprocess_exec(
                *command, env=environ, cwd=cwd, stdin=asyncio.subprocess.DEVNULL, stdout=writer, start_new_session=True
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no valid command"
            raise StateNotReadError(f"its command can't be started: {reason}") from None
        finally:
            os.close(writer)
        try:
            return await asyncio.wait_for(_read(process, pipe), longest)
        except TimeoutError:
            raise StateNotReadError(f"its command did not end within {longest:g} seconds") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()


async def _read(process: asyncio.subprocess.Process, pipe: IO[bytes]) -> bytes:
    """What comes through a pipe of our own: asyncio waits until its own ones are read to the end."""
    stream, printed = asyncio.StreamReader(), b""
    protocol = asyncio.StreamReaderProtocol(stream)
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, pipe)
    try:
        while chunk := await stream.read(2**16):
            printed += chunk
            if len(printed) > MOST_BYTES:
                raise StateNotReadError(f"its command printed more than {MOST_BYTES:,} bytes")
    finally:
        transport.close()
    code = await process.wait()
    if code:
        raise StateNotReadError(f"its command ended with {'exit code' if code > 0 else 'signal'} {abs(code)}")
    return printed
