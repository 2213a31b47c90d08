"""What SKILL.md forbids, the gate notices: a suite that demands less than main's is named, and fails if asked to."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documents import SKILL
from in_process_command import evalgate

CHECK = "      - {type: output_contains, value: Lisbon, required: true}\n"
SUITE = f"""\
suite: travel
traces: ["traces/*.json"]
threshold: 1.0
policy: {{fail_on: [hard_fail, below_threshold]}}
scenarios:
  - id: book
    assertions:
      - {{type: tool_called, tool: book_flight}}
{CHECK}  - id: luggage
    assertions: [{{contains: 8 kg}}]
"""
LOOSE = CHECK.replace(", required: true", "")
FORBIDDEN = {
    "remove": SUITE.replace(CHECK, ""),
    "loosen": SUITE.replace("value: Lisbon", "value: o"),
    "comment out": SUITE.replace(CHECK, f"#{CHECK}"),
    "lower `threshold`": SUITE.replace("threshold: 1.0", "threshold: 0.4").replace(CHECK, LOOSE),
    "drop `required`": SUITE.replace(CHECK, LOOSE).replace("hard_fail, below_threshold", "hard_fail"),
    "make a scenario optional": SUITE.replace("id: book\n", "id: book\n    optional: true\n"),
    "quarantine": f"{SUITE}quarantine: [{{scenario: book, until: 2026-12-20, reason: it fails sometimes}}]\n",
    "change\n`fail_on`": SUITE.replace("[hard_fail, below_threshold]", "[stale_evidence]"),
    "narrow `traces`": SUITE.replace("traces/*.json", "traces/luggage.json"),
}
"""A suite for each way to make the gate demand less, by its words in the skill."""


def write(folder: Path, answer: str) -> None:
    (folder / "traces").mkdir(exist_ok=True)
    call = {"id": "c", "name": "book_flight", "arguments": {}}
    booking = [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "booked"},
    ]
    for name, calls, text in (("book", booking, answer), ("luggage", [], "8 kg")):
        messages = [{"role": "user", "content": "please"}, *calls, {"role": "assistant", "content": text}]
        trace = {"scenario_id": name, "trace_id": name, "messages": messages}
        (folder / f"traces/{name}.json").write_text(json.dumps(trace), encoding="utf-8")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A saved baseline, and an agent that answers something else since."""
    folder = tmp_path_factory.mktemp("travel")
    write(folder, "Your flight to Lisbon is booked.")
    (folder / "suite.yaml").write_text(SUITE, encoding="utf-8")
    assert evalgate("run", "suite.yaml", "-q", cwd=str(folder)).exit_code == 0
    assert evalgate("baseline", "save", cwd=str(folder)).exit_code == 0
    write(folder, "Your flight to Porto is booked.")
    return str(folder)


@pytest.mark.parametrize("way", FORBIDDEN)
def test_what_the_skill_forbids_is_noticed(way: str, project: str, tmp_path: Path) -> None:
    assert way in SKILL.read_text(encoding="utf-8")
    Path(project, "suite.yaml").write_text(FORBIDDEN[way], encoding="utf-8")
    run = ("run", "suite.yaml", "--baseline", ".evalgate/saved", "--output-dir", str(tmp_path))
    assert evalgate(*run, "--on-weakening", "fail", cwd=project).exit_code == 1
    evalgate(*run, cwd=project)
    shown = evalgate("explain", "--for-agent", str(tmp_path), cwd=project)
    assert "│ weaker: weakened: travel" in shown.out
    assert "restore what is listed as `weaker`" in " ".join(shown.out.split())


def test_the_gate_fails_as_it_is(project: str, tmp_path: Path) -> None:
    Path(project, "suite.yaml").write_text(SUITE, encoding="utf-8")
    run = ("run", "suite.yaml", "--baseline", ".evalgate/saved", "--output-dir", str(tmp_path))
    assert evalgate(*run, cwd=project).exit_code == 1
    assert "weaker" not in evalgate("explain", "--for-agent", str(tmp_path), cwd=project).out
