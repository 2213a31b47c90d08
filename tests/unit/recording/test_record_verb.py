"""The verb `record` without its extra."""

from __future__ import annotations

import sys
from io import StringIO

from evalgate.cli import main
from evalgate.cli.shell import Shell


def test_without_the_extra_one_line_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    err = StringIO()
    code = main(["record", "--", "true"], Shell(StringIO(), err, {}, str(tmp_path)))
    expected = 'error: evalgate record needs the extra `record` (pip install "evalgate-action[record]")\n'
    assert (code, err.getvalue()) == (2, expected)


def test_the_words_of_the_command_are_left_to_it(tmp_path):
    err = StringIO()
    words = ["record", "--scenario", "x", "--", "./missing", "--no-color", "--help"]
    code = main(words, Shell(StringIO(), err, {}, str(tmp_path)))
    assert (code, err.getvalue().count("\n")) == (2, 1)
    assert "'./missing'" in err.getvalue()
