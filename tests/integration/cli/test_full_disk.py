"""A full disk, or a signal, in every verb that writes: one clear line, its exit code, and no part of a file."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

TRACE = {
    "schema": "evalgate.trace/1",
    "messages": [{"role": "user", "content": "hi " * 300}, {"role": "assistant", "content": "ho"}],
}
SUITE = """\
suite: small
traces: [traces.jsonl]
scenarios:
  - id: "*"
    assertions: [{type: turn_limit, max_turns: 3, required: true}]
"""
COUNT = 500
STORE = ("--store-url", "store.db")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A project with a finished run, also in a store."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "suite.yaml").write_text(SUITE)
    lines = (json.dumps({**TRACE, "trace_id": f"t{n}", "scenario_id": f"s{n}"}) for n in range(COUNT))
    (folder / "traces.jsonl").write_text("\n".join(lines))
    assert evalgate(folder, "run", "suite.yaml", "-q", *STORE).code == 0
    assert evalgate(folder, "run", "suite.yaml", "-q", "--shard", "1/1", "--output-dir", "shards").code == 0
    (folder / "out").mkdir()
    return folder


@contextmanager
def largest_file(size):
    """Lets no file become larger; nor is any bytecode written, of which Python would keep the part that fits."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    sys.dont_write_bytecode, writes_none = True, sys.dont_write_bytecode
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        sys.dont_write_bytecode = writes_none


def evalgate(folder, *words, largest=resource.RLIM_INFINITY):
    """Runs a verb; no file may become larger than `largest` bytes, as on a disk that is full then."""
    environ = {"SOURCE_DATE_EPOCH": "1767220849", "USER": "ana", "PYTHONDONTWRITEBYTECODE": "1"}
    shell = Shell(StringIO(), StringIO(), environ, str(folder))
    with largest_file(largest):
        if {"--jobs", "--limit"} & {*words}:
            command = [sys.executable, "-m", "evalgate", *words]
            done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=False)
            return SimpleNamespace(code=done.returncode, out=done.stdout, err=done.stderr)
        code = main(words, shell)
    return SimpleNamespace(code=code, out=shell.out.getvalue(), err=shell.err.getvalue())


def content_of(folder):
    """Every file and what it holds; a database's journals come and go."""
    files = (each for each in folder.rglob("*") if each.is_file() and ".db-" not in each.name)
    return {str(each.relative_to(folder)): each.read_bytes() for each in files}


@pytest.mark.parametrize(
    ("words", "largest", "line"),
    [
        ("run suite.yaml -q --no-baseline-zip", 1_000, "can't write .evalgate/results.json: File too large"),
        ("run suite.yaml -q --no-baseline-zip --jobs 2", 1_000, "can't write .evalgate/results.json: File too large"),
        (
            "run suite.yaml -q --no-baseline-zip --limit cpu=50",
            1_000,
            "can't write .evalgate/results.json: File too large",
        ),
        ("run suite.yaml -q", 1_000, "can't write to the folder for temporary files: File too large"),
        ("run suite.yaml -q --jobs 2", 1_000, "can't write to the folder for temporary files: File too large"),
        ("run suite.yaml -q --shard 1/1", 1_000, "can't write to the folder for temporary files: File too large"),
        (
            "merge shards --config suite.yaml -q --no-baseline-zip",
            1_000,
            "can't write .evalgate/results.json: File too large",
        ),
        ("baseline save -o out/saved.zip", 1_000, "can't write out/saved.zip: File too large"),
        ("baseline create .evalgate -o out/made.zip", 1_000, "can't write out/made.zip: File too large"),
        ("convert traces.jsonl -o out/traces.jsonl", 1_000, "can't write out/traces.jsonl: File too large"),
        ("approve all --until 2026-12-31 --because x", 10, None),
    ],
)
def test_a_full_disk_is_one_line_and_leaves_the_files_as_they_were(finished, words, largest, line):
    before = content_of(finished)
    done = evalgate(finished, *words.split(), largest=largest)

    assert done.code == 2
    [shown] = done.err.splitlines()
    assert line is None or line in shown
    assert done.out == ""
    assert content_of(finished) == before


@pytest.mark.parametrize(
    "words",
    [
        "feedback add talk --rating 3",
        "goldens add --id greet --user hi --response ho",
        "goldens suite add nightly --tag money",
        "history prune --keep 1h",
    ],
)
def test_a_store_on_a_full_disk_is_unreachable_in_one_line_and_stays_as_it_was(finished, words):
    exported = evalgate(finished, "history", "--json", *STORE).out
    done = evalgate(finished, *words.split(), *STORE, largest=1_000)

    assert done.code == 4
    [line] = done.err.splitlines()
    assert line.startswith("error: the store store.db can't be used: the disk ")
    assert evalgate(finished, "history", "--json", *STORE).out == exported


VERBS = [
    "validate suite.yaml",
    "compare .evalgate/baseline.zip .evalgate/results.json",
    "baseline show .evalgate/baseline.zip",
    "baseline save -o out/saved.zip",
    "baseline create .evalgate -o out/made.zip",
    "merge shards --config suite.yaml -q --output-dir out/merged",
    "backtest suite.yaml .evalgate/baseline.zip",
    "history --store-url store.db",
    "history prune --keep 1h --store-url store.db",
    "export jsonl -o out/exported.jsonl --store-url store.db",
]


def wait_until_ready(pid):
    """Waits until a process handles SIGTERM, which it does first."""
    caught = 0
    while not caught & 1 << signal.SIGTERM - 1:
        status = Path(f"/proc/{pid}/status").read_text()
        caught = int(status.partition("SigCgt:")[2].split()[0], 16)


@pytest.mark.parametrize("words", VERBS)
def test_a_signal_ends_a_verb_without_a_word_or_a_part_of_a_file(finished, words):
    for number, code, delay in ((signal.SIGINT, 130, 0.15), (signal.SIGTERM, 143, VERBS.index(words) * 0.03)):
        process = subprocess.Popen(
            [sys.executable, "-m", "evalgate", *words.split()],
            cwd=finished,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until_ready(process.pid)
        time.sleep(delay)
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
        assert process.returncode in {code, 0}, err
        assert process.returncode == 0 or "rror" not in out + err
        assert not list(finished.rglob("*.part"))
