"""The skills that an agent finds in its working directory: the name of each with the digest of its SKILL.md."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.errors import InvalidInput
from evalgate.evaluators.kinds.skills.digests import DIGITS, MOST_LISTED

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDERS = (
    *(".claude/skills", ".agents/skills", ".codex/skills", ".github/skills", ".gemini/skills", ".opencode/skills"),
    *(".qwen/skills", "skills"),
)
"""Where harnesses look for skills."""
FILE, MAX_FILE = "SKILL.md", 1_000_000
MAX_NAME = 64
"""Characters of a name."""


def list_skills(cwd: str, note: Callable[[str], None]) -> str | None:
    """NAME=DIGEST of each skill, in order of their names; None without one. One that can't be read gets a note."""
    folders = [each for each in FOLDERS if Path(cwd, each).is_dir()]
    if not folders:
        return None
    from evalgate.bootstrap.sources import build_workspace

    files, found = build_workspace(cwd), set[str]()
    for folder in folders:
        try:
            for each in files.expand(f"{folder}/*/{FILE}", "."):
                digest = hashlib.sha256(files.read(each.path, MAX_FILE, what="a skill")).hexdigest()[:DIGITS]
                name = "_".join(each.path.split("/")[-2].replace("=", " ").split())[:MAX_NAME]
                found.add(f"{name}={digest}")
        except InvalidInput as error:
            note(f"warning: the skills of {folder} are not recorded: {error}")
    return " ".join(sorted(found)[:MOST_LISTED]) or None
