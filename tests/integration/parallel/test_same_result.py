"""One process, several processes and any number of shards give the same result, to the last byte."""

from __future__ import annotations

import pytest
from command import evalgate
from run_outputs import read_outputs, run_command
from shard_runs import judge_shard, merge_shards


@pytest.mark.parametrize("engine", [["--jobs", "3"], ["--engine", "dask", "--jobs", "2"]])
def test_several_processes_leave_what_one_leaves(judged_again, engine):
    if "dask" in engine:
        pytest.importorskip("distributed", reason="the extra `dask` is not installed")
    folder, arguments, left = judged_again
    output = engine[-2].strip("-") + str(len(engine))
    code, message = run_command(folder, "run", *arguments, *engine, "--output-dir", output)
    assert code == 1, message
    assert read_outputs(folder / output) == left


@pytest.mark.parametrize("is_compared", [False, True])
def test_several_processes_that_keep_no_traces_leave_what_one_leaves(judged_again, is_compared):
    folder, words = judged_again.folder, [*(judged_again.arguments if is_compared else []), "--no-baseline-zip"]
    assert evalgate(folder, [*words, "--jobs", "1", "--output-dir", "one"]).code == 1
    code, message = run_command(folder, "run", *words, "--jobs", "2", "--output-dir", "two")
    assert code == 1, message
    assert read_outputs(folder / "one") == read_outputs(folder / "two")


@pytest.mark.parametrize("of", [1, 5])
def test_any_number_of_shards_leaves_what_one_run_leaves(judged, of):
    shards = [judge_shard(judged, number, of) for number in range(1, of + 1)]
    assert merge_shards(judged, shards[::-1], f"of-{of}") == (1, judged.outputs)


def test_shards_compared_with_a_baseline_leave_what_one_run_leaves(judged_again):
    shards = [judge_shard(judged_again, number, 3) for number in (1, 2, 3)]
    assert merge_shards(judged_again, shards, "beside") == (1, judged_again.outputs)


def test_shards_that_several_processes_judged_leave_the_same(judged):
    words = ["run", "--shard", "2/2", "--jobs", "2", "--output-dir", "several"]
    assert run_command(judged.folder, *words)[0] == 0
    shards = [judge_shard(judged, 1, 2), judged.folder / "several" / "shard.zip"]
    assert merge_shards(judged, shards, "of-several") == (1, judged.outputs)


def test_no_traces_at_all_is_the_same_in_every_way(tmp_path):
    (tmp_path / "suite.yaml").write_text(
        "suite: s\ntraces: [none/*]\nscenarios: [{id: a, assertions: [{path: cost.usd, exists: true}]}]\n"
    )
    words = ["suite.yaml", "--no-baseline-zip"]
    alone = evalgate(tmp_path, [*words, "--jobs", "1"])
    code, message = run_command(tmp_path, "run", *words, "--jobs", "2", "--output-dir", "two")
    assert code == alone.code, message
    assert read_outputs(tmp_path / "two") == read_outputs(alone.folder)
