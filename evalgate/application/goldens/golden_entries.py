"""Builds goldens from single fields, as command-line flags give them, by the rules for golden files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import problems_from_error
from evalgate.suite.goldens.golden_rules import find_golden_problems, golden_from_entry
from evalgate.suite.goldens.golden_written import encode_golden
from evalgate.suite.goldens.likely_typos import find_likely_typos
from evalgate.suite.schema.golden_file import GoldenEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.evaluators.core.field_problems import FieldProblem
    from evalgate.models.run.golden import Golden


def golden_from_fields(fields: Mapping[str, Any]) -> Golden:
    """Builds a golden from fields; raises SettingError listing every error."""
    try:
        golden = golden_from_entry(GoldenEntry.model_validate(dict(fields)))
    except ValidationError as error:
        raise _setting_error(problems_from_error(error, GoldenEntry)) from None
    problems = list(find_golden_problems(golden))
    if problems:
        raise _setting_error(problems)
    return golden


def doubts_of(goldens: Iterable[Golden]) -> Iterator[Problem]:
    """Valid words that look like typos; any word is allowed in these lists."""
    for golden in goldens:
        for _, message, hint in find_likely_typos(golden):
            yield Problem(f"golden `{golden.id}`: {message}", None, hint)


def update_golden(golden: Golden, fields: Mapping[str, Any]) -> Golden:
    """The golden with some fields replaced, lists as a whole; raises SettingError listing every error."""
    return golden_from_fields({**encode_golden(golden), **fields})


def _setting_error(problems: Iterable[FieldProblem]) -> SettingError:
    return SettingError(*(Problem(flaw.message, None, flaw.hint) for flaw in problems))
