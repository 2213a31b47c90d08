from __future__ import annotations

import re
import shlex
import subprocess
import unicodedata

import pytest
from fakes.github.runner.commands import parse_command, parse_old_command
from hypothesis import given
from hypothesis import strategies as st
from markdown_check import HOSTILE, find_flaws, parse_html, render_html, runner_commands

from evalgate.measures.text.plain_text import make_visible, remove_invisible
from evalgate.measures.values.json_values import shorten
from evalgate.reporting.text.escaping import (
    clean_page_text,
    escape_cell,
    escape_commands,
    escape_diff,
    escape_fence,
    escape_link,
    escape_log,
    escape_span,
    escape_terminal,
    escape_xml,
)

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
TRICKY = st.lists(
    st.sampled_from([*HOSTILE, *"`|\\@<>[]()#:!\n\r\t $&*_~-", "##[error]", "::error::", "\u200b"]),
    max_size=8,
).map("".join)


def table_of(text):
    return f"| a | b | c |\n|--|--|--|\n| x | {escape_cell(text)} | y |\n"


@pytest.mark.parametrize("text", HOSTILE)
def test_span__hostile_text__is_inert(text):
    for markdown in (
        f"word {escape_span(text)} word",
        f"- {escape_span(text)}",
        f"> {escape_span(text)}",
        f"**x** {escape_span(text)}",
    ):
        assert find_flaws(markdown) == []
        assert parse_html(markdown).counts["code"] == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_cell__hostile_text__keeps_the_table(text):
    reader = parse_html(table_of(text))
    assert find_flaws(table_of(text)) == []
    assert reader.rows == [3, 3]
    assert reader.counts["code"] == 1


@pytest.mark.parametrize("text", HOSTILE)
def test_fence__hostile_text__stays_one_block_and_no_line_starts_with_it(text):
    block = escape_fence(text)
    assert find_flaws(f"before\n\n{block}\n\nafter") == []
    assert parse_html(block).counts == {"pre": 1, "code": 1}
    assert all(line.startswith("\u2502") for line in block.split("\n")[1:-1])


@given(TRICKY)
def test_span_and_cell__tricky_mixtures__are_inert(text):
    assert find_flaws(f"a {escape_span(text)} b") == []
    assert parse_html(table_of(text)).rows == [3, 3]
    assert find_flaws(table_of(text)) == []


@given(ANY_TEXT)
def test_span_and_fence__any_unicode__is_inert(text):
    assert find_flaws(f"a {escape_span(text)} b") == []
    assert find_flaws(escape_fence(text)) == []
    assert "\n" not in escape_span(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_logsafe__hostile_text__holds_no_command_and_no_control(text):
    line = escape_log(text)
    assert runner_commands(line) == []
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028\u2029]", line)


@given(st.one_of(ANY_TEXT, TRICKY), st.sampled_from(["", "  ", "\u3000", "\n"]))
def test_logsafe__anything__holds_no_command(text, before):
    line = escape_log(before + text)
    assert runner_commands(line) == []
    assert len(line.splitlines()) <= 1


def test_runner_commands__plain_commands__are_found():
    assert runner_commands("  ::error file=a::b") == ["error"]
    assert runner_commands("text ##[warning]x") == ["warning"]


def test_logsafe__parsed_by_the_fake_runner__holds_no_command():
    for text in HOSTILE:
        for line in (escape_log(text), escape_terminal(text, None)):
            assert parse_old_command(line) is None
            assert parse_command(line) is None


@pytest.mark.parametrize("text", HOSTILE)
def test_xml__hostile_text__parses_as_an_attribute_with_the_same_text(text):
    from xml.etree import ElementTree as ET

    element = ET.fromstring(f'<a b="{escape_xml(text)}"/>')  # noqa: S314
    assert "<" not in escape_xml(text)
    assert element.get("b") is not None


@given(ANY_TEXT)
def test_xml__any_unicode__is_well_formed(text):
    from xml.etree import ElementTree as ET

    ET.fromstring(f'<a b="{escape_xml(text)}">{escape_xml(text)}</a>')  # noqa: S314


def test_span__backticks__are_fenced_by_one_more():
    assert escape_span("a ``b`` c") == "``` a ``b`` c ```"


def test_span__very_long_run_of_backticks__does_not_double_the_size():
    assert len(escape_span("`" * 10_000, 20_000)) < 20


def test_span__mention__has_a_zero_width_space_for_replies_by_mail():
    assert escape_span("@octocat") == "` @\u200boctocat `"


def test_span__long_text__is_cut_with_a_count():
    assert escape_span("x" * 40, 10) == f"` {'x' * 10}\u2026 (30 more characters) `"


@pytest.mark.parametrize("cut", [escape_log, escape_xml, clean_page_text, shorten])
@pytest.mark.parametrize("length", range(50, 90))
def test_no_text_is_cut_that_its_mark_would_not_make_shorter(cut, length):
    text = "x" * length
    found = cut(text, 50)
    assert found == text or (len(found) < length and found.endswith(f"\u2026 ({length - 50} more characters)"))


@pytest.mark.parametrize(("lines", "last"), [(61, "\u2502 60"), (62, "\u2502 \u2026 (2 more lines)")])
def test_fence__one_line_too_many__is_shown(lines, last):
    assert escape_fence("\n".join(map(str, range(lines)))).split("\n")[-2] == last


def test_span__secret_hidden_by_an_invisible_character__is_redacted():
    assert "[redacted: GitHub token]" in escape_span("gh\u200bp_" + "a1B2" * 9)


def test_span__secret_across_the_cut__is_not_shown_in_part():
    assert "ghp_" not in escape_span("x" * 190 + " ghp_" + "a1B2" * 9)


@pytest.mark.parametrize("escape", [escape_span, escape_cell, escape_fence, escape_log, escape_xml])
@pytest.mark.parametrize("nothing", ["\u200b", "\x1b[31m", "\U000e0041"])
@pytest.mark.parametrize("shown", [12, 39])
def test_escaping__secret_at_the_end_of_the_scanned_text__is_not_shown_in_part(escape, nothing, shown):
    secret = "ghp_" + "a1B2" * 9
    count, rest = divmod(20_000 - shown, len(nothing))
    before = nothing * count + "." * rest
    assert secret[:8] not in escape(f"{before}{secret} and {'more ' * 100}")


def test_span__mostly_invisible_text__counts_the_visible_rest():
    assert escape_span("a" * 5_000 + "\u200b" * 20_000, 100) == f"` {'a' * 100}\u2026 (9,900 more characters) `"


def test_fence__many_lines__are_cut_with_a_count():
    block = escape_fence("\n".join(map(str, range(100))))
    assert "\u2026 (40 more lines)" in block
    assert len(block.split("\n")) == 63


def test_logsafe__line_breaks__become_a_symbol():
    assert escape_log("a\r\nb\x0bc") == "a \u23ce b \u23ce c"


@pytest.mark.parametrize("text", HOSTILE)
def test_diff__any_text__is_one_fence_whose_lines_start_with_the_diff_signs(text):
    diff = escape_diff([("-", text), ("+", text), ("", text)])
    assert find_flaws(diff) == []
    first, *lines, last = diff.split("\n")
    assert first == f"{last}diff"
    assert [line[:1] for line in lines] == ["-", "+", "\u2502"]


def test_logsafe__line_over_the_limit__is_cut_with_a_count():
    assert escape_log("x" * 600) == "x" * 500 + "\u2026 (100 more characters)"


def test_terminal__without_a_limit__keeps_everything():
    assert escape_terminal("x" * 30_000, None) == "x" * 30_000


def test_visible__terminal_colours__are_removed():
    assert make_visible("\x1b[1;31mred\x1b[0m") == "red"


def test_visible__nested_colour_codes__leave_no_escape_character():
    assert "\x1b" not in make_visible("\x1b\x1b[31m[31mred")


@pytest.mark.parametrize("escape", [escape_span, escape_fence, escape_log, escape_terminal, escape_xml])
def test_escaping__every_control_character__is_made_visible_or_removed(escape):
    kept = {" ", "\n", "\t"}
    controls = [chr(code) for code in (*range(0x20), *range(0x7F, 0xA0), 0xD800, 0xDFFF, 0xFFFE, 0xFFFF, 0xFDD0)]
    left = [c for c in controls if c not in kept and c in escape(f"a{c}b")]
    assert left == []


def test_fence__run_of_backticks__is_longer_than_any_inside():
    assert escape_fence("```\nfree").startswith("````text\n")


def test_visible__stacked_combining_marks__leaves_four():
    assert make_visible("z" + "\u0301" * 20 + "a") == "z" + "\u0301" * 4 + "a"


def test_visible__words_of_other_scripts__are_unchanged():
    for text in (
        "\u0939\u093f\u0928\u094d\u0926\u0940",
        "\u4f60\u597d",
        "\u0627\u0644\u0639",
        "na\u00efve \U0001f600",
        "e\u0301",
    ):
        assert make_visible(text) == text


def test_without_invisible__every_format_character__is_removed():
    left = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) == "Cf" and remove_invisible(c)]
    assert left == []


def test_find_flaws__bare_mention_and_link__are_found():
    assert find_flaws("@octocat https://evil.example <b>x</b>") != []
    assert "<b>" in render_html("<b>x</b>")


@pytest.mark.parametrize("text", HOSTILE)
def test_link__hostile_text__links_only_to_the_given_page(text):
    link = escape_link(text, "https://github.com/acme/agent/blob/abc/x.yaml#L7")
    for markdown in (f"word {link} word", f"- {link}", f"> {link}"):
        assert find_flaws(markdown, links=["https://github.com/acme/agent/blob/abc/x.yaml#L7"]) == []
        assert len(parse_html(markdown).links) == 1


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "https://a/b c", "https://a/)", "https://a/|", "//a", "https://a/`"]
)
def test_link__unsafe_url__is_only_a_span(url):
    assert escape_link("x", url) == escape_span("x")


def test_commands__pasted_into_a_shell__have_the_words_they_were_built_from():
    words = ["evalgate", "my suite.yaml", "it's @bob's", "@octocat", "a@b", "$(rm x)", "`x`", "\\", "*.json", "ü"]
    block = escape_commands(["gh run download 1", shlex.join(words)])
    first, *lines, last = block.split("\n")
    assert (first, lines[0], last) == ("```sh", "gh run download 1", "```")
    shown = lines[1].replace("evalgate", "printf '%s\\n'", 1)
    ran = subprocess.run(["/bin/sh", "-c", shown], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == words[1:]
    assert re.findall(r"@\w", block) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_commands__hostile_text__no_line_starts_with_it(text):
    assert escape_commands([text]) == ""
    block = escape_commands([f"evalgate run {text}"])
    assert find_flaws(block) == []
    assert [line[:13] for line in block.split("\n")[1:-1]] == ["evalgate run "]
