"""Whether what is judged is new: recordings of the baseline, of another recording, or of a time to come."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell
from hostile.whole_run.case import ALL, FAILED, PASS, SUITE, Case, check, suite, trace, trials

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

CHECK = check("output_contains", value="refund")
ONE = trace("issue_refund", started_at="2026-11-20T10:00:00Z")
TWO = trace("issue_refund", started_at="2026-11-20T10:05:00Z")
NEW = trace("issue_refund", started_at="2026-11-27T10:00:00Z")
REPLAYED = {**ONE, "metadata": {"evalgate.replayed": True}}
STAMPED = {**ONE, "commit": "0" * 40, "agent_hash": "abc", "metadata": {"evalgate.recording_id": "r2"}}
BEFORE = {SUITE: suite(CHECK), **trials(ONE, TWO)}
ASKS_FOR_NEW = ("--fail-on", "hard_fail,nothing_recorded")


def with_time(trace: Mapping[str, Any], time: str) -> dict[str, Any]:
    """The trace with the time of its messages."""
    return {**trace, "messages": [{**each, "timestamp": time} for each in trace["messages"]]}


LATER: dict[str, Any] = {"policy": {"freshness": {"max_age": "7d"}, "fail_on": ["hard_fail", "stale_evidence"]}}

NOTHING_NEW = [
    Case(
        "all recordings are the baseline's",
        {SUITE: suite(CHECK), **trials(ONE, TWO)},
        PASS,
        [
            "nothing new was recorded (all 2 traces are the same as those of the baseline)",
            "; to judge a change of the agent, record it again",
        ],
        before=BEFORE,
    ),
    Case(
        "a commit and a hash are not another recording",
        {SUITE: suite(CHECK), **trials(STAMPED)},
        PASS,
        ["the only trace is the same"],
        before={SUITE: suite(CHECK), **trials(ONE)},
    ),
    Case(
        "some are",
        {SUITE: suite(CHECK), **trials(ONE, NEW)},
        PASS,
        ["1 of 2 traces are the same as in the baseline"],
        before=BEFORE,
    ),
    Case("none is", {SUITE: suite(CHECK), **trials(NEW)}, PASS, before=BEFORE, silent=["the same as in"]),
    Case(
        "a replay ran the agent",
        {SUITE: suite(CHECK), **trials(REPLAYED)},
        PASS,
        before={SUITE: suite(CHECK), **trials(REPLAYED)},
        silent=["the same as in"],
    ),
    Case(
        "the policy asks for new ones",
        {SUITE: suite(CHECK), **trials(ONE, TWO)},
        FAILED,
        ["nothing new was recorded"],
        ASKS_FOR_NEW,
        BEFORE,
    ),
    Case("and one is new", {SUITE: suite(CHECK), **trials(ONE, NEW)}, PASS, (), ASKS_FOR_NEW, BEFORE),
    Case(
        "only the rules changed",
        {SUITE: suite(CHECK, {"contains": "issued"}), **trials(ONE, TWO)},
        PASS,
        ["traces unchanged, judged by new rules"],
        before=BEFORE,
    ),
]
PAIR = {**suite(CHECK), "scenarios": [{"id": each, "assertions": [CHECK]} for each in ("refund", "other")]}
ELSEWHERE = {
    **TWO,
    "scenario_id": "refund",
    "trace_id": "t-9",
    "trial": 7,
    "tags": ["new"],
    "scores": {"judge": 1.0},
    "metadata": {"build": "318", "note": "nightly"},
}
LABEL = {"schema": "evalgate.trace/1", "messages": [{"role": "assistant", "content": "refund"}]}
OTHER_LABEL = {**LABEL, "messages": [{"role": "assistant", "content": "a refund"}]}
UNTIMED = trace("issue_refund")


def of_scenarios(**traces: Mapping[str, Any]) -> dict[str, Any]:
    """The files of one trace of each scenario."""
    return {f"traces/{name}.json": {**each, "scenario_id": name} for name, each in traces.items()}


ROTATED = [
    Case(
        f"recordings {what} that changed their scenarios",
        {SUITE: PAIR, **of_scenarios(refund=other, other=one)},
        PASS,
        [" 2 traces are the same as"],
        before={SUITE: PAIR, **of_scenarios(refund=one, other=other)},
    )
    for what, one, other in [
        ("with times", ONE, TWO),
        ("without times", trace("issue_refund"), trace("issue_refund", "send_mail")),
        ("without times and requests", {**LABEL, "latency_seconds": 1.5}, {**OTHER_LABEL, "latency_seconds": 2.5}),
    ]
] + [
    Case(
        "a recording of another scenario and one of a scenario that is new",
        {SUITE: PAIR, **of_scenarios(refund=NEW, other=ONE)},
        PASS,
        ["1 of 2 traces are the same as in the baseline"],
        before={SUITE: suite(CHECK), **of_scenarios(refund=ONE)},
    ),
    Case(
        "labels without a request and a time, of which one is now that of another scenario",
        {SUITE: PAIR, **of_scenarios(refund=OTHER_LABEL, other=OTHER_LABEL)},
        PASS,
        ["1 of 2 traces are the same as in the baseline"],
        before={SUITE: PAIR, **of_scenarios(refund=LABEL, other=OTHER_LABEL)},
    ),
]
NAMED_ANEW = [
    Case(
        "other names, numbers, tags, scores and metadata",
        {SUITE: suite(CHECK), "traces/renamed.json": ELSEWHERE},
        PASS,
        ["only trace is the same as"],
        before=BEFORE,
    ),
    Case(
        "another number of a trial without a time",
        {SUITE: suite(CHECK), "traces/9.json": {**UNTIMED, "trial": 9, "tags": ["new"]}},
        PASS,
        ["only trace is the same as"],
        before={SUITE: suite(CHECK), **trials(UNTIMED)},
    ),
    Case(
        "metadata may hold the only time",
        {SUITE: suite(CHECK), **trials({**UNTIMED, "metadata": {"at": "28 November"}})},
        PASS,
        before={SUITE: suite(CHECK), **trials({**UNTIMED, "metadata": {"at": "27 November"}})},
        silent=["the same as in"],
    ),
    Case(
        "so may messages",
        {SUITE: suite(CHECK), **trials(with_time(UNTIMED, "2026-11-28T10:00:00Z"))},
        PASS,
        before={SUITE: suite(CHECK), **trials(with_time(UNTIMED, "2026-11-27T10:00:00Z"))},
        silent=["the same as in"],
    ),
]
TIMES = [
    Case(
        "recorded in the year 9999, with `max_age`",
        {SUITE: suite(CHECK, **LATER), **trials(trace(started_at="9999-01-01T00:00:00Z"))},
        FAILED,
        ["stale"],
    ),
    Case(
        "recorded in the year 9999, without",
        {SUITE: suite(CHECK), **trials(trace(started_at="9999-01-01T00:00:00Z"))},
        PASS,
        ["in the future"],
    ),
    Case(
        "a clock that is five minutes ahead",
        {SUITE: suite(CHECK, **LATER), **trials(trace(started_at="2027-01-15T08:05:00Z"))},
        PASS,
        silent=["in the future"],
    ),
]


def of(recording: str, trace: dict[str, Any]) -> dict[str, Any]:
    """The trace, as one of a recording."""
    return {**trace, "metadata": {"evalgate.recording_id": recording}}


TWO_RECORDINGS = trials(of("r1", ONE), of("r2", NEW))
ONE_RECORDING = {"policy": {"freshness": {"one_recording": True}, "fail_on": ["hard_fail", "stale_evidence"]}}
RECORDINGS = [
    Case(
        "trials of two recordings",
        {SUITE: suite(CHECK), **TWO_RECORDINGS},
        PASS,
        ["2026-11-20T10:00:00Z and 2026-11-27T10:00:00Z"],
    ),
    Case("and the policy asks for one", {SUITE: suite(CHECK, **ONE_RECORDING), **TWO_RECORDINGS}, FAILED, ["stale"]),
    Case(
        "attempts of one run are one recording",
        {SUITE: suite(CHECK, **ONE_RECORDING), **trials(of("901-1", ONE), of("901-2", NEW))},
        PASS,
    ),
]


@pytest.mark.parametrize("case", [*NOTHING_NEW, *ROTATED, *NAMED_ANEW, *TIMES, *RECORDINGS], ids=lambda case: case.name)
def test_what_is_not_new_is_named(case: Case, tmp_path: Path) -> None:
    assert case.find_faults(case.run(tmp_path)) == []


@pytest.mark.parametrize(("event", "is_said"), [("pull_request", True), ("push", False)])
def test_a_pull_request_without_a_new_recording_says_so_in_its_heading(
    event: str, is_said: bool, tmp_path: Path
) -> None:
    case = NOTHING_NEW[0]
    result = case.run(tmp_path, {"GITHUB_EVENT_NAME": event})
    heading = next(line for line in result.text("comment.md").splitlines() if line.startswith("## "))
    said = "passed: nothing new was recorded (all 2 traces are the same as those of the baseline); to judge"
    assert (said in heading) is is_said
    assert ("the same as" in result.text("comment.md")) is is_said


LATEST = {**NEW, "started_at": "2026-11-27T10:05:00Z"}


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ((NEW, LATEST), "no change since the baseline in 2 new traces;"),
        ((NEW, TWO), "no change since the baseline;"),
        ((REPLAYED, LATEST), "no change since the baseline; 1 of 2 traces was replayed from cassettes;"),
        (
            (REPLAYED, {**REPLAYED, "started_at": "2026-11-27T10:05:00Z"}),
            "no change since the baseline; all 2 traces were replayed from cassettes;",
        ),
    ],
    ids=["new ones", "one of the baseline", "one that was replayed", "all were replayed"],
)
def test_a_pull_request_rests_on_new_recordings_only_where_all_are_known_to_be(
    now: Any, words: str, tmp_path: Path
) -> None:
    case = Case("new or not", {SUITE: suite(CHECK), **trials(*now)}, PASS, before=BEFORE)
    text = case.run(tmp_path, {"GITHUB_EVENT_NAME": "pull_request"}).text("comment.md")
    assert words in next(line for line in text.splitlines() if line.startswith("## "))


HEAD, OTHER, THIRD = "9ce7d4a" + "0" * 33, "461f896" + "0" * 33, "79b87dc" + "0" * 33


@pytest.mark.parametrize(
    ("commits", "words"),
    [
        ((OTHER, HEAD), "1 of 2 traces was made at commit 461f896, not at 9ce7d4a"),
        ((OTHER, OTHER), "all 2 traces were made at commit 461f896, not at 9ce7d4a"),
        ((OTHER, THIRD), "all 2 traces were made at commits 461f896 and 79b87dc, not at 9ce7d4a"),
        (("*main*", HEAD), "1 of 2 traces was made at another commit, not at 9ce7d4a"),
        ((HEAD, HEAD[:7]), ""),
        ((None, HEAD), ""),
    ],
)
@pytest.mark.parametrize("event", ["pull_request", "push", ""])
def test_recordings_of_another_commit_than_the_judged_one_are_named(
    commits: tuple[str | None, str], words: str, event: str, tmp_path: Path
) -> None:
    now = [{**each, "commit": commit} for each, commit in zip((NEW, LATEST), commits, strict=True)]
    case = Case("commits", {SUITE: suite(CHECK), **trials(*now)}, PASS, (), ("--commit", HEAD), BEFORE)
    result = case.run(tmp_path, {"GITHUB_EVENT_NAME": event})
    text = result.text("comment.md")
    heading = next(line for line in text.splitlines() if line.startswith("## "))
    assert heading.startswith("## \u2705")
    assert ("made at" in text) is (bool(words) and event != "push")
    assert (f"; {words};" in heading) is (bool(words) and event == "pull_request")
    if words and event != "push":
        assert words.lower() in text.lower()
        assert words.lower() in result.stdout.lower()
        assert main(["view"], Shell(io.StringIO(), io.StringIO(), {}, str(tmp_path / "now"))) == 0
        assert words.lower() in result.text("report.html").lower()


def test_the_commit_of_a_recording_that_the_baseline_has_is_not_named(tmp_path: Path) -> None:
    now = trials({**ONE, "commit": OTHER}, {**NEW, "commit": HEAD})
    case = Case("old", {SUITE: suite(CHECK), **now}, PASS, (), ("--commit", HEAD), BEFORE, silent=["made at"])
    assert case.find_faults(case.run(tmp_path, {"GITHUB_EVENT_NAME": "pull_request"})) == []


def test_a_failing_run_says_below_its_heading_which_recordings_are_not_new(tmp_path: Path) -> None:
    files = {SUITE: suite(check("tool_called", tool="send_mail")), **trials({**REPLAYED, "commit": OTHER})}
    says = ["\nThe only trace was replayed from cassettes. The only trace was made at commit 461f896, not at 9ce7d4a."]
    case = Case("fails", files, FAILED, says, ("--commit", HEAD))
    assert case.find_faults(case.run(tmp_path, {"GITHUB_EVENT_NAME": "pull_request"})) == []


FORBIDS = check("forbidden_tools", tools=["delete_user"])
ALL_IDS = {**suite(FORBIDS), "scenarios": [{"id": "*", "assertions": [FORBIDS]}]}


@pytest.mark.parametrize(("calls", "code"), [(("issue_refund", "delete_user"), FAILED), (("issue_refund",), PASS)])
def test_a_scenario_of_its_own_frees_no_new_recording_of_what_a_glob_forbids(
    calls: tuple[str, ...], code: int, tmp_path: Path
) -> None:
    own = {"id": "new", "assertions": [check("tool_called", tool="issue_refund")]}
    files = {**trials(NEW), "traces/new.json": {**trace(*calls), "scenario_id": "new"}}
    now = {SUITE: {**ALL_IDS, "scenarios": [*ALL_IDS["scenarios"], own]}, **files}
    case = Case("taken from a glob", now, code, arguments=ALL, before={SUITE: ALL_IDS, **trials(ONE)})
    assert case.find_faults(case.run(tmp_path)) == []
