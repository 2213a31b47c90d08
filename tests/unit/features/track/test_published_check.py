"""What a sandboxed judge hands over for trackers can't choose names, facts or texts."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec
import pytest

from evalgate.features.track.application.published_check import FACTS, decode_published
from evalgate.features.track.application.published_run import make_names
from evalgate.features.track.models import (
    PublishedRow,
    PublishedRun,
    PublishedScore,
    PublishedSuite,
    TrackingContext,
)

CONTEXT = TrackingContext(
    "acme/agent",
    server="github.com",
    repository_id="17",
    run_id="9",
    run_url="https://github.com/acme/agent/actions/runs/9",
    event="pull_request",
    branch="feature",
    base_branch="main",
    pull_request="7",
    head_repository="x/y",
)
COMMIT = "a" * 40
TRIAL = {"scenario": "tea", "variant": None, "trial": 1, "metadata": {}}
ROW_ID = "6f0d5c1e-7a52-5d0e-9a0f-2d3c8b1e4a77"


def a_run(context=CONTEXT, *, row=None, suite=None, **fields):
    names = make_names(context, "9", "feature", COMMIT)
    started = datetime(2026, 11, 20, tzinfo=UTC)
    given = {"inputs": {"scenario": "tea"}, "expected": {}, "outputs": {"call_count": 1}, "scores": []}
    rows = [PublishedRow(**{"id": ROW_ID, "started_at": started, **given, **(row or {})}, **TRIAL)]
    found = PublishedSuite(
        "s", names.name_dataset("s"), names.name_experiment("s"), rows, [], {**names.describe("s"), "model": "m"}
    )
    for name, value in (suite or {}).items():
        setattr(found, name, value)
    return PublishedRun([found], **{"base_branch": "main", **fields})


def decode(run, content="none", context=CONTEXT):
    document = run if isinstance(run, bytes) else msgspec.json.encode(run)
    return decode_published(document, make_names(context, "9", "feature", COMMIT), content)


def test_the_document_of_a_judge_comes_back_as_it_was():
    assert decode(a_run()) == a_run()


def test_the_facts_that_are_compared_are_all_that_the_context_gives():
    assert make_names(CONTEXT, "9", "feature", COMMIT).describe("s").keys() == FACTS


@pytest.mark.parametrize(
    "forged",
    [
        a_run(base_branch="release"),
        a_run(suite={"dataset": "evalgate/acme/agent/other"}),
        a_run(suite={"experiment": "evalgate-s-main-1"}),
        a_run(suite={"name": "other"}),
        a_run(suite={"metadata": {**make_names(CONTEXT, "9", "feature", COMMIT).describe("s"), "event": "push"}}),
        a_run(suite={"metadata": {}}),
        a_run(suite={"scores": [PublishedScore("k" * 101, 1.0)]}),
        a_run(row={"id": "1"}),
        a_run(row={"started_at": datetime(2026, 11, 20)}),  # noqa: DTZ001  (without a zone)
        a_run(row={"started_at": datetime(9999, 11, 20, tzinfo=UTC)}),
        a_run(row={"latency_seconds": 1e300}),
        a_run(row={"latency_seconds": -1.0}),
        msgspec.structs.replace(a_run(), suites=[*a_run().suites, *a_run().suites]),
        b"[" * 100_000,
        b"[" + b"[]," * 3_000_001 + b"[]]",
        b'{"suites": 1}',
        b"\xff",
        b"",
    ],
)
def test_a_forged_document_is_none(forged):
    assert decode(forged) is None


@pytest.mark.parametrize(
    ("row", "level"),
    [
        ({"inputs": {"scenario": "tea", "prompt": "p"}}, "final"),
        ({"outputs": {"call_count": 1, "answer": "a"}}, "final"),
        ({"expected": {"expected_tool": "t"}}, "final"),
        ({"outputs": {"messages": []}}, "full"),
        ({"scores": [PublishedScore("k", 1.0, None, "because")]}, "full"),
    ],
)
def test_texts_leave_from_their_level_on(row, level):
    levels = ["none", "final", "full"]

    assert [each for each in levels if decode(a_run(row=row), each) is not None] == levels[levels.index(level) :]


def test_of_a_fork_only_ids_and_numbers_leave_whatever_was_asked_for():
    fork = msgspec.structs.replace(CONTEXT, is_fork=True)

    assert decode(a_run(fork, row={"outputs": {"answer": "a"}}), "full", fork) is None
    assert decode(a_run(fork), "full", fork).suites[0].dataset == "evalgate/acme/agent/forks"
