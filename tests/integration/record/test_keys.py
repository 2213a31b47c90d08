"""A made-up key in twelve shapes is in no byte of stdout, stderr, trace and cassette, and malformed requests are 400."""

from __future__ import annotations

import random
import socket
import string
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest
from fakes.providers import ECHO_KEY, FakeProviders
from recording_runs import Run, environ, record, written

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LETTERS = string.ascii_letters + string.digits
SHORT = "plain-" + "".join(random.Random(1).choices(LETTERS, k=34))  # noqa: S311  (the same key in each run)
LONG = "".join(random.Random(2).choices(LETTERS, k=20_000))  # noqa: S311
PIECE = 10
"""Characters of a key of which none in a row may be written."""
KEYS = {"short": SHORT, "20 KB": LONG}
ECHOED = ["answer", "events", "api key", "query", "login", "latin-1", "header of 64 KB"]


def record_shape(folder: Path, shape: str, key: str, **more: str) -> Run:
    """One recording in a process of its own, whose answer quotes the key."""
    fake = FakeProviders((ECHO_KEY,))
    flags = [*fake.flags, "--scenario", "refund", "--cache", "write"]
    env = environ(**{"NO_PROXY": "*", "OPENAI_API_KEY": key, **more})
    done = record(folder, *flags, "--", shape, agent="keys", env=env)
    fake.close()
    return done


def find_pieces(folder: Path, done: Run, key: str) -> set[str]:
    """The parts of the key that were printed or written."""
    text = done.out + done.err + written(folder).decode("utf-8", "replace")
    return {key[at : at + PIECE] for at in range(len(key) - PIECE) if key[at : at + PIECE] in text}


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("shape", ECHOED)
def test_a_key_that_the_provider_repeats_is_written_nowhere(tmp_path, shape, key):
    done = record_shape(tmp_path, shape, KEYS[key])
    assert (done.code, done.out.split()[0], find_pieces(tmp_path, done, KEYS[key])) == (0, "200", set())
    assert (tmp_path / "evals/cassettes/refund/0.jsonl").exists()


@pytest.mark.parametrize("key", KEYS)
def test_malformed_requests_are_answered_in_one_line_without_the_key(tmp_path, key):
    done = record_shape(tmp_path, "malformed", KEYS[key])
    assert {*done.out.splitlines()} == {"400 1 False"}, done
    assert done.err == no_calls(done), done
    assert find_pieces(tmp_path, done, KEYS[key]) == set()


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("shape", ["aborted", "cut"])
def test_an_upload_that_ends_early_prints_nothing(tmp_path, shape, key):
    done = record_shape(tmp_path, shape, KEYS[key])
    assert done.err == no_calls(done), done
    assert find_pieces(tmp_path, done, KEYS[key]) == set()


def no_calls(done: Run) -> str:
    """What a recording without any model call prints: why that may be, and what came."""
    return done.err[done.err.index("nothing was recorded") :]


@contextmanager
def refusing_proxy(answer: bytes) -> Iterator[str]:
    """A proxy that answers all requests so, or ends them if the answer is empty."""

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with closing(connection):
                connection.recv(65_536)
                connection.sendall(answer)

    with closing(socket.create_server(("127.0.0.1", 0))) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize(
    "answer",
    [b"", b"no HTTP", b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"],
    ids=["ends", "garbage", "refuses"],
)
def test_a_proxy_that_fails_does_not_print_the_key(tmp_path, answer):
    with refusing_proxy(answer) as proxy:
        flags = ["--provider", "openai=http://127.0.0.1:9/v1", "--scenario", "refund", "--cache", "write"]
        env = environ(OPENAI_API_KEY=SHORT, HTTP_PROXY=f"http://user:{SHORT}@{proxy}")
        done = record(tmp_path, *flags, "--", "answer", agent="keys", env=env)
    assert done.out.split()[0] in ("502", "407")
    assert find_pieces(tmp_path, done, SHORT) == set()


def test_a_proxy_that_is_no_url_is_named_and_not_printed(tmp_path):
    flags = ["--provider", "openai=http://127.0.0.1:9/v1", "--scenario", "refund"]
    env = environ(OPENAI_API_KEY=SHORT, HTTP_PROXY=f"http://user:pw@{SHORT}:{SHORT}")
    done = record(tmp_path, *flags, "--", "answer", agent="keys", env=env)
    assert (done.out.split()[0], find_pieces(tmp_path, done, SHORT)) == ("502", set()), done
