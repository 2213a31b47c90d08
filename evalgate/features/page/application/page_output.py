"""The page as an output of a run: only at a path that the user names, for it holds conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.application.documents.report_files import FileOutput
from evalgate.application.messages.judge_response import invalid_answer
from evalgate.features.page.reporting.render_page import build_page_start
from evalgate.models.run.chunks import join_chunks
from evalgate.ports.outputs import Rendered

if TYPE_CHECKING:
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports.outputs import OutputSource, RunSubject


class PageOutput(FileOutput):
    """The run as one HTML file, with the conversations that fit into it."""

    name = "report.html"
    is_kept = False
    needs_traces = True
    path_settings, step_output = ("html", "html_path"), "html-path"
    caution = "it holds conversations: review it before you publish it"

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """The page, with the baseline's conversations beside the run's."""
        from evalgate.features.page.application.view_run import PageBaseline, PageOptions, build_run_page

        side = None
        if source.baseline is not None and source.baseline_traces is not None:
            side = PageBaseline(source.baseline, source.baseline_traces.lines())
        if source.traces is None:
            return Rendered(None)
        page = build_run_page(source.results, source.traces.lines(), source.traces.restore, PageOptions(), side)
        return Rendered(page.html.encode())

    def is_allowed(self, content: Content, results: ResultsDoc, subject: RunSubject, options: Any) -> bool:  # noqa: ARG002
        """Raises JudgeCrashed for another content security policy: a browser would run what the page holds."""
        if not join_chunks(content).startswith(build_page_start().encode()):
            raise invalid_answer("its page has another content security policy")
        return True
