"""Parses the project's documents for tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/**/*.md")])
FENCE = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\n)+", re.MULTILINE)


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
