"""Guards for every test: no network beyond this machine, no variables of the job that runs the tests."""

from __future__ import annotations

import gc
import os
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings
from network_guard import OutsideNetworkError, is_local, network_variables
from store_fixtures import (  # noqa: F401  fixtures
    empty_postgres_url,
    postgres_database,
    postgres_server,
    postgres_url,
    sqlite_template,
    store,
    store_url,
)

from evalgate.measures.redaction.redact import hide_secrets

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

# No deadlines: test machines are sometimes slow. A landing must not depend on luck: `make matrix` searches at random.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=25)
settings.register_profile("searching", deadline=None, max_examples=200)
settings.load_profile("repeatable")

pytest_plugins = ("pytester",)
SHARED = Path(__file__).resolve().parents[2] / "shared"
NO_SHARED = "../shared is not here: real traces and the GitHub stand-in are not part of the project"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keeps the collector of garbage from what collecting makes: 800,000 objects that stay, half a second each time."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def why_skipped(item: pytest.Item) -> str:
    """Why a test can't run on this machine, as far as that is known before it starts; else nothing."""
    if not SHARED.is_dir() and (item.get_closest_marker("shared") or "shared" in getattr(item, "fixturenames", ())):
        return NO_SHARED
    return next((mark.kwargs["reason"] for mark in item.iter_markers("skipif") if mark.args[0] is True), "")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keeps one of the tests of a file that are skipped for one reason, which says how many there are."""
    skipped: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        if reason := why_skipped(item):
            skipped.setdefault((item.path, reason), []).append(item)
    for (_, reason), alike in skipped.items():
        counted = pytest.mark.skipif(True, reason=f"{len(alike)} of this file: {reason}")
        alike[0].own_markers.insert(0, counted.mark)
    others = [item for alike in skipped.values() for item in alike[1:]]
    config.hook.pytest_deselected(items=others)
    left_out = set(map(id, others))
    items[:] = [item for item in items if id(item) not in left_out]


@pytest.fixture(autouse=True, scope="session")
def _stay_on_this_machine() -> Iterator[None]:
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if not is_local(self.family, address):
            raise OutsideNetworkError(str(address))
        connect(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign]
    yield
    socket.socket.connect = connect  # type: ignore[method-assign]


@pytest.fixture(autouse=True, scope="session")
def _receive_interrupts() -> None:
    """A shell starts background jobs with SIGINT ignored, which the processes that tests interrupt would inherit."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def _forget_the_job() -> Iterator[None]:
    of_job = [name for name in os.environ if name.startswith(("GITHUB_", "ACTIONS_", "INPUT_"))]
    mine = {name: os.environ.pop(name) for name in [*of_job, *network_variables(os.environ)]}
    yield
    os.environ.update(mine)


@pytest.fixture(autouse=True)
def _forget_secrets() -> Iterator[None]:
    """A process redacts the secrets that it was given until it ends: the next test has others."""
    yield
    hide_secrets([])


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real traces and stand-ins, which is not part of the project."""
    if not SHARED.is_dir():
        pytest.skip(NO_SHARED)
    return SHARED
