"""The README fits on a screen and a half, in the order of a first hour, and what it counts and lists is complete."""

from __future__ import annotations

import re

import pytest
from documents import ROOT, blocks, cells
from trace_table import DOCUMENT, table_in_document

from evalgate.evaluators.core.registry import BUILT_IN_TYPES

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
LONGEST = 186
WIDEST = 250
ORDER = [
    "](docs/comment.png)",
    "**Works with**",
    "## Install",
    "## Your own agent",
    "## From a trace to a verdict",
    "## What fails the check",
    "## On pull requests",
    "## Evaluators at a glance",
    "## When to use something else",
    "## Documentation",
]


def block(language: str) -> str:
    return next(each.text for each in blocks(language) if each.document == "README.md")


def test_it_is_short_and_in_the_order_of_a_first_hour():
    places = [TEXT.index(part) for part in ORDER]
    assert places == sorted(places)
    assert re.findall(r"^## .+$", TEXT, re.MULTILINE) == [part for part in ORDER if part.startswith("## ")]
    assert len(TEXT.splitlines()) <= LONGEST
    assert max(map(len, TEXT.splitlines())) <= WIDEST


def test_the_number_of_formats_is_that_of_the_table_of_formats():
    row = TEXT.split("**Works with**")[1].split("\n\n")[0]
    linked = re.findall(r"\]\(docs/traces\.md#([\w-]+)\)", row)
    [number] = re.findall(r"\[(\d+) more formats\]", row)
    formats = table_in_document(DOCUMENT.read_text(encoding="utf-8")).count("\n") - 2
    assert int(number) == formats - (len(linked) - 1)
    assert len(linked) == len(set(linked))


def test_the_trace_has_ten_lines_and_the_suite_fewer():
    assert block("json").count("\n") <= 10
    assert block("yaml").count("\n") <= 8


def test_every_evaluator_is_in_one_row():
    shown = cells("README.md", "Evaluators at a glance", column=2)
    assert len(shown) == len(set(shown))
    differing = sorted(set(shown) ^ BUILT_IN_TYPES.keys())
    assert not differing, f"README.md, Evaluators at a glance, and the registry differ in {differing}"


def test_the_workflow_runs_no_program_with_an_invented_flag():
    workflows = [*(ROOT / "examples/workflows").glob("*.yml"), ROOT / "README.md"]
    texts = [path.read_text(encoding="utf-8") for path in workflows]
    assert [text for text in texts if re.search(r"my_agent\.py --", text)] == []


FIRST = [
    "Judging costs none",
    "no LLM judge",
    "calls no model",
    "PyPI is another project",
    "`evalgate evaluators NAME`",
]
WORDS = ["A *trial* is", "the *policy* the", "PARTIAL: ", "HARD FAIL: "]


@pytest.mark.parametrize("fact", [*FIRST, *WORDS])
def test_it_says_what_a_first_reader_asks(fact):
    assert fact in TEXT


FACTS = {
    "docs/hardening.md": "every signed-in GitHub user can download the artifacts",
    "docs/baseline.md": "GitHub deletes artifacts after 90 days",
    "docs/github.md": "GitHub runs those on Linux runners with Docker only",
    "docs/traces.md": "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=SPAN_AND_EVENT",
}


@pytest.mark.parametrize("document", FACTS)
def test_a_page_says_what_people_learn_too_late(document):
    assert FACTS[document] in " ".join((ROOT / document).read_text(encoding="utf-8").split())
