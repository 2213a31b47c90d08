"""Checks the port and the options of a server's URL: what no server can understand is wrong input.

Messages quote only names of options that libpq has: anything else may be a part of a password.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_TEXT = re.compile(r"[^\0\ufffd]+")
_WHOLE = re.compile(r"[0-9]{1,9}")
_HINT = "after the `?` options of libpq are written, such as sslmode=require"
_MAX_PORT = 65_535
_PROTOCOLS = ("TLSv1", "TLSv1.1", "TLSv1.2", "TLSv1.3")
_WORDS = {
    "sslmode": ("disable", "allow", "prefer", "require", "verify-ca", "verify-full"),
    "sslnegotiation": ("postgres", "direct"),
    "sslcertmode": ("disable", "allow", "require"),
    "ssl_min_protocol_version": _PROTOCOLS,
    "ssl_max_protocol_version": _PROTOCOLS,
    "gssencmode": ("disable", "prefer", "require"),
    "channel_binding": ("disable", "prefer", "require"),
    "target_session_attrs": ("any", "read-write", "read-only", "primary", "standby", "prefer-standby"),
    "load_balance_hosts": ("disable", "random"),
    "replication": ("false", "off", "no", "0"),
    **dict.fromkeys(("keepalives", "sslcompression", "sslsni", "gssdelegation", "requiressl"), ("0", "1")),
}
_NUMBERS = ("connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout")
_TEXTS = (
    *("host", "hostaddr", "dbname", "user", "password", "passfile", "require_auth", "client_encoding", "options"),
    *("application_name", "fallback_application_name", "sslcert", "sslkey", "sslkeylogfile"),
    *("sslpassword", "sslrootcert", "sslcrl", "sslcrldir", "requirepeer", "min_protocol_version"),
    *("max_protocol_version", "krbsrvname", "gsslib", "scram_client_key", "scram_server_key", "service"),
    *("oauth_issuer", "oauth_client_id", "oauth_client_secret", "oauth_scope"),
)
OPTIONS = frozenset({"port", *_WORDS, *_NUMBERS, *_TEXTS})


def split_host(host: str) -> tuple[str, str | None]:
    """Name and port of a server, None without a port. Raises SettingError for a port that no server has."""
    name, colon, port = host.rpartition(":")
    if not colon or port.endswith("]"):  # an IPv6 address without a port
        return host, None
    if not _is_port(port):
        raise SettingError(f"the port must be a number from 1 to {_MAX_PORT} in the store's URL")
    return name, port


def check_options(text: str, in_url: AbstractSet[str]) -> None:
    """Raises SettingError for an option that can't be meant; `in_url` are those that the URL has outside of them."""
    seen: set[str] = set()
    for each in text.split("&"):
        name, _, value = each.partition("=")
        if name not in OPTIONS:
            raise _unknown_option_error(name)
        reason = _find_reason(name, unquote(value.replace("+", " ")))
        if reason is None and name in seen:
            reason = "is given twice"
        elif reason is None and name in in_url:
            reason = "is part of the URL already"
        if reason is not None:
            raise SettingError(f"option `{name}` {reason} in the store's URL")
        seen.add(name)


def _find_reason(name: str, value: str) -> str | None:
    """Why an option can't have a value; None if it can."""
    words = _WORDS.get(name, (value,))
    if not value:
        return "has no value"
    if not _TEXT.fullmatch(value):
        return "is not UTF-8 text without NUL"
    if name == "port" and not _is_port(value):
        return f"must be a number from 1 to {_MAX_PORT}"
    if name in _NUMBERS and not _WHOLE.fullmatch(value):
        return "must be a whole number"
    return None if value in words else f"must be {', '.join(words[:-1])} or {words[-1]}"


def _is_port(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and 0 < int(text) <= _MAX_PORT


def _unknown_option_error(name: str) -> SettingError:
    from evalgate.evaluators.core.field_problems import suggest

    hint = (name and suggest(name, OPTIONS)) or _HINT
    return SettingError(Problem("an option of the store's URL is no option of PostgreSQL", None, hint))
