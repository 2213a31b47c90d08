"""Finds secrets in environment variables: by the variable's name, and as passwords in URLs.

Every run needs this, so no pattern is compiled and no slow module imported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MIN_LENGTH, MIN_LETTERS_LENGTH = 8, 16
"""Minimum characters of a value to redact, and of a value made of letters only."""
SECRET_WORDS = frozenset(
    [
        *("PASS", "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL"),
        *("KEY", "APIKEY", "ACCESSKEY", "AUTHKEY", "SECRETKEY", "PRIVATEKEY"),
        *("TOKEN", "APITOKEN", "ACCESSTOKEN", "AUTHTOKEN"),
    ]
)
INPUT_PREFIX = "INPUT_"
"""Prefix of the Action's inputs. The settings know which are secret: `comment-key` is not."""
SECRET_ROOTS = ("PASS", "SECRET", "CREDENTIAL", "KEY", "TOKEN")
PUBLIC = ("GITHUB_", "RUNNER_")
"""Prefixes of the runner's variables, which are not secret unless their name is that of a secret."""
HEADERS = "_HEADERS"
"""End of the name of a variable that lists headers, as of OpenTelemetry and Phoenix, in the form `NAME=VALUE,...`."""
WITH_PASSWORD = "//[^:@/]*:([^@/]+)@"  # noqa: S105  (a pattern)


def find_secret_values(environ: Mapping[str, str]) -> list[str]:
    """The values to redact, except words, numbers and existing paths, which also occur in ordinary text."""
    names = "\n".join(environ).upper()
    may_be_named = any(root in names for root in SECRET_ROOTS)
    named = [value for name, value in environ.items() if is_secret_name(name)] if may_be_named else []
    passwords = [found for value in environ.values() if "://" in value and "@" in value for found in _passwords(value)]
    headers = [found for name in environ if name.upper().endswith(HEADERS) for found in _header_values(environ[name])]
    if not named and not passwords and not headers:
        return []
    public = {value for name, value in environ.items() if name.startswith(PUBLIC) and not is_secret_name(name)}
    hidden = dict.fromkeys([*named, *passwords, *headers])
    return [value for value in hidden if value not in public and _can_be_hidden(value)]


def is_secret_name(name: str) -> bool:
    """Whether the name of a variable says that its value is a secret."""
    name = name.upper()
    if name.startswith(INPUT_PREFIX) or not any(root in name for root in SECRET_ROOTS):
        return False
    parts = name.replace("-", "_").replace(".", "_").split("_")
    return any(part in SECRET_WORDS or part.removesuffix("S") in SECRET_WORDS for part in parts)


def read_headers(text: str) -> dict[str, str]:
    """The headers of such a variable by name; their values are percent-encoded.

    >>> read_headers("api-key=a%20b, x=y=z,")
    {'api-key': 'a b', 'x': 'y=z'}
    """
    from urllib.parse import unquote

    pairs = [part.partition("=") for part in text.split(",") if "=" in part]
    return {unquote(name).strip(): unquote(value).strip() for name, _, value in pairs}


def _header_values(text: str) -> Iterator[str]:
    """The values of headers; of `Bearer KEY` the key."""
    return (value.rpartition(" ")[2] for value in read_headers(text).values())


def _passwords(address: str) -> Iterator[str]:
    return (found[1] for found in re.finditer(WITH_PASSWORD, address))


def _can_be_hidden(value: str) -> bool:
    if len(value) < MIN_LENGTH or not any(map(str.isalpha, value)):
        return False
    if value.isalpha() and len(value) < MIN_LETTERS_LENGTH:
        return False
    return not (value.startswith(("/", "~", "./")) and _is_existing_path(value))


def _is_existing_path(value: str) -> bool:
    from pathlib import Path

    try:
        return Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # too long, or of an unknown user: no path
        return False
