"""Workers of a Dask cluster: one that is there already, or processes that are started here as one."""

from __future__ import annotations

import hashlib
import pickle
import platform
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from evalgate.errors import Problem, SettingError
from evalgate.ports.engines import WorkerLostError
from evalgate.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HOW = "install evalgate-action[dask] here, and the same version on its workers"
PRICES = "genai-prices"
RETRIES = 2
"""Times that a batch is judged again whose worker was lost, by the cluster itself."""
PATIENCE = "10s"
_judges: dict[str, Callable[[Any], bytes]] = {}


class Cluster:
    """A Dask cluster by way of `concurrent.futures`; see ports.engines.Engine.

    What does the work is sent once to each worker, and made anew by the cluster where a worker is lost.
    `plugins` are modules of this machine that own evaluators come from: they are sent too.
    """

    def __init__(self, scheduler: str | None, jobs: int | None, plugins: Sequence[str] = ()) -> None:
        self._scheduler, self._jobs, self._plugins = scheduler, jobs, plugins
        self._client: Any = None
        self._cluster: Any = None
        self._executor: Any = None
        self._judge: Any = None
        self.workers = jobs or 1

    def begin(self, work: Callable[[Any], bytes]) -> None:
        """Joins the cluster, or starts one; raises SettingError where there is none."""
        try:
            import cloudpickle
            import distributed
        except ImportError:
            raise SettingError(Problem("--engine dask needs more than is installed", None, HOW)) from None
        self._client = self._joined(distributed)
        self.workers = max(1, len(self._client.scheduler_info(n_workers=-1)["workers"]))
        self._check_versions()
        for name in self._plugins:
            cloudpickle.register_pickle_by_value(import_module(name))
        content = cloudpickle.dumps(work)
        key = hashlib.sha256(content).hexdigest()
        # A task and no scattered data: the cluster can make it again wherever it was lost.
        self._judge = self._client.submit(_kept, content, key=f"evalgate-judge-{key}", pure=False)
        self._executor = self._client.get_executor(pure=False, retries=RETRIES)

    def submit(self, task: Any) -> DaskFuture:
        """Hands out one task."""
        return DaskFuture(self._executor.submit(judge_there, self._judge, pickle.dumps(task)))

    def close(self) -> None:
        """Leaves the cluster; one that was started here ends."""
        for each in (self._executor, self._client, self._cluster):
            if each is self._executor and each is not None:
                each.shutdown(wait=False)
            elif each is not None:
                each.close()
        self._executor = self._client = self._cluster = None

    def _joined(self, distributed: Any) -> Any:
        try:
            if self._scheduler is None:
                self._cluster = distributed.LocalCluster(
                    n_workers=self._jobs, threads_per_worker=1, dashboard_address=None
                )
            return distributed.Client(self._cluster or self._scheduler, timeout=PATIENCE)
        except (OSError, ValueError, TimeoutError) as error:
            where = self._scheduler or "a cluster of this machine"
            message = f"the Dask scheduler can't be reached: {where} ({type(error).__name__})"
            raise SettingError(Problem(message, None, "--scheduler tcp://host:8786")) from None

    def _check_versions(self) -> None:
        """Another version would judge otherwise, or not at all."""
        here = version_here()
        for worker, there in self._client.run(version_here).items():
            if there != here:
                message = f"the Dask worker {worker} has {there}, this is {here}"
                raise SettingError(Problem(message, None, HOW))


class DaskFuture:
    """Work that was handed to a cluster."""

    def __init__(self, future: Any) -> None:
        self._future = future

    def result(self) -> bytes:
        """What came back, waited for. Raises WorkerLostError where the cluster has given up."""
        from distributed import KilledWorker

        try:
            answer: bytes = self._future.result()
        except (KilledWorker, MemoryError) as error:
            raise WorkerLostError(f"was lost ({type(error).__name__})") from None
        return answer


def version_here() -> str:
    """What has to be the same everywhere."""
    python = ".".join(platform.python_version_tuple()[:2])
    return f"EvalGate {__version__} on Python {python}, {_prices()}"


def _prices() -> str:
    try:
        return f"{PRICES} {version(PRICES)}"
    except PackageNotFoundError:
        return f"no {PRICES}"


def judge_there(judge: bytes, task: bytes) -> bytes:
    """What a worker does: the judge is made of its bytes once in each process."""
    key = hashlib.sha256(judge).hexdigest()
    if key not in _judges:
        _judges.clear()
        _judges[key] = pickle.loads(judge)  # noqa: S301  (the employer's own)
    return _judges[key](pickle.loads(task))  # noqa: S301  (the same)


def _kept(content: bytes) -> bytes:
    """The judge's bytes, where a worker has them."""
    return content
