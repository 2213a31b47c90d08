"""Who judges makes no difference: one process, several, shards of any number; to the last byte."""

from __future__ import annotations

import pytest
from command import evalgate
from leavings import left_in, ran
from shards_of import merged, shard


def test_several_processes_leave_what_one_leaves(judged_again):
    folder, arguments, left = judged_again
    code, said = ran(folder, "run", *arguments, "--jobs", "3", "--output-dir", "jobs-3")
    assert code == 1, said
    assert left_in(folder / "jobs-3") == left


@pytest.mark.parametrize("is_compared", [False, True])
def test_several_processes_that_keep_no_traces_leave_what_one_leaves(judged_again, is_compared):
    """Then trials come back as columns, but for those of which more is to be told."""
    words = ["run", *(judged_again.arguments if is_compared else []), "--no-baseline-zip"]
    left = []
    for jobs in ("1", "3"):
        output = f"no-traces-{is_compared}-{jobs}"
        code, said = ran(judged_again.folder, *words, "--jobs", jobs, "--output-dir", output)
        assert code == 1, said
        left.append(left_in(judged_again.folder / output))
    assert left[0] == left[1]


@pytest.mark.parametrize("of", [1, 5])
def test_any_number_of_shards_leaves_what_one_run_leaves(judged, of):
    shards = [shard(judged, number, of) for number in range(1, of + 1)]
    assert merged(judged, shards[::-1], f"of-{of}") == (1, judged.left)


def test_shards_beside_a_baseline_leave_what_one_run_leaves(judged_again):
    shards = [shard(judged_again, number, 3) for number in (1, 2, 3)]
    assert merged(judged_again, shards, "beside") == (1, judged_again.left)


def test_shards_that_several_processes_judged_leave_the_same(judged):
    words = ["run", "--shard", "2/2", "--jobs", "2", "--output-dir", "several"]
    assert ran(judged.folder, *words)[0] == 0
    shards = [shard(judged, 1, 2), judged.folder / "several" / "shard.zip"]
    assert merged(judged, shards, "of-several") == (1, judged.left)


def test_no_traces_at_all_is_the_same_in_every_way(tmp_path):
    (tmp_path / "suite.yaml").write_text(
        "suite: s\ntraces: [none/*]\nscenarios: [{id: a, assertions: [{path: cost.usd, exists: true}]}]\n"
    )
    words = ["suite.yaml", "--no-baseline-zip"]
    alone = evalgate(tmp_path, [*words, "--jobs", "1"])
    code, said = ran(tmp_path, "run", *words, "--jobs", "2", "--output-dir", "two")
    assert code == alone.code, said
    assert left_in(tmp_path / "two") == left_in(alone.folder)
