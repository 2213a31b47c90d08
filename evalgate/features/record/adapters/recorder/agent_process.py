"""Runs the agent's command in a process group of its own, and ends the whole group."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Self

from evalgate.errors import Problem, SettingError
from evalgate.features.record.models.run import AgentEnd

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GRACE = 5.0
"""Seconds between SIGTERM and SIGKILL."""
STEP = 0.02
MAX_STDERR, MAX_CHUNK = 4_096, 65_536
"""Bytes at the end of an agent's stderr that are kept; bytes that are read at once."""


class Interrupts:
    """SIGINT and SIGTERM to this process, from the start of a recording to its end."""

    def __init__(self) -> None:
        self.received: int | None = None
        self._event = asyncio.Event()

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._note, number)
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)

    async def wait(self) -> None:
        """Waits for a signal."""
        await self._event.wait()

    def _note(self, number: int) -> None:
        self.received = self.received or number
        self._event.set()


class StderrTail:
    """A pipe for the stderr of an agent, which is passed on to that of this process; its end is kept."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._reader, self.writer = os.pipe()
        os.set_blocking(self._reader, False)
        self._kept, self._is_cut, self._is_open = b"", False, True
        self._loop.add_reader(self._reader, self._pass_on)

    def read(self) -> str:
        """The end of what was written so far, from the beginning of a line, so that no secret is cut."""
        self._pass_on()
        text = self._kept.decode("utf-8", "replace")
        return text.partition("\n")[2] if self._is_cut else text

    def close(self) -> None:
        """Ends the pipe."""
        if self._is_open:
            self._pass_on()
            self._is_open = False
            self._loop.remove_reader(self._reader)
            os.close(self._reader)

    def _pass_on(self) -> None:
        data = b""
        with suppress(BlockingIOError):
            data = os.read(self._reader, MAX_CHUNK)
            if not data:  # every writer has closed it
                self._loop.remove_reader(self._reader)
        if data:
            _write_stderr(data)
            self._is_cut = self._is_cut or len(self._kept) + len(data) > MAX_STDERR
            self._kept = (self._kept + data)[-MAX_STDERR:]


def _write_stderr(data: bytes) -> None:
    with suppress(OSError):  # nobody reads it
        while data:
            data = data[os.write(2, data) :]


class AgentProcess:
    """A command that runs; it has this process's stdin, stdout and stderr, whose end may be kept."""

    def __init__(
        self, process: asyncio.subprocess.Process, interrupts: Interrupts, stderr: StderrTail | None = None
    ) -> None:
        self._process, self._interrupts, self._stderr = process, interrupts, stderr

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        environ: Mapping[str, str],
        cwd: str,
        interrupts: Interrupts,
        *,
        keeps_stderr: bool = False,
    ) -> AgentProcess:
        """Starts a command, found on the PATH of its environment, without a shell; raises SettingError."""
        if sys.platform == "win32":
            raise SettingError("evalgate record needs process groups, which this system lacks")
        stderr = StderrTail() if keeps_stderr else None
        writer = None if stderr is None else stderr.writer
        try:
            process = await asyncio.create_subprocess_exec(
                *command, env=environ, cwd=cwd, start_new_session=True, stderr=writer
            )
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no valid command"
            hint = "the command follows `--`, and no shell interprets it"
            if stderr is not None:
                stderr.close()
            raise SettingError(Problem(f"can't start {command[0][:200]!r}: {reason}", None, hint)) from None
        finally:
            if writer is not None:
                os.close(writer)
        return cls(process, interrupts, stderr)

    async def wait(self, longest: float) -> AgentEnd:
        """Waits until the command ends; ends its group after `longest` seconds, and when interrupted."""
        ended, stopped = asyncio.create_task(self._process.wait()), asyncio.create_task(self._interrupts.wait())
        await asyncio.wait({ended, stopped}, timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        has_timed_out = not ended.done() and self._interrupts.received is None
        if not ended.done():
            await self._end_group()
        stopped.cancel()
        code = await ended
        stderr = None if self._stderr is None else self._stderr.read()
        return AgentEnd(code, has_timed_out, self._interrupts.received, stderr)

    def has_group(self) -> bool:
        """Whether a process of the group still runs."""
        try:
            os.killpg(self._process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    async def end_group(self) -> None:
        """Ends every process of the group: SIGTERM, 5 seconds, SIGKILL."""
        await self._end_group()
        if self._stderr is not None:
            self._stderr.close()

    async def _end_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGTERM)
        for _ in range(int(GRACE / STEP)):
            if not self.has_group():
                return
            await asyncio.sleep(STEP)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
