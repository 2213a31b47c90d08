"""A failing pull request whose traces are copied, renamed, renumbered or reordered never passes without a word."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from command import CommandResult

Traces = list[dict[str, Any]]
NAMED = (
    "there are duplicate traces",
    "weaker than the baseline's",
    "fewer trials were recorded",
    "would fail under the baseline's rules",
)
SUITE = {
    **suite({"contains": "refunded"}, scenario={"trials": {"min_pass_rate": 0.7}}),
    "traces": ["traces/*"],
    "policy": {"fail_on": ["hard_fail", "broken", "below_threshold"]},
}
FIGURES = {"usage": {"input_tokens": 7, "output_tokens": 1}, "started_at": "2027-01-14T00:00:00Z"}


def trial(number: int, answer: str = "refunded") -> dict[str, Any]:
    """A trial that was recorded at its own time."""
    times = {"started_at": f"2027-01-14T00:00:0{number}Z", "latency_seconds": 1 + number / 10}
    return trace(answer, trial=number, trace_id=f"t{number}", **{**FIGURES, **times})


GOOD = [trial(number) for number in range(3)]
FAILING = [trial(0), trial(1, "No"), trial(2, "Not today")]


def as_lines(traces: Traces) -> dict[str, bytes]:
    return {"all.jsonl": "".join(f"{json.dumps(each)}\n" for each in traces).encode()}


def as_files(traces: Traces) -> dict[str, bytes]:
    return {f"{number}.json": json.dumps(each).encode() for number, each in enumerate(traces)}


def with_copies(change: Callable[[dict[str, Any], int], dict[str, Any]]) -> Traces:
    """The failing trials, and eight changed copies of the good one."""
    return [*FAILING, *(change(FAILING[0], number) for number in range(8))]


def reverse(value: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(value.items()))


COPIES: dict[str, dict[str, bytes]] = {
    "copies in one file": as_lines(with_copies(lambda good, _: good)),
    "copies of the file": as_files(with_copies(lambda good, _: good)),
    "copies in a list": {"all.json": json.dumps(with_copies(lambda good, _: good)).encode()},
    "packed copies": {
        **as_lines(FAILING),
        **{f"{number}.json.gz": gzip.compress(json.dumps(FAILING[0]).encode()) for number in range(8)},
    },
    "copies with keys in another order": as_lines(with_copies(lambda good, _: reverse(good))),
    "copies with more blanks": {
        **as_lines(FAILING),
        **{f"{number}.json": json.dumps(FAILING[0], indent=number).encode() for number in range(8)},
    },
    "copies with other ids": as_lines(with_copies(lambda good, number: {**good, "trace_id": f"copy{number}"})),
    "copies without ids": as_lines(
        with_copies(lambda good, _: {key: value for key, value in good.items() if key != "trace_id"})
    ),
    "copies with other trial numbers": as_lines(with_copies(lambda good, number: {**good, "trial": 3 + number})),
    "copies with other ids and numbers": as_lines(
        with_copies(lambda good, number: {**good, "trial": 3 + number, "trace_id": f"copy{number}"})
    ),
    "copies with other tags": as_lines(with_copies(lambda good, number: {**good, "tags": {"copy": str(number)}})),
    "copies with other costs": as_lines(with_copies(lambda good, number: {**good, "cost_usd": 1 + number})),
    "copies with other metadata": as_lines(
        with_copies(lambda good, number: {**good, "trace_id": f"copy{number}", "metadata": {"copy": number}})
    ),
    "the number of a good trial": as_lines([FAILING[0], *({**each, "trial": 0} for each in FAILING[1:])]),
    "the id of a good trial": as_lines([FAILING[0], *({**each, "trace_id": "t0"} for each in FAILING[1:])]),
    "id and number of a good trial": as_lines(
        [FAILING[0], *({**each, "trace_id": "t0", "trial": 0} for each in FAILING[1:])]
    ),
    "one number for all": as_lines([{**each, "trial": 0} for each in with_copies(lambda good, _: good)]),
    "no numbers": as_lines([{key: value for key, value in each.items() if key != "trial"} for each in FAILING]),
    "another order": as_lines(FAILING[::-1]),
    "numbers in another order": as_lines([{**each, "trial": 9 - each["trial"]} for each in FAILING]),
    "the failing ones first": as_lines(with_copies(lambda good, _: good)[::-1]),
    "the failing ones of another scenario": as_lines([FAILING[0], *({**each, "scenario_id": "x"} for each in FAILING[1:])]),
    "the failing ones removed": as_lines(FAILING[:1]),
}  # fmt: skip
MOVED = {"the failing ones of another scenario", "the failing ones removed"}
"""Here fewer trials are left than in the baseline."""


def run(folder: Path, traces: dict[str, bytes], *arguments: str) -> CommandResult:
    folder.mkdir(exist_ok=True)
    (folder / "suite.yaml").write_text(json.dumps(SUITE))
    (folder / "traces").mkdir()
    for name, content in traces.items():
        (folder / "traces" / name).write_bytes(content)
    return evalgate(folder, ["suite.yaml", *arguments])


@pytest.fixture(scope="module")
def baseline(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("base")
    assert run(folder, as_lines(GOOD)).code == 0
    return str(folder / ".evalgate/baseline.zip")


def test_the_pull_request_fails(tmp_path: Path, baseline: str) -> None:
    assert run(tmp_path, as_lines(FAILING), "--baseline", baseline).code == 1


@pytest.mark.parametrize("name", COPIES)
def test_changed_traces_are_red_or_named_and_every_failing_trial_counts(
    tmp_path: Path, baseline: str, name: str
) -> None:
    ran = run(tmp_path, COPIES[name], "--baseline", baseline)
    heading = ran.text("comment.md").splitlines()[1]
    assert ran.code or any(words in heading for words in NAMED), ran.stdout
    trials = ran.results["suites"][0]["scenarios"][0]["trials"]
    failed = [each for each in trials if each["status"] == "failed"]
    assert len(failed) == (0 if name in MOVED else 2)
