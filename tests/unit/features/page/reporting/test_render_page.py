"""The HTML page of a run: its policy, and that no text of a run becomes a part of it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest
from builders import make_trace
from page_builders import HOSTILE, a_large_page, a_page, a_run, a_small_page, a_trace

from evalgate.features.page.reporting.trace_block import build_trace_block


class _Elements(HTMLParser):
    """Start tags with their attributes, text of script elements, and comments."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[Any] = []
        self.comments: list[str] = []
        self.content: dict[str, list[str]] = {"script": [], "style": []}
        self._inside = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))
        self._inside = tag
        if tag in self.content:
            self.content[tag].append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside in self.content:
            self.content[self._inside][-1] += data

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_run_changes_the_elements_of_its_page(text):
    harmless = _Elements(a_small_page())
    page = a_small_page(text)
    hostile = _Elements(page)

    assert hostile.tags == harmless.tags
    assert hostile.comments == []
    assert len(page) < 1_000_000
    page.encode("utf-8")
    assert not re.search("[\u200b\u202e\u2066\ufeff\U000e0041\x00\x1b\u2028]", page)


def test_policy_names_the_only_script_and_style_by_their_hashes():
    page = _Elements(a_small_page())
    policy = next(
        dict(attributes)["content"] for tag, attributes in page.tags if tag == "meta" and len(attributes) == 2
    )
    run = [
        content
        for content, (_, attributes) in zip(
            page.content["script"], [each for each in page.tags if each[0] == "script"], strict=True
        )
        if not attributes
    ]

    def name(content: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"

    assert len(run) == len(page.content["style"]) == 1
    assert policy == (
        f"default-src 'none'; script-src {name(run[0])}; style-src {name(page.content['style'][0])}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    assert not [each for each in page.tags if {"style", "src", "srcset", "action"} & dict(each[1]).keys()]
    assert all(value.startswith("#") for _, each in page.tags for key, value in each if key == "href")


def test_block_of_a_trace_reads_back_as_it_was():
    text = "</script> & \u2028 \u2029 \u00e9"
    trace = a_trace(text)
    page = _Elements(a_page(a_run(), {"traces/0.json": trace}))

    assert json.loads(page.content["script"][0]) == build_trace_block(trace)
    assert "<" not in page.content["script"][0]


def test_script_is_small_and_builds_no_markup_from_text():
    script = files("evalgate.features.page").joinpath("templates", "report.js").read_text("utf-8")

    assert len(script.encode()) <= 40_000
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "fetch("):
        assert word not in script
    for word in ("localStorage", "sessionStorage", "XMLHttpRequest", ".src", ".href"):
        assert word not in script


def test_secret_between_invisible_characters_is_redacted():
    key = "ghp_" + "a1B2" * 9
    page = a_page(a_run(), {"traces/0.json": a_trace(f"key {key[:10]}\u200b{key[10:]}")})

    assert key[12:] not in page


def test_same_run_gives_the_same_bytes():
    assert a_small_page() == a_small_page()


def test_unknown_duration_is_null_and_not_zero():
    block = build_trace_block(make_trace(["lookup"]))

    assert [bar["seconds"] for bar in block["bars"]] == [None]
    assert block["total_seconds"] is None


@pytest.mark.parametrize("limit", [600_000, 1_000_000, 3_000_000])
def test_page_of_many_scenarios_keeps_its_limit(limit):
    page = a_large_page(1_000, limit)
    rows = re.findall('href="#s[0-9]+"', page)
    sections = re.findall('<details class="scenario" id="s([0-9]+)"', page)
    short = json.loads(_Elements(page).content["script"][-2])
    blocks = re.findall('<script type="application/json" id="t[0-9]+"', page)

    assert limit * 0.6 < len(page.encode()) <= limit
    assert len(rows) == 1_000
    assert sections[:18] == [str(number) for number in range(18)]
    assert len(sections) <= 200
    assert not short.keys() & set(sections)
    assert len(blocks) > 20
    assert f"{3_000 - len(blocks):,} of 3,000 are left out" in page


def test_rows_of_far_too_many_scenarios_are_counted():
    page = a_large_page(3_000, 600_000)

    assert len(page.encode()) <= 600_000
    rows = len(re.findall('href="#s[0-9]+"', page))
    assert 1_000 < rows < 3_000
    assert f"{3_000 - rows:,} more scenarios in results.json" in page


def test_page_without_a_limit_holds_every_scenario_and_conversation():
    page = a_large_page(300, None)

    assert len(re.findall('<script type="application/json" id="t', page)) == 900
    assert len(re.findall('<details class="scenario" ', page)) == 200
    assert len(json.loads(_Elements(page).content["script"][-2])) == 100
