"""Which variables of an environment hold secrets: those named so, and passwords within addresses.

Every run asks this, so nothing is compiled or loaded for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SHORTEST, LONG = 8, 16
"""Characters of a value that can be hidden, and of one that may be made of letters only."""
WORDS = frozenset(
    [
        *("PASS", "PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "CREDENTIAL"),
        *("KEY", "APIKEY", "ACCESSKEY", "AUTHKEY", "SECRETKEY", "PRIVATEKEY"),
        *("TOKEN", "APITOKEN", "ACCESSTOKEN", "AUTHTOKEN"),
    ]
)
INPUT = "INPUT_"
"""What the Action is given; which of that is secret the settings know: `comment-key` is no key."""
ROOTS = ("PASS", "SECRET", "CREDENTIAL", "KEY", "TOKEN")
PUBLIC = ("GITHUB_", "RUNNER_")
"""What the runner says of a job is no secret, unless its name reads like one."""
WITH_PASSWORD = "//[^:@/]*:([^@/]+)@"  # noqa: S105  (a pattern)


def secret_values(environ: Mapping[str, str]) -> list[str]:
    """The values to hide, without those that would tear ordinary text apart: words, figures, paths."""
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
    except (OSError, RuntimeError, ValueError):  # too long for a name, of no user: no path then
        return False
