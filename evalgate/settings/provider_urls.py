"""The base URLs of the model providers that are recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from evalgate.application.recording.providers import PROVIDERS
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")


def choose_upstreams(named: Sequence[str], environ: Mapping[str, str]) -> dict[str, str]:
    """The base URL of each provider: of `NAME=URL`, else of the user's variable, else the provider's own."""
    urls = {
        provider.name: next((environ[name] for name in provider.url_variables if environ.get(name)), None)
        or provider.default_url
        for provider in PROVIDERS
    }
    for each in named:
        name, _, url = each.partition("=")
        if name not in urls or not url:
            hint = f"write NAME=URL; the names are {', '.join(urls)}"
            raise SettingError(Problem(f"--provider {each[:200]!r} is unknown", None, hint))
        urls[name] = url
    return {name: _add_version(name, require_plain_url(name, url)) for name, url in urls.items()}


def _add_version(name: str, url: str) -> str:
    """The URL; for Anthropic with the version, which its variable leaves out."""
    return url if name != "anthropic" or url.endswith("/v1") else f"{url}/v1"


def require_plain_url(name: str, url: str, *, allow_http: bool = False) -> str:
    """The URL without a slash at its end; raises SettingError unless it is https, or http on this machine."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        raise SettingError(f"the base URL of {name} is not a URL") from None
    if parts.scheme != "https" and not (parts.scheme == "http" and (allow_http or LOOPBACK.fullmatch(host))):
        hint = "write https://HOST/..., or http:// on this machine"
        raise SettingError(Problem(f"the base URL of {name} is not https", None, hint))
    if parts.username is not None or parts.query or parts.fragment or not host:
        raise SettingError(
            Problem(f"the base URL of {name} is more than a host and a path", None, "write https://HOST/PATH")
        )
    return url.rstrip("/")
