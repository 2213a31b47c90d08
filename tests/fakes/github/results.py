"""The service that takes artifacts of a job (version 4 of them): create, put the bytes into storage, finalize."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from fakes.github.clock import moment
from fakes.github.messages import Answer, in_json
from fakes.github.start import BACKENDS
from fakes.github.storage import signed_url
from fakes.github.world import DAY

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

SERVICE = "/twirp/github.actions.results.api.v1.ArtifactService/"
BACKEND_FIELDS = ("workflow_run_backend_id", "workflow_job_run_backend_id")
FORBIDDEN = re.compile(r'["<>|*?:\r\n\\/]')
OLDEST_VERSION = 4


def name_operation(_: World, request: Request) -> None:
    request.operation = f"results/{request.path.removeprefix(SERVICE)}"


def handle(world: World, request: Request) -> Answer:
    if request.token != world.state["runtime"]["token"]:
        if request.token in world.state["tokens"]:
            world.note(request, "a token of the API was sent to the service for artifacts")
        return _refuse(401, "unauthenticated", "invalid auth token")
    if request.headers.get("Content-Type", "").partition(";")[0] != "application/json":
        world.note(request, "the body is not declared as JSON")
        return _refuse(415, "bad_route", "unexpected Content-Type")
    try:
        asked = {_snake(name): value for name, value in json.loads(request.body).items()}
    except ValueError:
        return _refuse(400, "malformed", "the json request could not be decoded")
    if tuple(asked.get(name) for name in BACKEND_FIELDS) != BACKENDS:
        world.note(request, "the ids are not those of the token's scope")
        return _refuse(403, "permission_denied", "token does not grant access to this workflow run")
    return _answer(world, request, asked)


def _answer(world: World, request: Request, asked: dict[str, Any]) -> Answer:
    steps = {
        "CreateArtifact": _create,
        "FinalizeArtifact": _finalize,
        "ListArtifacts": _list,
        "DeleteArtifact": _delete,
    }
    step = steps.get(request.operation.removeprefix("results/"))
    if request.method != "POST" or step is None:
        world.note(request, "no such operation")
        return _refuse(404, "bad_route", f"no handler for path {request.path}")
    if step is not _list and (not asked.get("name") or FORBIDDEN.search(asked["name"])):
        return _refuse(400, "invalid_argument", "the artifact name is not valid")
    return step(world, request, asked)


def _of_job(world: World) -> list[dict[str, Any]]:
    run = world.state["runtime"]["run_id"]
    return [each for each in world.state["artifacts"] if each["run_id"] == run]


def _list(world: World, _: Request, asked: dict[str, Any]) -> Answer:
    """Those of this run; `name_filter` leaves one name."""
    ids = dict(zip(BACKEND_FIELDS, BACKENDS, strict=True))
    listed = [
        {
            **ids,
            "database_id": str(each["id"]),
            "name": each["name"],
            "size": str(each["size"]),
            "created_at": each["created_at"],
            "digest": each["digest"],
        }
        for each in _of_job(world)
        if asked.get("name_filter", each["name"]) == each["name"]
    ]
    return _spell(world, {"artifacts": listed})


def _delete(world: World, _: Request, asked: dict[str, Any]) -> Answer:
    found = [each for each in _of_job(world) if each["name"] == asked["name"]]
    if not found:
        return _refuse(404, "not_found", "artifact not found")
    world.state["artifacts"].remove(found[0])
    return _spell(world, {"ok": True, "artifact_id": str(found[0]["id"])})


def _create(world: World, request: Request, asked: dict[str, Any]) -> Answer:
    if asked.get("version", 0) < OLDEST_VERSION:
        world.note(request, "an artifact of an old version")
        return _refuse(400, "invalid_argument", "version must be 4 or greater")
    if any(each["name"] == asked["name"] for each in _of_job(world)):
        return _refuse(409, "already_exists", "an artifact with this name already exists on the workflow run")
    number = str(len(world.uploads))
    world.uploads[number] = {"name": asked["name"], "blocks": {}, "content": None, "asked": asked}
    return _spell(world, {"ok": True, "signed_upload_url": signed_url(world, "PUT", f"/uploads/{number}")})


def _finalize(world: World, request: Request, asked: dict[str, Any]) -> Answer:
    named = [each for each in world.uploads.values() if each["name"] == asked["name"]]
    if not named or named[-1]["content"] is None:
        return _refuse(404, "not_found", "the blob has not been committed")
    content = named[-1]["content"]
    name = world.keep(content)
    if (int(asked["size"]), asked.get("hash", f"sha256:{name}")) != (len(content), f"sha256:{name}"):
        world.note(request, "size or hash is not that of the bytes in storage")
    artifact = {
        "id": next(world.numbers),
        "name": asked["name"],
        "run_id": world.state["runtime"]["run_id"],
        "expired": False,
        "created_at": moment(),
        "expires_at": named[-1]["asked"].get("expires_at") or moment(90 * DAY),
        "sha256": name,
        "size": len(content),
        "digest": asked.get("hash"),
    }
    world.state["artifacts"].append(artifact)
    return _spell(world, {"ok": True, "artifact_id": str(artifact["id"])})


def _refuse(status: int, code: str, message: str) -> Answer:
    return in_json({"code": code, "msg": message}, status)


def _spell(world: World, document: dict[str, Any]) -> Answer:
    """Services that others run spell fields as protobuf's JSON does: `artifactId`."""
    if world.spelling == "proto":
        return in_json(document)
    return in_json(_camel(document))


def _camel(node: Any) -> Any:
    if isinstance(node, list):
        return [_camel(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {re.sub(r"_(\w)", lambda each: each[1].upper(), name): _camel(value) for name, value in node.items()}


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
