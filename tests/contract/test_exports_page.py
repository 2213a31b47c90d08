"""The commands of docs/exports.md, run in order, print what the page shows."""

from __future__ import annotations

import json
import re
import shlex
from io import StringIO

from documents import ROOT

from evalgate.cli import main
from evalgate.cli.shell import Shell

PAGE = (ROOT / "docs" / "exports.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(sh|text|yaml)\n(.*?)^```", re.DOTALL | re.MULTILINE)
RECORDED = re.compile(r"^```jsonc\n(.*?)^```", re.DOTALL | re.MULTILINE)


def test_the_page_shows_what_its_commands_print(tmp_path):
    [trace] = RECORDED.findall((ROOT / "docs" / "golden.md").read_text(encoding="utf-8"))[:1]
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "late-parcel.json").write_text(trace, encoding="utf-8")
    shell = Shell(StringIO(), StringIO(), {"SOURCE_DATE_EPOCH": "1767220849"}, str(tmp_path))
    checked, printed = 0, ""
    for language, text in BLOCK.findall(PAGE):
        if language == "yaml":
            (tmp_path / "support.yaml").write_text(text, encoding="utf-8")
        elif language == "text":
            assert [line.rstrip() for line in printed.splitlines()] == text.splitlines()
            checked += 1
        else:
            shell.out.seek(0)
            shell.out.truncate()
            for line in text.splitlines():
                assert main(shlex.split(line)[1:], shell) == 0, shell.err.getvalue()
            printed = shell.out.getvalue()
    assert checked == 7
    lines = (tmp_path / "evaluations.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    named = set(re.findall(r"`(\w+)`", PAGE.split("A line of `jsonl`")[1].split("\n\n")[0]))
    assert set(first) - {"schema"} <= named
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["totals"]["evaluations"] == 1
    assert metrics["feedback"]["count"] == 1
