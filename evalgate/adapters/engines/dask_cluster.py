"""Judges batches on a Dask cluster: an existing one, or a local one that is started."""

from __future__ import annotations

import hashlib
import pickle
import platform
from functools import partial
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from evalgate.errors import Problem, SettingError
from evalgate.ports.batches import WorkerLostError
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.ports.batches import PendingResult

HINT = "install evalgate-action[dask] here, and the same version on the Dask workers"
PRICES = "genai-prices"
RETRIES = 2
"""How often the cluster retries a batch after its worker was lost."""
CONNECT_TIMEOUT = "10s"
_judges: dict[str, Callable[[Any], Any]] = {}


class DaskCluster:
    """A Dask cluster, used through `concurrent.futures`; implements `Engine`.

    The judge is sent once to each worker; if a worker is lost, the cluster recreates it. `plugins` are local
    modules with plugin evaluators, which are sent too.
    """

    def __init__(self, scheduler: str | None, jobs: int | None, plugins: Sequence[str] = ()) -> None:
        self._scheduler, self._jobs, self._plugins = scheduler, jobs, plugins
        self._client: Any = None
        self._cluster: Any = None
        self._executor: Any = None
        self._judge: Any = None
        self.workers = jobs or 1

    def begin(self, work: Callable[[Any], Any]) -> None:
        """Connects to the cluster or starts one; raises SettingError if that fails."""
        try:
            import cloudpickle
            import distributed
        except ImportError:
            raise SettingError(Problem("--engine dask needs packages that are not installed", None, HINT)) from None
        self._client = self._connect(distributed)
        self.workers = max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))
        self._check_versions()
        for name in self._plugins:
            cloudpickle.register_pickle_by_value(import_module(name))
        content = cloudpickle.dumps(work)
        key = hashlib.sha256(content).hexdigest()
        # A task instead of scattered data: the cluster can recreate it wherever it was lost.
        self._judge = self._client.submit(_return_bytes, content, key=f"evalgate-judge-{key}", pure=False)
        self._executor = self._client.get_executor(pure=False, retries=RETRIES)

    def submit(self, task: Any) -> PendingResult:
        """Submits a task; its result raises WorkerLostError if the cluster gave up."""
        return partial(_wait, self._executor.submit(judge_on_worker, self._judge, pickle.dumps(task)).result)

    def close(self) -> None:
        """Disconnects from the cluster; stops a local one."""
        for each in (self._executor, self._client, self._cluster):
            if each is self._executor and each is not None:
                each.shutdown(wait=False)
            elif each is not None:
                each.close()
        self._executor = self._client = self._cluster = None

    def _connect(self, distributed: Any) -> Any:
        try:
            if self._scheduler is None:
                self._cluster = distributed.LocalCluster(
                    n_workers=self._jobs, threads_per_worker=1, dashboard_address=None
                )
            return distributed.Client(self._cluster or self._scheduler, timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError, TimeoutError) as error:
            where = self._scheduler or "a cluster on this machine"
            message = f"the Dask scheduler can't be reached: {where} ({type(error).__name__})"
            raise SettingError(Problem(message, None, "--scheduler tcp://host:8786")) from None

    def _check_versions(self) -> None:
        """Requires the same versions on all workers: another one could judge differently, or fail."""
        local_version = describe_version()
        for worker, worker_version in self._client.run(describe_version).items():
            if worker_version != local_version:
                message = f"the Dask worker {worker} has {worker_version}, this machine has {local_version}"
                raise SettingError(Problem(message, None, HINT))


def describe_version() -> str:
    """The versions that must be equal on this machine and all workers."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"EvalGate {__version__} on Python {python}, {_describe_price_list()}"


def _describe_price_list() -> str:
    try:
        return f"{PRICES} {version(PRICES)}"
    except PackageNotFoundError:
        return f"no {PRICES}"


def _wait(result: Callable[[], Any]) -> Any:
    from distributed import KilledWorker

    try:
        return result()
    except (KilledWorker, MemoryError) as error:
        raise WorkerLostError(f"was lost ({type(error).__name__})") from None


def judge_on_worker(pickled_judge: bytes, task: bytes) -> Any:
    """Judges a task on a worker; the judge is unpickled once per process."""
    key = hashlib.sha256(pickled_judge).hexdigest()
    if key not in _judges:
        _judges.clear()
        _judges[key] = pickle.loads(pickled_judge)  # noqa: S301  (from the parent process)
    return _judges[key](pickle.loads(task))  # noqa: S301  (the same)


def _return_bytes(content: bytes) -> bytes:
    """Returns the judge's bytes, so that the cluster holds them as a task result."""
    return content
