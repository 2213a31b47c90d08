from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING

import pytest
from builders import make_trace
from results_builder import a_scenario, a_suite, results

from evalgate.adapters.archives.baseline_writer import ZipLimits
from evalgate.adapters.archives.baseline_zip import BaselineZips
from evalgate.adapters.files.workspace import Workspace
from evalgate.adapters.formats.open.stored_traces import encode_stored_trace, read_stored_trace
from evalgate.errors import InvalidInput
from evalgate.models.results.document_names import BASELINE_SCHEMA
from evalgate.ports import BaselineParts
from evalgate.reporting.results.results_json import dump_results

if TYPE_CHECKING:
    from pathlib import Path

RESULTS = dump_results(results([a_suite("support", [a_scenario()])]))


@pytest.fixture
def zips(tmp_path: Path) -> BaselineZips:
    return BaselineZips(Workspace(None, str(tmp_path)))


def written(zips: BaselineZips, path: Path, *traces) -> str:
    spool = zips.open_spool(encode_stored_trace)
    for trace in traces:
        spool.add(trace)
    zips.write(str(path), BaselineParts({"schema": BASELINE_SCHEMA}, RESULTS, b"{}", spool))
    spool.close()
    return str(path)


def test_the_traces_of_a_baseline_come_back_line_by_line(zips: BaselineZips, tmp_path: Path) -> None:
    made = [make_trace(["look_up"], path=f"traces/{name}.json", trace_id=name) for name in "ab"]
    lines = list(zips.read_traces(written(zips, tmp_path / "b.zip", *made)))
    assert [read_stored_trace(line).trace_id for line in lines] == ["a", "b"]


def test_a_zip_within_a_zip_is_opened(zips: BaselineZips, tmp_path: Path) -> None:
    inner = written(zips, tmp_path / "inner.zip", make_trace())
    with zipfile.ZipFile(tmp_path / "outer.zip", "w") as outer:
        outer.write(inner, "baseline.zip")
    assert len(list(zips.read_traces("outer.zip"))) == 1


def test_results_alone_hold_no_traces(zips: BaselineZips, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_bytes(RESULTS)
    assert list(zips.read_traces("results.json")) == []


def test_a_zip_without_traces_holds_none(zips: BaselineZips, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("results.json", RESULTS)
    assert list(zips.read_traces("b.zip")) == []


def test_damaged_traces_are_refused_with_a_clear_message(zips: BaselineZips, tmp_path: Path) -> None:
    path = tmp_path / "b.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("traces.jsonl", b'{"schema": "evalgate.trace/1"}\n' * 10)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"evalgate.trace/1", b"evalgate.trace/9", 1))
    with pytest.raises(InvalidInput, match=r"the baseline b\.zip is refused: traces\.jsonl in it is damaged"):
        list(zips.read_traces("b.zip"))


def test_traces_that_unpack_to_more_than_is_accepted_are_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("traces.jsonl", b"{}\n" * 100_000)
    zips = BaselineZips(Workspace(None, str(tmp_path)), ZipLimits(unpacked=10_000))
    with pytest.raises(InvalidInput, match=r"traces\.jsonl in it is too large"):
        list(zips.read_traces("b.zip"))
