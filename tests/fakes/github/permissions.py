"""Which permission of a token each operation needs, after GitHub's "Permissions required for GitHub Apps"."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes.github.messages import Refusal

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

LEVELS = ("none", "read", "write", "admin")
COMMENTS = {"issues": "write", "pull_requests": "write"}
NEEDED = {
    "issues/create-comment": COMMENTS,
    "issues/update-comment": COMMENTS,
    "issues/delete-comment": COMMENTS,
    "checks/create": {"checks": "write"},
    "checks/update": {"checks": "write"},
    "actions/download-artifact": {"actions": "read"},
}
"""One of them is enough. What is not listed may be read with any token, as long as the repository is public."""
IN_PRIVATE = {
    "actions": {"actions": "read"},
    "checks": {"checks": "read"},
    "issues": {"issues": "read", "pull_requests": "read"},
    "pulls": {"pull_requests": "read"},
    "repos": {"contents": "read"},
}
"""What reading a private repository needs, by the area of the operation."""


def check_permission(world: World, request: Request) -> None:
    needed = NEEDED.get(request.operation, {})
    if not needed and world.state["repo"]["private"]:
        needed = IN_PRIVATE.get(request.operation.partition("/")[0], {})
    has = request.account["permissions"]
    levels = [LEVELS.index(has.get(name, "none")) >= LEVELS.index(level) for name, level in needed.items()]
    if needed and not any(levels):
        accepted = "; ".join(f"{name}={level}" for name, level in needed.items())
        headers = {"X-Accepted-GitHub-Permissions": accepted}
        raise Refusal(403, "Resource not accessible by integration", headers=headers)
