"""The skills that a recording names: of the folders in which harnesses look, without links, within bounds."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from evalgate.evaluators.kinds.skills.digests import MOST_LISTED
from evalgate.features.record.bootstrap.skill_files import list_skills

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, path: str, text: str) -> None:
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(text)


def test_each_skill_is_named_with_the_digest_of_its_text(tmp_path: Path) -> None:
    write(tmp_path, ".claude/skills/pdf/SKILL.md", "read")
    write(tmp_path, ".agents/skills/my forms=x/SKILL.md", "fill")
    write(tmp_path, ".claude/skills/pdf/reference.md", "more")
    digests = [sha256(text).hexdigest()[:12] for text in (b"fill", b"read")]
    assert list_skills(str(tmp_path), print) == "my_forms_x={} pdf={}".format(*digests)


def test_without_skills_nothing_is_named(tmp_path: Path) -> None:
    (tmp_path / "skills").mkdir()
    assert list_skills(str(tmp_path), print) is None


def test_at_most_so_many_are_named(tmp_path: Path) -> None:
    for number in range(MOST_LISTED + 1):
        write(tmp_path, f"skills/s{number}/SKILL.md", "x")
    assert len((list_skills(str(tmp_path), print) or "").split()) == MOST_LISTED


def test_a_file_that_is_too_large_is_a_note(tmp_path: Path) -> None:
    write(tmp_path, "skills/big/SKILL.md", "x" * 1_000_001)
    notes: list[str] = []
    assert list_skills(str(tmp_path), notes.append) is None
    assert notes
    assert notes[0].startswith("warning: the skills of skills are not recorded: ")
