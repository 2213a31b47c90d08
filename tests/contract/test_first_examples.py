"""What a first user copies can fail the check, and the documents say truly what blocks and what only scores."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from command import evalgate
from documents import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

FAIL_ON = ["hard_fail", "broken", "below_threshold"]
FIRST_OF = ("README.md", "docs/quickstart.md", "docs/suites.md", "docs/golden.md")
"""Documents whose first suite is one to begin with."""
KEYS_OF_A_SUITE = {"suite", "scenarios", "goldens"}


def content_of(text: str) -> Any:
    return yaml.safe_load(text)


def first_suite_of(document: str) -> str:
    return next(
        each.text
        for each in blocks("yaml")
        if each.document == document and KEYS_OF_A_SUITE.intersection(content_of(each.text))
    )


EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").rglob("*.yaml")
    if KEYS_OF_A_SUITE.intersection(content_of(path.read_text(encoding="utf-8")))
)


@pytest.mark.parametrize("document", FIRST_OF)
def test_the_first_suite_of_a_document_can_fail(document):
    assert content_of(first_suite_of(document))["policy"]["fail_on"] == FAIL_ON


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_suite_of_the_examples_can_fail(path):
    assert content_of(path.read_text(encoding="utf-8"))["policy"]["fail_on"] == FAIL_ON


def test_there_are_suites_in_the_examples():
    assert {path.parent.name for path in EXAMPLES} == {"evals", "plugin"}


@pytest.mark.parametrize("document", ["README.md", "docs/quickstart.md"])
def test_a_first_suite_lets_no_failure_be_outvoted(document):
    assert content_of(first_suite_of(document))["threshold"] == 1.0


def test_a_table_says_what_blocks_and_what_only_scores_in_four_rows():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.split("| what happens | what the gate does |")[1].split("\n\n")[0]
    rows = table.strip().splitlines()[1:]
    assert len(rows) == 4
    assert [re.findall(r"`(\w+)`: blocks", row) for row in rows] == [["hard_fail"], ["broken"], ["below_threshold"], []]
    assert "exit code 4" in rows[1]
    assert "only lowers the score" in rows[3]


class Gate:
    """The suite and the trace of the quickstart, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.suite = content_of(first_suite_of("docs/quickstart.md"))
        (folder / "evals").mkdir()
        (folder / "traces").mkdir()
        [self.trace] = [json.loads(each.text) for each in blocks("json") if each.document == "docs/quickstart.md"]

    def reasons(self, *words: str) -> list[str]:
        """The exit code, and the reasons of the verdict."""
        (self.folder / "evals/support.yaml").write_text(yaml.safe_dump(self.suite), encoding="utf-8")
        (self.folder / "traces/one.jsonl").write_text(json.dumps(self.trace), encoding="utf-8")
        ran = evalgate(self.folder, ["evals/support.yaml", *words])
        return [str(ran.code), *dict.fromkeys(reason["code"] for reason in ran.results["reasons"])]

    def break_answer(self) -> None:
        self.trace["messages"][-1]["content"] = "Done."

    def add_passing(self, count: int) -> None:
        more = [{"type": "max_length", "max": 10_000 + number} for number in range(count)]
        self.suite["scenarios"][0]["assertions"] += more


@pytest.fixture
def gate(tmp_path):
    return Gate(tmp_path)


def test_the_suite_of_the_quickstart_passes(gate):
    assert gate.reasons() == ["0"]


def test_row_1__a_required_check_blocks_without_a_policy_too(gate):
    gate.trace["messages"] = [each for each in gate.trace["messages"] if "tool_calls" not in each]
    assert "hard_fail" in gate.reasons()
    del gate.suite["policy"]
    assert gate.reasons() == ["1", "hard_fail"]


def test_row_1__a_missing_trace_blocks(gate):
    gate.suite["scenarios"].append({"id": "other", "assertions": [{"type": "no_loops"}]})
    del gate.suite["policy"]
    assert gate.reasons() == ["1", "hard_fail"]


def test_row_2__a_scenario_that_passed_in_the_baseline_blocks(gate):
    gate.reasons()
    gate.break_answer()
    assert "broken" in gate.reasons("--baseline", ".evalgate/baseline.zip")
    assert "broken" not in gate.reasons()


def test_row_3__a_score_below_the_threshold_blocks(gate):
    gate.break_answer()
    assert gate.reasons() == ["1", "below_threshold"]
    del gate.suite["policy"]
    assert gate.reasons() == ["0"]


def test_row_4__a_failure_among_many_only_scores_unless_the_threshold_is_1(gate):
    gate.break_answer()
    gate.add_passing(7)
    gate.suite["threshold"] = 0.8
    assert gate.reasons() == ["0"]
    assert scores(gate) == [0.9]
    gate.suite["threshold"] = 1.0
    assert gate.reasons() == ["1", "below_threshold"]


def test_one_failure_of_three_gives_two_thirds(gate):
    gate.break_answer()
    gate.reasons()
    assert scores(gate) == [pytest.approx(0.67, abs=0.005)]


def scores(gate: Gate) -> list[float]:
    results = json.loads((gate.folder / ".evalgate/results.json").read_bytes())
    return [each["score"] for suite in results["suites"] for each in suite["scenarios"]]


def test_every_page_about_scores_says_that_more_checks_dilute_them():
    for document in ("README.md", "docs/suites.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        assert "makes the others count less" in " ".join(text.split()), document
        assert "`threshold: 1.0`" in text, document
        assert "`required: true`" in text, document
