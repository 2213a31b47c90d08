"""Builds goldens from single fields, as command-line flags give them, by the rules for golden files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.declarations import refusal
from evalgate.errors import Problem, SettingError
from evalgate.evaluators.core.field_problems import flaws_of
from evalgate.suite.goldens.golden_rules import due_flaws, golden_of
from evalgate.suite.goldens.golden_written import written_golden
from evalgate.suite.goldens.likely_typos import doubtful
from evalgate.suite.schema.golden_file import GoldenEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from evalgate.evaluators.core.field_problems import FieldProblem
    from evalgate.models.run.golden import Golden


def golden_from_words(said: Mapping[str, Any]) -> Golden:
    """Builds a golden from fields; raises SettingError listing every mistake."""
    try:
        golden = golden_of(GoldenEntry.model_validate(dict(said)))
    except refusal() as error:
        raise _refusal(flaws_of(error, GoldenEntry)) from None
    flaws = list(due_flaws(golden))
    if flaws:
        raise _refusal(flaws)
    return golden


def doubts_of(goldens: Iterable[Golden]) -> Iterator[Problem]:
    """Valid words that look like typos; any word is allowed in these lists."""
    for golden in goldens:
        for _, message, hint in doubtful(golden):
            yield Problem(f"golden `{golden.id}`: {message}", None, hint)


def golden_with(golden: Golden, said: Mapping[str, Any]) -> Golden:
    """The golden with some fields replaced, lists as a whole; raises SettingError listing every mistake."""
    return golden_from_words({**written_golden(golden), **said})


def _refusal(flaws: Iterable[FieldProblem]) -> SettingError:
    return SettingError(*(Problem(flaw.message, None, flaw.hint) for flaw in flaws))
