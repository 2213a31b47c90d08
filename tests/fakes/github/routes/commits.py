"""Commits and their comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakes.github.description import fill
from fakes.github.history import commits_between, merge_base, resolve
from fakes.github.messages import Answer, Refusal, in_json
from fakes.github.pages import MOST_PER_PAGE
from fakes.github.routes.accounts import account

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
MOST_COMMITS = 250


def describe(world: World, sha: str) -> dict[str, Any]:
    """`author` and `committer` are accounts where the state names some."""
    known = world.state["commits"][sha]
    written = {"name": "a", "email": "a@example.com", "date": known["date"]}
    inner = {
        "url": world.url(f"/git/commits/{sha}"),
        "author": written,
        "committer": written,
        "message": known["message"],
        "tree": {"sha": EMPTY_TREE, "url": world.url(f"/git/trees/{EMPTY_TREE}")},
        "comment_count": 0,
    }
    accounts = {role: account(world, known[role]) if known.get(role) else None for role in ("author", "committer")}
    parents = [{"sha": parent, "url": world.url(f"/commits/{parent}")} for parent in known["parents"]]
    return fill("commit", sha=sha, url=world.url(f"/commits/{sha}"), commit=inner, parents=parents, **accounts)


def get(world: World, request: Request) -> Answer:
    ref = request.values["ref"]
    sha = resolve(world.state, ref)
    if sha is None:
        raise Refusal(422, f"No commit found for SHA: {ref}")
    return in_json(describe(world, sha))


def compare(world: World, request: Request) -> Answer:
    """What the head has that the base has not, and the other way round."""
    names = request.values["basehead"].split("...")
    base, head = (resolve(world.state, name.rpartition(":")[2]) for name in (names[0], names[-1]))
    if len(names) != 2 or base is None or head is None:
        raise Refusal(404, "Not Found")
    commits = world.state["commits"]
    common = merge_base(commits, base, head)
    if common is None:
        raise Refusal(404, f"No common ancestor between {names[0]} and {names[1]}.")
    ahead, behind = commits_between(commits, base, head), commits_between(commits, head, base)
    size = min(MOST_PER_PAGE, int(request.query["per_page"])) if "per_page" in request.query else MOST_COMMITS
    return in_json(
        fill(
            "commit-comparison",
            url=world.url(f"/compare/{request.values['basehead']}"),
            base_commit=describe(world, base),
            merge_base_commit=describe(world, common),
            status=_status(bool(ahead), bool(behind)),
            ahead_by=len(ahead),
            behind_by=len(behind),
            total_commits=len(ahead),
            commits=[describe(world, sha) for sha in ahead[:size]],
            files=[],
        )
    )


def _status(is_ahead: bool, is_behind: bool) -> str:
    names = {(False, False): "identical", (True, False): "ahead", (False, True): "behind", (True, True): "diverged"}
    return names[is_ahead, is_behind]
