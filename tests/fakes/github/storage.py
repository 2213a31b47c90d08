"""Storage with signed addresses, the part of Azure's that artifacts need: blocks, their list, and reading."""

from __future__ import annotations

import base64
import hmac
import re
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from fakes.github.messages import Answer

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

KEY = b"of the stand-in"
SECONDS = 600


def signed_url(world: World, method: str, path: str) -> str:
    """An address that allows this method for ten minutes."""
    until = str(int(time.time()) + SECONDS)
    query = urlencode({"sv": "2025-11-05", "until": until, "sig": _sign(method, path, until)})
    return f"{world.addresses.storage}{path}?{query}"


def _sign(method: str, path: str, until: str) -> str:
    return hmac.digest(KEY, f"{method} {path} {until}".encode(), "sha256").hex()


def name_operation(_: World, request: Request) -> None:
    part = f"?comp={request.query['comp']}" if "comp" in request.query else ""
    request.operation = f"blob/{request.method}{part}"


def handle(world: World, request: Request) -> Answer:
    if request.headers.get("Authorization"):
        world.note(request, "a token was sent to storage")
        return _refuse(400, "InvalidAuthenticationInfo")
    until = request.query.get("until", "0")
    signature = _sign(request.method, request.path, until)
    if int(until) < time.time() or not hmac.compare_digest(signature, request.query.get("sig", "")):
        return _refuse(403, "AuthenticationFailed")
    number = request.path.rpartition("/")[2]
    if request.method == "GET":
        content = world.blobs.get(number)
        return _refuse(404, "BlobNotFound") if content is None else Answer(200, content, {"Content-Type": "zip"})
    return _put(world, request, number)


def _put(world: World, request: Request, number: str) -> Answer:
    if "chunked" in request.headers.get("Transfer-Encoding", "") or "Content-Length" not in request.headers:
        world.note(request, "storage needs the length of the content")
        return _refuse(411, "MissingContentLengthHeader")
    parts = {"block": _put_block, "blocklist": _put_list}
    part = parts.get(request.query.get("comp", ""))
    if part is None or number not in world.uploads:
        world.note(request, "not an upload in blocks")
        return _refuse(400, "InvalidQueryParameterValue")
    return part(world.uploads[number], request)


def _put_block(upload: dict, request: Request) -> Answer:
    """Ids of blocks are in base64, all of the same length."""
    name = request.query.get("blockid", "")
    try:
        base64.b64decode(name, validate=True)
    except ValueError:
        return _refuse(400, "InvalidQueryParameterValue")
    if not name or {len(name)} != {len(each) for each in (name, *upload["blocks"])}:
        return _refuse(400, "InvalidBlobOrBlock")
    upload["blocks"][name] = request.body
    return Answer(201)


def _put_list(upload: dict, request: Request) -> Answer:
    names = re.findall(r"<(?:Latest|Uncommitted)>([^<]+)</", request.body.decode())
    if any(name not in upload["blocks"] for name in names):
        return _refuse(400, "InvalidBlockList")
    upload["content"] = b"".join(upload["blocks"][name] for name in names)
    return Answer(201)


def _refuse(status: int, code: str) -> Answer:
    headers = {"Content-Type": "application/xml", "x-ms-error-code": code}
    return Answer(status, f"<?xml version='1.0'?><Error><Code>{code}</Code></Error>".encode(), headers)
