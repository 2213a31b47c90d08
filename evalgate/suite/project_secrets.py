"""Parses `redact` of a project: what is redacted in addition to the secrets known everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, ValidationError

from evalgate.evaluators.core.field_problems import FieldProblem, problems_from_error
from evalgate.measures.redaction.project_secrets import (
    MAX_SLOW_SECONDS,
    ProjectSecrets,
    SecretPattern,
    explain_too_broad,
)
from evalgate.measures.text.patterns import MAX_LENGTH, Pattern, PatternError, PatternFailedError
from evalgate.models.results.field_names import list_field_names
from evalgate.strict_model import StrictModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from evalgate.evaluators.core.field_problems import Path
    from evalgate.suite.diagnostics import Diagnostics, Document

REDACT = "redact"
MAX_PATTERNS, MAX_FIELDS = 50, 200
NARROWER_HINT = "use a narrower pattern"


class RedactPattern(StrictModel):
    """One pattern; what it matches is replaced by `[redacted: <name>]`."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9](?:[A-Za-z0-9 _-]{0,38}[A-Za-z0-9])?$")]
    regex: Annotated[str, Field(min_length=1, max_length=MAX_LENGTH)]


FieldName = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^\S(?:.*\S)?$")]


class RedactEntry(StrictModel):
    """Texts that the patterns match, and values under the names in `fields`, are redacted everywhere."""

    patterns: Annotated[list[RedactPattern], Field(max_length=MAX_PATTERNS)] = Field(default_factory=list)
    fields: Annotated[list[FieldName], Field(max_length=MAX_FIELDS)] = Field(default_factory=list)


def parse_project_secrets(document: Document, diagnostics: Diagnostics) -> ProjectSecrets | None:
    """What a project file asks to be redacted; None if it has errors, which are added."""
    problems: list[FieldProblem] = []
    secrets = _parse_entry(document.value[REDACT], problems)
    for problem in problems:
        diagnostics.add_problem(document, problem._replace(path=(REDACT, *problem.path)))
    return None if problems else secrets


def _parse_entry(raw: Any, problems: list[FieldProblem]) -> ProjectSecrets | None:
    try:
        entry = RedactEntry.model_validate(raw)
    except ValidationError as error:
        problems += problems_from_error(error, RedactEntry)
        return None
    if not entry.patterns and not entry.fields:
        problems.append(FieldProblem((), "`redact` is empty", "give it `patterns`, `fields` or both"))
    problems += _find_field_problems(entry.fields)
    return ProjectSecrets([*_compile_patterns(entry.patterns, problems)], entry.fields)


def _compile_patterns(patterns: Sequence[RedactPattern], problems: list[FieldProblem]) -> Iterator[SecretPattern]:
    names: set[str] = set()
    for index, each in enumerate(patterns):
        if each.name in names:
            problems.append(FieldProblem(("patterns", index, "name"), f"`{each.name}` appears twice in `redact`"))
        names.add(each.name)
        compiled = _compile_pattern(each.regex, ("patterns", index, "regex"), problems)
        if compiled is not None:
            yield SecretPattern(each.name, compiled)


def _compile_pattern(source: str, path: Path, problems: list[FieldProblem]) -> Pattern | None:
    try:
        pattern = Pattern(source, MAX_SLOW_SECONDS)
        reason = explain_too_broad(pattern)
    except PatternError as error:
        place = f" (character {error.position})" if error.position else ""
        problems.append(FieldProblem(path, f"{error}{place}"))
    except PatternFailedError as error:
        problems.append(FieldProblem(path, str(error), NARROWER_HINT))
    else:
        if reason is None:
            return pattern
        problems.append(FieldProblem(path, f"this pattern would redact everything: {reason}", NARROWER_HINT))
    return None


def _find_field_problems(fields: Sequence[str]) -> Iterator[FieldProblem]:
    """Refuses names of fields that traces and reports consist of: redacting those would destroy them."""
    reserved_names = {name.casefold() for name in list_field_names()} if fields else ()
    for index, name in enumerate(fields):
        if name.casefold() in reserved_names:
            message = f"`{name}` is a field of every trace or report"
            yield FieldProblem(("fields", index), message, "redact its content with a pattern")
