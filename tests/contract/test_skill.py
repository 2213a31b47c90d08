"""What SKILL.md forbids, the gate notices: a suite that demands less than main's is named, and fails if asked to."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from assess_assertion import assess
from builders import make_trace
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
    "`trials.min_pass_rate`": SUITE.replace("id: book\n", "id: book\n    trials: {min_pass_rate: 0.5}\n"),
    "drop `required`": SUITE.replace(CHECK, LOOSE).replace("hard_fail, below_threshold", "hard_fail"),
    "make a scenario optional": SUITE.replace("id: book\n", "id: book\n    optional: true\n"),
    "quarantine": f"{SUITE}quarantine: [{{scenario: book, until: 2026-12-20, reason: it fails sometimes}}]\n",
    "change `fail_on`": SUITE.replace("[hard_fail, below_threshold]", "[stale_evidence]"),
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


def test_the_strict_check_of_calls_is_a_check_that_fails_for_each_other_call() -> None:
    [block] = re.findall("```yaml\n(.*?)```", SKILL.read_text(encoding="utf-8"), re.DOTALL)
    [fields] = yaml.safe_load(block)
    arguments = {"to": "LIS", "date": "2026-12-01"}
    call = ("search", arguments)
    others = [("search", arguments | each) for each in ({"to": "BER"}, {"date": "2026-12-02"}, {"cc": "eve"})]
    assert assess(fields, make_trace(calls=[call])).outcome == "passed"
    for calls in ([], [call, call], [("book", arguments)], *([each] for each in others)):
        assert assess(fields, make_trace(calls=calls)).outcome == "failed", calls


def test_the_pattern_of_the_skill_tells_8_kg_from_other_weights() -> None:
    [written] = re.findall("`({type: output_contains.*})`", SKILL.read_text(encoding="utf-8"))
    fields = yaml.safe_load(written)
    outcomes = {
        each: assess(fields, make_trace(response=each)).outcome for each in ("8 kg", "It is 8 kg.", "18 kg", "1.8 kg")
    }
    assert outcomes == {"8 kg": "passed", "It is 8 kg.": "passed", "18 kg": "failed", "1.8 kg": "failed"}


def test_the_skill_is_short() -> None:
    assert SKILL.stat().st_size < 5_000


@pytest.mark.parametrize("way", FORBIDDEN)
def test_what_the_skill_forbids_is_noticed(way: str, project: str, tmp_path: Path) -> None:
    assert way in " ".join(SKILL.read_text(encoding="utf-8").split())
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
