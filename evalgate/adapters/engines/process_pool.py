"""Worker processes on this machine, forked, each with one pipe for tasks and one for answers."""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
import threading
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NoReturn

from evalgate.ports.engines import WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Work = Callable[[Any], bytes]

SMALL = 32_000
"""Bytes that always fit into a pipe: a smaller task may wait there while the worker is busy."""


class ProcessPool:
    """Processes that share the work; implements `Engine`.

    They are forked, so nothing has to be loaded or sent at the start. A worker that dies is replaced. `confine`
    limits what a worker may do, before it gets its first task.
    """

    def __init__(self, workers: int, confine: Callable[[], object] | None = None) -> None:
        self.workers = workers
        self._confine = confine
        self._work: Work | None = None
        self._processes: list[_Worker] = []
        self._waiting: deque[_Ticket] = deque()
        self._alarm = _Alarm()

    def begin(self, work: Work) -> None:
        """Starts the workers."""
        self._work = work
        self._alarm.set()
        gc.collect()
        gc.freeze()  # a garbage collection in a worker would otherwise copy this memory
        for _ in range(self.workers):
            self._processes.append(self._spawn())  # one by one: each closes the pipes of earlier ones

    def submit(self, task: Any) -> _Ticket:
        """Submits a task."""
        ticket = _Ticket(self, pickle.dumps(task))
        self._waiting.append(ticket)
        self._hand_out()
        return ticket

    def close(self) -> None:
        """Kills the workers, also busy ones."""
        processes, self._processes = self._processes, []
        for worker in processes:
            worker.end()
        self._alarm.unset()
        gc.unfreeze()

    def wait_for(self, ticket: _Ticket) -> None:
        """Reads answers of workers until the ticket has its answer."""
        while not ticket.is_done:
            watched: list[Any] = [*self._processes, *self._alarm.ends[:1]]
            ready, _, _ = select.select(watched, [], [])
            self._alarm.look()
            for worker in ready:
                if isinstance(worker, _Worker):
                    self._hear(worker)
            self._hand_out()

    def _hand_out(self) -> None:
        """Gives every worker one task, and a second one if it fits into the pipe."""
        for most in (1, 2):
            for worker in self._processes:
                if not self._waiting:
                    return
                if len(worker.tickets) < most and (most == 1 or len(self._waiting[0].task) < SMALL):
                    worker.give(self._waiting.popleft())

    def _hear(self, worker: _Worker) -> None:
        for answer in worker.inbox.read():
            worker.tickets.popleft().answer = answer
        if worker.inbox.is_closed:
            self._processes.remove(worker)
            how = worker.end()
            if worker.tickets:
                worker.tickets.popleft().lost = how
            self._waiting.extendleft(reversed(worker.tickets))  # tasks it had not begun
            self._processes.append(self._spawn())

    def _spawn(self) -> _Worker:
        tasks, answers = os.pipe(), os.pipe()
        pid = os.fork()
        if pid == 0:
            self._alarm.unset()
            others = [end for worker in self._processes for end in (worker.tasks, worker.answers)]
            _serve(self._work, tasks, answers, others, self._confine)
        os.close(tasks[0])
        os.close(answers[1])
        return _Worker(pid, tasks[1], answers[0])


class _Alarm:
    """Notices an interrupt that Python loses while it runs a finaliser, which can't raise.

    Python's handler still raises KeyboardInterrupt where possible. Does nothing outside the main thread.
    """

    def __init__(self) -> None:
        self.ends: tuple[int, ...] = ()
        self._before = -1

    def set(self) -> None:
        """Starts writing the numbers of signals to a pipe."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.ends = os.pipe()
        for end in self.ends:
            os.set_blocking(end, False)
        self._before = signal.set_wakeup_fd(self.ends[1], warn_on_full_buffer=False)

    def look(self) -> None:
        """Raises KeyboardInterrupt if an interrupt was written."""
        with suppress(BlockingIOError):
            if self.ends and signal.SIGINT in os.read(self.ends[0], 64):
                raise KeyboardInterrupt

    def unset(self) -> None:
        if self.ends:
            signal.set_wakeup_fd(self._before)
            for end in self.ends:
                os.close(end)
            self.ends = ()


class _Ticket:
    def __init__(self, pool: ProcessPool, task: bytes) -> None:
        self._pool = pool
        self.task = task
        self.answer: bytes | None = None
        self.lost: str | None = None

    @property
    def is_done(self) -> bool:
        return self.answer is not None or self.lost is not None

    def result(self) -> bytes:
        """Waits for the answer. Raises WorkerLostError if the worker died."""
        self._pool.wait_for(self)
        if self.answer is None:
            raise WorkerLostError(self.lost)
        answer, self.answer = self.answer, b""
        return answer


class _Worker:
    """The parent's side of one worker process."""

    def __init__(self, pid: int, tasks: int, answers: int) -> None:
        self.pid, self.tasks, self.answers = pid, tasks, answers
        self.tickets: deque[_Ticket] = deque()
        self.inbox = Inbox(answers)

    def fileno(self) -> int:
        return self.answers

    def give(self, ticket: _Ticket) -> None:
        self.tickets.append(ticket)
        with suppress(BrokenPipeError):  # it has died; its closed pipe will show
            send(self.tasks, ticket.task)

    def end(self) -> str:
        """Ends the process if it still runs; describes how it ended."""
        os.close(self.tasks)
        os.close(self.answers)
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(status):
            return f"was killed by signal {os.WTERMSIG(status)}"
        return f"exited with code {os.WEXITSTATUS(status)}"


def _serve(
    work: Work | None,
    tasks: tuple[int, int],
    answers: tuple[int, int],
    others: list[int],
    confine: Callable[[], object] | None,
) -> NoReturn:
    """The main loop of a worker; ends when the parent closes the pipe."""
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
        for end in (tasks[1], answers[0], *others):
            os.close(end)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 0)
        os.dup2(nowhere, 1)  # stdout is for the parent's result
        if confine is not None:
            confine()
        while work is not None and (task := receive(tasks[0])) is not None:
            send(answers[1], work(pickle.loads(task)))  # noqa: S301  (written by the parent)
        os._exit(0)
    except BrokenPipeError:
        os._exit(0)
    finally:
        os._exit(1)


LENGTH = 8
CHUNK = 1 << 17
"""Bytes read at once."""


def send(pipe: int, message: bytes) -> None:
    """Writes one message; blocks while the pipe is full."""
    rest = memoryview(len(message).to_bytes(LENGTH, "big") + message)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def receive(pipe: int) -> bytes | None:
    """Waits for one message; None if the other end is closed."""
    head = _exactly(pipe, LENGTH)
    return None if head is None else _exactly(pipe, int.from_bytes(head, "big"))


def _exactly(pipe: int, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = os.read(pipe, min(CHUNK, size - len(found)))
        if not part:
            return None
        found += part
    return bytes(found)


class Inbox:
    """Reads the messages of one pipe without blocking."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe
        self._found = bytearray()
        self._part = memoryview(bytearray(CHUNK))  # reused: allocating one per read is slower
        self.is_closed = False
        os.set_blocking(pipe, False)

    def read(self) -> Iterator[bytes]:
        """Yields the messages that are complete."""
        while not self.is_closed:
            try:
                size = os.readv(self._pipe, [self._part])
            except BlockingIOError:
                break
            self.is_closed = not size
            self._found += self._part[:size]
        while len(self._found) >= LENGTH:
            end = LENGTH + int.from_bytes(self._found[:LENGTH], "big")
            if len(self._found) < end:
                break
            message = bytes(self._found[LENGTH:end])
            del self._found[:end]
            yield message
