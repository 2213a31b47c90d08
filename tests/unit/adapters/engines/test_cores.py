"""The number of useful processes: the cores, limited to a container's share of them."""

from __future__ import annotations

import os

import pytest

from evalgate.adapters.engines.process_pool import usable_cores

HERE = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.mark.parametrize(
    ("quota", "cores"),
    [
        ("max 100000", HERE),
        ("100000 100000", 1),
        ("50000 100000", 1),
        ("100000000 100000", HERE),
        ("rubbish", HERE),
    ],
)
def test_a_container_has_its_share_of_the_cores(tmp_path, quota, cores):
    (tmp_path / "cpu.max").write_text(f"{quota}\n")
    assert usable_cores(tmp_path / "cpu.max") == cores


def test_without_a_container_all_cores_are_usable(tmp_path):
    assert usable_cores(tmp_path / "cpu.max") == HERE
