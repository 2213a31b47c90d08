"""A comparison reads the standings in a baseline.zip, and gives the same result as with the whole results."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from evalgate.adapters.archives.baseline_zip import BaselineZips
from evalgate.adapters.files.workspace import Workspace
from evalgate.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ZIP = ".evalgate/baseline.zip"
CHECKS = [{"contains": "ok", "required": True}, {"type": "tool_called", "tool": "pay"}]
Members = dict[str, bytes]


def says(folder: Path, scenario: str, trial: int, answer: str, *tools: str) -> None:
    messages = [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": answer,
            "tool_calls": [
                {"id": str(number), "name": name, "arguments": {"n": number}} for number, name in enumerate(tools)
            ],
        },
    ]
    trace = {
        "schema": "evalgate.trace/1",
        "trace_id": f"{scenario}-{trial}",
        "scenario_id": scenario,
        "trial": trial,
        "messages": messages,
        "cost": {"usd": 0.01 + trial / 1000},
        "usage": {"input_tokens": 100, "output_tokens": 10 + trial},
    }
    folder.mkdir(exist_ok=True)
    (folder / f"{scenario}-{trial}.json").write_text(json.dumps(trace))


@pytest.fixture
def compared(tmp_path: Path) -> Path:
    """A folder with `base.zip`, and traces that differ from those of the baseline in every way."""
    suite = {
        "version": 1,
        "suite": "s",
        "traces": ["traces/*.json"],
        "scenarios": [{"id": "*", "assertions": CHECKS}],
        "policy": {"regression": {"cost": {"max_increase": 0.1}}},
    }
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    traces = tmp_path / "traces"
    for trial in range(4):
        says(traces, "breaks", trial, "ok", "look_up", "pay")
        says(traces, "falls", trial, "ok", "pay")
    says(traces, "gone", 0, "ok", "pay")
    says(traces, "same", 0, "ok", "pay")
    (traces / "unread.json").write_text("{")
    evalgate(tmp_path, ["s.yaml"])
    (tmp_path / ZIP).rename(tmp_path / "base.zip")
    for trial in range(4):
        says(traces, "breaks", trial, "no", "pay")
        says(traces, "falls", trial, "ok", "guess")
    for name in ("gone-0.json", "unread.json"):
        (traces / name).unlink()
    says(traces, "new", 0, "ok", "pay")
    return tmp_path


def against(folder: Path) -> dict[str, Any]:
    """The results of a run with the baseline."""
    return evalgate(folder, ["s.yaml", "--baseline", "base.zip"]).results


def members_of(path: Path) -> Members:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write(path: Path, members: Members) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def without(members: Members, *names: str) -> Members:
    return {name: content for name, content in members.items() if name not in names}


def test_the_results_are_those_of_a_comparison_with_whole_results(compared: Path):
    members = members_of(compared / "base.zip")
    assert set(members) >= {"standings.json", "results.json", "traces.jsonl"}
    by_standings = against(compared)
    comment = (compared / ".evalgate/comment.md").read_bytes()
    write(compared / "base.zip", without(members, "standings.json"))
    assert against(compared) == by_standings
    assert (compared / ".evalgate/comment.md").read_bytes() == comment
    assert by_standings["exit_code"] == 1
    changes = {each["id"]: each["change"] for each in by_standings["suites"][0]["scenarios"]}
    assert {id_: change["kind"] for id_, change in changes.items()} == {
        "breaks": "broken",
        "falls": "broken",
        "new": "new",
        "same": "unchanged",
    }
    assert changes["breaks"]["calls"]["before"] == ["look_up", "pay"]
    assert changes["breaks"]["behaviour"]["figures"][0] == {"name": "score", "before": 1.0, "now": 0.5}
    gone = {each["id"] for each in by_standings["removed"]}
    assert gone == {"gone", "unread.json"}
    assert by_standings["baseline"]["summary"] == json.loads(members["results.json"])["summary"]


def test_a_comparison_does_not_open_the_results(compared: Path):
    """Not even damaged results are noticed; reading the results themselves fails."""
    expected = against(compared)
    damaged = bytearray((compared / "base.zip").read_bytes())
    at = damaged.find(b"results.json") + len(b"results.json")
    damaged[at + 10 : at + 20] = bytes(10)
    (compared / "base.zip").write_bytes(bytes(damaged))
    assert against(compared) == expected
    zips = BaselineZips(Workspace(None, str(compared)))
    with pytest.raises(InvalidInput, match=r"results\.json in it is damaged"):
        zips.load("base.zip")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda m: {**m, "results.json": m["results.json"] + b" "}, "does not belong to the results"),
        (lambda m: {**m, "standings.json": b"{"}, r"standings\.json is not valid JSON"),
        (lambda m: {**m, "standings.json": b"{}"}, "its schema is missing"),
        (lambda m: without(m, "results.json"), r"no entries called results\.json"),
    ],
)
def test_inconsistent_standings_are_refused(compared: Path, change: Callable[[Members], Members], message: str):
    write(compared / "base.zip", change(members_of(compared / "base.zip")))
    with pytest.raises(InvalidInput, match=message):
        BaselineZips(Workspace(None, str(compared))).load_run("base.zip")
    assert evalgate(compared, ["s.yaml", "--baseline", "base.zip"]).code == 2


def test_an_unfinished_run_is_not_a_baseline_by_its_standings_either(compared: Path):
    members = members_of(compared / "base.zip")
    standings = {**json.loads(members["standings.json"]), "summary": None}
    write(compared / "base.zip", {**members, "standings.json": json.dumps(standings).encode()})
    with pytest.raises(InvalidInput, match="contains no finished run"):
        BaselineZips(Workspace(None, str(compared))).load_run("base.zip")


def test_a_baseline_made_of_results_alone_has_standings(compared: Path):
    zips = BaselineZips(Workspace(None, str(compared)))
    (compared / ".evalgate/baseline.zip").unlink(missing_ok=True)
    with (compared / "made.zip").open("wb") as stream:
        zips.create(".evalgate", "made.zip", stream)
    made = zips.load_run("made.zip").run
    assert "standings.json" in members_of(compared / "made.zip")
    assert made == zips.load_run(".evalgate/results.json").run
