"""Writes `evalgate/measures/text/confusables.txt` from a confusables.txt of Unicode (UTS 39).

python tests/look_alike_table.py FROM_UNICODE.txt evalgate/measures/text/confusables.txt
"""

from __future__ import annotations

import re
import sys
import textwrap
import unicodedata
from pathlib import Path

MOST_TOGETHER = 16
"""Characters after one colon, so that no line is too long."""
TABLE = """# Characters that look like others: Unicode's confusables.txt of UTS 39, version {version}, made by
# tests/look_alike_table.py. Derived from data files of Unicode: see NOTICE for their license.
# In hex: what a character looks like, and after a colon the characters that do.
{table}
"""


def build_table(confusables: str) -> str:
    """Groups characters by what they look like; characters that decompose are left out, as their parts are listed."""
    groups: dict[str, list[str]] = {}
    for line in confusables.splitlines():
        found = re.match(r"([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA", line)
        if found is None or unicodedata.normalize("NFD", chr(int(found[1], 16))) != chr(int(found[1], 16)):
            continue
        prototype = ".".join(code.lstrip("0") for code in found[2].lower().split())
        groups.setdefault(prototype, []).append(found[1].lower().lstrip("0"))
    return " ".join(
        f"{prototype}:{','.join(part)}"
        for prototype, found in sorted(groups.items())
        for part in batched(found, MOST_TOGETHER)
    )


def batched(items: list[str], size: int) -> list[list[str]]:
    return [items[at : at + size] for at in range(0, len(items), size)]


def build_file(confusables: str) -> str:
    """The text of the file."""
    version = re.search(r"^# Version: (\S+)", confusables, re.MULTILINE)
    lines = textwrap.wrap(build_table(confusables), 118, break_long_words=False)
    return TABLE.format(version=version[1] if version else "unknown", table="\n".join(lines))


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(build_file(source.read_text("utf-8-sig")), "utf-8")
