"""The verb `record` without its extra."""

from __future__ import annotations

import sys
from io import StringIO

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

WITHOUT_SCENARIO = "note: without --scenario ID or --suite FILE a trace has a scenario only if the agent names it"


def test_without_the_extra_one_line_says_how_to_install_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    err = StringIO()
    code = main(["record", "--", "true"], Shell(StringIO(), err, {}, str(tmp_path)))
    expected = 'error: evalgate record needs the extra `record` (pip install "evalgate-action[record] @ git+https://github.com/org/evalgate")\n'
    assert (code, err.getvalue()) == (2, expected)


def test_the_words_of_the_command_are_left_to_it(tmp_path):
    err = StringIO()
    words = ["record", "--scenario", "x", "--", "./missing", "--no-color", "--help"]
    code = main(words, Shell(StringIO(), err, {}, str(tmp_path)))
    assert (code, err.getvalue().count("\n")) == (2, 1)
    assert "'./missing'" in err.getvalue()


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--scenario", "x"], "the following arguments are required: CMD"),
        (["--"], "the following arguments are required: CMD"),
        (["--", ""], "can't start ''"),
        (["--", "."], "can't start '.'"),
        (["--", "a\0b"], "can't start"),
        (["--", "a\udcff"], "can't start"),
        (["--", "--flag"], "can't start '--flag'"),
        (["--scenario", "", "--", "true"], "--scenario takes an id"),
        (["--scenario", "a\udcff", "--", "true"], "is no text"),
        (["--scenario", "x" * 513, "--", "true"], "has more than 512 characters"),
        (["--trial", str(10**30), "--", "true"], "from 0 to 1,000,000"),
        (["--env", "NAME", "--", "true"], "--env takes NAME=VALUE"),
        (["--trials", "0", "--", "true"], "--trials takes a number"),
        (["--trials", "2000", "--", "true"], "--trials takes a number"),
        (["--trial", "-1", "--", "true"], "--trial takes a number"),
        (["--timeout", "nan", "--", "true"], "--timeout takes seconds"),
        (["--flush", "11", "--", "true"], "--flush takes seconds"),
        (["--without-proxy", "--without-otlp", "--", "true"], "record nothing"),
        (["--provider", "gemini=https://example.org", "--", "true"], "is unknown"),
        (["--provider", "openai=https://169.254.169.254:x/", "--", "true"], "is not a URL"),
        (["--provider", "openai=http://169.254.169.254/v1", "--", "true"], "is not https"),
        (["--provider", "openai=file:///etc/passwd", "--", "true"], "is not https"),
        (["--provider", "openai=http://127.0.0.1.evil.example/", "--", "true"], "is not https"),
    ],
)
def test_what_can_not_be_recorded_is_one_line(tmp_path, words, reason):
    err = StringIO()
    code = main(["record", *words], Shell(StringIO(), err, {"PATH": "/usr/bin:/bin"}, str(tmp_path)))
    said = err.getvalue().removeprefix(f"{WITHOUT_SCENARIO}\n")
    assert (code, said.count("\n"), reason in said) == (2, 1, True), said
    assert list(tmp_path.iterdir()) == []
