"""Faults that tests plan: which request they are for, and what is answered instead."""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING, Any

from fakes.github.messages import JSON, Answer, Refusal, in_json

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes.github.messages import Request

ALWAYS = -1


class Reset(Exception):
    """The connection ends without a word."""


class PlannedFaults:
    """In their order: a request gets the first that is for it and has uses left."""

    def __init__(self) -> None:
        self._planned: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def add(self, fault: dict[str, Any], match: dict[str, str], times: int, skip: int) -> None:
        self._planned.append({"fault": fault, "match": match, "times": times, "skip": skip, "used": 0})

    def clear(self) -> None:
        self._planned.clear()

    @property
    def happened(self) -> bool:
        return any(each["used"] for each in self._planned)

    def take(self, request: Request) -> dict[str, Any]:
        """The fault of this request; empty without one."""
        with self._lock:
            for planned in self._planned:
                if not _is_for(planned["match"], request):
                    continue
                if planned["skip"]:
                    planned["skip"] -= 1
                elif planned["times"] == ALWAYS or planned["used"] < planned["times"]:
                    planned["used"] += 1
                    return planned["fault"]
        return {}


def _is_for(match: dict[str, str], request: Request) -> bool:
    """`path` and `body` are expressions to search for, the others are equal."""
    searched = {"path": request.path, "body": request.body.decode(errors="replace")}
    equal = {"op": request.operation, "method": request.method, "listener": request.listener}
    return all(
        bool(re.search(wanted, searched[name])) if name in searched else equal[name] == wanted
        for name, wanted in match.items()
    )


def answer_instead(fault: dict[str, Any]) -> Answer | None:
    """The answer of a fault that keeps the request from being handled; None if it is handled."""
    kind = fault.get("kind", "")
    if kind == "slow":
        time.sleep(fault["seconds"])
    if kind == "hang":
        time.sleep(fault["seconds"])
        raise Reset
    if kind == "reset":
        raise Reset
    return INSTEAD[kind](fault) if kind in INSTEAD else None


def _status(fault: dict[str, Any]) -> Answer:
    body = fault.get("body", {"message": "planned"})
    headers = {name: str(value) for name, value in fault.get("headers", {}).items()}
    if isinstance(body, str):
        return Answer(fault["status"], body.encode(), {"Content-Type": "text/html", **headers})
    return in_json(body, fault["status"], headers)


def _secondary_limit(fault: dict[str, Any]) -> Answer:
    headers = {"Retry-After": str(fault["retry_after"])} if "retry_after" in fault else {}
    message = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
    return in_json({"message": message}, 403, headers)


def _primary_limit(fault: dict[str, Any]) -> Answer:
    reset = str(int(time.time() + fault["reset_in"]))
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
    return in_json({"message": "API rate limit exceeded for installation."}, 403, headers)


def _redirect(fault: dict[str, Any]) -> Answer:
    return in_json({"message": "Moved"}, fault["status"], {"Location": fault["location"]})


PAGE = b"<!DOCTYPE html><title>Unicorn</title>"
INSTEAD: dict[str, Callable[[dict[str, Any]], Answer]] = {
    "status": _status,
    "secondary_rate_limit": _secondary_limit,
    "primary_rate_limit": _primary_limit,
    "redirect": _redirect,
    "bad_json": lambda _: Answer(200, PAGE, dict(JSON)),
    "html_502": lambda _: Answer(502, PAGE, {"Content-Type": "text/html"}),
    "not_found": lambda _: Refusal(404, "Not Found").answer,
    "forbidden": lambda _: Refusal(403, "Resource not accessible by integration").answer,
    "expired": lambda _: Refusal(410, "Artifact has expired").answer,
}


KINDS = frozenset({*INSTEAD, "slow", "hang", "reset", "commit_then_reset", "commit_then_status", "corrupt"}) | {
    "truncate",
    "drip",
    "reset_mid",
}
"""All that can be planned; the last ones happen while the answer is sent."""


def answer_afterwards(fault: dict[str, Any], answer: Answer) -> Answer:
    """What becomes of the answer to a request that was handled."""
    kind = fault.get("kind", "")
    if kind == "commit_then_reset":
        raise Reset
    if kind == "commit_then_status":
        return Answer(fault["status"], PAGE, {"Content-Type": "text/html"})
    if kind == "corrupt" and answer.body:
        place = fault.get("offset", len(answer.body) // 2) % len(answer.body)
        flipped = bytes([answer.body[place] ^ 0xFF])
        return Answer(answer.status, answer.body[:place] + flipped + answer.body[place + 1 :], answer.headers)
    return answer
