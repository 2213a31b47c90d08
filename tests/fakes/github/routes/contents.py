"""Files of a commit."""

from __future__ import annotations

import base64
from hashlib import sha1
from typing import TYPE_CHECKING

from fakes.github.description import fill
from fakes.github.history import resolve
from fakes.github.messages import Answer, Refusal, in_json

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

LARGEST = 1024**2
"""Larger files come without their content."""


def get(world: World, request: Request) -> Answer:
    ref, path = request.query.get("ref", world.state["repo"]["default_branch"]), request.values["path"]
    sha = resolve(world.state, ref)
    if sha is None:
        raise Refusal(404, f"No commit found for the ref {ref}")
    content = world.state["commits"][sha].get("files", {}).get(path)
    if content is None:
        raise Refusal(404, "Not Found")
    if "raw" in request.headers.get("Accept", ""):
        return Answer(200, content, {"Content-Type": "application/vnd.github.raw+json; charset=utf-8"})
    is_large = len(content) > LARGEST
    return in_json(
        fill(
            "content-file",
            type="file",
            encoding="none" if is_large else "base64",
            size=len(content),
            name=path.rpartition("/")[2],
            path=path,
            content="" if is_large else base64.encodebytes(content).decode(),
            sha=sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest(),
            url=world.url(f"/contents/{path}?ref={ref}"),
        )
    )
