"""Two runs of the same suites compared as arms: the answer, what differs between the rules, and exit codes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from in_process_command import evalgate
from markdown_check import find_flaws

SUITE = """suite: book
scenarios:
  - id: "*"
    assertions:
      - {type: tool_called, tool: book}
"""
MESSAGES = [{"role": "user", "content": "book it"}, {"role": "assistant", "content": "done"}]


GOLDEN = Path(__file__).with_name("golden") / "migrate.md"
PRICES = {"gpt-old": 0.02, "gpt-new": 0.01}


def record(folder, name, outcomes, model, suite=SUITE):
    """A run of one trace a letter: `p` calls the tool, `f` does not; one scenario a word."""
    lines = [
        {
            "schema": "evalgate.trace/1",
            "scenario_id": f"s{number}",
            "trial": trial,
            "started_at": f"2026-01-01T00:{number:02}:{trial:02}Z",
            "model": model,
            "cost_usd": PRICES[model] * (1 + number % 3),
            "messages": MESSAGES,
            "tool_calls": [{"name": "book", "arguments": {}, "result": "ok"}] if each == "p" else [],
        }
        for number, word in enumerate(outcomes.split())
        for trial, each in enumerate(word)
    ]
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    (folder / f"{name}.yaml").write_text(suite)
    ran = evalgate("run", f"{name}.yaml", "--traces", f"{name}.jsonl", "--output-dir", name, "-q", cwd=str(folder))
    assert ran.exit_code in (0, 1), ran.err


@pytest.fixture
def runs(tmp_path):
    record(tmp_path, "old", "p p p p p p p", "gpt-old")
    record(tmp_path, "new", "f f f f f f p", "gpt-new")
    return tmp_path


def test_six_broken_scenarios__are_named_with_their_calls_and_fail(runs):
    found = evalgate("migrate", "old", "new", cwd=str(runs))
    assert found.exit_code == 1
    lines = found.out.splitlines()
    assert lines[0] == "gpt-old -> gpt-new"
    assert lines[1] == "  gpt-new is worse than gpt-old: 6 scenarios got worse and 0 better."
    assert lines[2].startswith(
        "  of 7 scenarios 6 broke, 0 repaired and 1 the same (over all: sign test p 0.031; evidence from 0.05 down)"
    )
    assert lines[3:5] == ["  - s0: broken, 1 of 1 -> 0 of 1", "      book \u2192 no call"]
    assert "They differ" not in found.out


def test_the_other_way__is_a_lift(runs):
    assert evalgate("migrate", "new", "old", "--require", "lift", cwd=str(runs)).exit_code == 0
    found = evalgate("migrate", "old", "old", "--require", "lift", cwd=str(runs))
    assert (found.exit_code, "which is required" in found.out) == (1, True)


def test_other_outputs__say_the_same(runs):
    (found,) = json.loads(evalgate("migrate", "old", "new", "--json", cwd=str(runs)).out)["variant_comparisons"]
    assert (found["broken"], found["finding"], found["p_value"]) == (6, "regression", 0.03125)
    shown = evalgate("migrate", "old", "new", "--markdown", cwd=str(runs)).out
    assert "| ` s0 ` | broken | 1 of 1 \u2192 0 of 1 | ` book ` \u2192 no call |" in shown


def test_the_section_of_the_comment__is_the_one_that_was_looked_at(tmp_path):
    record(tmp_path, "old", "pppp pppp pppp pppp ffff pppp", "gpt-old")
    record(tmp_path, "new", "ffff ppff pppp ffff pppp pppp", "gpt-new")
    shown = evalgate("migrate", "old", "new", "--markdown", cwd=str(tmp_path)).out
    assert find_flaws(shown) == []
    if os.environ.get("EVALGATE_REFRESH"):
        GOLDEN.write_text(shown)
    assert shown == GOLDEN.read_text()


def test_pairs_of_trials__are_counted_on_request(tmp_path):
    record(tmp_path, "old", "ppp ppp", "gpt-old")
    record(tmp_path, "new", "fff fff", "gpt-new")
    assert (
        "(over all: McNemar's test p 0.031 over pairs of trials"
        in evalgate("migrate", "old", "new", "--pair-by", "trial", cwd=str(tmp_path)).out
    )


def test_other_rules__are_refused_with_what_differs(runs):
    record(runs, "other", "p p", "gpt-new", SUITE.replace("tool: book", "tool: pay"))
    record(runs, "another", "p p", "gpt-new", SUITE.replace("suite: book", "suite: pay"))
    found = evalgate("migrate", "old", "other", cwd=str(runs))
    assert (found.exit_code, "suite book differs in scenarios" in found.err) == (3, True)
    found = evalgate("migrate", "old", "another", cwd=str(runs))
    assert found.exit_code == 3
    assert "suite book is only in the first run; suite pay is only in the second run" in found.err


def test_a_run_without_its_suites__is_refused(runs):
    (runs / "results.json").write_bytes((runs / "new/results.json").read_bytes())  # without its baseline.zip
    found = evalgate("migrate", "old", "results.json", cwd=str(runs))
    assert (found.exit_code, "the baseline holds no suites" in found.err) == (3, True)


def test_a_wrong_alpha__is_an_error(runs):
    assert evalgate("migrate", "old", "new", "--alpha", "5", cwd=str(runs)).exit_code == 2


def test_nothing_in_common__can_not_be_judged(tmp_path):
    record(tmp_path, "old", "p", "gpt-old")
    (tmp_path / "new.jsonl").write_text((tmp_path / "old.jsonl").read_text().replace('"s0"', '"t0"'))
    (tmp_path / "new.yaml").write_text(SUITE)
    evalgate("run", "new.yaml", "--traces", "new.jsonl", "--output-dir", "new", "-q", cwd=str(tmp_path))
    assert evalgate("migrate", "old", "new", cwd=str(tmp_path)).exit_code == 3
