"""docs/templates.md against the blocks, the view and the rules it describes; its example works."""

from __future__ import annotations

import re

from documents import ROOT, blocks, cells
from results_builder import a_baseline, a_change, a_scenario, a_suite, results

from evalgate.models.github import TemplateFile
from evalgate.reporting.markdown import view
from evalgate.reporting.markdown.render import render_comment
from evalgate.reporting.markdown.user_template import FIELDS, FILTERS, LOOP_FIELDS, MACROS, TAGS

PAGE = "docs/templates.md"
RECORDS = {
    "alert": view.Alert,
    "suite": view.SuiteRow,
    "figure": view.Figure,
    "failure": view.Failure,
    "check": view.CheckRow,
    "scenario": view.ScenarioRow,
    "example": view.Example,
    "sum": view.StatisticsRow,
    "lost": view.CostlyAssertionRow,
    "dimension": view.DimensionRow,
    "golden": view.GoldenRow,
    "past": view.PastRunRow,
    "trend": view.Trend,
    "variant": view.VariantRow,
    "comparison": view.ArmSection,
    "difference": view.ArmRow,
    "prompt": view.PromptSection,
    "confirmed": view.ConfirmedRow,
}


def names(record) -> list[str]:
    return list(record.__struct_fields__)


def text() -> str:
    return (ROOT / PAGE).read_text(encoding="utf-8")


def test_every_block_is_described_in_its_order():
    template = (ROOT / "evalgate/reporting/templates/comment.md.j2").read_text(encoding="utf-8")
    assert cells(PAGE, "Blocks", column=1) == re.findall(r"{% block (\w+) %}", template)


def test_every_field_of_the_report_is_described_in_its_order():
    assert cells(PAGE, "What a template sees", column=1) == names(view.Report)


def test_every_field_of_the_nested_objects_is_described():
    rows = dict(re.findall(r"^\| (\w+) \| (`.*) \|$", text().partition("| a | has |")[2], re.MULTILINE))
    assert {name: re.findall(r"`(\w+)`", row) for name, row in rows.items()} == {
        name: names(record) for name, record in RECORDS.items()
    }


def test_every_described_field_is_allowed_in_templates():
    assert {name for record in RECORDS.values() for name in names(record)} - FIELDS == set()


def test_every_part_filter_and_tag_is_described():
    section = text().partition("## What a template may say")[2].partition("\n## ")[0]
    for name in MACROS:
        assert f"{{{{ {name}(" in section
    for name in [*FILTERS, *(f"loop.{name}" for name in LOOP_FIELDS), *(f"<{tag}>" for tag in TAGS)]:
        assert f"`{name}" in section


def test_the_example_template_renders():
    [example] = [block.text for block in blocks("jinja") if block.document == PAGE]
    scenarios = [a_scenario("refund", "HARD_FAIL", a_change("broken")), a_scenario("greeting")]
    document = results([a_suite("support", scenarios, "fail")], "fail", baseline=a_baseline())
    comment = render_comment(document, key="gate", template=TemplateFile("x.md.j2", example))
    assert "**Owner** @support-agents" in comment
    assert "### ` refund ` \u26d4\u00a0HARD\u00a0FAIL\n\n- ` check `: " in comment
    assert "Passing" not in comment
