from __future__ import annotations

from results_builder import a_scenario, a_suite, results

from evalgate.application.documents.report_files import CommentFile, make_source
from evalgate.models.github import TemplateFile
from evalgate.ports.outputs import RenderOptions, RunSubject

DOCUMENT = results([a_suite("s", [a_scenario()])])
HEAD = '{% extends "comment.md.j2" %}\n'


def render_comment(text=None):
    template = None if text is None else TemplateFile("own.md.j2", text)
    source = make_source(DOCUMENT, RunSubject(), RenderOptions("k", template=template))
    comment, warnings = CommentFile().render(source, None)
    return comment.decode(), warnings


def test_a_valid_template_renders_the_comment():
    comment, warnings = render_comment(f"{HEAD}{{% block footer %}}Bye.{{% endblock %}}")
    assert comment.endswith("\nBye.\n")
    assert warnings == ()


def test_an_invalid_template_falls_back_to_the_built_in_one_and_is_reported_with_its_line():
    comment, warnings = render_comment(f"{HEAD}{{% block footer %}}{{{{ report.nothing }}}}{{% endblock %}}")
    assert (comment, ()) == render_comment()
    [warning] = warnings
    assert "own.md.j2:2: unknown field `nothing`" in warning
