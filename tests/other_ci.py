"""The examples of the page for other CI systems."""

from __future__ import annotations

import re

from documents import ROOT

PAGE = ROOT / "docs/other-ci.md"


def example(heading: str) -> str:
    """The first fenced block below a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    return re.search(r"^```\w+\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[1]
