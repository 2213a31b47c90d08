"""A skill that must not be used and that nothing uses under this name is named: its check can't fail."""

from __future__ import annotations

from typing import Any

import pytest
from command import evalgate

from hostile.suite_edits import suite, trace, write

SAYS = {"contains": "done", "required": True}
LISTED = "deploy=0123456789ab pdf-forms=0123456789ab"
MISSPELT: dict[str, dict[str, Any]] = {
    "its name": {"type": "no_skill", "skill": ["pdf-fomrs"]},
    "one of several": {"type": "no_skill", "skill": ["pdf-formz", "other"]},
    "with a plugin": {"type": "no_skill", "skill": "docs:pdf-formz"},
    "negated": {"not": {"type": "skill_used", "skill": "pdf-formz"}},
    "in a group": {"all_of": [{"contains": "done"}, {"type": "no_skill", "skill": "pdfforms2"}]},
    "signs that count": {"type": "no_skill", "skill": "pdf_forms"},
    "a condition": {"when": {"type": "skill_used", "skill": "pdf-formz"}, "then": [{"contains": "form"}]},
}
KNOWN: dict[str, dict[str, Any]] = {
    "every skill": {"type": "no_skill", "skill": "*"},
    "one like no other": {"type": "no_skill", "skill": "release"},
    "both spellings": {"type": "no_skill", "skill": ["pdf-formz", "pdf-forms"]},
    "a glob": {"type": "no_skill", "skill": "pdf-*"},
    "a glob of which nothing is known": {"type": "no_skill", "skill": "release-*"},
    "one that must be used": {"type": "skill_used", "skill": "pdf-formz"},
    "another case": {"type": "no_skill", "skill": "PDF-Forms"},
}


def judge(folder, check, listed: str | None = None, used: str = "pdf-forms"):
    record = trace("done", tools=())
    call = {"id": "c", "name": "Skill", "arguments": {"skill": used}}
    record["messages"][1:1] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "Launching skill"},
    ]
    if listed is not None:
        record["metadata"] = {"evalgate.skills": listed}
    write(folder, {"evals/s.yaml": suite(SAYS, check), "traces/a.json": record})
    ran = evalgate(folder, ["evals/s.yaml"])
    return ran, [each for each in ran.results["warnings"] if each["code"] == "unknown_skill"]


@pytest.mark.parametrize("name", MISSPELT)
def test_a_misspelt_skill_is_named_below_the_heading(tmp_path, name):
    ran, found = judge(tmp_path, MISSPELT[name])
    assert len(found) == 1, ran.stdout
    assert "did you mean ` pdf-forms `?" in ran.text("comment.md")
    assert found[0]["where"].startswith("evals/s.yaml:")


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_or_like_nothing_is_not(tmp_path, name):
    assert judge(tmp_path, KNOWN[name])[1] == []


def test_the_skills_that_a_recording_lists_are_known(tmp_path):
    check = {"type": "no_skill", "skill": ["deplyo", "pdf-form*", "release-*", "unlike"]}
    ran, found = judge(tmp_path, check, LISTED, used="pdf-forms")
    assert [each["message"].partition("`")[2].partition("`")[0] for each in found] == ["deplyo", "release-*"], (
        ran.stdout
    )
    assert "did you mean `deploy`?" in found[0]["message"]
    assert "`deploy`, `pdf-forms`" in found[1]["message"]


def test_a_list_that_may_be_cut_is_no_list_of_all(tmp_path):
    many = " ".join(f"skill-{each:02}=0123456789ab" for each in range(60))
    assert judge(tmp_path, {"type": "no_skill", "skill": "release-*"}, many)[1] == []
