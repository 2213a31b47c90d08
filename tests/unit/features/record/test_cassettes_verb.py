"""`evalgate cassettes`: what it says of each, what git sees, what is removed, and hostile cassettes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from io import StringIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from recorded_cassettes import HEADER, USER, answer, build_cassette, chat, exchange

from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.features.record.bootstrap.cassettes import CassetteFolder, write_replays
from evalgate.features.record.models.cassette import Cassette, ReplayNote

CASSETTE = "evals/cassettes/s/refund/0.jsonl"
SUITE = """
suite: s
traces: [traces]
policy: {freshness: {watch: agent.txt, max_age: 7d}}
scenarios: [{id: refund, assertions: [{type: output_contains, value: refunded}]}]
"""
RECORDED = 1_767_225_600  # of each exchange
AGENT_HASH = "8c7560ef90aa86092be64168a2afe21efcb8383feb0cf48b467ae08141fd2dc7"  # of agent.txt
FORGED = [
    "2026-13-01T00:00:00Z",
    "2026-01-01T00:00:00",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "now",
]


def cassettes(folder: Path, *words: str, now: float = RECORDED + 3_600) -> tuple[int, str, str]:
    out, err = StringIO(), StringIO()
    environ = {"SOURCE_DATE_EPOCH": str(now), "PATH": os.environ["PATH"]}
    code = main(["cassettes", *words], Shell(out, err, environ, str(folder)))
    return code, out.getvalue(), err.getvalue()


def save(folder: Path, *requests: Any, name: str = "refund", **header: Any) -> Cassette:
    made = build_cassette(*[exchange(each, answer()) for each in requests or (chat(USER),)])
    named = {"suite": "s", "scenario": name, "agent_hash": AGENT_HASH, **header}
    made.header = msgspec.structs.replace(HEADER, **named)
    CassetteFolder(str(folder)).write(made.header.trial_id, made)
    return made


def states(folder: Path, *words: str, **more: Any) -> dict[str, list[str]]:
    _, out, _ = cassettes(folder, "status", "--json", *words, **more)
    return {each["path"]: each["states"] for each in json.loads(out)["cassettes"]}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "agent.txt").write_text("version 1")
    return tmp_path


def test_a_cassette_is_fresh_until_something_changes(project):
    made = save(project, chat(USER), chat(USER, USER))
    of_suite = ("--suite", "suite.yaml")
    assert states(project) == {CASSETTE: ["fresh"]}
    assert cassettes(project, "status", "--strict")[0] == 0
    write_replays(str(project), {CASSETTE: ReplayNote({made.exchanges[0].key: 1})})
    assert states(project) == {CASSETTE: ["unused"]}
    write_replays(str(project), {CASSETTE: ReplayNote({each.key: 1 for each in made.exchanges}, misses=1)})
    assert states(project) == {CASSETTE: ["prompt changed"]}
    write_replays(str(project), {CASSETTE: ReplayNote({each.key: 1 for each in made.exchanges})})
    assert states(project) == states(project, *of_suite) == {CASSETTE: ["fresh"]}
    (project / "agent.txt").write_text("version 2")
    assert states(project) == {CASSETTE: ["fresh"]}
    assert states(project, *of_suite) == {CASSETTE: ["agent changed"]}
    assert states(project, *of_suite, now=RECORDED + 8 * 86_400) == {CASSETTE: ["agent changed", "older than max_age"]}
    code, out, _ = cassettes(project, "status", "--strict", *of_suite)
    assert (code, out) == (1, f"agent changed        {CASSETTE} (2 exchanges, 2026-01-01T00:00:00.000Z)\n")


def test_a_cassette_that_no_replay_finds_is_unused(project):
    save(project)
    moved = project / "evals/cassettes/s/other/0.jsonl"
    moved.parent.mkdir()
    (project / CASSETTE).rename(moved)
    save(project, name="removed")
    save(project, trial=1)
    found = states(project, "--suite", "suite.yaml")
    assert found == {str(Path("evals/cassettes/s") / name): ["unused"] for name in (
        "other/0.jsonl", "refund/1.jsonl", "removed/0.jsonl")}  # fmt: skip
    assert cassettes(project, "prune", "--dry-run", "--suite", "suite.yaml")[1].count(": removed\n") == 3
    assert moved.exists()
    assert cassettes(project, "prune", "--suite", "suite.yaml")[0] == 0
    assert list((project / "evals/cassettes").rglob("*.jsonl")) == []


def test_prune_removes_only_exchanges_that_the_last_replay_did_not_use(project):
    made = save(project, chat(USER), chat(USER, USER))
    write_replays(str(project), {CASSETTE: ReplayNote({made.exchanges[1].key: 1})})
    assert cassettes(project, "prune") == (0, f"{CASSETTE}: 1 of 2 exchanges removed\n", "")
    assert [each.key for _, one in CassetteFolder(str(project)).load_all() for each in one.exchanges] == [
        made.exchanges[1].key
    ]


def test_the_folder_may_be_spelt_in_any_way(project):
    made = save(project)
    write_replays(str(project), {CASSETTE: ReplayNote({made.exchanges[0].key: 1}, misses=1)})
    for spelt in (
        "evals/cassettes/",
        "./evals/cassettes",
        "evals/../evals/cassettes",
        str(project / "evals/cassettes"),
    ):
        assert states(project, "--cassettes", spelt) == {CASSETTE: ["prompt changed"]}
    assert CassetteFolder(str(project), "./evals/cassettes").path(made.header.trial_id) == CASSETTE


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_git_sees_as_changed_is_listed(project):
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run([shutil.which("git") or "git", *who, *words], cwd=project, check=True, capture_output=True)

    def changed(*words: str) -> dict[str, Any]:
        listed = json.loads(cassettes(project, "status", "--json", *words)[1])["cassettes"]
        return {each["path"].split("/")[-2]: each["changed"] for each in listed}

    save(project, name="kept")
    save(project)
    assert changed() == {"kept": None, "refund": None}  # no repository
    git("init", "-q")
    git("checkout", "-qb", "main")
    git("add", "-A")
    git("commit", "-qm", "Record")
    assert changed() == {"kept": False, "refund": False}
    git("checkout", "-qb", "work")
    save(project, chat(USER, USER))
    save(project, name="new")
    assert changed() == {"kept": False, "new": True, "refund": True}
    assert cassettes(project, "status")[1].count("Z, changed, not committed)") == 2
    git("add", "-A")
    git("commit", "-qm", "Record again")
    assert changed() == {"kept": False, "new": False, "refund": False}
    assert changed("--since", "main") == {"kept": False, "new": True, "refund": True}
    assert cassettes(project, "status", "--since", "main")[1].count("Z, changed since main)") == 2
    code, _, err = cassettes(project, "status", "--since", "--output=x")
    assert (code, err.count("\n")) == (2, 1)
    assert "git knows no commit" in cassettes(project, "status", "--since", "nowhere")[2]
    assert not (project / "x").exists()


def forge(folder: Path, change: Any) -> None:
    lines = [json.loads(line) for line in (folder / CASSETTE).read_text().splitlines()]
    change(*lines)
    (folder / CASSETTE).write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("time", FORGED)
@pytest.mark.parametrize("has_exchange", [True, False])
def test_times_that_nothing_can_be_computed_from_are_refused(project, time, has_exchange):
    save(project)
    if has_exchange:
        forge(project, lambda _, one: one.update(recorded_at=time))
    else:
        forge(project, lambda header, _: header.update(created=time))
        (project / CASSETTE).write_text((project / CASSETTE).read_text().splitlines()[0] + "\n")
    for verb in (["status", "--suite", "suite.yaml"], ["show", "refund"], ["prune", "--suite", "suite.yaml"]):
        code, _, err = cassettes(project, *verb)
        assert (code, err.count("\n"), "this cassette is refused" in err) == (2, 1, True), err


@pytest.mark.parametrize(
    "change",
    [
        lambda _, one: one.update(duration_ms=1e300),
        lambda _, one: one["response"].pop("json") and one["response"].update(events=[[1e300, "data: x"]]),
        lambda header, _: header.update(trial=-1),
        lambda header, _: header.update(trial=10**18),
    ],
)
def test_numbers_that_nothing_can_be_computed_from_are_refused(project, change):
    save(project)
    forge(project, change)
    code, _, err = cassettes(project, "status")
    assert (code, err.count("\n")) == (2, 1)


def test_what_a_cassette_says_is_shown_escaped(project):
    text = "\x1b]0;title\x07\x1b[2J\u202e::error::x"
    made = build_cassette(exchange(chat({"role": "user", "content": text}), answer(text)))
    CassetteFolder(str(project)).write(made.header.trial_id, made)
    code, out, _ = cassettes(project, "show", "refund")
    assert (code, "\x1b" in out, "\u202e" in out) == (0, False, False)
    assert "error::x" in out
