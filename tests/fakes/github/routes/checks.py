"""Check runs, with the limits that GitHub has for their texts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from fakes.github.clock import moment
from fakes.github.description import fill
from fakes.github.history import resolve
from fakes.github.messages import Answer, Refusal, in_json
from fakes.github.pages import page_of

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

MOST_BYTES = 65_535
LONGEST_TITLE = 255
MOST_MESSAGE_BYTES = 65_536
COPIED = ("name", "head_sha", "status", "conclusion", "external_id", "details_url", "started_at", "completed_at")


def describe(world: World, check: dict[str, Any]) -> dict[str, Any]:
    number, output = check["id"], check.get("output", {})
    url = world.url(f"/check-runs/{number}")
    texts = {name: output.get(name) for name in ("title", "summary", "text")}
    return fill(
        "check-run",
        **{name: check.get(name) for name in COPIED},
        id=number,
        url=url,
        html_url=world.page(f"/runs/{number}"),
        output={
            **texts,
            "annotations_count": len(check["annotations"]),
            "annotations_url": f"{url}/annotations",
        },
    )


def create(world: World, request: Request) -> Answer:
    check = {"id": 40_000_000_000 + next(world.numbers), "status": "queued", "annotations": []}
    _apply(check, request.document)
    world.state["check_runs"].append(check)
    return in_json(describe(world, check), 201)


def get(world: World, request: Request) -> Answer:
    return in_json(describe(world, _find(world, request)))


def _find(world: World, request: Request) -> dict[str, Any]:
    number = request.number("check_run_id")
    found = next((each for each in world.state["check_runs"] if each["id"] == number), None)
    if found is None:
        raise Refusal(404, "Not Found")
    return found


def update(world: World, request: Request) -> Answer:
    check = _find(world, request)
    _apply(check, request.document)
    return in_json(describe(world, check))


def list_of_commit(world: World, request: Request) -> Answer:
    """The newest first."""
    ref, name = request.values["ref"], request.query.get("check_name")
    sha = resolve(world.state, ref) or ref
    found = [
        check
        for check in reversed(world.state["check_runs"])
        if check["head_sha"] == sha and name in {None, check["name"]}
    ]
    return page_of(world, request, found, lambda check: describe(world, check), "check_runs")


def _apply(check: dict[str, Any], given: dict[str, Any]) -> None:
    """Nothing is changed by a request that is refused; annotations are added to those before."""
    output = given.get("output", {})
    _check_texts(output)
    for annotation in output.get("annotations", ()):
        _check_annotation(annotation)
    if given.get("status") == "completed" and not given.get("conclusion"):
        raise Refusal(422, "Invalid request.\n\nMissing conclusion for a completed check run.")
    check.update({name: given[name] for name in COPIED if name in given})
    if given.get("conclusion"):
        check["status"] = "completed"
        check.setdefault("completed_at", moment())
    check["annotations"] += output.get("annotations", [])
    texts = {name: value for name, value in output.items() if name != "annotations"}
    check["output"] = {**check.get("output", {}), **texts}


def _check_texts(output: dict[str, Any]) -> None:
    if any(ord(character) > 0xFFFF for character in json.dumps(output.get("annotations"), ensure_ascii=False)):
        error = {"resource": "CheckRun", "code": "invalid", "field": "annotations"}
        raise Refusal(422, "Validation Failed", error)
    for field in ("summary", "text"):
        if len((output.get(field) or "").encode()) > MOST_BYTES:
            message = f"{field} exceeds a maximum bytesize of {MOST_BYTES}"
            error = {"resource": "CheckRun", "code": "custom", "field": field, "message": message}
            raise Refusal(422, "Validation Failed", error)


def _check_annotation(annotation: dict[str, Any]) -> None:
    if len(annotation.get("title") or "") > LONGEST_TITLE:
        raise Refusal(422, "Invalid request.\n\ntitle is too long")
    if len(annotation["message"].encode()) > MOST_MESSAGE_BYTES:
        raise Refusal(422, "Invalid request.\n\nmessage exceeds 64 KB")
    if annotation.get("start_column") and annotation["start_line"] != annotation["end_line"]:
        raise Refusal(422, "Invalid request.\n\ncolumns need one line")
