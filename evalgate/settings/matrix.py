"""The matrix leg of a job: its matrix values, as a part of names and as text for people."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import msgspec

LONGEST_WORDS = 40
LONGEST_LABEL = 100
DIGEST_LENGTH = 8
UNSAFE = re.compile(r"[^A-Za-z0-9._]+")
"""Characters that a comment key or an artifact name may not hold; a double hyphen would end the comment's marker."""


class MatrixLeg(msgspec.Struct, frozen=True):
    """One leg of a matrix. Equal values give an equal `slug`, in any order; other values another one.

    `slug` has letters, digits and `.` `_` `-`, at most 49 characters; `label` is text for people, not escaped.
    """

    slug: str
    label: str


def parse_matrix(text: str) -> MatrixLeg | None:
    """Parses what `${{ toJSON(matrix) }}` gives; None for a job without a matrix. Raises ValueError."""
    try:
        values = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        values = text
    if values is None or values == {}:
        return None
    if not isinstance(values, dict):
        raise ValueError("must be a JSON object, as `${{ toJSON(matrix) }}` gives: leave it out")  # noqa: TRY004
    digest = hashlib.sha256(msgspec.json.encode(values, order="deterministic")).hexdigest()[:DIGEST_LENGTH]
    words = UNSAFE.sub("-", "-".join(_format_value(values[name]) for name in sorted(values)))
    slug = "-".join(filter(None, (words[:LONGEST_WORDS].strip("-"), digest)))
    label = ", ".join(f"{name}: {_format_value(value)}" for name, value in values.items())
    return MatrixLeg(slug, label if len(label) <= LONGEST_LABEL else f"{label[:LONGEST_LABEL]}...")


def _format_value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value, order="deterministic").decode()
