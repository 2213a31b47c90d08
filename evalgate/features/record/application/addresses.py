"""The addresses of one recording's server: a random token for each trial, and one for the control endpoint."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from evalgate.features.record.application.agent_environ import Endpoints

if TYPE_CHECKING:
    from collections.abc import Sequence

HOST = "127.0.0.1"
TOKEN_BYTES = 16


class Addresses:
    """The addresses of a server that listens on a port of 127.0.0.1, and their tokens."""

    def __init__(self, port: int, providers: Sequence[str], *, has_otlp: bool) -> None:
        self._port, self._providers, self._has_otlp = port, tuple(providers), has_otlp
        self.control_token = secrets.token_hex(TOKEN_BYTES)
        self._tokens = [self.control_token]

    def make_token(self) -> str:
        """A token for one more trial."""
        self._tokens.append(secrets.token_hex(TOKEN_BYTES))
        return self._tokens[-1]

    def build_endpoints(self, token: str) -> Endpoints:
        """What the agent is given of the server for the trial of a token."""
        root = f"http://{HOST}:{self._port}"
        return Endpoints(f"{root}/t/{token}", f"{root}/c/{self.control_token}", self._providers, self._has_otlp)

    def remove_from(self, text: bytes) -> bytes:
        """The text without the tokens and the port, which are other ones in each run."""
        for token in self._tokens:
            text = text.replace(token.encode(), b"-")
        for host in (HOST, "localhost"):
            text = text.replace(f"{host}:{self._port}".encode(), f"{host}:0".encode())
        return text
