"""Reads the job that a run belongs to, and the event that triggered it, from the runner's variables and event file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.errors import Problem
from evalgate.measures.values.dig import dig
from evalgate.models.approvals.review import TriggeringRun

if TYPE_CHECKING:
    from collections.abc import Mapping


REQUIRED = {
    "GITHUB_WORKSPACE": re.compile(r"/.*"),
    "GITHUB_EVENT_NAME": re.compile(r"[a-z_]{1,60}"),
    "GITHUB_EVENT_PATH": re.compile(r"/.*"),
    "GITHUB_REPOSITORY": re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}"),
    "GITHUB_SHA": re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}"),
    "GITHUB_RUN_ID": re.compile(r"[0-9]{1,18}"),
}
ADDRESSES = {
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_SERVER_URL": "https://github.com",
    "ACTIONS_RESULTS_URL": "",
}
ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]{1,255}(/[A-Za-z0-9._~/-]*)?")


class Job(Struct, frozen=True):
    """The job of this run. Empty text means unknown; the repr shows no tokens."""

    workspace: str = ""
    event_name: str = ""
    event_path: str = ""
    repository: str = ""
    repository_id: int = 0  # 0 under runners other than GitHub's, such as act
    sha: str = ""
    ref: str = ""
    run_id: str = ""
    attempt: int = 1  # above 1 for a run that was run again
    max_retention_days: int | None = None  # the repository's setting for artifacts
    job: str = ""
    step: str = ""  # the id of the step, or a name that the runner gives it
    workflow_path: str = ""
    api_url: str = ""
    server_url: str = ""
    results_url: str = ""
    runtime_token: str = ""
    uploads_by_step: bool = False  # in the composite action, whose processes reach no artifact service
    temp: str = ""
    proxies: Mapping[str, str] = field(default_factory=dict)  # may carry a password
    no_proxy: str = ""
    ca_bundle: str = ""
    source_date_epoch: str | None = None
    debug: bool = False

    def __repr__(self) -> str:  # without secrets
        return "Job(...)"

    @property
    def run_url(self) -> str:
        """The URL of this run's page."""
        return f"{self.runs_url}{self.run_id}"

    @property
    def runs_url(self) -> str:
        """The URL of a run's page, without its number."""
        return f"{self.server_url}/{self.repository}/actions/runs/"


def read_job(environ: Mapping[str, str], problems: list[Problem]) -> Job:
    """Reads the job; missing or malformed variables are added to `problems`."""
    required = {name: _read_required(environ, name, problems) for name in REQUIRED}
    addresses = {name: _read_address(environ, name, problems) for name in ADDRESSES}
    return Job(
        workspace=required["GITHUB_WORKSPACE"],
        event_name=required["GITHUB_EVENT_NAME"],
        event_path=required["GITHUB_EVENT_PATH"],
        repository=required["GITHUB_REPOSITORY"],
        repository_id=_read_repository_id(environ, problems),
        sha=required["GITHUB_SHA"],
        ref=environ.get("GITHUB_REF", ""),
        run_id=required["GITHUB_RUN_ID"],
        attempt=_parse_count(environ.get("GITHUB_RUN_ATTEMPT", "")) or 1,
        max_retention_days=_parse_count(environ.get("GITHUB_RETENTION_DAYS", "")),
        job=_safe_key(environ.get("GITHUB_JOB", "")),
        step=environ.get("GITHUB_ACTION", ""),
        workflow_path=_parse_workflow_path(environ.get("GITHUB_WORKFLOW_REF", "")),
        api_url=addresses["GITHUB_API_URL"],
        server_url=addresses["GITHUB_SERVER_URL"],
        results_url=addresses["ACTIONS_RESULTS_URL"],
        runtime_token=environ.get("ACTIONS_RUNTIME_TOKEN", ""),
        uploads_by_step=environ.get("EVALGATE_UPLOADS_BY_STEP") == "true",
        temp=environ.get("RUNNER_TEMP", ""),
        proxies=read_proxies(environ),
        no_proxy=read_either_case(environ, "NO_PROXY"),
        ca_bundle=environ.get("REQUESTS_CA_BUNDLE", ""),
        source_date_epoch=environ.get("SOURCE_DATE_EPOCH"),
        debug=environ.get("RUNNER_DEBUG") == "1",
    )


def _read_required(environ: Mapping[str, str], name: str, problems: list[Problem]) -> str:
    value = environ.get(name, "")
    if REQUIRED[name].fullmatch(value):
        return value
    reason = "has an unexpected value" if value else "is not set"
    problems.append(Problem(f"variable {name} {reason}", hint="outside GitHub Actions use `evalgate run`"))
    return ""


def _read_repository_id(environ: Mapping[str, str], problems: list[Problem]) -> int:
    value = environ.get("GITHUB_REPOSITORY_ID") or "0"
    if re.fullmatch(r"[0-9]{1,18}", value):
        return int(value)
    problems.append(Problem("variable GITHUB_REPOSITORY_ID has an unexpected value"))
    return 0


def _read_address(environ: Mapping[str, str], name: str, problems: list[Problem]) -> str:
    value = environ.get(name) or ADDRESSES[name]
    if value and not ADDRESS.fullmatch(value):
        problems.append(Problem(f"variable {name} is not a URL"))
        return ""
    return value.rstrip("/")


def _parse_workflow_path(reference: str) -> str:
    """`.github/workflows/x.yml` from `owner/repository/.github/workflows/x.yml@ref`."""
    path = reference.partition("@")[0].split("/", 2)
    return path[2] if len(path) > len(("owner", "repository")) else ""


def _parse_count(text: str) -> int | None:
    return (int(text) or None) if re.fullmatch(r"[0-9]{1,6}", text) else None


def _safe_key(job: str) -> str:
    return re.sub(r"[^A-Za-z0-9._/-]", "-", job)[:60]


def read_proxies(environ: Mapping[str, str]) -> Mapping[str, str]:
    """The proxies of the environment by scheme."""
    found = {scheme: read_either_case(environ, f"{scheme.upper()}_PROXY") for scheme in ("https", "http")}
    return {scheme: proxy for scheme, proxy in found.items() if proxy}


def read_either_case(environ: Mapping[str, str], name: str) -> str:
    """The variable in lower or upper case, as both are used for proxies."""
    return environ.get(name.lower()) or environ.get(name, "")


LARGEST_EVENT = 25_000_000
SHA = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
REPOSITORY = re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}")
LONGEST_BRANCH = 255
MAX_COMMENT_CHARS = 2_000
"""Characters of a comment that are read: a command is in its first line."""


class PullRequestEvent(Struct, frozen=True):
    """The pull request a run is for. Its author chose the branch names, so they are untrusted."""

    number: int
    head_sha: str
    head_ref: str
    base_ref: str
    base_sha: str
    from_fork: bool
    head_repository: str = ""  # owner/name; empty if it was deleted


class CommentEvent(Struct, frozen=True):
    """A comment that triggered the job. Its body is used only to recognise a command."""

    id: int
    number: int  # of the issue or pull request that it is on
    action: str
    is_on_pull_request: bool
    body: str


class TriggerEvent(Struct, frozen=True):
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
    head_name = _as_text(dig(payload, "pull_request", "head", "repo", "full_name"))
    return PullRequestEvent(
        number=number,
        head_sha=head_sha,
        head_ref=_as_text(dig(payload, "pull_request", "head", "ref")),
        base_ref=base,
        base_sha=_as_sha(dig(payload, "pull_request", "base", "sha")),
        from_fork=head_repo is None or head_repo != repo,  # a deleted fork has no repository
        head_repository=head_name if REPOSITORY.fullmatch(head_name) else "",
    )


HARMLESS = ("success", "skipped", "neutral")
"""Conclusions of runs that may have had nothing to judge."""
CONCLUSION = re.compile("[a-z_]{1,30}")


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
        attempt=_as_id(dig(run, "run_attempt")) or 1,
        failure=_read_failure(dig(run, "conclusion")),
    )


def _read_failure(conclusion: Any) -> str:
    """How a run ended, as GitHub names it, if that is not harmless; else empty."""
    name = _as_text(conclusion)
    if name in HARMLESS:
        return ""
    return name if CONCLUSION.fullmatch(name) else "an unknown conclusion"


def _as_id(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _as_sha(value: Any) -> str:
    return value if isinstance(value, str) and SHA.fullmatch(value) else ""
