"""A stand-in for GitHub that checks every request against GitHub's own description of its API."""

from __future__ import annotations

import copy
import importlib.util
import json
import sys
import tempfile
import time
from hashlib import sha1
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from evalgate.adapters.github.connection import Site
from evalgate.adapters.http import Network

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARED = Path(__file__).resolve().parents[3] / "shared" / "github"
FAKEHUB = SHARED / "fakehub.py"
MAIN = "main"
MOST_BYTES = 65_535


class FakeHub:
    """One server for a whole session, with a new state for every test."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        spec = importlib.util.spec_from_file_location("fakehub", FAKEHUB)
        self._module = importlib.util.module_from_spec(spec)
        sys.modules["fakehub"] = self._module
        spec.loader.exec_module(self._module)
        self._module.Base.disable_nagle_algorithm = True  # or every answer waits 40 ms
        self._count_requests()
        self._add_commit_authors()
        self._add_locked_conversations()
        self._add_rejected_check_runs()
        self._folder = folder
        state = folder / "first.json"
        parser = self._module.build_parser()
        self._hub = self._module.Hub(parser.parse_args(["--port", "0", "--state", str(state), *arguments]))
        self._hub.begun = 0
        self._base, self._blob = self._hub.world.base, self._hub.blob_url
        self._hub.start()

    def fresh(self) -> FakeHub:
        """Starts with a new state without faults. Pending requests of the old state do not affect it."""
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        born = round(time.time(), 3)
        hub = copy.copy(self._hub)
        hub.world = self._module.World(str(folder / "state.json"), base_url=self._base)
        hub.blob_url = self._blob
        hub.api = self._module.Api(hub)
        hub.faults = self._module.Faults()
        hub.totals = dict.fromkeys(hub.totals, 0)
        hub.problems, hub.recent = [], []
        hub.n = hub.begun = 0
        hub.remaining = 1000  # of the hour's requests
        note = type(hub).log
        hub.log = lambda entry: note(hub, entry) if entry["t"] >= born else None
        self._rules: list[dict[str, Any]] = []
        self._hub = hub.api_srv.hub = hub.blob_srv.hub = hub
        self.spell("proto")
        self.shuffle_lists(shuffled=False)
        return self

    def _count_requests(self) -> None:
        """The server notes a request after it has answered: comparing with those begun shows when all are noted."""
        handler = self._module.Base
        read_body = handler.read_body

        def counting(request):
            if not request.path.startswith("/_fakehub"):  # asked by the runner's stand-in, never noted
                request.hub.begun += 1
            return read_body(request)

        handler.read_body = counting

    def _add_commit_authors(self) -> None:
        """Adds accounts to commits: `author` and `committer` in the state, logins."""
        api = self._module.Api
        describe_commit = api.o_commit

        def with_makers(itself, sha):
            known = itself.w.s["commits"][sha]
            accounts = {role: known[role] for role in ("author", "committer") if role in known}
            return {**describe_commit(itself, sha), **{role: itself.w.user(login) for role, login in accounts.items()}}

        api.o_commit = with_makers

    def _add_locked_conversations(self) -> None:
        """Refuses new comments on a pull request whose state has `locked`."""
        api, fakehub = self._module.Api, self._module
        create = api.issues_create_comment

        def create_unless_locked(itself, request):
            if itself.pull(request.p["issue_number"]).get("locked"):
                raise fakehub.HTTPErr(403, "Unable to create comment because issue is locked.")
            return create(itself, request)

        api.issues_create_comment = create_unless_locked

    def _add_rejected_check_runs(self) -> None:
        """Rejects annotations with characters above U+FFFF, and texts of more bytes than GitHub takes."""
        api, fakehub = self._module.Api, self._module
        apply = api._apply_check

        def apply_if_valid(itself, check, body):
            output = body.get("output") or {}
            if any(ord(character) > 0xFFFF for character in json.dumps(output.get("annotations"), ensure_ascii=False)):
                error = {"resource": "CheckRun", "code": "invalid", "field": "annotations"}
                raise fakehub.HTTPErr(422, "Validation Failed", [error])
            for field in ("summary", "text"):
                if len((output.get(field) or "").encode()) > MOST_BYTES:
                    message = f"{field} exceeds a maximum bytesize of {MOST_BYTES}"
                    error = {"resource": "CheckRun", "code": "custom", "field": field, "message": message}
                    raise fakehub.HTTPErr(422, "Validation Failed", [error])
            apply(itself, check, body)

        api._apply_check = apply_if_valid

    def _settle(self) -> None:
        deadline = time.monotonic() + 0.3
        while self._hub.n < self._hub.begun and time.monotonic() < deadline:
            time.sleep(0.001)

    def stop(self) -> None:
        self._hub.stop()

    @property
    def info(self) -> SimpleNamespace:
        return SimpleNamespace(**self._hub.info())

    @property
    def state(self) -> dict[str, Any]:
        return self._hub.world.s

    @property
    def requests(self) -> list[dict[str, Any]]:
        self._settle()
        return self._hub.recent

    @property
    def violations(self) -> list[dict[str, Any]]:
        self._settle()
        return [problem for problem in self._hub.problems if problem["level"] == "error"]

    @property
    def waiting(self) -> bool:
        """True while a planned fault is in progress."""
        return any(rule["_used"] for rule in self._hub.faults.rules)

    def ready_file(self, path: Path) -> Path:
        path.write_text(json.dumps(self._hub.info()), encoding="utf-8")
        return path

    def fail(self, fault: dict[str, Any], *, times: int = 1, skip: int = 0, **match: str) -> None:
        """Plans a fault for requests that match, after those planned before."""
        rule = {"match": match, "fault": fault, "times": times, "skip": skip}
        self._rules.append(rule)
        self._hub.faults.load({"rules": self._rules})

    def spell(self, style: str) -> None:
        """How the artifact service spells its answers: `proto` or `camel`."""
        self._hub.args.results_style = style

    def reached_at(self, api: str, blob: str) -> None:
        """Replaces this server's address with another in every link it gives."""
        self._hub.world.base = self._base.replace(self._hub.api_url, api)
        self._hub.blob_url = blob

    def forget_faults(self) -> None:
        """Removes all planned faults."""
        self._rules.clear()
        self._hub.faults.load({"rules": []})

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
        self._hub.world.seed_artifacts()
        return artifact

    def plant_many(self, commits: Sequence[str], **run: Any) -> None:
        """Adds a good artifact of each of these commits, the last one the newest."""
        for commit in commits:
            files = {"results.json": commit, "manifest.json": "{}"}
            artifact = {"name": "evalgate-baseline", "files": files, "run": {"head_sha": commit, **run}}
            self.state["artifacts"].append(artifact)
        self._hub.world.seed_artifacts()

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
        self._hub.args.shuffle = shuffled

    def evil_zip(self, kind: str) -> bytes:
        """A hostile archive."""
        return self._module.evil_zip(kind)

    def blob(self, artifact: dict[str, Any]) -> bytes:
        """The bytes of an artifact."""
        return self._hub.world.get_blob(artifact["sha256"])

    def commit(self, sha: str, *parents: str) -> str:
        self.state["commits"][sha] = {
            "parents": list(parents),
            "message": "m",
            "date": "2026-01-01T00:00:00Z",
        }
        return sha

    def write(self, path: str, content: bytes, commit: str) -> None:
        """Puts a file into the tree of one commit."""
        world = self._hub.world
        name = self._module.git_sha("blob", content)
        self.state["blobs_git"][name] = world.put_blob(content)
        files = {**world.flatten(world.tree_of(commit)), path: ("100644", name)}
        self.state["commits"][commit]["tree"] = world.write_tree(files)

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
        return self._module.now_iso(seconds)

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
