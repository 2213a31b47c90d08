"""Artifacts of runs: lists, and the way to their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakes.github.description import fill
from fakes.github.messages import Answer, Refusal
from fakes.github.pages import page_of
from fakes.github.storage import signed_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fakes.github.messages import Request
    from fakes.github.world import World


def describe(world: World, artifact: dict[str, Any]) -> dict[str, Any]:
    """Enterprise Server knows no digests."""
    run, url = world.find_run(artifact["run_id"]) or {}, world.url(f"/actions/artifacts/{artifact['id']}")
    of_run = {name: run.get(name) for name in ("id", "head_repository_id", "head_branch", "head_sha") if run.get(name)}
    return fill(
        "artifact",
        id=artifact["id"],
        name=artifact["name"],
        size_in_bytes=artifact["size"],
        url=url,
        archive_download_url=f"{url}/zip",
        expired=artifact["expired"],
        created_at=artifact["created_at"],
        updated_at=artifact["created_at"],
        expires_at=artifact["expires_at"],
        workflow_run={"repository_id": world.state["repo"]["id"], **of_run},
        **({} if world.is_enterprise else {"digest": artifact.get("digest")}),
    )


def list_all(world: World, request: Request) -> Answer:
    return _list(world, request, world.state["artifacts"])


def list_of_run(world: World, request: Request) -> Answer:
    number = request.number("run_id")
    if world.find_run(number) is None:
        raise Refusal(404, "Not Found")
    return _list(world, request, [each for each in world.state["artifacts"] if each["run_id"] == number])


def _list(world: World, request: Request, artifacts: Sequence[dict[str, Any]]) -> Answer:
    """The newest first."""
    named = [each for each in artifacts if request.query.get("name", each["name"]) == each["name"]]
    newest_first = sorted(named, key=lambda each: each["id"], reverse=True)
    return page_of(world, request, newest_first, lambda each: describe(world, each), "artifacts")


def download(world: World, request: Request) -> Answer:
    """Sends on to storage, which must not see the token."""
    number = request.number("artifact_id")
    found = next((each for each in world.state["artifacts"] if each["id"] == number), None)
    if found is None or request.values["archive_format"] != "zip":
        raise Refusal(404, "Not Found")
    if found["expired"]:
        raise Refusal(410, "Artifact has expired")
    return Answer(302, b"", {"Location": signed_url(world, "GET", f"/artifacts/{found['sha256']}")})
