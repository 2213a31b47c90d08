"""Baselines as real files, honest and hostile ones."""

import io
import json
import random
import struct
import time
import warnings
import zipfile

import pytest
from builders import make_trace
from fakes.core import make_tools
from request_builder import make_request

from evalgate.adapters.archives.baseline_writer import ZipLimits
from evalgate.adapters.archives.baseline_zip import BaselineZips
from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.stored_traces import encode_stored_trace, read_stored_trace
from evalgate.application.judge.judge import judge
from evalgate.errors import InvalidInput
from evalgate.models.run.chunks import join_chunks
from evalgate.ports import BaselineParts
from evalgate.reporting.results.load_results import load_results

SUITE = "version: 1\nsuite: s\ntraces: [t]\nscenarios: [{id: '*', assertions: [{contains: a}]}]\n"
MANIFEST = {"schema": "evalgate.baseline/1", "commit": "c0ffee"}


@pytest.fixture
def zips(tmp_path):
    return BaselineZips(Workspace(None, str(tmp_path)))


@pytest.fixture
def results():
    judged = judge(make_request(commit="c0ffee"), make_tools(SUITE, traces=[make_trace()]))
    return join_chunks(judged.files["results.json"])


def write(zips, path, results, traces=()):
    spool = zips.open_spool(encode_stored_trace)
    for trace in traces:
        spool.add(trace)
    try:
        return zips.write(str(path), BaselineParts(MANIFEST, results, b"{}", spool))
    finally:
        spool.close()


def test_baseline__is_read_back_as_it_was_written(zips, results, tmp_path):
    left_out = write(
        zips,
        tmp_path / "b.zip",
        results,
        [make_trace(trace_id="t1"), make_trace(trace_id="t2", path="two.json")],
    )
    loaded = zips.load("b.zip")
    assert left_out == []
    assert loaded.results == load_results(results)
    assert loaded.manifest == {**MANIFEST, "traces": {"kept": 2, "left_out": 0}}
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        lines = archive.read("traces.jsonl").splitlines()
    assert [read_stored_trace(line).trace_id for line in lines] == ["t1", "t2"]


def test_baseline__same_parts_same_bytes(zips, results, tmp_path):
    for name in ("one.zip", "two.zip"):
        write(zips, tmp_path / name, results, [make_trace()])
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()


def test_baseline__keeps_a_trace_that_two_suites_read_once(zips, results, tmp_path):
    write(zips, tmp_path / "b.zip", results, [make_trace(), make_trace()])
    assert zips.load("b.zip").manifest["traces"]["kept"] == 1


def test_baseline__holds_no_secret_of_a_trace(zips, results, tmp_path):
    secret = "ghp_" + "a1B2" * 9
    write(
        zips,
        tmp_path / "b.zip",
        results,
        [make_trace(calls=[("login", {"token": secret})], response=f"use {secret}")],
    )
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert secret.encode() not in archive.read("traces.jsonl")


def test_baseline__too_large_leaves_out_traces_from_the_end_and_says_so(results, tmp_path):
    zips = BaselineZips(Workspace(None, str(tmp_path)), ZipLimits(packed=250_000, slack=100_000))
    draw = random.Random(1)  # noqa: S311  (noise that does not deflate)
    noise = [make_trace(trace_id=f"t{n}", path=f"{n}.json", response=draw.randbytes(8_000).hex()) for n in range(40)]
    (warning,) = write(zips, tmp_path / "b.zip", results, noise)
    counted = zips.load("b.zip").manifest["traces"]
    assert 0 < counted["kept"] < 40
    assert counted["kept"] + counted["left_out"] == 40
    assert f"{counted['left_out']} traces were left out" in warning.message
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        kept = [read_stored_trace(line).trace_id for line in archive.read("traces.jsonl").splitlines()]
    assert kept == [f"t{n}" for n in range(counted["kept"])]


def test_results_json__is_a_baseline_too(zips, results, tmp_path):
    (tmp_path / "results.json").write_bytes(results)
    assert zips.load("results.json").manifest is None


def test_results_json__may_be_as_large_as_what_a_zip_holds(results, tmp_path):
    (tmp_path / "results.json").write_bytes(results)
    most = ZipLimits(packed=10, unpacked=len(results))
    assert BaselineZips(Workspace(None, str(tmp_path)), most).load("results.json").manifest is None
    less = ZipLimits(packed=10, unpacked=len(results) - 1)
    with pytest.raises(InvalidInput, match="file of results is larger than"):
        BaselineZips(Workspace(None, str(tmp_path)), less).load("results.json")


def test_zip_in_a_zip__is_opened_once_more(zips, results, tmp_path):
    write(zips, tmp_path / "inner.zip", results)
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as archive:
        archive.write(tmp_path / "inner.zip", "baseline.zip")
    assert zips.load("outer.zip").manifest["commit"] == "c0ffee"


def honest(results):
    return [("manifest.json", json.dumps(MANIFEST)), ("results.json", results)]


def archive_of(members, flags=0, mode=0o100644):
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for name, content in members:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    data = bytearray(buffer.getvalue())
    if flags:
        data[6] |= flags
        data[data.find(b"PK\x01\x02") + 8] |= flags
    return bytes(data)


def moved_on(data):
    """An archive whose directory says it begins one byte later, so that its members start before the file."""
    return data[:-6] + bytes([data[-6] + 1]) + data[-5:]


def directory_of(entries):
    """An archive that is all directory, in the form for more than 65,535 entries."""
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, *[0] * 14)
    size = len(entry) * entries
    end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, entries, entries, size, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return entry * entries + end + locator + tail


def test_zip__with_a_directory_of_a_million_entries_is_refused_at_once(zips, tmp_path):
    (tmp_path / "b.zip").write_bytes(directory_of(1_200_000))
    start = time.thread_time()
    with pytest.raises(InvalidInput, match="1,000 entries"):
        zips.load("b.zip")
    assert time.thread_time() - start < 2


def test_baseline__replaces_a_link_instead_of_following_it(zips, results, tmp_path):
    (tmp_path / "theirs").write_text("kept")
    (tmp_path / "b.zip").symlink_to(tmp_path / "theirs")
    (tmp_path / ".b.zip.part").symlink_to(tmp_path / "theirs")
    write(zips, tmp_path / "b.zip", results)
    assert (tmp_path / "theirs").read_text() == "kept"
    assert zips.load("b.zip").manifest["commit"] == "c0ffee"


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (lambda r: b"<html>", "it is not a zip file"),
        (lambda r: b"", "it is not a zip file"),
        (lambda r: b"PK\x03\x04 broken", "is not a zip file"),
        (lambda r: archive_of(honest(r))[:-40], "is not a zip file"),
        (lambda r: moved_on(archive_of(honest(r))), "damaged"),
        (lambda r: archive_of([]), "no entries called manifest.json"),
        (lambda r: archive_of([*honest(r), ("results.json", r)]), "2 entries called results.json"),
        (lambda r: archive_of(honest(r), flags=1), "encrypted"),
        (lambda r: archive_of(honest(r), mode=0o120777), "is not a regular file"),
        (lambda r: archive_of([("manifest.json", b"[]"), ("results.json", r)]), "does not have the schema"),
        (
            lambda r: archive_of([("manifest.json", b'{"schema": "evalgate.baseline/3"}'), ("results.json", r)]),
            "written by a newer EvalGate: update this one",
        ),
        (lambda r: archive_of([("manifest.json", b"{"), ("results.json", r)]), "manifest.json is not valid JSON"),
        (lambda r: archive_of([("manifest.json", json.dumps(MANIFEST)), ("results.json", b"{}")]), "results"),
        (lambda r: archive_of([(f"f{n}", b"") for n in range(1_001)]), "1,000 entries"),
        (lambda r: archive_of([("manifest.json", b"\0" * (300 << 20))]), "too large"),
        (lambda r: archive_of([("manifest.json", b" " * (2 << 20)), ("results.json", r)]), "1,000,000 bytes"),
        (lambda r: archive_of([("manifest.json", b"[" * 400 + b"]" * 400), ("results.json", r)]), "is not valid JSON"),
        (lambda r: archive_of([("../manifest.json", b"{}"), ("/results.json", b"{}")]), "no entries called"),
    ],
)
def test_hostile_baseline__is_refused_with_a_reason(zips, results, tmp_path, content, part):
    (tmp_path / "b.zip").write_bytes(content(results))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(InvalidInput) as caught:
        zips.load("b.zip")
    assert part in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before, "nothing may be unpacked"


def test_zip__with_a_wrong_size_is_refused(tmp_path):
    data = bytearray(archive_of([("manifest.json", json.dumps(MANIFEST)), ("results.json", b" " * 5_000_000)]))
    at = data.rfind(b"PK\x01\x02")
    data[at + 24 : at + 28] = (10).to_bytes(4, "little")
    (tmp_path / "b.zip").write_bytes(bytes(data))
    zips = BaselineZips(Workspace(None, str(tmp_path)), ZipLimits(unpacked=1_000_000))
    with pytest.raises(InvalidInput, match=r"damaged|more than is accepted"):
        zips.load("b.zip")


def make(zips, path):
    with path.open("wb") as stream:
        return zips.create("out", path.name, stream)


def test_create__from_a_folder_with_a_zip_copies_it(zips, results, tmp_path):
    (tmp_path / "out").mkdir()
    write(zips, tmp_path / "out" / "baseline.zip", results)
    assert make(zips, tmp_path / "copy.zip") == []
    assert (tmp_path / "copy.zip").read_bytes() == (tmp_path / "out" / "baseline.zip").read_bytes()


def test_create__from_results_alone_says_what_is_missing(zips, results, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").write_bytes(results)
    (warning,) = make(zips, tmp_path / "made.zip")
    assert "left out" in warning.message
    assert zips.load("made.zip").results == load_results(results)


def test_create__leaves_the_zip_of_an_earlier_run_alone(zips, results, tmp_path):
    (tmp_path / "out").mkdir()
    write(zips, tmp_path / "out" / "baseline.zip", results)
    later = {**json.loads(results), "commit": "later"}
    (tmp_path / "out" / "results.json").write_text(json.dumps(later))
    (warning,) = make(zips, tmp_path / "made.zip")
    assert "no baseline.zip of this run" in warning.message
    assert zips.load("made.zip").results["commit"] == "later"


def test_results_of_an_invalid_run__are_not_a_baseline_even_with_other_files(zips, results, tmp_path):
    (tmp_path / "out").mkdir()
    invalid = join_chunks(judge(make_request(), make_tools("version: 2\n")).files["results.json"])
    (tmp_path / "out" / "results.json").write_bytes(invalid)
    write(zips, tmp_path / "out" / "baseline.zip", results)
    with pytest.raises(InvalidInput, match="no finished run"):
        zips.load("out/results.json")
    with pytest.raises(InvalidInput, match="no finished run"):
        make(zips, tmp_path / "made.zip")


def test_a_baseline_that_was_unpacked_reads_like_its_zip(zips, results, tmp_path):
    write(zips, tmp_path / "baseline.zip", results, [make_trace()])
    with zipfile.ZipFile(tmp_path / "baseline.zip") as archive:
        archive.extractall(tmp_path / "main")
    for read in (zips.load, zips.load_run, lambda path: list(zips.read_traces(path)), zips.read_suites):
        assert read("main/manifest.json") == read("baseline.zip")
    (tmp_path / "main/results.json").unlink()
    with pytest.raises(InvalidInput, match=r"main/manifest\.json can't be read: .*results\.json"):
        zips.load_run("main/manifest.json")
