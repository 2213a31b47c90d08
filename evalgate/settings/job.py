"""Reads the job that a run belongs to from the runner's environment variables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.errors import Problem
from evalgate.records import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUIRED = {
    "GITHUB_WORKSPACE": re.compile(r"/.*"),
    "GITHUB_EVENT_NAME": re.compile(r"[a-z_]{1,60}"),
    "GITHUB_EVENT_PATH": re.compile(r"/.*"),
    "GITHUB_REPOSITORY": re.compile(r"[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}"),
    "GITHUB_REPOSITORY_ID": re.compile(r"[0-9]{1,18}"),
    "GITHUB_SHA": re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}"),
    "GITHUB_RUN_ID": re.compile(r"[0-9]{1,18}"),
}
ADDRESSES = {
    "GITHUB_API_URL": "https://api.github.com",
    "GITHUB_SERVER_URL": "https://github.com",
    "ACTIONS_RESULTS_URL": "",
}
ADDRESS = re.compile(r"https?://[A-Za-z0-9.:\[\]_-]{1,255}(/[A-Za-z0-9._~/-]*)?")


@dataclass(frozen=True, slots=True)
class Job:
    """The job of this run. Empty text means unknown; the repr shows no tokens."""

    workspace: str = ""
    event_name: str = ""
    event_path: str = ""
    repository: str = ""
    repository_id: int = 0
    actor: str = ""
    sha: str = ""
    ref: str = ""
    run_id: str = ""
    attempt: int = 1  # above 1 for a run that was run again
    job: str = ""
    workflow_path: str = ""
    api_url: str = ""
    server_url: str = ""
    results_url: str = ""
    runtime_token: str = field(default="", repr=False)
    temp: str = ""
    proxies: Mapping[str, str] = field(default_factory=dict, repr=False)  # may carry a password
    no_proxy: str = ""
    ca_bundle: str = ""
    source_date_epoch: str | None = None
    debug: bool = False

    @property
    def run_url(self) -> str:
        """The URL of this run's page."""
        return f"{self.server_url}/{self.repository}/actions/runs/{self.run_id}"


def read_job(environ: Mapping[str, str], problems: list[Problem]) -> Job:
    """Reads the job; missing or malformed variables are added to `problems`."""
    required = {name: _read_required(environ, name, problems) for name in REQUIRED}
    addresses = {name: _read_address(environ, name, problems) for name in ADDRESSES}
    return Job(
        workspace=required["GITHUB_WORKSPACE"],
        event_name=required["GITHUB_EVENT_NAME"],
        event_path=required["GITHUB_EVENT_PATH"],
        repository=required["GITHUB_REPOSITORY"],
        repository_id=int(required["GITHUB_REPOSITORY_ID"] or 0),
        actor=environ.get("GITHUB_ACTOR", ""),
        sha=required["GITHUB_SHA"],
        ref=environ.get("GITHUB_REF", ""),
        run_id=required["GITHUB_RUN_ID"],
        attempt=_parse_attempt(environ.get("GITHUB_RUN_ATTEMPT", "")),
        job=_safe_key(environ.get("GITHUB_JOB", "")),
        workflow_path=_parse_workflow_path(environ.get("GITHUB_WORKFLOW_REF", "")),
        api_url=addresses["GITHUB_API_URL"],
        server_url=addresses["GITHUB_SERVER_URL"],
        results_url=addresses["ACTIONS_RESULTS_URL"],
        runtime_token=environ.get("ACTIONS_RUNTIME_TOKEN", ""),
        temp=environ.get("RUNNER_TEMP", ""),
        proxies=_read_proxies(environ),
        no_proxy=_read_either_case(environ, "NO_PROXY"),
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


def _parse_attempt(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,6}", text) else 1


def _safe_key(job: str) -> str:
    return re.sub(r"[^A-Za-z0-9._/-]", "-", job)[:60]


def _read_proxies(environ: Mapping[str, str]) -> Mapping[str, str]:
    found = {scheme: _read_either_case(environ, f"{scheme.upper()}_PROXY") for scheme in ("https", "http")}
    return {scheme: proxy for scheme, proxy in found.items() if proxy}


def _read_either_case(environ: Mapping[str, str], name: str) -> str:
    """The variable in lower or upper case, as both are used for proxies."""
    return environ.get(name.lower()) or environ.get(name, "")
