"""Engines on this machine: this process, or worker processes, forked so that nothing is loaded or sent at the start."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalgate.adapters.signals import hold_signals
from evalgate.errors import Problem, SettingError
from evalgate.ports.batches import WorkerLostError

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Future

    from evalgate.ports.batches import PendingResult

    Work = Callable[[Any], Any]

QUOTA = Path("/sys/fs/cgroup/cpu.max")
LOOK_EVERY_S = 1.0
"""While a result is awaited: how often it is looked whether all workers live."""
_work: Work
"""In a worker: the function that judges a task."""


class ProcessPool:
    """Processes that share the work; implements `Engine`. A worker that dies ends the run.

    `confine` limits what a worker may do, before it gets its first task.
    """

    def __init__(self, workers: int, confine: Callable[[], object] | None = None) -> None:
        self.workers = workers
        self._confine = confine
        self._executor: ProcessPoolExecutor | None = None

    def begin(self, work: Work) -> None:
        """Prepares the workers, which start with the first task."""
        gc.collect()
        gc.freeze()  # a garbage collection in a worker would otherwise copy this memory
        fork = multiprocessing.get_context("fork")
        try:
            self._executor = ProcessPoolExecutor(self.workers, fork, _start_worker, (work, self._confine))
        except (OSError, NotImplementedError) as error:
            message = f"worker processes can't be started ({type(error).__name__})"
            raise SettingError(Problem(message, None, "judge in one process: --jobs 1")) from None

    def submit(self, task: Any) -> PendingResult:
        """Submits a task; its result raises WorkerLostError if a worker died."""
        if self._executor is None:
            raise RuntimeError("the pool has no workers: call `begin` first")
        try:
            with hold_signals():  # the first task starts the workers
                return partial(self._wait, self._executor.submit(_judge, task))
        except BrokenProcessPool:
            raise WorkerLostError("died") from None

    def close(self) -> None:
        """Kills the workers, also busy ones."""
        if self._executor is not None:
            self._kill_workers(self._executor)
            self._executor.shutdown(cancel_futures=True)
            self._executor = None
        gc.unfreeze()

    def _wait(self, future: Future[Any]) -> Any:
        while True:
            try:
                return future.result(LOOK_EVERY_S)
            except BrokenProcessPool:
                raise WorkerLostError("died") from None
            except TimeoutError:
                if future.done():
                    raise
                if self._executor is not None and len(multiprocessing.active_children()) < self.workers:
                    self._kill_workers(self._executor)

    def _kill_workers(self, executor: ProcessPoolExecutor) -> None:
        """Kills all workers, and ends the wait for the rest of a result that one of them was writing.

        The executor would wait for it forever, because this process can write to that pipe as well.
        """
        kill_workers()
        executor._result_queue._writer.close()  # type: ignore[attr-defined] # noqa: SLF001


def kill_workers() -> None:
    """Kills all workers, because this process is being ended."""
    for process in multiprocessing.active_children():
        process.kill()
        process.join()


def _start_worker(work: Work, confine: Callable[[], object] | None) -> None:
    global _work  # noqa: PLW0603  a worker has one judge, inherited from the parent
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # not the parent's handler
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)  # stdout is for the parent's result
    if confine is not None:
        confine()
    _work = work


def _judge(task: Any) -> Any:
    return _work(task)


class InProcessEngine:
    """Judges each batch in this process when its result is requested; implements `Engine`."""

    workers = 1

    def begin(self, work: Work) -> None:
        """Sets the function that judges a task."""
        self._work = work

    def submit(self, task: Any) -> PendingResult:
        """Returns a result that runs the task when it is requested."""
        return partial(self._work, task)

    def close(self) -> None:
        """Does nothing: there are no workers."""


def usable_cores(quota: Path = QUOTA) -> int:
    """Cores available to this process, at most the container's quota."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        cores = os.cpu_count() or 1
    return min(cores, _share(quota) or cores)


def _share(quota: Path) -> int | None:
    """The container's CPU quota in cores, at least one; None without a quota."""
    try:
        allowed, period = quota.read_text().split()
        return max(1, int(allowed) // int(period))
    except (OSError, ValueError):  # no container, or no quota ("max")
        return None
