"""A suite with goldens from a store, judged in a shell; and its stored evaluations, exported."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from store_builders import make_golden
from store_verbs import Verbs

ON_SQLITE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
SUITE = "traces: ['traces/*.json']\ngoldens:\n  - store: %s\n"
UNREACHABLE = "postgresql://ci:hunter2@127.0.0.1:1/evalgate"


def project(verbs, store, choice="{suite: nightly}"):
    """Two goldens with a regression suite of one of them, and a trace of each."""
    for id_, tag in (("refund", "money"), ("greet", "smalltalk")):
        store.goldens.create(make_golden(id_, tags=(tag,)))
    verbs("goldens", "suite", "add", "nightly", "--tag", "money", "--passing-score", "0.5")
    lay_out(verbs.folder, choice)


def lay_out(folder, choice):
    (folder / "traces").mkdir()
    for id_, answer in (("refund", "It is on its way."), ("greet", "no")):
        messages = [
            {"role": "user", "content": "I want my money back."},
            {"role": "assistant", "content": answer},
        ]
        trace = {
            "schema": "evalgate.trace/1",
            "scenario_id": id_,
            "conversation_id": f"live-{id_}",
            "messages": messages,
        }
        (folder / "traces" / f"{id_}.json").write_text(json.dumps(trace))
    (folder / "support.yaml").write_text(SUITE % choice)


def results(verbs):
    return json.loads((verbs.folder / ".evalgate" / "results.json").read_bytes())


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_feedback_on_the_conversation_of_a_trace_reaches_the_export(verbs, store, jobs):
    project(verbs, store)
    verbs("run", "support.yaml", "--jobs", jobs)
    verbs("feedback", "add", "live-refund", "--rating", "1", "--comment", "too slow")
    verbs("feedback", "add", "live-greet", "--rating", "5", "--comment", "of another trace")
    [line] = [json.loads(line) for line in verbs("export", "jsonl", "-o", "-").out.splitlines()]
    assert (line["golden_id"], line["conversation"]["id"]) == ("refund", "live-refund")
    assert [one["comment"] for one in line["feedback"]] == ["too slow"]


@pytest.mark.parametrize(
    ("choice", "ids"),
    [
        ("{suite: nightly}", ["refund"]),
        ("{tags: [smalltalk]}", ["greet"]),
        ("{ids: [refund], intents: [task_execution]}", ["greet", "refund"]),
    ],
)
def test_a_run_judges_the_goldens_that_the_store_has(verbs, store, choice, ids):
    project(verbs, store, choice)
    assert verbs("validate", "support.yaml").out.startswith(f"ok: 1 suite, {len(ids)} scenario")
    verbs("run", "support.yaml", "--fail-on", "hard_fail")
    scenarios = results(verbs)["suites"][0]["scenarios"]
    assert sorted(scenario["id"] for scenario in scenarios) == ids
    lines = [json.loads(line) for line in verbs("export", "jsonl", "-o", "-").out.splitlines()]
    assert sorted(line["golden_id"] for line in lines) == ids
    assert {line["golden_title"] for line in lines} == {"A refund in time"}


@ON_SQLITE
def test_a_regression_suite_says_when_a_golden_passes(verbs, store):
    project(verbs, store)
    verbs("run", "support.yaml")
    [scenario] = results(verbs)["suites"][0]["scenarios"]
    assert (scenario["id"], scenario["threshold"], scenario["verdict"]) == ("refund", 0.5, "PASS")


@ON_SQLITE
@pytest.mark.parametrize(
    ("choice", "reason"),
    [
        ("{suite: nightli}", "the store has no regression suite `nightli` (did you mean `nightly`?)"),
        ("{ids: [refnd]}", "the store has no golden `refnd` (did you mean `refund`?)"),
        ("{tags: [mony]}", "no golden in the store matches"),
    ],
)
def test_what_the_store_lacks_is_reported_with_its_location(verbs, store, choice, reason):
    project(verbs, store, choice)
    for words in (("validate", "support.yaml"), ("run", "support.yaml")):
        done = verbs(*words, code=2)
        assert f"error: support.yaml:3:5: {reason}" in done.err


@ON_SQLITE
def test_a_project_names_the_store_of_its_suites(verbs, store, store_url):
    project(verbs, store)
    with closing(sqlite3.connect(store_url)) as source:
        source.execute("VACUUM INTO ?", [str(verbs.folder / "kept.db")])
    (verbs.folder / "evalgate.yaml").write_text("version: 1\nsuites: [support.yaml]\nstore: kept.db\n")
    here = Verbs(verbs.folder, "")
    here("run")
    assert [each["id"] for each in results(here)["suites"][0]["scenarios"]] == ["refund"]
    done = here("run", "--store-url", "none", code=2)
    assert "a store is required here, not `none`" in done.err


def test_a_missing_store_is_reported(tmp_path):
    here = Verbs(tmp_path, "")
    lay_out(tmp_path, "{suite: nightly}")
    done = here("run", "support.yaml", code=2)
    assert "there is no store at .evalgate/evalgate.db" in done.err


def test_unreachable_goldens_can_not_be_judged(tmp_path):
    here = Verbs(tmp_path, UNREACHABLE)
    lay_out(tmp_path, "{suite: nightly}")
    done = here("run", "support.yaml", code=4)
    assert "hunter2" not in done.out + done.err
    left = results(here)
    assert (left["verdict"], left["exit_code"], left["reasons"][0]["code"]) == (
        "cannot_judge",
        4,
        "unreachable",
    )
    assert here("validate", "support.yaml", code=4).err.count("\n") == 1
    here("run", "support.yaml", "--report-only")
    assert (results(here)["verdict"], results(here)["exit_code"]) == ("cannot_judge", 0)


@ON_SQLITE
def test_a_backtest_judges_by_the_goldens_of_the_store(verbs, store):
    project(verbs, store)
    verbs("run", "support.yaml")
    done = verbs("backtest", "support.yaml", ".evalgate/baseline.zip")
    assert "would have blocked 0 of 1 run" in done.out


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_golden_whose_trace_an_outage_ended_is_neither_scored_nor_stored(verbs, store, jobs):
    project(verbs, store)
    verbs("run", "support.yaml", "--no-baseline-zip")
    assert len(store.evaluations.list()) == 1
    path = verbs.folder / "traces" / "refund.json"
    trace = json.loads(path.read_text())
    trace["messages"].pop()
    trace["llm_calls"] = [{"error": {"type": "RateLimitError", "status_code": 429}}]
    path.write_text(json.dumps(trace))
    (verbs.folder / ".evalgate" / "results.json").rename(verbs.folder / "before.json")
    verbs("run", "support.yaml", "--jobs", jobs, "--baseline", "before.json", code=3)
    (found,) = results(verbs)["suites"][0]["scenarios"]
    assert (found["verdict"], found["score"], found["not_measured"]) == ("NOT_EVALUABLE", None, 1)
    assert set(found["dimensions"].values()) == {None}
    assert (found["golden"]["regression_status"], found["golden"]["issues"]) == (None, [])
    assert (found["change"]["kind"], found["change"]["reason"]) == ("inconclusive", "not measured")
    assert "golden" not in found["trials"][0]
    assert len(store.evaluations.list()) == 1
