"""In-memory fakes of the ports that the gate uses in a workflow."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.ports import Comment, FoundBaseline

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from evalgate.application.messages.request import Judgement, JudgeRequest
    from evalgate.models.github import CheckRun, TemplateFile
    from evalgate.ports import Annotation


@dataclass
class FakeStep:
    happened: list[str] = field(default_factory=list)
    set: dict[str, str] = field(default_factory=dict)
    summaries: list[str] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    def outputs(self, values: Mapping[str, str]) -> None:
        self.happened.append("outputs")
        self.set.update(values)

    def summary(self, markdown: str) -> None:
        self.summaries.append(markdown)

    def annotate(self, annotations: Sequence[Annotation]) -> None:
        self.annotations.extend(annotations)

    def log(self, line: str) -> None:
        self.lines.append(line)


@dataclass
class FakeFolder:
    files: dict[str, bytes] = field(default_factory=dict)

    def path(self, name: str) -> str:
        return f"/out/{name}"

    def write(self, name: str, content: bytes) -> None:
        self.files[name] = content

    def replace_all(self, contents: Mapping[str, bytes], stale: Collection[str]) -> None:
        self.files = {name: content for name, content in self.files.items() if name not in stale} | {**contents}


@dataclass
class FakeFile:
    content: bytes | None = None

    def write(self, content: bytes) -> None:
        self.content = content


@dataclass
class FakeJudge:
    """Answers with what it was given, in order; the last answer repeats."""

    answers: list[Judgement]
    requests: list[JudgeRequest] = field(default_factory=list)

    def __call__(self, request: JudgeRequest) -> Judgement:
        self.requests.append(request)
        return self.answers[min(len(self.requests), len(self.answers)) - 1]


@dataclass
class FakeBaselines:
    found: list[FoundBaseline]

    def find(self, without: Collection[str] = ()) -> FoundBaseline:
        left = [found for found in self.found if found.info.path not in without]
        return left[0] if left else FoundBaseline(BaselineInfo("none"))


@dataclass
class FakePullRequest:
    trouble: BaseException | None = None
    at: str = ""  # the commit at its head
    comments: dict[str, str] = field(default_factory=dict)

    def upsert_comment(
        self,
        key: str,
        body: str,
        *,
        create: bool = True,
        keep: Callable[[str], bool] | None = None,
        revise: Callable[[str, str], str] | None = None,
    ) -> Comment | None:
        if self.trouble is not None:
            raise self.trouble
        if key not in self.comments and not create:
            return None
        created, found = key not in self.comments, self.comments.get(key, "")
        kept = not created and keep is not None and keep(found)
        body = body if created or revise is None else revise(body, found)
        self.comments[key] = found if kept else body
        return Comment(7, "https://github.com/x#7", created, changed=not kept, found_body=found)

    def merge_comment(
        self, key: str, merge: Callable[[Sequence[str]], str | None], retired: str = ""
    ) -> Comment | None:
        self.comments.pop(retired, None)
        posted = [self.comments[key]] if key in self.comments else []
        body = merge(posted)
        return None if body is None else self.upsert_comment(key, body)

    def head(self) -> str:
        if isinstance(self.trouble, Exception):
            raise self.trouble
        return self.at


@dataclass
class FakeTemplate:
    found: TemplateFile | Exception

    def read(self) -> TemplateFile:
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@dataclass
class FakeArtifacts:
    trouble: Exception | None = None
    uploaded: dict[str, str] = field(default_factory=dict)
    expiry: dict[str, datetime | None] = field(default_factory=dict)

    def upload(self, name: str, path: str, expires_at: datetime | None = None) -> int:
        if self.trouble is not None:
            raise self.trouble
        self.expiry[name] = expires_at
        self.uploaded[name] = path
        return 70_001


@dataclass
class FakeCheckRuns:
    trouble: Exception | None = None
    posted: list[CheckRun] = field(default_factory=list)
    rejected: str = ""

    def post(self, check: CheckRun) -> str:
        if self.trouble is not None:
            raise self.trouble
        self.posted.append(check)
        return self.rejected
