"""Trackers by name, and the facts about a run that the environment has; no file decides them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import structs

from evalgate.errors import Problem, SettingError
from evalgate.features.track.feature import TRACKERS
from evalgate.features.track.models import TrackingContext

if TYPE_CHECKING:
    from collections.abc import Mapping

    from evalgate.models.approvals.review import TriggeringRun

PULL_REQUEST = re.compile(r"refs/pull/(\d{1,10})/")
LARGEST_EVENT = 25_000_000


def require_tracker(name: str) -> str:
    """The name of a tracker; raises SettingError."""
    if name in TRACKERS:
        return name
    raise SettingError(Problem(f"there is no tracker {name[:40]!r}", None, f"choose from {', '.join(TRACKERS)}"))


def read_tracking_context(
    environ: Mapping[str, str], cwd: str, branch: str | None, prefix: str = "evalgate"
) -> TrackingContext:
    """The facts that GitHub's variables give; in a shell the repository is the name of the working folder."""
    repository = environ.get("GITHUB_REPOSITORY") or Path(cwd).resolve().name or "local"
    server, run_id = environ.get("GITHUB_SERVER_URL", ""), environ.get("GITHUB_RUN_ID") or None
    number = PULL_REQUEST.match(environ.get("GITHUB_REF", ""))
    in_job = bool(environ.get("GITHUB_REPOSITORY"))
    return TrackingContext(
        repository=re.sub(r"[^A-Za-z0-9._/-]+", "-", repository)[:100],
        server=server.partition("://")[2].rstrip("/").lower() if in_job else "",
        repository_id=environ.get("GITHUB_REPOSITORY_ID") or None,
        run_id=run_id,
        attempt=environ.get("GITHUB_RUN_ATTEMPT") or "1",
        run_url=f"{server}/{repository}/actions/runs/{run_id}" if in_job and server and run_id else None,
        event=environ.get("GITHUB_EVENT_NAME") or None,
        branch=environ.get("GITHUB_HEAD_REF") or branch,
        base_branch=environ.get("GITHUB_BASE_REF") or None,
        pull_request=number[1] if number else None,
        is_fork=is_of_fork(environ),
        prefix=prefix,
    )


def read_fork_context(environ: Mapping[str, str], run: TriggeringRun) -> TrackingContext:
    """The facts about a run of a fork that this job publishes for it."""
    own = read_tracking_context(environ, "", None)
    url = (own.run_url or "").rpartition("/")[0]
    return structs.replace(
        own,
        run_id=str(run.id),
        attempt=str(run.attempt),
        run_url=f"{url}/{run.id}" if url else None,
        event=run.event,
        branch=run.head_branch,
        base_branch=None,
        is_fork=True,
        head_repository=run.head_repository or None,
    )


def is_of_fork(environ: Mapping[str, str]) -> bool:
    """Whether the head of a pull request is of another repository; so it is if that can't be found out."""
    if not environ.get("GITHUB_HEAD_REF"):
        return False
    try:
        path = Path(environ.get("GITHUB_EVENT_PATH", ""))
        if path.stat().st_size > LARGEST_EVENT:
            return True
        payload = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return True
    head, base = (_find_repository(payload, side) for side in ("head", "base"))
    return head is None or head != base


def _find_repository(payload: Any, side: str) -> Any:
    for name in ("pull_request", side, "repo", "id"):
        payload = payload.get(name) if isinstance(payload, dict) else None
    return payload
