"""What is posted to GitHub or read from it: check runs, template files, and the pages that reports link to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from evalgate.errors import InvalidTemplate, Location, OverLimit, Problem

if TYPE_CHECKING:
    from collections.abc import Sequence


BASELINE_EVENTS = ("push", "schedule", "workflow_dispatch")
"""Events whose runs may make a baseline: they run a branch's own files, so a pull request can't start one."""


class Annotation(NamedTuple):
    """One annotation; `level` is error, warning or notice."""

    level: str
    title: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None


BASELINE_ARTIFACT = "evalgate-baseline"
"""How the names of artifacts with a baseline begin, unless a workflow names them otherwise."""


class Pages(Struct, frozen=True):
    """Where GitHub shows the files and commits of a run: server, repository, and the judged commit.

    `head_repository` has the judged commit: a fork, or `repository` itself. `attempt` is how often the run was begun,
    `failure` how it ended if it failed although its report says that the gate passed.
    """

    server_url: str
    repository: str
    head_repository: str
    commit: str
    attempt: int = 1
    failure: str = ""


Conclusion = Literal["success", "failure", "neutral"]


class CheckRun(NamedTuple):
    """The content of a check run of `commit`. `summary` is finished Markdown of at most 65,535 characters.

    The texts of the annotations are not escaped: the sender does that.
    """

    name: str
    commit: str
    conclusion: Conclusion
    title: str
    summary: str
    annotations: Sequence[Annotation] = ()
    details_url: str | None = None


MAX_TEMPLATE_BYTES = 64_000
TEMPLATE_UNUSED = "the comment uses the built-in template, because the project's can't be used"


class TemplateFile(NamedTuple):
    """A template: its path, for messages, and its text."""

    path: str
    text: str

    @classmethod
    def from_bytes(cls, path: str, content: bytes) -> TemplateFile:
        """Decodes a template file; raises OverLimit, or InvalidTemplate if it is not UTF-8."""
        if len(content) > MAX_TEMPLATE_BYTES:
            raise OverLimit(Problem(f"the template is larger than {MAX_TEMPLATE_BYTES:,} bytes", Location(path)))
        try:
            return cls(path, content.decode())
        except UnicodeDecodeError:
            raise InvalidTemplate(Problem("the template must be UTF-8 text", Location(path))) from None
