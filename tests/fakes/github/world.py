"""What GitHub knows during one test, and what it was asked."""

from __future__ import annotations

import base64
import json
import threading
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count
from typing import TYPE_CHECKING, Any

from fakes.github.archives import archive
from fakes.github.clock import moment
from fakes.github.faults import PlannedFaults
from fakes.github.start import first_state

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fakes.github.messages import Answer, Request

DAY = 86_400


@dataclass
class Addresses:
    """`base` begins the links to the REST API, `storage` those to storage."""

    api: str
    base: str
    storage: str


@dataclass
class World:
    """`state` is what tests read and change; `is_enterprise` and `is_shuffled` change answers."""

    addresses: Addresses
    is_enterprise: bool = False
    state: dict[str, Any] = field(default_factory=first_state)
    blobs: dict[str, bytes] = field(default_factory=dict)
    uploads: dict[str, dict[str, Any]] = field(default_factory=dict)
    faults: PlannedFaults = field(default_factory=PlannedFaults)
    replaced: dict[str, Callable[[World, Request], Answer]] = field(default_factory=dict)
    """Routes that a test replaced, by operation."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    remaining: int = 1000
    """Requests that are left in this hour."""
    is_shuffled: bool = False
    spelling: str = "proto"
    lock: threading.RLock = field(default_factory=threading.RLock)
    numbers: Iterator[int] = field(default_factory=lambda: count(70_001))
    """Ids of artifacts and of what else is made."""

    @property
    def repository(self) -> str:
        return self.state["repo"]["full_name"]

    def url(self, tail: str) -> str:
        """The address of a part of the repository's API."""
        return f"{self.addresses.base}/repos/{self.repository}{tail}"

    def page(self, tail: str) -> str:
        """The address of a page that people read."""
        return f"https://github.com/{self.repository}{tail}"

    def note(self, request: Request, problem: str) -> None:
        """A request that GitHub would not take, or that gives away what it must not."""
        self.violations.append(f"{request.method} {request.path}: {problem}")

    def keep(self, content: bytes) -> str:
        """Keeps bytes under their hash."""
        name = sha256(content).hexdigest()
        self.blobs[name] = content
        return name

    def find_repository(self, number: int) -> dict[str, Any]:
        known = {each["id"]: each for each in (self.state["repo"], *self.state["repos"])}
        return known.get(number, {"id": number, "full_name": f"ghost/repo{number}", "fork": True})

    def find_run(self, number: int) -> dict[str, Any] | None:
        return next((run for run in self.state["runs"] if run["id"] == number), None)

    def complete_artifacts(self) -> None:
        """Fills in what tests leave out of artifacts: content, run, dates."""
        for artifact in self.state["artifacts"]:
            if "run_id" not in artifact:
                artifact["run_id"] = self._add_run(artifact.pop("run", {}))
            defaults = {"expired": False, "created_at": moment(-5000), "expires_at": moment(90 * DAY)}
            for name, value in {"id": next(self.numbers), **defaults}.items() if "id" not in artifact else ():
                artifact.setdefault(name, value)
            if "sha256" not in artifact:
                content = self._content(artifact)
                artifact.update(sha256=self.keep(content), size=len(content))
            artifact.setdefault("digest", f"sha256:{artifact['sha256']}")

    def _add_run(self, given: dict[str, Any]) -> int:
        branch = given.get("head_branch", "main")
        run = {
            "id": 8100 + len(self.state["runs"]),
            "workflow_id": 501,
            "event": "push",
            "status": "completed",
            "conclusion": "success",
            "head_branch": branch,
            "head_sha": self.state["refs"].get(f"refs/heads/{branch}", "0" * 40),
            "head_repository_id": self.state["repo"]["id"],
            "created_at": moment(-5000),
            **given,
        }
        self.state["runs"].append(run)
        return run["id"]

    def _content(self, artifact: dict[str, Any]) -> bytes:
        if "blob_b64" in artifact:
            return base64.b64decode(artifact.pop("blob_b64"))
        files = artifact.pop("files")
        return archive({name: text if isinstance(text, str) else json.dumps(text) for name, text in files.items()})
