"""Workers of this machine and the pipes that each of them has open."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalgate.adapters.engines.process_pool import ProcessPool

OPEN = Path("/proc/self/fd")


def its_pipes(_):
    """The id of the worker, and how many pipes it has open."""
    found = 0
    for each in OPEN.iterdir():
        try:
            found += str(each.readlink()).startswith("pipe:")
        except OSError:  # the folder itself, which was open while it was listed
            continue
    return f"{os.getpid()} {found}".encode()


@pytest.mark.skipif(not OPEN.exists(), reason="what a process has open can't be listed here")
def test_no_worker_holds_the_pipes_of_another():
    pool = ProcessPool(3)
    pool.begin(its_pipes)
    try:
        tickets = [pool.submit(None) for _ in range(3)]  # one for each
        answers = [ticket.result().split() for ticket in tickets]
    finally:
        pool.close()
    assert len({worker for worker, _ in answers}) == 3
    assert len({count for _, count in answers}) == 1
