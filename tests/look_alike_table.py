"""Writes `evalgate/measures/text/confusables.txt` from a confusables.txt of Unicode (UTS 39).

python tests/look_alike_table.py FROM_UNICODE.txt evalgate/measures/text/confusables.txt
"""

from __future__ import annotations

import re
import sys
import textwrap
import unicodedata
from pathlib import Path

TABLE = """# Characters that look like others: Unicode's confusables.txt of UTS 39, version {version}, made by
# tests/look_alike_table.py. Derived from data files of Unicode: see NOTICE for their license.
# In hex: how far a character is from the one before it, 1 if nothing is said, and after a colon what it looks like.
{table}
"""


def build_table(confusables: str) -> str:
    """Characters in order, which compress well; those that decompose are left out, as their parts are listed."""
    looks: dict[int, str] = {}
    for line in confusables.splitlines():
        found = re.match(r"([0-9A-F]+) ;\t([0-9A-F ]+) ;\tMA", line)
        if found is not None and unicodedata.normalize("NFD", character := chr(int(found[1], 16))) == character:
            looks[ord(character)] = ".".join(code.lstrip("0") for code in found[2].lower().split())
    entries, before = [], 0
    for code, text in sorted(looks.items()):
        entries.append(f"{'' if code == before + 1 else format(code - before, 'x')}:{text}")
        before = code
    return " ".join(entries)


def build_file(confusables: str) -> str:
    """The text of the file."""
    version = re.search(r"^# Version: (\S+)", confusables, re.MULTILINE)
    lines = textwrap.wrap(build_table(confusables), 118, break_long_words=False)
    return TABLE.format(version=version[1] if version else "unknown", table="\n".join(lines))


if __name__ == "__main__":
    source, target = map(Path, sys.argv[1:])
    target.write_text(build_file(source.read_text("utf-8-sig")), "utf-8")
