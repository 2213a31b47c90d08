"""Shards that do not make one run: one clear line, and nothing that could be taken for a result."""

from __future__ import annotations

import json
import shutil
import zipfile

import orjson
import pytest
from shard_runs import judge_shard, merge_shards, run_command

from evalgate.application.evaluation.scenario_matcher import ScenarioCandidate
from evalgate.application.evaluation.suite_judge import JudgedCandidate, JudgedRecord
from evalgate.application.parallel.batched_evaluation import JudgedBatch
from evalgate.application.parallel.shards import decode_batch, encode_batch
from evalgate.models.run.run import AssertionResult, TraceRef, TrialResult


@pytest.fixture(scope="module")
def shards(few):
    return [judge_shard(few, number, 3) for number in (1, 2, 3)]


def refused(few, *words):
    """The message of a merge that ends in exit code 2."""
    code, message = run_command(few.folder, "merge", *words, "--output-dir", "refused", "-q")
    assert code == 2, message
    return message


def altered(shards, tmp_path, change):
    """The second shard, changed; the others as they are."""
    path = tmp_path / "shard.zip"
    with zipfile.ZipFile(shards[1]) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            target.writestr(name, change(name, source.read(name)))
    return [str(shards[0]), str(path), str(shards[2])]


def of_head(**fields):
    return lambda name, content: orjson.dumps({**orjson.loads(content), **fields}) if name == "shard.json" else content


def of_largest_batch(change):
    def changed(name, content):
        if name != "found.jsonl":
            return content
        largest = max(content.splitlines(), key=len)
        document = orjson.loads(largest)
        change(document)
        written = orjson.dumps(document).replace(b'"infinite"', b"1e999").replace(b'"endless"', b"9" * 400)
        return content.replace(largest, written)

    return changed


def trial_of(found):
    """The first trial of a batch."""
    return next(candidate[1] for _, _, candidates, *_ in found["records"] for candidate in candidates if candidate[1])


def check_of(found):
    """The first result of an assertion."""
    return found["assertions"][0][0]


def test_a_missing_shard_is_cannot_judge_and_reports_nothing_of_the_rest(few, shards):
    code, left = merge_shards(few, [shards[0], shards[2]], "missing")
    results = json.loads(left["results.json"])
    assert code == 3
    assert (results["verdict"], results["exit_code"], results["suites"]) == ("cannot_judge", 3, [])
    message = "shard 2 of 3 is missing: its results are unknown"
    assert results["reasons"] == [{"code": "missing_shard", "message": message}]
    assert message in left["comment.md"].decode()
    assert "baseline.zip" not in left


def test_report_only_ignores_the_exit_code_of_a_missing_shard(few, shards):
    code, message = run_command(few.folder, "merge", str(shards[0]), "--report-only", "--output-dir", "spared")
    assert code == 0
    assert "shards 2, 3 of 3 are missing: their results are unknown" in message


def test_a_duplicate_shard_is_refused(few, shards):
    copy = few.folder / "copy.zip"
    shutil.copy(shards[0], copy)
    message = refused(few, *map(str, [*shards, copy]))
    assert "shard 1/3 was given twice: see also copy.zip" in message


def test_shards_of_another_number_are_refused(few, shards):
    other = judge_shard(few, 2, 2)
    assert "shard 2/2" in refused(few, *map(str, [shards[0], other, shards[2]]))


def test_shards_of_other_suites_are_refused(few, shards):
    message = refused(few, *map(str, shards), "--config", "evals/one.yaml")
    assert "the shards were judged by different suites than these" in message
    assert "--config" in message


def test_shards_with_another_baseline_are_refused(few, shards):
    message = refused(few, *map(str, shards), "--baseline", ".evalgate/results.json")
    assert "the shards were compared with a different baseline" in message


def test_shards_of_another_commit_are_refused(few):
    of_other = str(judge_shard(few, 1, 1, "--commit", "abc"))
    message = refused(few, of_other, "--commit", "def")
    assert "the shards judged commit abc, this is def (judge all shards again at this commit" in message
    code, _ = run_command(few.folder, "merge", of_other, *few.arguments, "--commit", "abc", "--output-dir", "same")
    assert code == 1


def test_shards_without_traces_make_no_baseline(few):
    bare = str(judge_shard(few, 1, 1, "--no-baseline-zip"))
    assert "the shards hold no traces for a baseline" in refused(few, bare)
    code, _ = run_command(few.folder, "merge", bare, "--no-baseline-zip", "--output-dir", "bare")
    assert code == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"plan": "0" * 64}, "read different traces"),
        ({"commit": "abc"}, "judged another commit"),
        ({"config_hash": "0" * 64}, "was judged by different suites"),
        ({"evalgate_version": "9.9"}, "was judged by a different version of EvalGate"),
        ({"traces": ["x"]}, "was run with different --traces"),
        ({"shard": 0}, "this shard can't be merged"),
        ({"of": 10**9}, "this shard can't be merged"),
        ({"schema": "evalgate.shard/2"}, "its shard.json was not written by this version of EvalGate"),
    ],
)
def test_a_header_of_another_run_is_refused(few, shards, tmp_path, fields, message):
    assert message in refused(few, *altered(shards, tmp_path, of_head(**fields)))


def test_shards_of_two_recordings_are_refused_though_their_files_have_the_same_names(few, tmp_path):
    folder = tmp_path / "again"
    shutil.copytree(few.folder, folder)
    again = few._replace(folder=folder)
    before = [judge_shard(again, number, 2) for number in (1, 2)]
    assert merge_shards(again, before, "whole")[0] == 1
    kept = [shutil.copy(path, tmp_path / f"{number}.zip") for number, path in enumerate(before)]
    (folder / "lines.jsonl").write_text((folder / "lines.jsonl").read_text() + "\n")
    now = [judge_shard(again, number, 2) for number in (1, 2)]
    assert merge_shards(again, now, "anew")[0] == 1
    for pair in ((kept[0], now[1]), (now[0], kept[1])):
        code, message = run_command(folder, "merge", *map(str, pair), "--output-dir", "mixed", "-q")
        assert code == 2
        assert "read different content of lines.jsonl than" in message
        assert "(record once, before the shards" in message


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(batch=found["batch"] + 1),
        lambda found: found.update(batch=found["batch"] + 3),
        lambda found: found.update(suite=-1),
        lambda found: found.update(records="none"),
        lambda found: found.update(assertions=[]),
        lambda found: found.update(places=[]),
        lambda found: found.update(places=[-1] * len(found["places"])),
        lambda found: found.update(kept=10**6),
        lambda found: found.update(verdict="PASS"),
        lambda found: found["records"][0].__setitem__(2, [[[999, 999, None], None, None]]),
        lambda found: found["records"][0].__setitem__(2, [[[0, 999, None], None, None]]),
        lambda found: check_of(found).__setitem__(3, "infinite"),
        lambda found: check_of(found).__setitem__(3, 1e300),
        lambda found: check_of(found).__setitem__(3, "endless"),
        lambda found: check_of(found).__setitem__(4, 1e300),
        lambda found: check_of(found).__setitem__(4, "endless"),
        lambda found: trial_of(found).__setitem__(5, 1e308),
        lambda found: trial_of(found).__setitem__(6, "endless"),
        lambda found: trial_of(found).__setitem__(7, 1e300),
        lambda found: trial_of(found)[1].__setitem__(3, "no digest"),
        lambda found: check_of(found).__setitem__(2, "splendid"),
    ],
)
def test_a_batch_that_no_run_leaves_is_refused(few, shards, tmp_path, change):
    words = altered(shards, tmp_path, of_largest_batch(change))
    assert "this shard can't be merged" in refused(few, *words)


def test_a_missing_or_damaged_member_is_refused(few, shards, tmp_path):
    for change in (
        lambda name, content: b"" if name == "found.jsonl" else content,
        lambda name, content: content[:-10] if name == "found.jsonl" else content,
        lambda name, content: content[7:] if name == "traces.jsonl" else content,
        lambda name, content: b"{" if name == "shard.json" else content,
    ):
        assert "this shard can't be merged" in refused(few, *altered(shards, tmp_path, change))


def test_a_file_that_is_not_a_shard_is_refused(few, tmp_path):
    (tmp_path / "x.zip").write_bytes(b"PK\x03\x04 nothing")
    assert "this shard can't be merged" in refused(few, str(tmp_path / "x.zip"))
    assert "no shard at 'nowhere'" in refused(few, "nowhere")


@pytest.mark.parametrize("share", ["0/3", "4/3", "1/0", "1", "a/b", "1/5000", "-1/3"])
def test_an_impossible_share_is_a_usage_error(few, share):
    code, message = run_command(few.folder, "run", f"--shard={share}")
    assert code == 2
    assert "--shard" in message


def test_a_password_in_evidence_is_in_no_shard():
    check = AssertionResult("n", "t", "failed", 0.0, 1.0, True, "r", None, {"got": [{"password": "keep it secret"}]})
    trial = TrialResult(0, TraceRef("t", "a.json", "native", None), "failed", 0.0, [check])
    record = JudgedRecord(trial.trace, "s", [JudgedCandidate(ScenarioCandidate(0, 0), trial)])
    line = encode_batch(0, 0, JudgedBatch(is_judged=True, records=[record]))
    assert b"keep it secret" not in line
    assert decode_batch(line).assertions[0][0].evidence == {"got": [{"password": "[redacted: field]"}]}


def test_no_secret_of_a_trace_is_in_a_shard_whole(few, shards):
    from many_traces import SECRET

    for path in shards:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                assert SECRET.encode() not in archive.read(name)
