"""Workers of this machine: what each of them holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evalgate.adapters.engines.process_pool import ProcessPool

OPEN = Path("/proc/self/fd")


def its_pipes(_):
    """Who the worker is, and how many pipes it has open."""
    found = 0
    for each in OPEN.iterdir():
        try:
            found += str(each.readlink()).startswith("pipe:")
        except OSError:  # the folder itself, which was open while it was listed
            continue
    return f"{os.getpid()} {found}".encode()


@pytest.mark.skipif(not OPEN.exists(), reason="what a process has open can't be listed here")
def test_no_worker_holds_the_pipes_of_another():
    crew = ProcessPool(3)
    crew.begin(its_pipes)
    try:
        tickets = [crew.submit(None) for _ in range(3)]  # one for each
        answers = [ticket.result().split() for ticket in tickets]
    finally:
        crew.close()
    assert len({worker for worker, _ in answers}) == 3
    assert len({count for _, count in answers}) == 1
