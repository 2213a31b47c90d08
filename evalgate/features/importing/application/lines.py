"""Lines of an imported suite, and what the tools have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.features.importing.models import CannotCarry, ImportedLine

if TYPE_CHECKING:
    from collections.abc import Callable

    from evalgate.features.importing.application.places import OriginPart
    from evalgate.features.importing.models import CarriedCheck

MODEL = "a model judges it; record its grade with the trace, and `--scores` writes a `recorded_score` for it"
CODE = "it is a program, which is never executed here"
MAX_NAME = 120
"""Characters of the name of a grade."""


def build_line(part: OriginPart, kind: str, carry: Callable[[], CarriedCheck], *, is_required: bool) -> ImportedLine:
    """The line of a part: the assertion that `carry` returns, or why it is none."""
    line = ImportedLine(part.place, kind[:60])
    try:
        entry, line.reason = carry()
    except CannotCarry as error:
        line.refuse(str(error))
        line.offer = None if error.offer is None else {**error.offer, **({"required": True} if is_required else {})}
    else:
        line.entry = {**entry, "required": True} if is_required else entry
    return line


def build_grade(name: Any, least: Any = None) -> dict[str, Any] | None:
    """The assertion on a recorded grade; None without a name that a grade can have."""
    if not isinstance(name, str) or not name.strip():
        return None
    bounds = {} if isinstance(least, bool) or not isinstance(least, int | float) else {"min": least}
    return {"type": "recorded_score", "name": " ".join(name.split())[:MAX_NAME], **bounds}


def require_text(config: dict[str, Any], key: str) -> str:
    """The text of a key that is not empty."""
    value = config.get(key)
    if not isinstance(value, str) or not value:
        raise CannotCarry(f"it has no `{key}`")
    return value


def join_all(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """One assertion that demands all of these."""
    return entries[0] if len(entries) == 1 else {"all_of": entries}
