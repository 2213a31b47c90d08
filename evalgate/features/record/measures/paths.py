"""Names of files for ids of suites, scenarios and variants, which may hold any character."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalgate.features.record.models.exchange import TrialId

_KEPT = re.compile(rb"[A-Za-z0-9._-]")
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?", re.IGNORECASE)
MAX_PART = 100
"""Bytes of a part of a path; a longer one keeps 80, and a digest of the whole."""
KEPT_PART, DIGEST = 80, 12
UNATTRIBUTED = "unattributed"


def encode_part(name: str) -> str:
    """One part of a path: percent-encoded, except for letters, digits, `.`, `_` and `-`; no dots only, no device.

    >>> encode_part("a/b"), encode_part(".."), encode_part("CON")
    ('a%2Fb', '%2E%2E', '%43ON')
    """
    raw = name.encode("utf-8", "surrogatepass")
    encoded = percent_encode(name)
    if not encoded.strip("."):
        encoded = encoded.replace(".", "%2E")
    elif _DEVICES.fullmatch(encoded):
        encoded = _encode_byte(ord(encoded[0])) + encoded[1:]
    if len(encoded) > MAX_PART:
        return f"{encoded[:KEPT_PART]}-{hashlib.sha256(raw).hexdigest()[:DIGEST]}"
    return encoded


def percent_encode(text: str) -> str:
    """The text with every byte percent-encoded that is no letter, digit, `.`, `_` or `-`."""
    raw = text.encode("utf-8", "surrogatepass")
    return "".join(chr(byte) if _KEPT.match(bytes([byte])) else _encode_byte(byte) for byte in raw)


def _encode_byte(byte: int) -> str:
    return f"%{byte:02X}"


def build_trial_path(trial: TrialId) -> str:
    """`[<suite>/]<scenario>[@<variant>]/<trial>`, without a suffix."""
    scenario = encode_part(trial.scenario or UNATTRIBUTED)
    variant = f"@{encode_part(trial.variant)}" if trial.variant is not None else ""
    suite = [encode_part(trial.suite)] if trial.suite is not None else []
    return "/".join([*suite, f"{scenario}{variant}", str(trial.trial)])


def strip_version(path: str) -> str:
    """A path without `/v1`: some SDKs have it in their base URL, others in the path.

    >>> strip_version("/v1/messages")
    '/messages'
    """
    return path.removeprefix("/v1") if path.startswith("/v1/") else path
