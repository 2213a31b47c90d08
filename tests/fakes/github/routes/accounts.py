"""Accounts: who a token is, and what somebody may do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from zlib import crc32

from fakes.github.description import fill
from fakes.github.messages import Answer, Refusal, in_json

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World


def account(world: World, login: str) -> dict[str, Any]:
    known = world.state["users"].get(login) or {"id": 1000 + crc32(login.encode()) % 1_000_000, "type": "User"}
    url = f"{world.addresses.base}/users/{quote(login)}"
    page = f"https://github.com/{quote(login)}"
    return fill("simple-user", login=login, id=known["id"], type=known["type"], url=url, html_url=page)


def authenticated(world: World, request: Request) -> Answer:
    """The token of a job belongs to no user."""
    if request.account["kind"] == "installation":
        raise Refusal(403, "Resource not accessible by integration")
    return in_json(fill("public-user", **account(world, request.account["login"])))


def viewer(world: World, request: Request) -> Answer:
    """The one question that EvalGate asks in GraphQL."""
    if "viewer" not in request.document.get("query", ""):
        world.note(request, "not a question that the stand-in answers")
        raise Refusal(400, "unsupported query")
    return in_json({"data": {"viewer": {"login": request.account["login"]}}})


def permission(world: World, request: Request) -> Answer:
    """Anybody may read a public repository."""
    login = request.values["username"]
    default = "none" if world.state["repo"]["private"] else "read"
    level = world.state["collaborators"].get(login, default)
    return in_json({"permission": level, "role_name": level, "user": _collaborator(world, login, level)})


def _collaborator(world: World, login: str, level: str) -> dict[str, Any]:
    return fill("nullable-collaborator", **account(world, login), role_name=level)
