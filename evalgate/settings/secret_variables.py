"""Finds secrets in environment variables: by the variable's name, and as passwords in URLs.

Every run needs this, so no pattern is compiled and no slow module imported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHORTEST, LONG = 8, 16
"""Minimum characters of a value to redact, and of a value made of letters only."""
WORDS = frozenset(
    [
        *("PASS", "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL"),
        *("KEY", "APIKEY", "ACCESSKEY", "AUTHKEY", "SECRETKEY", "PRIVATEKEY"),
        *("TOKEN", "APITOKEN", "ACCESSTOKEN", "AUTHTOKEN"),
    ]
)
INPUT = "INPUT_"
"""Prefix of the Action's inputs. The settings know which are secret: `comment-key` is not."""
ROOTS = ("PASS", "SECRET", "CREDENTIAL", "KEY", "TOKEN")
PUBLIC = ("GITHUB_", "RUNNER_")
"""Prefixes of the runner's variables, which are not secret unless their name is that of a secret."""
WITH_PASSWORD = "//[^:@/]*:([^@/]+)@"  # noqa: S105  (a pattern)


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """The values to redact, except words, numbers and existing paths, which also occur in ordinary text."""
    names = "\n".join(environ).upper()
    may_be_named = any(root in names for root in ROOTS)
    named = [value for name, value in environ.items() if _reads_secret(name)] if may_be_named else []
    inside = [
        found for value in environ.values() if "://" in value and "@" in value for found in _passwords(value)
    ]
    if not named and not inside:
        return []
    public = {value for name, value in environ.items() if name.startswith(PUBLIC) and not _reads_secret(name)}
    hidden = dict.fromkeys([*named, *inside])
    return [value for value in hidden if value not in public and _can_be_hidden(value)]


def _reads_secret(name: str) -> bool:
    name = name.upper()
    if name.startswith(INPUT) or not any(root in name for root in ROOTS):
        return False
    parts = name.replace("-", "_").replace(".", "_").split("_")
    return any(part in WORDS or part.removesuffix("S") in WORDS for part in parts)


def _passwords(address: str) -> Iterator[str]:
    return (found[1] for found in re.finditer(WITH_PASSWORD, address))


def _can_be_hidden(value: str) -> bool:
    if len(value) < SHORTEST or not any(map(str.isalpha, value)):
        return False
    if value.isalpha() and len(value) < LONG:
        return False
    return not (value.startswith(("/", "~", "./")) and _is_there(value))


def _is_there(value: str) -> bool:
    from pathlib import Path

    try:
        return Path(value).expanduser().exists()
    except (OSError, RuntimeError, ValueError):  # too long, or of an unknown user: no path
        return False
