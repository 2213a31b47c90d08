"""Links to where a run was published, in a comment: one line, which fits and can't be anything but links."""

from __future__ import annotations

import pytest

from evalgate.application.action.deliver import LINE_LENGTH, add_line, find_line, format_links
from evalgate.ports.outputs import ServiceLinks

URL = "https://smith.example/o/1/compare?selectedSessions=2%2C3"


def report(*urls, tracker="LangSmith"):
    return ServiceLinks(tracker, urls)


@pytest.mark.parametrize(
    ("reports", "line"),
    [
        ([report(URL)], f"Tracked: [LangSmith]({URL})"),
        ([report(URL, URL), report(URL, tracker="Phoenix")], f"Tracked: [LangSmith]({URL}) · [2]({URL}) · [Phoenix]({URL})"),
        ([report("https://x.example/a) @all")], ""),
        ([ServiceLinks("LangSmith", [])], ""),
        ([report(f"https://x.example/{'a' * 600}")], ""),
        ([], ""),
    ],
)  # fmt: skip
def test_the_line_has_a_link_to_each_experiment(reports, line):
    assert format_links(reports) == line


def test_more_links_than_fit_are_counted():
    line = format_links([report(*[URL] * 20)])

    assert len(line) <= LINE_LENGTH + 30
    shown = line.count("](")
    assert line.endswith(f" · {20 - shown} more in tracking.json")


def test_the_first_link_of_each_tracker_comes_before_further_ones():
    long = f"{URL}{'0' * 150}"
    line = format_links([report(long, long), report(URL, tracker="MLflow"), report(URL, tracker="Phoenix")])

    assert line == f"Tracked: [LangSmith]({long}) · [MLflow]({URL}) · [Phoenix]({URL}) · 1 more in tracking.json"
    assert find_line(line) == line


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("<!-- m -->\n## t\n\n**Score** 1\n\nmore\n", "<!-- m -->\n## t\n\n**Score** 1\n\nT\n\nmore\n"),
        ("<!-- m -->\n## t\n\n**Score** 1\n", "<!-- m -->\n## t\n\n**Score** 1\n\nT\n"),
        ("<!-- m -->\n## t", "<!-- m -->\n## t\n\nT\n"),
    ],
)
def test_it_is_below_the_totals_or_at_the_end(body, found):
    assert add_line(body, "T") == found


@pytest.mark.parametrize(
    "reports", [[report(URL)], [report(URL, URL), report(URL, tracker="MLflow")], [report(*[URL] * 20)]]
)
def test_it_is_found_again(reports):
    line = format_links(reports)
    assert find_line(add_line("<!-- m -->\n## t\n\n**Score** 1\n\nmore\n", line)) == line


@pytest.mark.parametrize(
    "body",
    [
        "## t\n",
        "Tracked: @all\n",
        f"Tracked: [a]({URL}) @all\n",
        "Tracked: [a](javascript:1)\n",
        f"x Tracked: [a]({URL})",
    ],
)
def test_nothing_else_is_taken_for_it(body):
    assert not find_line(body)
