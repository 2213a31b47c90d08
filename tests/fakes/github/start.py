"""What GitHub knows at the beginning of a test: one repository, a pull request of it, and one of a fork.

Commit 2 is main, commit 1 the merge base of pull request 7; run 8001 was main's, run 9001 is the current one.
"""

from __future__ import annotations

import base64
import json
from hashlib import sha1
from typing import Any

from fakes.github.clock import moment

REPOSITORY = "acme/agent"
BACKENDS = ("8d2c7a51-run", "8d2c7a51-job")
BOT = "github-actions[bot]"


def commit_id(name: str) -> str:
    return sha1(name.encode(), usedforsecurity=False).hexdigest()


FIRST, SECOND, MAIN, HEAD, MERGED, OF_FORK = map(commit_id, ("c0", "c1", "c2", "pr-head", "pr-merge", "fork-main"))


def first_state() -> dict[str, Any]:
    return {
        "repo": {"full_name": REPOSITORY, "id": 1001, "private": False, "default_branch": "main"},
        "repos": [{"id": 2002, "full_name": "mallory/agent", "fork": True}],
        "users": {
            "acme": {"id": 11, "type": "Organization"},
            "alice": {"id": 12, "type": "User"},
            "mallory": {"id": 13, "type": "User"},
            BOT: {"id": 41898282, "type": "Bot"},
        },
        "tokens": _tokens(),
        "runtime": {"run_id": 9001, "token": _runtime_token()},
        "commits": _commits(),
        "refs": {"refs/heads/main": MAIN, "refs/heads/feature/x": HEAD},
        "pulls": {"7": _pull(7, "alice", ("feature/x", HEAD, 1001)), "8": _pull(8, "mallory", ("main", OF_FORK, 2002))},
        "workflows": [{"id": 501, "name": "evalgate", "path": ".github/workflows/evalgate.yml", "state": "active"}],
        "runs": [
            _run(8001, "push", "main", MAIN, conclusion="success", created_at=moment(-6000)),
            _run(9001, "pull_request", "feature/x", HEAD, created_at=moment(-60), pulls=[7]),
        ],
        "artifacts": [],
        "comments": [],
        "check_runs": [],
        "collaborators": {"alice": "write", "acme": "admin"},
        "renamed_from": [],
    }


def _tokens() -> dict[str, dict[str, Any]]:
    job = {"login": BOT, "kind": "installation"}
    names = ("contents", "actions", "pull_requests", "checks", "metadata")
    reading = dict.fromkeys(names, "read")
    writing = {**reading, "contents": "write", "pull_requests": "write", "checks": "write"}
    without_actions = {"contents": "read", "pull_requests": "write", "metadata": "read"}
    person = {**dict.fromkeys((*names, "issues"), "write"), "checks": "none"}
    return {
        "ghs_write": {**job, "permissions": writing},
        "ghs_readonly": {**job, "permissions": reading},
        "ghs_noactions": {**job, "permissions": without_actions},
        "ghp_alice": {"login": "alice", "kind": "user", "permissions": person},
    }


def _commits() -> dict[str, dict[str, Any]]:
    parents = {FIRST: [], SECOND: [FIRST], MAIN: [SECOND], HEAD: [SECOND], MERGED: [MAIN, HEAD], OF_FORK: [FIRST]}
    return {
        sha: {"parents": before, "message": "m", "date": moment(100_000 * (number - 9))}
        for number, (sha, before) in enumerate(parents.items())
    }


def _pull(number: int, user: str, head: tuple[str, str, int]) -> dict[str, Any]:
    ref, sha, repository = head
    return {
        "number": number,
        "state": "open",
        "title": "Change the agent",
        "user": user,
        "draft": False,
        "merged": False,
        "head": {"ref": ref, "sha": sha, "repo_id": repository},
        "base": {"ref": "main", "sha": MAIN},
        "merge_commit_sha": MERGED,
        "labels": [],
    }


def _run(number: int, event: str, branch: str, sha: str, **other: Any) -> dict[str, Any]:
    return {
        "id": number,
        "workflow_id": 501,
        "event": event,
        "head_branch": branch,
        "head_sha": sha,
        "head_repository_id": 1001,
        "status": "completed" if other.get("conclusion") else "in_progress",
        "conclusion": None,
        **other,
    }


def _runtime_token() -> str:
    """A JSON Web Token whose scope names the job's two ids, as the runner's does; nobody checks its signature."""
    claims = {"scp": f"Actions.Results:{':'.join(BACKENDS)} Actions.UploadArtifacts:0/0:x"}
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    return ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in (*parts, b"no signature"))
