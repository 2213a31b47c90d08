"""Parses `redact` of a project: what is redacted in addition to the secrets known everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from evalgate.declarations import Closed, Field, refusal
from evalgate.evaluators.core.field_problems import FieldProblem, flaws_of
from evalgate.measures.redaction.project_secrets import (
    SLOW_SECONDS,
    HiddenText,
    ProjectSecrets,
    hides_too_much,
)
from evalgate.measures.text.patterns import MAX_LENGTH, Pattern, PatternError, PatternFailedError
from evalgate.models.results.field_names import own_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.field_problems import Path
    from evalgate.suite.diagnostics import Diagnostics, Document

REDACT = "redact"
MAX_PATTERNS, MAX_FIELDS = 50, 200
HINT = "hide what you mean by a narrower pattern"


class RedactPattern(Closed):
    """One pattern; what it matches is replaced by `[redacted: <name>]`."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9 _-]{0,38}[A-Za-z0-9])?$")]
    regex: Annotated[str, Field(min_length=1, max_length=MAX_LENGTH)]


FieldName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S(?:.*\S)?$")]


class RedactEntry(Closed):
    """Texts that the patterns match, and values under the names in `fields`, are redacted everywhere."""

    patterns: Annotated[list[RedactPattern], Field(max_length=MAX_PATTERNS)] = Field(default_factory=list)
    fields: Annotated[list[FieldName], Field(max_length=MAX_FIELDS)] = Field(default_factory=list)


def own_secrets(document: Document, mistakes: Diagnostics) -> ProjectSecrets | None:
    """What a project file asks to be redacted; None if it has mistakes, which are added."""
    flaws: list[FieldProblem] = []
    found = _read(document.value[REDACT], flaws)
    for flaw in flaws:
        mistakes.add(document, flaw._replace(path=(REDACT, *flaw.path)))
    return None if flaws else found


def _read(raw: Any, flaws: list[FieldProblem]) -> ProjectSecrets | None:
    try:
        entry = RedactEntry.model_validate(raw)
    except refusal() as error:
        flaws += flaws_of(error, RedactEntry)
        return None
    if not entry.patterns and not entry.fields:
        flaws.append(FieldProblem((), "`redact` is empty", "it has `patterns`, `fields` or both"))
    flaws += _flawed_fields(entry.fields)
    return ProjectSecrets([*_texts(entry.patterns, flaws)], entry.fields)


def _texts(patterns: Sequence[RedactPattern], flaws: list[FieldProblem]) -> Iterator[HiddenText]:
    names: set[str] = set()
    for index, each in enumerate(patterns):
        if each.name in names:
            flaws.append(FieldProblem(("patterns", index, "name"), f"`{each.name}` stands twice in `redact`"))
        names.add(each.name)
        compiled = _compiled(each.regex, ("patterns", index, "regex"), flaws)
        if compiled is not None:
            yield HiddenText(each.name, compiled)


def _compiled(source: str, path: Path, flaws: list[FieldProblem]) -> Pattern | None:
    try:
        pattern = Pattern(source, SLOW_SECONDS)
        why = hides_too_much(pattern)
    except PatternError as error:
        place = f" (character {error.position})" if error.position else ""
        flaws.append(FieldProblem(path, f"{error}{place}"))
    except PatternFailedError as error:
        flaws.append(FieldProblem(path, str(error), HINT))
    else:
        if why is None:
            return pattern
        flaws.append(FieldProblem(path, f"this pattern would hide everything: {why}", HINT))
    return None


def _flawed_fields(fields: Sequence[str]) -> Iterator[FieldProblem]:
    """Refuses names of fields that traces and reports consist of: redacting those would destroy them."""
    ours = {name.casefold() for name in own_names()} if fields else ()
    for index, name in enumerate(fields):
        if name.casefold() in ours:
            message = f"`{name}` is a field of every trace or report"
            yield FieldProblem(("fields", index), message, "hide what stands in it by a pattern")
