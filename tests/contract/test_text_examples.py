"""The text-check examples of docs/evaluators.md give the results that the page shows."""

from __future__ import annotations

import re

import pytest
import yaml
from builders import make_trace
from documents import ROOT

from evalgate.errors import Location
from evalgate.evaluators.core.parse import Parser
from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.measures.text.refusals import OPENINGS, REFUSED, WHOLE
from evalgate.reporting.text.sentences import unmark_parts

PAGE = (ROOT / "docs/evaluators.md").read_text(encoding="utf-8")
TEXT_TYPES = {name for name, module in BUILT_IN_TYPES.items() if module in ("texts", "similarity")}
HEADINGS = [each for each in re.findall("^## (.+)$", PAGE, re.MULTILINE) if TEXT_TYPES.issuperset(each.split(", "))]
REFUNDED = "Your order has been refunded."
PASSES = {"is_json": '{"status": "done"}', "is_refusal": "I can't help with that. Please call us."}
FAILS = {"not_empty": "", "max_length": "x" * 600}


def section(heading: str) -> str:
    return PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def blocks(heading: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", section(heading), re.DOTALL)


EXAMPLES = [(heading, raw) for heading in HEADINGS for raw in yaml.safe_load(blocks(heading, "yaml")[0])]


def assess(raw, answer):
    parser = Parser(lambda path: Location("suite.yaml", len(path)))
    (assertion,) = parser.parse_assertions([raw], ("assertions",))
    assert not parser.problems
    trace = make_trace(response=answer)
    trace.response["content"] = answer
    return assertion.assess(trace)


@pytest.mark.parametrize(("heading", "raw"), EXAMPLES, ids=str)
def test_example__passes_and_fails_with_the_reasons_of_its_section(heading, raw):
    if "not" in raw:
        assert assess(raw, REFUNDED).outcome == "passed"
        return
    assert assess(raw, PASSES.get(raw["type"], REFUNDED)).outcome == "passed"
    failed = assess(raw, "{}" if "schema" in raw else FAILS.get(raw["type"], "Hello."))
    assert failed.outcome == "failed", f"an answer with which {raw['type']} fails: FAILS, above"
    shown = blocks(heading, "text")[0].splitlines()
    assert unmark_parts(failed.reason) in shown, f"the reason in docs/evaluators.md, section {heading}"


def test_every_text_type_has_a_section():
    assert {name for heading in HEADINGS for name in heading.split(", ")} == TEXT_TYPES


def test_every_kind_of_a_heading_has_an_example():
    for heading in HEADINGS:
        shown = {raw.get("type") for found, raw in EXAMPLES if found == heading}
        assert set(heading.split(", ")) <= shown, heading


def test_built_in_phrases_of_refusals_are_listed():
    lists = [tuple(" ".join(text.split()).split(" · ")) for text in blocks("is_refusal", "text")[1:]]
    assert [tuple(each) for each in lists] == [OPENINGS, REFUSED, WHOLE]
