"""Connection settings for GitHub: servers and tokens."""

from __future__ import annotations

from urllib.parse import urlsplit

from msgspec import Struct, field

from evalgate.adapters.http import Network


class Site(Struct, frozen=True):
    """A repository on a GitHub server; its repr shows no tokens."""

    api_url: str
    server_url: str
    repository: str
    repository_id: int
    token: str = ""
    results_url: str = ""
    runtime_token: str = ""
    network: Network = field(default_factory=Network)

    def __repr__(self) -> str:  # without secrets
        return "Site(...)"


def origin(url: str) -> str:
    """Scheme, host and port of a URL, which decide who gets a token. Empty for an invalid URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}"
