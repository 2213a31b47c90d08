"""One recording that was written for several scenarios says nothing about the others, and is named."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace, write

if TYPE_CHECKING:
    from pathlib import Path

CHECKS = [{"id": each, "assertions": [{"type": "not_empty"}]} for each in ("a", "b", "c")]
AT = {"started_at": "2026-11-28T10:00:00Z", "latency_seconds": 2.5}


def judge(folder: Path, **traces: Any) -> tuple[str, list[str]]:
    """What stands below the heading, and the warnings about recordings that scenarios share."""
    files = {f"traces/{name}.json": {**each, "scenario_id": name} for name, each in traces.items()}
    whole = {**suite({"type": "not_empty"}), "scenarios": CHECKS[: len(traces)]}
    write(folder, {"evals/s.yaml": whole, **files})
    ran = evalgate(folder, ["evals/s.yaml"])
    found = [each["message"] for each in ran.results["warnings"] if each["code"] == "shared_recording"]
    return ran.text("comment.md").split("\n\n")[1], found


def test_a_recording_of_several_scenarios_is_named_below_the_heading(tmp_path):
    same = trace("done", **AT)
    line, found = judge(tmp_path, a=same, b={**same, "trial": 4}, c={**same, "tags": ["c"]})
    assert len(found) == 1
    assert "the recording of ` b ` is that of ` a ` (and 1 more), equal in all but what names it" in line


@pytest.mark.parametrize(
    "other",
    [
        trace("done", **{**AT, "started_at": "2026-11-28T10:00:01Z"}),
        trace("other", **AT),
        trace("done", cost_usd=1, **AT),
    ],
)
def test_recordings_that_differ_in_time_answer_or_cost_are_no_warning(tmp_path, other):
    assert judge(tmp_path, a=trace("done", **AT), b=other)[1] == []


@pytest.mark.parametrize("left_out", AT)
def test_equal_recordings_without_a_time_or_a_measure_are_no_warning(tmp_path, left_out):
    same = trace("done", **{name: value for name, value in AT.items() if name != left_out})
    assert judge(tmp_path, a=same, b=same)[1] == []
