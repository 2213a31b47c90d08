from __future__ import annotations

from results_builder import a_scenario, a_suite, results

from evalgate.application.documents.untrusted_report import write_comment
from evalgate.application.messages.request import RenderOptions
from evalgate.models.github import TemplateFile

DOCUMENT = results([a_suite("s", [a_scenario()])])
HEAD = '{% extends "comment.md.j2" %}\n'


def render_comment(text):
    return write_comment(DOCUMENT, RenderOptions("k", 60_000, None, template=TemplateFile("own.md.j2", text)))


def test_a_valid_template_renders_the_comment():
    comment, warnings = render_comment(f"{HEAD}{{% block footer %}}Bye.{{% endblock %}}")
    assert comment.endswith("\nBye.\n")
    assert warnings == []


def test_an_invalid_template_falls_back_to_the_built_in_one_and_is_reported_with_its_line():
    comment, warnings = render_comment(f"{HEAD}{{% block footer %}}{{{{ report.nothing }}}}{{% endblock %}}")
    assert (comment, []) == write_comment(DOCUMENT, RenderOptions("k", 60_000, None))
    [warning] = warnings
    assert "own.md.j2:2: unknown field `nothing`" in warning
