"""Reads the event that triggered the job from the runner's event file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from evalgate.errors import Problem
from evalgate.measures.values.dig import dig
from evalgate.models.approvals.review import TriggeringRun
from evalgate.records import dataclass

LARGEST_EVENT = 25_000_000
SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")
LONGEST_BRANCH = 255
MAX_COMMENT_CHARS = 2_000
"""Characters of a comment that are read: a command is in its first line."""


@dataclass(frozen=True, slots=True)
class PullRequestEvent:
    """The pull request a run is for. Its author chose the branch names, so they are untrusted."""

    number: int
    head_sha: str
    head_ref: str
    base_ref: str
    base_sha: str
    from_fork: bool


@dataclass(frozen=True, slots=True)
class CommentEvent:
    """A comment that triggered the job. Its body is used only to recognise a command."""

    id: int
    number: int  # of the issue or pull request that it is on
    action: str
    is_on_pull_request: bool
    body: str


@dataclass(frozen=True, slots=True)
class TriggerEvent:
    """The fields of an event that the gate needs."""

    name: str = ""
    default_branch: str = ""
    pull_request: PullRequestEvent | None = None
    queue_base_sha: str | None = None  # merge_group: the commit the group is built on
    queue_base_branch: str = ""  # the branch it will be merged into
    triggering_run: TriggeringRun | None = None  # workflow_run: the finished run
    comment: CommentEvent | None = None  # issue_comment: the comment


def read_event(name: str, path: str, problems: list[Problem]) -> TriggerEvent:
    """Reads the event from the file `path`; adds to `problems` if that fails."""
    payload = _read_payload(path, problems) if path else {}
    if not payload:
        return TriggerEvent(name)
    pull_request = None
    if name.startswith("pull_request"):
        pull_request = _parse_pull_request(payload)
        if pull_request is None:
            problems.append(Problem("the event payload (GITHUB_EVENT_PATH) contains no valid pull request"))
    triggering_run = _parse_triggering_run(payload, problems) if name == "workflow_run" else None
    return TriggerEvent(
        name=name,
        default_branch=_as_text(dig(payload, "repository", "default_branch")) or "main",
        pull_request=pull_request,
        queue_base_sha=_as_sha(dig(payload, "merge_group", "base_sha")) or None,
        queue_base_branch=_as_text(dig(payload, "merge_group", "base_ref")).removeprefix("refs/heads/"),
        triggering_run=triggering_run,
        comment=_parse_comment(payload, problems) if name == "issue_comment" else None,
    )


def _parse_comment(payload: dict[str, Any], problems: list[Problem]) -> CommentEvent | None:
    number, issue = _as_id(dig(payload, "comment", "id")), _as_id(dig(payload, "issue", "number"))
    if number is None or issue is None:
        problems.append(Problem("the event payload (GITHUB_EVENT_PATH) contains no comment"))
        return None
    return CommentEvent(
        number,
        issue,
        _as_text(dig(payload, "action")),
        is_on_pull_request=isinstance(dig(payload, "issue", "pull_request"), dict),
        body=_as_text(dig(payload, "comment", "body"))[:MAX_COMMENT_CHARS],
    )


def _read_payload(path: str, problems: list[Problem]) -> dict[str, Any]:
    import json

    try:
        with Path(path).open("rb") as file:
            content = file.read(LARGEST_EVENT + 1)
        payload = json.loads(content) if len(content) <= LARGEST_EVENT else None
    except (OSError, ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        problems.append(Problem("the event file that GITHUB_EVENT_PATH names can't be read"))
        return {}
    return payload


def _parse_pull_request(payload: dict[str, Any]) -> PullRequestEvent | None:
    number = dig(payload, "pull_request", "number")
    base = _as_text(dig(payload, "pull_request", "base", "ref"))
    head_sha = _as_sha(dig(payload, "pull_request", "head", "sha"))
    if not isinstance(number, int) or isinstance(number, bool) or number < 1 or not base or not head_sha:
        return None
    repo, head_repo = dig(payload, "repository", "id"), dig(payload, "pull_request", "head", "repo", "id")
    return PullRequestEvent(
        number=number,
        head_sha=head_sha,
        head_ref=_as_text(dig(payload, "pull_request", "head", "ref")),
        base_ref=base,
        base_sha=_as_sha(dig(payload, "pull_request", "base", "sha")),
        from_fork=head_repo is None or head_repo != repo,  # a deleted fork has no repository
    )


def _parse_triggering_run(payload: dict[str, Any], problems: list[Problem]) -> TriggeringRun | None:
    """The finished run; a run of another repository, or an unfinished one, is a problem."""
    run = dig(payload, "workflow_run")
    number, head_sha = dig(run, "id"), _as_sha(dig(run, "head_sha"))
    repo, run_repo = _as_id(dig(payload, "repository", "id")), _as_id(dig(run, "repository", "id"))
    branch = _as_text(dig(run, "head_branch"))
    if _as_id(number) is None or not head_sha or repo is None or not branch or len(branch) > LONGEST_BRANCH:
        problems.append(Problem("the event payload (GITHUB_EVENT_PATH) contains no valid workflow run"))
        return None
    if run_repo != repo:
        problems.append(Problem("the finished run belongs to another repository"))
    if dig(run, "status") != "completed":
        problems.append(Problem("the run has not finished", hint="use `workflow_run: types: [completed]`"))
    head, name = _as_id(dig(run, "head_repository", "id")), _as_text(dig(run, "head_repository", "full_name"))
    is_known = head is not None and REPOSITORY.fullmatch(name) is not None
    return TriggeringRun(
        id=number,
        event=_as_text(dig(run, "event")),
        head_repository_id=head if is_known else None,
        head_repository=name if is_known else "",
        head_branch=branch,
        head_sha=head_sha,
        is_same_repository=head == repo,
    )


def _as_id(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_sha(value: Any) -> str:
    return value if isinstance(value, str) and SHA.fullmatch(value) else ""
