"""A request as the stand-in understands it, and its answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON = {"Content-Type": "application/json; charset=utf-8"}
DOCUMENTATION = "https://docs.github.com/rest"


@dataclass
class Request:
    """`values` are the parts of the path that an operation names, `account` the record of the token."""

    listener: str
    method: str
    path: str
    query: dict[str, str]
    headers: Mapping[str, str]
    body: bytes
    operation: str = ""
    values: dict[str, str] = field(default_factory=dict)
    document: Any = None
    account: dict[str, Any] = field(default_factory=dict)

    @property
    def token(self) -> str:
        return self.headers.get("Authorization", "").partition(" ")[2]

    def number(self, name: str) -> int:
        """A number in the path."""
        text = self.values[name]
        if not text.isascii() or not text.isdigit():
            raise Refusal(404, "Not Found")
        return int(text)


@dataclass
class Answer:
    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def document(self) -> Any:
        return json.loads(self.body)


class Refusal(Exception):
    """An answer that ends a request early."""

    def __init__(self, status: int, message: str, *errors: dict[str, str], headers: dict[str, str] | None = None):
        super().__init__(message)
        document = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
        self.answer = in_json({**document, **({"errors": errors} if errors else {})}, status, headers)


def in_json(document: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    return Answer(status, json.dumps(document).encode(), {**JSON, **(headers or {})})
