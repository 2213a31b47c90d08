from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.adapters.github.workflow_step import (
    CUT_NOTICE,
    MAX_PLAIN_LINES,
    AnnotationFormatter,
    format_command,
)
from evalgate.models.github import Annotation


def runner_reads(line: str):
    """The command a runner would see in a line: name, properties, data; None where it sees none."""
    stripped = line.lstrip()
    if not stripped.startswith("::") or "::" not in stripped[2:]:
        return ("##[",) if "##[" in line else None
    name, _, properties = stripped[2 : stripped.index("::", 2)].partition(" ")
    pairs = dict(pair.split("=", 1) for pair in properties.split(",") if "=" in pair)
    return name, pairs, stripped[stripped.index("::", 2) + 2 :]


def test_a_place_and_a_title_become_properties():
    line = format_command(Annotation("error", "refund", "no call", "evals/a.yaml", 3, 5))
    assert line == "::error file=evals/a.yaml,line=3,col=5,title=refund::no call"


def test_a_file_name_that_is_not_plain_text_is_left_out():
    assert format_command(Annotation("error", "t", "m", "a\n::set-env name=A::b", 3)) == "::error title=t::m"


def test_percent_colon_and_comma_are_escaped_where_they_would_end_something():
    assert format_command(Annotation("warning", "a:b,c%", "50%: d,e")) == "::warning title=a%3Ab%2Cc%25::50%25: d,e"


@given(st.text(), st.text(), st.one_of(st.none(), st.text()))
def test_no_text_adds_another_command(title, message, file):
    line = format_command(Annotation("notice", title, message, file, 1))
    name, properties, _ = runner_reads(line)
    assert name == "notice"
    assert set(properties) <= {"file", "line", "title"}
    assert "\n" not in line
    assert "\r" not in line


@pytest.mark.parametrize("hostile", ["::error::x", "  ::stop-commands::x", "##[error]x", "a\r\n::add-mask::e"])
def test_hostile_messages_remain_data(hostile):
    assert runner_reads(format_command(Annotation("error", hostile, hostile)))[0] == "error"


def test_nine_annotations_of_a_level_are_shown_and_the_rest_counted():
    lines = AnnotationFormatter().lines([Annotation("error", "t", f"m{number}") for number in range(14)])
    assert [line for line in lines if line.startswith("::error title=t::m")] == lines[:9]
    assert lines[9].startswith("::error::5 more")
    assert lines[10] == "error: t: m9"
    assert len(lines) == 15


def test_plain_lines_after_the_annotations_are_not_commands():
    hostile = Annotation("error", "::error::t", "m\r::error::forged\n::add-mask::a ##[group]")
    plain = AnnotationFormatter().lines([Annotation("error", "t", "m")] * 9 + [hostile] * 3)[10:]
    assert len(plain) == 3
    assert [line for line in plain if runner_reads(line) or "\n" in line or "\r" in line] == []


def test_levels_are_counted_separately_over_the_whole_step():
    annotations = AnnotationFormatter()
    annotations.lines([Annotation("error", "t", "m")] * 10)
    later = annotations.lines([Annotation("error", "t", "late"), Annotation("warning", "t", "w")])
    assert later == ["error: t: late", "::warning title=t::w"]


@pytest.mark.parametrize("at_a_time", [1, 7, 1_000])
def test_a_thousand_of_each_level_do_not_flood_the_log(at_a_time):
    annotations = AnnotationFormatter()
    lines = []
    for level in ("error", "warning"):
        for start in range(0, 1_000, at_a_time):
            size = min(at_a_time, 1_000 - start)
            lines += annotations.lines([Annotation(level, "t", f"m{start + n}") for n in range(size)])
    assert len(lines) < 200
    assert lines.count(CUT_NOTICE) == 1
    assert sum(not line.startswith("::") for line in lines) == MAX_PLAIN_LINES + 1


def test_as_many_as_the_log_takes_are_all_printed():
    annotations = AnnotationFormatter()
    lines = annotations.lines([Annotation("error", "t", f"m{n}") for n in range(9 + MAX_PLAIN_LINES)])
    assert lines[-1] == f"error: t: m{8 + MAX_PLAIN_LINES}"
    assert annotations.lines([Annotation("error", "t", "one more")]) == [CUT_NOTICE]
