"""The port to what a run leaves: reports in files, a page, what a service keeps.

An output is asked for, made by the judge, checked, and delivered. The judge reads untrusted files, so in a job it is
not believed: what it made is delivered only if `is_allowed` finds by itself that it is one of this run.
"""

from __future__ import annotations

import posixpath
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from evalgate.models.approvals.review import TriggeringRun
    from evalgate.models.github import Pages, TemplateFile
    from evalgate.models.results.baseline_run import BaselineRun
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.models.trace.trace import Trace
    from evalgate.reporting.text.grouping import GroupedScenarios
    from evalgate.suite.models import Suite

RESULTS, COMMENT, SUMMARY, JUNIT = "results.json", "comment.md", "summary.md", "junit.xml"
STANDARD = (RESULTS, COMMENT, SUMMARY, JUNIT)
"""The outputs that every run leaves."""


class RunSubject(Struct, frozen=True):
    """What the run is about. `merge_commit` is the commit checked out, if it merges a pull request into its base.

    `event` is the event of GitHub that started it, None without one; `makes_baseline` is whether it is to be the
    baseline of its branch. `legs` is how many legs the job's matrix has, 0 if that is unknown, `attempt` how
    often the run was begun.
    """

    commit: str | None = None
    branch: str | None = None
    run_id: str | None = None
    merge_commit: str | None = None
    event: str | None = None
    makes_baseline: bool = False
    legs: int = 0
    attempt: int = 1

    @property
    def commits(self) -> frozenset[str]:
        """The commits that are judged: a pull request's head, and what merges it."""
        return frozenset(filter(None, (self.commit, self.merge_commit)))


class RenderOptions(Struct, frozen=True):
    """How to render a report. `run_url` is the page of the run, linked where a report is shortened."""

    comment_key: str = "evalgate"
    max_comment_chars: int = 60_000
    run_url: str | None = None
    template: TemplateFile | None = None  # the project's template for the comment
    pages: Pages | None = None  # where GitHub shows files and commits; None outside of GitHub
    for_agent: bool = False  # add a part for coding agents to the comment


class OutputSettings(Struct, frozen=True):
    """What the user asked for: flags or inputs by their names, with `_` for `-`.

    `note` shows the user a line of a level (notice, warning). Of a job, `folder` is the working directory in the
    workspace, else it is empty. `report_of` is the run of another workflow whose report this job publishes.
    """

    given: Mapping[str, Any]
    cwd: str
    note: Callable[[str, str], None]
    branch: str | None = None
    folder: str = ""
    is_from_fork: bool = False
    report_of: TriggeringRun | None = None

    @property
    def is_job(self) -> bool:
        """Whether this is a workflow's job, not a shell."""
        return bool(self.folder)

    def find_path(self, *names: str) -> str:
        """The path that the first of these settings gives, of a job from its workspace; empty for none."""
        path = next((self.given[name] for name in names if self.given.get(name)), "")
        return posixpath.normpath(posixpath.join(self.folder, path)) if path and self.is_job else path


class KeptTraces(Struct, frozen=True):
    """Traces as a baseline keeps them: a line each, redacted; `restore` gives None for a line that can't be read."""

    lines: Callable[[], Iterable[bytes]]
    restore: Callable[[bytes], Trace | None]


class OutputSource(Struct, frozen=True):
    """What an output shows: the results of a run, or a fork's report, which has no suites, traces and baseline.

    `shown` are the results with paths from the repository's root, `grouped` its scenarios. `origin` is a Markdown
    line about the other run that a report is of.
    """

    results: ResultsDoc
    shown: ResultsDoc
    grouped: GroupedScenarios
    subject: RunSubject
    options: RenderOptions
    origin: str = ""
    suites: Sequence[Suite] = ()
    traces: KeptTraces | None = None
    baseline: BaselineRun | None = None
    baseline_traces: KeptTraces | None = None


class Rendered(NamedTuple):
    """The content, None for none, and warnings about it."""

    content: Content | None
    warnings: Sequence[str] = ()


class DeliveryNote(NamedTuple):
    """A line for the user; a `detail` is left out by --quiet, a `failure` is a warning that the summary shows too."""

    level: Literal["detail", "log", "warning", "failure"]
    text: str


class ServiceLinks(NamedTuple):
    """Where a service shows the run: the service's name for people, and URLs."""

    service: str
    urls: Sequence[str]


class Delivered(Struct, frozen=True):
    """What became of an output, for the kernel to apply.

    `files` are written to the output folder, `copies` to paths that the user named; `outputs` are step outputs.
    """

    links: Sequence[ServiceLinks] = ()
    outputs: Mapping[str, str] = {}
    files: Mapping[str, Content] = {}
    copies: Mapping[str, Content] = {}
    notes: Sequence[DeliveryNote] = ()


class RunOutput(ABC):
    """One thing that a run leaves. A new instance serves each run; the judge has another one.

    It delivers what it rendered, or what the output named `delivers` did. `refusal` is the warning if that is not
    allowed, in place of a general one. `caution` is what a shell says beside the path of a file that holds more than
    results.
    """

    name: str  # unique; of its file
    delivers: str = ""
    is_kept: bool = False  # the file is written to the output folder
    is_late: bool = False  # delivered after all that others wait for, since it uses the network
    needs_traces: bool = False
    refusal: str = ""
    caution: str = ""

    @abstractmethod
    def prepare(self, settings: OutputSettings, environ: Mapping[str, str]) -> Any:
        """Reads keys and notes what is missing, before the run; the options for the judge, None to leave it out.

        Options hold plain values and EvalGate's own records, and no secret.
        """

    @abstractmethod
    def render(self, source: OutputSource, options: Any) -> Rendered:
        """Makes the content in the judge: pure, bounded and redacted."""

    @abstractmethod
    def is_allowed(self, content: Content, results: ResultsDoc, subject: RunSubject, options: Any) -> bool:
        """Whether the content is one of this run; `results` are the judge's, checked, without suites.

        Raises JudgeCrashed for content that no judge makes.
        """

    @abstractmethod
    def deliver(self, content: Content, results: ResultsDoc) -> Delivered:
        """Sends the content after the verdict, which it can't change. `results` may lack suites."""


LoadOutput = Callable[[str], RunOutput]
"""Gives a new output by its name."""


class AskedOutput(NamedTuple):
    """An output that was asked for, and its options for the judge."""

    output: RunOutput
    options: Any = True

    @property
    def source(self) -> str:
        """The name of the content that it delivers."""
        return self.output.delivers or self.output.name


def deliver(
    asked: Sequence[AskedOutput], contents: Mapping[str, Content], results: ResultsDoc, *, is_late: bool
) -> list[Delivered]:
    """Delivers the outputs of one moment that have a content."""
    return [
        each.output.deliver(contents[each.source], results)
        for each in asked
        if each.output.is_late is is_late and each.source in contents
    ]


def list_unkept(asked: Sequence[AskedOutput]) -> list[str]:
    """The names of contents that are not written to the output folder."""
    return [each.output.name for each in asked if not each.output.is_kept]
