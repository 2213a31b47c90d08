"""The REST API: checks a request as GitHub would, and gives it to its route."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from fakes.github.description import find_operation, request_problems
from fakes.github.messages import Answer, Refusal, in_json
from fakes.github.permissions import check_permission
from fakes.github.routes import ROUTES

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

VERSIONS = {"2022-11-28"}
ENTERPRISE = "/api/v3"
GRAPHQL = {False: "/graphql", True: "/api/graphql"}


def name_operation(world: World, request: Request) -> None:
    """Finds the operation of a request and the values in its path."""
    if request.path == GRAPHQL[world.is_enterprise]:
        request.operation = "graphql"
        return
    number = world.state["repo"]["id"]
    path = request.path.removeprefix(ENTERPRISE) if world.is_enterprise else request.path
    path = re.sub(rf"^/repositories/{number}(?=/|$)", f"/repos/{world.repository}", path)
    request.operation, values = find_operation(request.method, path)
    request.values = {name: unquote(value) for name, value in values.items()}


def handle(world: World, request: Request) -> Answer:
    world.remaining = max(0, world.remaining - 1)
    try:
        answer = _moved(world, request) or _answer(world, request)
    except Refusal as refusal:
        answer = refusal.answer
    limits = {"X-RateLimit-Limit": "1000", "X-RateLimit-Remaining": str(world.remaining)}
    return Answer(answer.status, answer.body, {**limits, **answer.headers})


def _moved(world: World, request: Request) -> Answer | None:
    """A repository that was renamed is found under its number."""
    named = "{owner}/{repo}".format_map({"owner": "", "repo": "", **request.values})
    if named not in world.state["renamed_from"]:
        return None
    tail = request.path.partition(f"/repos/{named}")[2]
    location = f"{world.addresses.base}/repositories/{world.state['repo']['id']}{tail}"
    status = 301 if request.method in {"GET", "HEAD"} else 307
    return in_json({"message": "Moved Permanently", "url": location}, status, {"Location": location})


def _answer(world: World, request: Request) -> Answer:
    _check_headers(world, request)
    if not request.operation or (world.is_enterprise and not request.path.startswith("/api/")):
        world.note(request, "no such operation")
        raise Refusal(404, "Not Found")
    _check_repository(world, request)
    if request.operation != "graphql":
        check_permission(world, request)
        _check_description(world, request)
    request.document = json.loads(request.body) if request.body else None
    route = world.replaced.get(request.operation) or ROUTES[request.operation]
    return route(world, request)


def _check_headers(world: World, request: Request) -> None:
    """Who asks, and for which version of the API."""
    if not request.headers.get("User-Agent"):
        world.note(request, "no User-Agent")
        raise Refusal(403, "Request forbidden by administrative rules.")
    if request.headers.get("X-GitHub-Api-Version") not in VERSIONS:
        world.note(request, "no known version of the API")
        raise Refusal(400, "Unsupported version")
    if request.token == world.state["runtime"]["token"]:
        world.note(request, "the token of the service for artifacts was sent to the API")
    if request.token not in world.state["tokens"]:
        raise Refusal(401, "Bad credentials")
    request.account = world.state["tokens"][request.token]


def _check_repository(world: World, request: Request) -> None:
    if "owner" not in request.values:
        return
    named = f"{request.values['owner']}/{request.values['repo']}"
    if named.lower() != world.repository.lower():
        raise Refusal(404, "Not Found")


def _check_description(world: World, request: Request) -> None:
    try:
        problems = request_problems(request.operation, request.query, request.body)
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None
    for problem in problems:
        world.note(request, problem)
    if problems:
        raise Refusal(422, f"Invalid request.\n\n{'; '.join(problems[:5])}")
