"""The stand-in for GitHub as tests use it: a new world for each, and short ways to change it."""

from __future__ import annotations

from hashlib import sha1
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fakes.github.archives import evil_zip
from fakes.github.clock import moment
from fakes.github.routes import ROUTES
from fakes.github.server import ApiHandler, Listener, storage_listener
from fakes.github.world import Addresses, World

from evalgate.adapters.github.connection import Site
from evalgate.adapters.http import Network

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fakes.github.messages import Answer


class FakeHub:
    """Two listeners for a whole session, with a new world for every test."""

    def __init__(self, *, is_enterprise: bool = False) -> None:
        self._api, self._storage = Listener("127.0.0.1", ApiHandler), storage_listener()
        self._base = self._api.url + ("/api/v3" if is_enterprise else "")
        self._is_enterprise = is_enterprise
        self.fresh()
        self._api.start()
        self._storage.start()

    def fresh(self) -> FakeHub:
        """Starts with a new world without faults. Pending requests of the old one do not affect it."""
        self._world = World(Addresses(self._api.url, self._base, self._storage.url), self._is_enterprise)
        self._api.world = self._storage.world = self._world
        return self

    def stop(self) -> None:
        self._api.stop()
        self._storage.stop()

    @property
    def info(self) -> SimpleNamespace:
        return SimpleNamespace(
            api=self._api.url,
            blob=self._storage.url,
            github_api_url=self._base,
            graphql_url=self._base.removesuffix("/v3") + "/graphql",
            results_url=f"{self._api.url}/",
            runtime_token=self.state["runtime"]["token"],
        )

    @property
    def state(self) -> dict[str, Any]:
        return self._world.state

    @property
    def requests(self) -> list[dict[str, Any]]:
        return self._world.requests

    @property
    def violations(self) -> list[str]:
        return self._world.violations

    @property
    def waiting(self) -> bool:
        """True once a planned fault has begun."""
        return self._world.faults.happened

    def fail(self, fault: dict[str, Any], *, times: int = 1, skip: int = 0, **match: str) -> None:
        """Plans a fault for requests that match, after those planned before."""
        self._world.faults.add(fault, match, times, skip)

    def forget_faults(self) -> None:
        """Removes all planned faults."""
        self._world.faults.clear()

    def change_answers(self, operation: str, change: Callable[[Answer], Answer]) -> None:
        """Passes all answers to an operation through a function."""
        self._world.replaced[operation] = lambda world, request: change(ROUTES[operation](world, request))

    def before_each(self, operation: str, act: Callable[[], None]) -> None:
        """Lets something happen just before each request of an operation is answered."""

        def answer(world: World, request: Any) -> Answer:
            act()
            return ROUTES[operation](world, request)

        self._world.replaced[operation] = answer

    def spell(self, style: str) -> None:
        """How the artifact service spells its answers: `proto` or `camel`."""
        self._world.spelling = style

    def reached_at(self, api: str, blob: str) -> None:
        """Replaces this server's address with another in every link it gives."""
        self._world.addresses = Addresses(api, self._base.replace(self._api.url, api), blob)

    def plant(
        self, *, files: dict[str, str] | None = None, run: dict[str, Any] | None = None, **fields: Any
    ) -> dict[str, Any]:
        """Adds an artifact, by default a good one of main's newest commit; returns its record."""
        artifact = {
            "name": "evalgate-baseline",
            "files": files or {"results.json": "{}", "manifest.json": "{}"},
            "run": run or {},
            **fields,
        }
        if fields.get("blob_b64"):
            del artifact["files"]
        self.state["artifacts"].append(artifact)
        self._world.complete_artifacts()
        return artifact

    def plant_many(self, commits: Sequence[str], **run: Any) -> None:
        """Adds a good artifact of each of these commits, the last one the newest."""
        for commit in commits:
            files = {"results.json": commit, "manifest.json": "{}"}
            artifact = {"name": "evalgate-baseline", "files": files, "run": {"head_sha": commit, **run}}
            self.state["artifacts"].append(artifact)
        self._world.complete_artifacts()

    def extend_main(self, count: int) -> list[str]:
        """Adds commits to main; returns their ids, the newest last."""
        made = []
        for number in range(count):
            parent = self.state["refs"]["refs/heads/main"]
            made.append(self.commit(sha1(b"%d" % number, usedforsecurity=False).hexdigest(), parent))
            self.state["refs"]["refs/heads/main"] = made[-1]
        return made

    def shuffle_lists(self, *, shuffled: bool = True) -> None:
        """Whether lists come in arbitrary order."""
        self._world.is_shuffled = shuffled

    def evil_zip(self, kind: str) -> bytes:
        """A hostile archive."""
        return evil_zip(kind)

    def blob(self, artifact: dict[str, Any]) -> bytes:
        """The bytes of an artifact."""
        return self._world.blobs[artifact["sha256"]]

    def commit(self, sha: str, *parents: str) -> str:
        self.state["commits"][sha] = {
            "parents": list(parents),
            "message": "m",
            "date": "2026-01-01T00:00:00Z",
        }
        return sha

    def write(self, path: str, content: bytes, commit: str) -> None:
        """Puts a file into the tree of one commit."""
        self.state["commits"][commit].setdefault("files", {})[path] = content

    def comment(self, body: str, user: str, *, count: int = 1) -> None:
        """Adds comments to pull request 7."""
        for _ in range(count):
            number = 2_000_000 + len(self.state["comments"])
            self.state["comments"].append(
                {
                    "id": number,
                    "issue_number": 7,
                    "body": body,
                    "user": user,
                    "created_at": "2026-01-01T00:00:00Z",
                    "updated_at": "2026-01-01T00:00:00Z",
                    "author_association": "NONE",
                }
            )

    def moment(self, seconds: float) -> str:
        """So many seconds from now, as GitHub writes it."""
        return moment(seconds)

    def post_comment(self, body: str, user: str, *, at: float = 60, **other: Any) -> dict[str, Any]:
        """Adds a comment to pull request 7, dated so many seconds from now; returns the record."""
        self.comment(body, user)
        comment = self.state["comments"][-1]
        stamp = self.moment(at)
        comment.update(created_at=stamp, updated_at=stamp, **other)
        return comment

    def comments_of(self, user: str) -> list[dict[str, Any]]:
        return [comment for comment in self.state["comments"] if comment["user"] == user]


def site_of(hub: FakeHub, token: str = "ghs_write", **other: Any) -> Site:  # noqa: S107 - test data
    """The stand-in as the adapters see it."""
    given = {
        "api_url": hub.info.github_api_url,
        "server_url": "https://github.com",
        "repository": "acme/agent",
        "repository_id": 1001,
        "token": token,
        "results_url": hub.info.results_url.rstrip("/"),
        "runtime_token": hub.info.runtime_token,
        "network": Network(),
    }
    return Site(**{**given, **other})
