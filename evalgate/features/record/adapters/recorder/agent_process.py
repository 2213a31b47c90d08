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


class AgentProcess:
    """A command that runs; it has this process's stdin, stdout and stderr."""

    def __init__(self, process: asyncio.subprocess.Process, interrupts: Interrupts) -> None:
        self._process, self._interrupts = process, interrupts

    @classmethod
    async def start(
        cls, command: Sequence[str], environ: Mapping[str, str], cwd: str, interrupts: Interrupts
    ) -> AgentProcess:
        """Starts a command, found on the PATH of its environment, without a shell; raises SettingError."""
        if sys.platform == "win32":
            raise SettingError("evalgate record needs process groups, which this system lacks")
        try:
            process = await asyncio.create_subprocess_exec(*command, env=environ, cwd=cwd, start_new_session=True)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is no valid command"
            hint = "the command follows `--`, and no shell interprets it"
            raise SettingError(Problem(f"can't start {command[0][:200]!r}: {reason}", None, hint)) from None
        return cls(process, interrupts)

    async def wait(self, longest: float) -> AgentEnd:
        """Waits until the command ends; ends its group after `longest` seconds, and when interrupted."""
        ended, stopped = asyncio.create_task(self._process.wait()), asyncio.create_task(self._interrupts.wait())
        await asyncio.wait({ended, stopped}, timeout=longest, return_when=asyncio.FIRST_COMPLETED)
        has_timed_out = not ended.done() and self._interrupts.received is None
        if not ended.done():
            await self.end_group()
        stopped.cancel()
        return AgentEnd(await ended, has_timed_out, self._interrupts.received)

    def has_group(self) -> bool:
        """Whether a process of the group still runs."""
        try:
            os.killpg(self._process.pid, 0)
        except (ProcessLookupError, PermissionError):
            return False
        return True

    async def end_group(self) -> None:
        """Ends every process of the group: SIGTERM, 5 seconds, SIGKILL."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGTERM)
        for _ in range(int(GRACE / STEP)):
            if not self.has_group():
                return
            await asyncio.sleep(STEP)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
