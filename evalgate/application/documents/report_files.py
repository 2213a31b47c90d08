"""Makes outputs, and those of the kernel: results, comment, summary, and what other programs show, a file each."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from evalgate.errors import InvalidTemplate, Problem, SettingError
from evalgate.models.comparison.decision import NOT_KEPT
from evalgate.models.github import TEMPLATE_UNUSED
from evalgate.ports.outputs import COMMENT, JUNIT, RESULTS, SUMMARY, Delivered, OutputSource, Rendered, RunOutput

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports.outputs import LoadOutput, OutputSettings, RenderOptions, RunSubject
    from evalgate.reporting.markdown.links import RunPages

SARIF = "results.sarif"
MOST_OF_BRANCH = 120
"""Characters of its name that a report shows."""


class FileOutput(RunOutput):
    """An output that is one file, with a copy at a path if the user names one.

    `path_settings` name the path, `step_output` is the output of the step that does.
    """

    is_kept = True
    path_settings: ClassVar[tuple[str, ...]] = ()
    step_output: ClassVar[str] = ""

    def __init__(self) -> None:
        self._path = ""

    def prepare(self, settings: OutputSettings, environ: Mapping[str, str]) -> Any:  # noqa: ARG002
        """It needs no key. Raises SettingError for a path that a suite may have: the file there would be lost."""
        self._path = settings.find_path(*self.path_settings)
        if self._path.lower().endswith((".yaml", ".yml")):
            where = " or ".join(f"--{each.replace('_', '-')}" for each in self.path_settings)
            raise SettingError(Problem(f"{where}: {self._path} has the name of a suite", None, "give another path"))
        return True

    def is_allowed(self, content: Content, results: ResultsDoc, subject: RunSubject, options: Any) -> bool:  # noqa: ARG002
        """Whatever it says, only people and programs of the user read it."""
        return True

    def deliver(self, content: Content, results: ResultsDoc) -> Delivered:  # noqa: ARG002
        """The copy."""
        if not self._path:
            return Delivered()
        outputs = {self.step_output: self._path} if self.step_output else {}
        return Delivered(outputs=outputs, copies={self._path: content})


class ResultsFile(FileOutput):
    """The results, in pieces: the baseline of later runs, and what all other tools read."""

    name = RESULTS

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """All results."""
        from evalgate.reporting.results.results_json import stream_results

        return Rendered(stream_results(source.results))

    def is_allowed(self, content: Content, results: ResultsDoc, subject: RunSubject, options: Any) -> bool:  # noqa: ARG002
        """Raises JudgeCrashed unless its head has the verdict of the results."""
        from evalgate.application.messages.judge_response import check_head
        from evalgate.models.run.chunks import iter_chunks

        check_head(results, iter_chunks(content))
        return True


class CommentFile(FileOutput):
    """The comment, by the project's template if it has one that can be used and there is a verdict to show."""

    name = COMMENT

    def __init__(self, explain_for_agent: Callable[[ResultsDoc], str] | None = None) -> None:
        super().__init__()
        self._explain_for_agent = explain_for_agent

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """The comment, with a warning if the template could not be used."""
        from evalgate.reporting.markdown.render import render_comment

        settings, part = source.options, self._build_part(source)
        render = partial(
            render_comment,
            source.shown,
            key=settings.comment_key,
            max_chars=settings.max_comment_chars - len(part),
            pages=_list_pages(source),
            grouped=source.grouped,
        )
        try:
            template = settings.template if source.results["summary"] else None
            return Rendered(f"{render(template=template)}{part}".encode())
        except InvalidTemplate as flaw:
            return Rendered(f"{render()}{part}".encode(), [f"{TEMPLATE_UNUSED}: {flaw}"])

    def _build_part(self, source: OutputSource) -> str:
        """The part for coding agents; empty unless it is asked for and leaves half of the comment to people."""
        if not source.options.for_agent or self._explain_for_agent is None:
            return ""
        part = self._explain_for_agent(source.shown)
        return part if 2 * len(part) <= source.options.max_comment_chars else ""


class SummaryFile(FileOutput):
    """The summary of the job, with more rows than the comment."""

    name = SUMMARY

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """The summary."""
        from evalgate.reporting.markdown.render import render_summary

        summary = render_summary(source.shown, pages=_list_pages(source), grouped=source.grouped)
        return Rendered(summary.encode())


def _list_pages(source: OutputSource) -> RunPages:
    from evalgate.reporting.markdown.links import RunPages

    subject = source.subject
    makes_baseline = subject.makes_baseline and _is_kept(source)
    origin = source.origin or _describe_event(source, makes_baseline=makes_baseline)
    return RunPages(source.options.run_url, origin, source.options.pages, makes_baseline, subject.event not in _EVENTS)


_EVENTS = {"push": "Push to {}", "schedule": "Scheduled run of {}", "workflow_dispatch": "Run of {} started by hand"}
"""Events by which nothing is merged."""
_OF_STATE = frozenset({"hard_fail", "below_threshold", "not_evaluable"})
"""Codes of reasons that hold whatever the baseline is."""


def _is_kept(source: OutputSource) -> bool:
    return bool(source.results["summary"]) and NOT_KEPT.keys().isdisjoint(_list_codes(source))


def _list_codes(source: OutputSource) -> list[str]:
    return [each["code"] for each in source.results["reasons"]]


def _describe_acts(source: OutputSource) -> str:
    """What to do where a scenario passes and does otherwise what a heading is yellow for; else empty."""
    from evalgate.reporting.text.behaviour_lines import describe_later_reports
    from evalgate.reporting.text.changes import is_attention_due

    if not any(is_attention_due(each) for suite in source.results["suites"] for each in suite["scenarios"]):
        return ""
    later = describe_later_reports(source.results)
    wrong = "If what acts differently here is wrong, revert this push now"
    return f" {wrong}: {later}." if later else ""


def _describe_event(source: OutputSource, *, makes_baseline: bool) -> str:
    """That a run is of a branch itself, not of a pull request, and what that means for later ones; else empty."""
    from evalgate.reporting.text.escaping import escape_span

    branch, text = source.subject.branch, _EVENTS.get(source.subject.event or "")
    if text is None or not branch:
        return ""
    begin = text.format(escape_span(branch, MOST_OF_BRANCH))
    if not makes_baseline:
        return f"{begin}."
    blocks = source.results["verdict"] == "fail" and not source.results["report_only"]
    if not blocks:
        later = _describe_acts(source)
    elif _OF_STATE.isdisjoint(_list_codes(source)):
        later = " What got worse here does not block them: it is their baseline."
    else:
        later = " What fails here blocks them, too, until it is fixed or approved."
    pages = source.options.pages
    if pages is not None and pages.attempt > 1:
        which = "this run, by the attempt whose baseline was uploaded last"
        return f"{begin}, attempt {pages.attempt}: later pull requests into it are compared with {which}."
    return f"{begin}: later pull requests into it are compared with this run.{later}"


class JUnitFile(FileOutput):
    """The results as JUnit XML."""

    name = JUNIT
    path_settings = ("junit_path",)

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """The test suites."""
        from evalgate.reporting.ci.junit import render_junit

        return Rendered(render_junit(source.shown))


class SarifFile(FileOutput):
    """What fails, for code scanning."""

    name = SARIF
    path_settings, step_output = ("sarif_path",), "sarif-path"

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """The findings."""
        from evalgate.reporting.ci.sarif import render_sarif

        return Rendered(render_sarif(source.shown))


class CodeQualityFile(FileOutput):
    """What fails, as GitLab shows it beside changed lines; only at the path that the user names."""

    name = "code-quality.json"
    is_kept = False
    path_settings = ("code_quality",)

    def render(self, source: OutputSource, options: Any) -> Rendered:  # noqa: ARG002
        """The findings."""
        from evalgate.reporting.ci.code_quality import render_code_quality

        return Rendered(render_code_quality(source.shown))


_FILES = {kind.name: kind for kind in (ResultsFile, CommentFile, SummaryFile, JUnitFile, SarifFile, CodeQualityFile)}


def load_report_file(name: str) -> RunOutput:
    """The output of the kernel with this name; raises KeyError."""
    return _FILES[name]()


def make_source(results: ResultsDoc, subject: RunSubject, options: RenderOptions, origin: str = "") -> OutputSource:
    """What the outputs show of these results: paths are converted and scenarios grouped once for all of them."""
    from evalgate.reporting.text.grouping import group_scenarios
    from evalgate.reporting.text.root_paths import with_root_paths

    shown = with_root_paths(results)
    return OutputSource(results, shown, group_scenarios(shown), subject, options, origin)


def render_outputs(
    asked: Mapping[str, Any], source: OutputSource, load: LoadOutput
) -> tuple[dict[str, Content], list[str]]:
    """The contents by the names of their outputs, and warnings; `asked` are options by name."""
    contents: dict[str, Content] = {}
    warnings: list[str] = []
    for name, options in asked.items():
        rendered = load(name).render(source, options)
        warnings += rendered.warnings
        if rendered.content is not None:
            contents[name] = rendered.content
    return contents, warnings
