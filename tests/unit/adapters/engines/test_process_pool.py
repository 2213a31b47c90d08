"""Workers of this machine: they answer in any order, and one that dies is reported."""

from __future__ import annotations

import multiprocessing
import os
import signal
from pathlib import Path

import pytest

from evalgate.adapters.engines.process_pool import ProcessPool
from evalgate.ports.batches import WorkerLostError

LARGE = 20_000_000  # bytes of a result: a worker spends most of its time writing it


def work(task):
    if task == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if task == "write":
        return bytes(LARGE)
    return f"{task} {os.getpid()}".encode()


@pytest.fixture
def pool():
    made = ProcessPool(2)
    made.begin(work)
    yield made
    made.close()


def test_tasks_are_judged_in_other_processes(pool):
    answers = [each().split() for each in [pool.submit(number) for number in range(20)]]
    assert [number for number, _ in answers] == [b"%d" % number for number in range(20)]
    assert b"%d" % os.getpid() not in {process for _, process in answers}


def test_a_worker_that_dies_is_reported_to_all_that_wait_and_to_later_tasks(pool):
    waiting = [pool.submit("die"), pool.submit("die")]
    for each in waiting:
        with pytest.raises(WorkerLostError):
            each()
    with pytest.raises(WorkerLostError):
        pool.submit("live")


def test_a_pool_can_be_closed_while_workers_write_results(pool):
    waiting = [pool.submit("write") for _ in range(6)]
    assert len(waiting[0]()) == LARGE
    pool.close()
    assert multiprocessing.active_children() == []


def test_workers_that_die_while_they_write_results_are_reported(pool):
    waiting = [pool.submit("write") for _ in range(6)]
    assert len(waiting[0]()) == LARGE
    for worker in multiprocessing.active_children():
        worker.kill()
    with pytest.raises(WorkerLostError):
        [each() for each in waiting]


def test_a_worker_is_limited_before_its_first_task(tmp_path):
    pool = ProcessPool(1, lambda: os.chdir(tmp_path))
    pool.begin(lambda _: str(Path.cwd()).encode())
    try:
        assert pool.submit(None)() == str(tmp_path).encode()
    finally:
        pool.close()
