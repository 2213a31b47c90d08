"""Goldens out of single words, as the flags of a shell say them, held to what a file of goldens may say."""

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
    """The golden that fields make; raises SettingError with every mistake."""
    try:
        golden = golden_of(GoldenEntry.model_validate(dict(said)))
    except refusal() as error:
        raise _refusal(flaws_of(error, GoldenEntry)) from None
    flaws = list(due_flaws(golden))
    if flaws:
        raise _refusal(flaws)
    return golden


def doubts_of(goldens: Iterable[Golden]) -> Iterator[Problem]:
    """Words that are allowed, for their lists are open, and look like a slip."""
    for golden in goldens:
        for _, message, hint in doubtful(golden):
            yield Problem(f"golden `{golden.id}`: {message}", None, hint)


def golden_with(golden: Golden, said: Mapping[str, Any]) -> Golden:
    """The golden with some fields said anew, lists as a whole; raises SettingError with every mistake."""
    return golden_from_words({**written_golden(golden), **said})


def _refusal(flaws: Iterable[FieldProblem]) -> SettingError:
    return SettingError(*(Problem(flaw.message, None, flaw.hint) for flaw in flaws))
