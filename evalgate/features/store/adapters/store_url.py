"""Parses the location of a store: a SQLite file or a PostgreSQL server, by path or URL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote

from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!\\)")
# A stray `@` is part of a password without %40: the rest would count as host, and be shown.
_POSTGRES_URL = re.compile(
    r"postgresql://(?:(?P<user>[^@/]*)@)?(?P<host>[^/?#@]*)/(?P<name>[^/?#@]+)(?P<rest>\?[^#@]*)?"
)
_HINT = "write a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"
_TEXT = re.compile(r"[^\0\ufffd]+")
_WHOLE = re.compile(r"[0-9]{1,9}")
_OPTION_HINT = "after the `?` options of libpq are written, such as sslmode=require"
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


class StoreUrl(NamedTuple):
    """The location of a store. `target` is a file's path or a whole URL, which may hold a password.

    `shown` is for messages: no user, no password, no options.
    """

    kind: Literal["sqlite", "postgresql"]
    target: str
    shown: str

    def __repr__(self) -> str:
        return f"StoreUrl({self.shown!r})"


def parse_store_url(text: str, cwd: str) -> StoreUrl:
    """Parses a URL, or a path relative to `cwd`; raises SettingError.

    No message quotes `text`: in a malformed URL, a password may be anywhere.
    """
    scheme = _SCHEME.match(text)
    if not text.strip():
        raise SettingError(Problem("the store's path or URL is empty", None, _HINT))
    if scheme is None:
        return _store_url_from_path(text, cwd)
    word = scheme[1].lower()
    if word == "sqlite":
        return _store_url_from_path(_parse_sqlite_path(text[scheme.end() :]), cwd)
    if word == "postgresql":
        return _store_url_from_server(text[scheme.end() :])
    if word == "postgres":
        raise SettingError(Problem("a store's URL must begin with postgresql:, not with postgres:", None, _HINT))
    raise SettingError(Problem("the store's URL must begin with sqlite: or postgresql:", None, _HINT))


def _parse_sqlite_path(rest: str) -> str:
    """The path in `sqlite:///folder/file`; an absolute path has four slashes."""
    path = rest.removeprefix("///") if rest.startswith("///") else rest
    if not path or (path.startswith("//") and not rest.startswith("///")):
        raise SettingError(Problem("the store's URL names no file", None, _HINT))
    if "?" in path or "#" in path:
        raise SettingError(Problem("the URL of a SQLite file can't have options", None, _HINT))
    return unquote(path)


def _store_url_from_path(path: str, cwd: str) -> StoreUrl:
    if "\0" in path or not Path(path).name:
        raise SettingError(Problem("the store's path or URL is empty", None, _HINT))
    if path == ":memory:":
        raise SettingError(Problem("a store in memory would be lost at once", None, _HINT))
    return StoreUrl("sqlite", str(Path(cwd) / path), path)


def _store_url_from_server(rest: str) -> StoreUrl:
    url = f"postgresql:{rest}"
    parts = _POSTGRES_URL.fullmatch(url)
    if parts is None:
        hint = f"{_HINT}, with `@`, `/`, `?` and `#` of a password as %40, %2F, %3F and %23"
        raise SettingError(Problem("the store's URL is not a valid PostgreSQL URL", None, hint))
    _check_server(parts)
    host = parts["host"] or _find_socket(parts["rest"] or "")
    return StoreUrl("postgresql", url, f"postgresql://{host}/{parts['name']}")


def _check_server(parts: re.Match[str]) -> None:
    """Raises SettingError for a port or an option that no server understands."""
    user, colon, _ = (parts["user"] or "").partition(":")
    host, port = _split_host(parts["host"])
    given = {"dbname": parts["name"], "host": host, "port": port, "user": user, "password": colon}
    if parts["rest"] is not None:
        _check_options(parts["rest"][1:], {option for option, value in given.items() if value})


def _find_socket(options: str) -> str:
    found = re.search(r"[?&]host=([^&]*)", options)
    return unquote(found[1]) if found else "localhost"


def _split_host(host: str) -> tuple[str, str | None]:
    """Name and port of a server, None without a port. Raises SettingError for a port that no server has."""
    name, colon, port = host.rpartition(":")
    if not colon or port.endswith("]"):  # an IPv6 address without a port
        return host, None
    if not _is_port(port):
        raise SettingError(f"the port must be a number from 1 to {_MAX_PORT} in the store's URL")
    return name, port


def _check_options(text: str, in_url: AbstractSet[str]) -> None:
    """Raises SettingError for an option that can't be meant; `in_url` are those that the URL has outside of them.

    It quotes only names that libpq has: anything else may be a part of a password.
    """
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
    if name == "port" and not all(map(_is_port, value.split(","))):  # one for each of several hosts
        return f"must be a number from 1 to {_MAX_PORT}"
    if name in _NUMBERS and not _WHOLE.fullmatch(value):
        return "must be a whole number"
    return None if value in words else f"must be {', '.join(words[:-1])} or {words[-1]}"


def _is_port(text: str) -> bool:
    return _WHOLE.fullmatch(text) is not None and 0 < int(text) <= _MAX_PORT


def _unknown_option_error(name: str) -> SettingError:
    from evalgate.evaluators.core.field_problems import suggest

    hint = (name and suggest(name, OPTIONS)) or _OPTION_HINT
    return SettingError(Problem("an option of the store's URL is no option of PostgreSQL", None, hint))
