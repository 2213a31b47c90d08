"""URLs that users name: a host and a path, without a password."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from evalgate.errors import Problem, SettingError

LOOPBACK = re.compile(r"localhost|127(?:\.\d{1,3}){3}|::1")


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
