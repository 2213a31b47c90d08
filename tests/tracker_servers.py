"""Starts MLflow and Phoenix on this machine, from the environments that `make trackers` builds, and asks them."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).resolve().parents[1] / ".trackers"
PATIENCE_SECONDS = 240
PHOENIX_KEY = "phoenix-admin-key-0a1b2c3d4e5f6071829"


def needs(name: str) -> pytest.MarkDecorator:
    """Skips a test where the server is not installed."""
    return pytest.mark.skipif(not (FOLDER / name / ".ready").exists(), reason=f"`make trackers` installs {name}")


@contextmanager
def started(name: str, command: list[str], environ: dict[str, str], folder: Path, port: int) -> Iterator[str]:
    """The address of a server that runs in the folder until the end of the block."""
    with (folder / "output.txt").open("wb") as output:
        process = subprocess.Popen(
            [str(FOLDER / name / "bin" / command[0]), *command[1:]],
            cwd=folder,
            env={"PATH": os.defpath, "HOME": str(folder), **environ},
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            await_answer(url, process, folder / "output.txt")
            yield url
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def await_answer(url: str, process: subprocess.Popen[bytes], output: Path) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"{url} did not start: {output.read_text()[-2000:]}")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def ask(url: str, body: Any = None, key: str = "", method: str | None = None) -> Any:
    """The JSON that a server answers to a GET, or to a POST of this body."""
    data = None if body is None else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
        return json.loads(answer.read() or b"null")
