"""The suites that `init` writes from an agent's first recordings find ten breaks of it; the input is in ../shared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from in_process_command import evalgate

from evalgate.bootstrap.sources import build_suite_files, build_trace_files
from evalgate.features.learn.application.inference.build_suite import draft_suite
from evalgate.features.learn.application.inference.draft import SuiteHead
from evalgate.features.learn.application.inference.self_check import find_failing
from evalgate.features.learn.application.inference.trace_choice import FoundTraces
from evalgate.models.trace.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evalgate.features.learn.application.inference.checks import Strictness

HEAD = SuiteHead("travel", ["*"])


def read(*patterns: str) -> list[Trace]:
    return [each for each in build_trace_files(".").read(patterns, ".", "auto") if isinstance(each, Trace)]


def keep(record: dict[str, Any]) -> None:
    """The folder of the recordings is the break."""


def rename(record: dict[str, Any]) -> None:
    record["tool_calls"][1]["name"] = "reserve_flight"


def leave_out_the_search(record: dict[str, Any]) -> None:
    del record["tool_calls"][0]


def leave_out_the_mail(record: dict[str, Any]) -> None:
    del record["tool_calls"][2]


def book_twice(record: dict[str, Any]) -> None:
    record["tool_calls"].insert(2, {**record["tool_calls"][1], "id": "call_again"})


def mail_before_booking(record: dict[str, Any]) -> None:
    calls = record["tool_calls"]
    calls[1], calls[2] = calls[2], calls[1]


def mail_to_another_address(record: dict[str, Any]) -> None:
    record["tool_calls"][2]["arguments"]["to"] = "eve@example.org"


def crash_in_a_tool(record: dict[str, Any]) -> None:
    del record["tool_calls"][1:]
    record |= {"status": "error", "response": {"content": None, "finish_reason": None, "message_index": None}}


BREAKS: list[tuple[str, Callable[[dict[str, Any]], None], set[Strictness]]] = [
    ("traces-main", rename, {"normal", "strict"}),
    ("traces-main", leave_out_the_mail, {"normal", "strict"}),
    ("traces-main", leave_out_the_search, {"normal", "strict"}),
    ("traces-main", book_twice, {"normal", "strict"}),
    ("traces-main", mail_before_booking, {"normal", "strict"}),
    ("traces-wrongarg", keep, {"normal", "strict"}),
    ("traces-answer", keep, {"strict"}),
    ("traces-main", crash_in_a_tool, {"normal", "strict"}),
    ("traces-main", mail_to_another_address, {"normal", "strict"}),
]
"""Nine of ten breaks; the tenth, an agent that ends with exit code 1, is found by every suite: `test_the_reason`."""


def test_breaks_in_each_trial(tmp_path: Path, shared: Path) -> None:
    recordings = shared / "cases/first-hour"
    main = read(f"{recordings}/traces-main/**/*.jsonl")
    suites = {}
    for strictness in ("normal", "strict"):
        drafted = draft_suite(
            FoundTraces(HEAD.traces, main, []),
            HEAD,
            strictness,
            lambda text: build_suite_files(".").parse_text(text, "evals/travel.yaml"),
        )
        assert drafted is not None
        suites[strictness] = build_suite_files(".").parse_text(drafted.draft.render()[0], "evals/travel.yaml")
    for number, (folder, edit, noticed) in enumerate(BREAKS):
        for path in sorted((recordings / folder / "book").glob("*.jsonl")):
            record = json.loads(path.read_text(encoding="utf-8"))
            if edit is not keep:
                del record["messages"][2:]  # else its calls would be read beside the edited ones
                record["response"]["message_index"] = None
                edit(record)
            (tmp_path / f"{number}-{path.name}").write_text(json.dumps(record), encoding="utf-8")
        broken = read(f"{tmp_path}/{number}-*.jsonl")
        assert len(broken) == 3, (folder, edit)
        found = {name: len(list(find_failing(suite, broken))) for name, suite in suites.items()}
        assert found == {name: 3 * (name in noticed) for name in suites}, (folder, edit)


@pytest.mark.parametrize(
    ("strictness", "source", "reason"),
    [
        ("normal", "traces-late", "the agent ended with exit code 1"),
        ("normal", "traces-wrongarg", 'flight_id "TP534" stands neither in the request nor in a result'),
        ("strict", "traces-answer", "answer contains"),
    ],
)
def test_the_reason(strictness: str, source: str, reason: str, tmp_path: Path, shared: Path) -> None:
    recordings = shared / "cases/first-hour"
    words = ("init", f"{recordings}/traces-main", "--strictness", strictness, "--out", "evals/travel.yaml")
    written = evalgate(*words, cwd=str(tmp_path))
    assert written.exit_code == 0, written.err
    assert ("not checked: " in written.out + written.err) == (strictness == "normal")
    run = evalgate("run", "evals/travel.yaml", "--traces", f"{recordings}/{source}/**/*.jsonl", cwd=str(tmp_path))
    assert (run.exit_code, reason in " ".join(run.out.split())) == (1, True), run.out
