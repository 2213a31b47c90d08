"""Parses the location of a store: a SQLite file or a PostgreSQL server, by path or URL."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import unquote

from evalgate.adapters.store.store_url_options import check_options, split_host
from evalgate.errors import Problem, SettingError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?!\\)")
# A stray `@` is part of a password without %40: the rest would count as host, and be shown.
_POSTGRES_URL = re.compile(
    r"postgresql://(?:(?P<user>[^@/]*)@)?(?P<host>[^/?#@]*)/(?P<name>[^/?#@]+)(?P<rest>\?[^#@]*)?"
)
_HINT = "write a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE"


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
    host, port = split_host(parts["host"])
    given = {"dbname": parts["name"], "host": host, "port": port, "user": user, "password": colon}
    if parts["rest"] is not None:
        check_options(parts["rest"][1:], {option for option, value in given.items() if value})


def _find_socket(options: str) -> str:
    found = re.search(r"[?&]host=([^&]*)", options)
    return unquote(found[1]) if found else "localhost"
