"""Parses the project's documents for tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SKILL = ROOT / "evalgate/features/coding_agent/templates/SKILL.md"
"""What `evalgate skill` prints."""
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md"), SKILL])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
SAVED_AS = re.compile(r"`([\w./-]+\.(?:yaml|jsonl?))`:\n\n\Z")
"""What ends the paragraph before a block of which a page says where to save it."""
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


def read_lock(name: str) -> str:
    """The text of a file of requirements and of those that it includes."""
    path = ROOT / name
    text = path.read_text(encoding="utf-8")
    return text + "".join(
        read_lock(f"{path.parent.relative_to(ROOT)}/{each}") for each in re.findall(r"^-r (\S+)$", text, re.MULTILINE)
    )


class Block(NamedTuple):
    """A fenced block of a document."""

    document: str
    language: str
    text: str


def blocks(language: str) -> list[Block]:
    """Every fenced block of one language in all documents."""
    return [
        Block(str(path.relative_to(ROOT)), match[1], match[2])
        for path in DOCUMENTS
        for match in FENCE.finditer(path.read_text(encoding="utf-8"))
        if match[1] == language
    ]


class Step(NamedTuple):
    """A block that the reader of a page saves as a file or runs in a shell, and what running it prints."""

    language: str
    text: str
    path: str
    output: str | None


def is_steps(content: object) -> bool:
    """Whether the content of a YAML block is some steps of a workflow's job."""
    return isinstance(content, list) and all(
        isinstance(each, dict) and each.keys() & {"uses", "run"} for each in content
    )


def steps(document: str) -> list[Step]:
    """What a reader does who follows a page from its top: files to save, and commands with their output."""
    text = (ROOT / document).read_text(encoding="utf-8")
    fences = list(FENCE.finditer(text))
    found = []
    for number, fence in enumerate(fences):
        saved = SAVED_AS.search(text[: fence.start()])
        if fence[1] == "sh":
            after = fences[number + 1] if number + 1 < len(fences) else None
            printed = after if after and after[1] == "text" and not text[fence.end() : after.start()].strip() else None
            found.append(Step("sh", fence[2], "", printed[2] if printed else None))
        elif saved:
            found.append(Step(fence[1], fence[2], saved[1], None))
    return found


def cells(document: str, heading: str, *, column: int, code: bool = True) -> list[str]:
    """The entries in a column of the first table below a heading: those in code spans, or those in capitals."""
    text = (ROOT / document).read_text(encoding="utf-8")
    section = re.split(rf"^#+ {re.escape(heading)}$", text, maxsplit=1, flags=re.MULTILINE)[1]
    table = TABLE.search(section)
    rows = table[0].splitlines()[2:] if table else []
    words = re.compile(r"`([^`]+)`" if code else r"([A-Z_]{4,})")
    return [word for row in rows for word in words.findall(row.split("|")[column])]


def anchor(heading: str) -> str:
    """The anchor GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
