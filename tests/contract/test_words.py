"""Plain words: what this project writes uses the words of docs/glossary.md, and none that hide the meaning."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = (
    *("told", "tell", "tells", "telling", "untold", "retold", "said", "ours", "nobody", "whoever"),
    *(
        "stranger",
        "strangers",
        "anew",
        "whereof",
        "thereof",
        "ado",
        "lone",
        "mend",
        "mends",
        "mended",
        "dearer",
    ),
    *(r"at\s+hand", r"held\s+against", r"laid\s+beside", r"is\s+none", r"are\s+none", r"a\s+word\s+of"),
    *(r"in\s+vain", r"gives\s+way", r"stands\s+for\s+itself"),
    *("crew", "workshop", "workshops", "witness", "shelf", "teller", "employer", "hired"),
)
"""In names too: `_told`, `ToldTrial`. What quotes people or other programs (recordings of tests) is not looked at."""
LINES_PER_WORD = 500
SUFFIXES = {".py", ".md", ".j2", ".yml", ".yaml"}
QUOTED = {"recordings", "requirements", "schemas"}
PATTERN = re.compile(
    r"(?<![A-Za-z])(?:" + "|".join(f"[{word[0].upper()}{word[0]}]{word[1:]}" for word in WORDS) + ")(?![a-z]|AI)"
)


def written() -> list[Path]:
    folders = ("evalgate", "tests", "docs", "examples", "benchmarks", ".github")
    paths = [*ROOT.glob("*"), *(path for name in folders for path in (ROOT / name).rglob("*"))]
    return [
        path
        for path in paths
        if path.suffix in SUFFIXES and QUOTED.isdisjoint(path.parts) and path.name != Path(__file__).name
    ]


def found(text: str) -> list[str]:
    return [re.sub(r"\s+", " ", word.lower()) for word in PATTERN.findall(text.replace("_", " "))]


def test_words_that_hide_the_meaning_are_rare():
    lines, per_file = 0, Counter[str]()
    for path in written():
        text = path.read_text(encoding="utf-8")
        lines += text.count("\n")
        per_file[path.relative_to(ROOT).as_posix()] += len(found(text))
    assert per_file.total() * LINES_PER_WORD <= lines, per_file.most_common(20)


def test_a_word_is_found_in_prose_and_in_names():
    assert found("def told_of(ToldTrial): # held\n against") == ["told", "told", "held against"]
    assert found("untoldable retelling Toldo crewAI shelved bothers") == []
