"""`evalgate init --format-help FILE`: a mapping to start from for a file that no format reads."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from documents import ROOT
from hypothesis import given
from hypothesis import strategies as st
from in_process_command import evalgate

from evalgate.adapters.suites.yaml_tree import load
from evalgate.features.learn.application.format_help.mapping import propose, write_suite
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.parse import SharedDefaults, parse_suite
from evalgate.suite.suite_file import Defaults

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

UNREAD = ROOT.parent / "shared" / "unread"
RECIPES = ROOT / "tests/recipes"
FOUND = ("the list of entries", "the role or type", "the text", "the tool of a call")
NOT_FOUND = {
    "vscode-chat.json": ["a list of entries of which some are messages of a user or an agent, by their type or role"],
    "who-and-when.json": ["calls of tools: set `message.tool_calls`, or `types.call`, and `tool_calls`"],
    "opencode.jsonl": ["the type of the user's messages: name it in `types.user`"],
}
"""By a file: what it does not hold, or not in a form that is found."""
BOTH = "2 calls (lookup_order, lookup_stock)"
KIMI = "15 calls (Bash, Agent, Glob, Write, ExitPlanMode, Read)"
REAL = {
    "as_droid_session_store_large.jsonl": "1 call (Execute)",
    "as_droid_stream_json_large.jsonl": "1 call (Shell)",
    "as_qwen_04.jsonl": "1 call (read_file)",
    "mor_qwen-code.jsonl": "3 calls (mcp__moraine__search_sessions, shell)",
    "as_kimi_assistant_tools.jsonl": KIMI,
    "mor_pi.jsonl": "1 call (read)",
    "as_copilot_large.jsonl": "2 calls (bash)",
    "as_gemini_jsonl_v040.jsonl": "1 call (run_shell_command)",
    "azure_eval.jsonl": "14 calls (fetch_weather, opening_hours, send_email)",
    "cline_session.json": "11 calls (editor, read_files, run_commands)",
}
NOT_IN_REAL = {
    "as_kimi_small.jsonl": ["the type of the agent's answers", "calls of tools"],
    "letta_memgpt_agent_with_convo.af": ["a list of entries"],
    "ww_ag1.json": ["calls of tools"],
}


def look(path: Path) -> tuple[int, str, str]:
    done = evalgate("init", "--format-help", path.name, cwd=str(path.parent))
    return done.exit_code, done.out, done.err


def lines_with(word: str, text: str) -> list[str]:
    return [line.removeprefix(f"{word}: ") for line in text.splitlines() if line.startswith(f"{word}: ")]


@pytest.mark.parametrize("file", sorted(path.name for path in RECIPES.iterdir()))
def test_list_role_text_and_call_are_found_or_named_as_not_found(file: str) -> None:
    code, out, err = look(RECIPES / file)
    found = [line.partition(":")[0] for line in lines_with("found", err)]
    missing = lines_with("not found", err)
    assert missing == NOT_FOUND.get(file, [])
    assert code == (2 if any("a list" in each for each in missing) else 0)
    if not any("list" in each or "calls" in each for each in missing):
        assert tuple(found) == FOUND
        assert BOTH in err
    assert bool(out) == (code == 0)


@pytest.mark.shared
@pytest.mark.parametrize("file", REAL)
def test_the_calls_of_a_real_file_are_read_with_the_mapping_as_it_is(file: str) -> None:
    code, _, err = look(UNREAD / file)
    assert code == 0
    assert REAL[file] in err


@pytest.mark.shared
@pytest.mark.parametrize("file", NOT_IN_REAL)
def test_what_a_real_file_lacks_is_named(file: str) -> None:
    missing = lines_with("not found", look(UNREAD / file)[2])
    assert [any(line.startswith(each) for line in missing) for each in NOT_IN_REAL[file]] == [True] * len(missing)


def test_what_is_printed_is_a_suite_that_runs(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes((RECIPES / "droid.jsonl").read_bytes())
    (tmp_path / "mine.yaml").write_text(look(tmp_path / "log.jsonl")[1])
    done = evalgate("run", "mine.yaml", cwd=str(tmp_path))
    assert done.exit_code == 1
    assert "missing evidence (calls)" in done.out
    text = (tmp_path / "mine.yaml").read_text().replace("  types:", "  types:\n    ignore: [session_start]")
    (tmp_path / "mine.yaml").write_text(text)
    assert evalgate("run", "mine.yaml", cwd=str(tmp_path)).exit_code == 0


def test_types_that_may_be_calls_are_named_and_never_ignored() -> None:
    _, out, err = look(RECIPES / "events.jsonl")
    assert (
        '# not named, so that calls are incomplete; those without calls go into `types.ignore`: "http_request"' in out
    )
    assert "ignore:" not in out.replace("types.ignore`:", "")
    assert "calls are incomplete: entries that may be calls" in err


def test_a_format_that_reads_the_file_is_named_first() -> None:
    assert "the format pi reads this file without a mapping" in look(RECIPES / "pi.jsonl")[2]


@pytest.mark.parametrize(("content", "reason"), [("name,score\na,1\n", "holds no JSON"), ("", "holds no JSON")])
def test_a_file_that_is_no_json_is_an_error(tmp_path: Path, content: str, reason: str) -> None:
    (tmp_path / "a.csv").write_text(content)
    code, out, err = look(tmp_path / "a.csv")
    assert (code, out) == (2, "")
    assert reason in err


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    code, _, err = look(tmp_path / "none.json")
    assert code == 2
    assert "none.json" in err


def test_names_that_are_no_words_are_quoted(tmp_path: Path) -> None:
    entry = {"the text": "hi", 'ro"le': {"type": "user"}, "content": "x\u202ey"}
    answer = {
        "content": "done",
        'ro"le': {"type": "assistant"},
        "tool-calls": [{"name": "a\n- b", "arguments": {}, "id": 1}],
    }
    (tmp_path / "log.json").write_text(json.dumps([entry, answer]))
    code, out, err = look(tmp_path / "log.json")
    assert code == 0
    assert '"\\"ro\\\\\\"le\\".type"' in out
    assert "1 call" in err
    assert "\u202e" not in out + err


NAMES = st.sampled_from(
    ["type", "role", "content", "text", "name", "input", "id", "tool_use_id", "a b", '"', "messages", ""]
)
VALUES = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.sampled_from(["user", "assistant", "tool_call", "1", "{", "'"])
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=5)),
    max_leaves=30,
)


@given(st.lists(VALUES, max_size=5), st.booleans())
def test_a_mapping_for_any_json_is_a_suite_without_errors(values: list[Any], are_lines: bool) -> None:
    proposal = propose(values, are_lines=are_lines)
    if proposal.lines:
        mistakes = Diagnostics()
        text = "\n".join(write_suite(proposal, "a.json"))
        parse_suite(load(text, "s.yaml"), "s.yaml", ".", SharedDefaults(None, Defaults()), mistakes)
        assert [str(each) for each in mistakes.problems] == []
    else:
        assert proposal.missing
