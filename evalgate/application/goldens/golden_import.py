"""Imports goldens from files of goldens, and from eval sets that record expected behaviour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from evalgate.application.goldens.golden_from_trace import golden_from_trace
from evalgate.errors import SuiteError
from evalgate.evaluators.core.field_problems import problems_from_error
from evalgate.records import replace
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.goldens.golden_rules import find_golden_problems, golden_from_entry
from evalgate.suite.schema.golden_file import GoldenEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from evalgate.evaluators.core.field_problems import Path
    from evalgate.models.run.golden import Golden
    from evalgate.models.trace.trace import Trace
    from evalgate.suite.diagnostics import Document

ITEMS = "goldens"


def goldens_in(documents: Iterable[Document]) -> list[Golden]:
    """The goldens in documents: one, a list of them, or a mapping with `goldens`.

    Settings for judging them in a suite are checked and dropped. Raises SuiteError listing every error.
    """
    diagnostics = Diagnostics()
    found: list[Golden] = []
    for document in documents:
        for path, value in _values(document.value):
            golden = _parse_golden(document, path, value, diagnostics)
            if golden is not None:
                found.append(golden)
    if diagnostics.problems:
        raise SuiteError(*diagnostics.problems)
    return found


def expected_goldens(traces: Sequence[Trace], *, creator: str | None = None) -> list[Golden]:
    """The goldens of an eval set's cases; a case without a name is named by its number."""
    return [
        replace(
            golden_from_trace(trace, trace.scenario_id or f"case-{number}", creator=creator),
            tags=tuple(tag for tag in trace.tags if tag != "expected"),
        )
        for number, trace in enumerate(traces, 1)
    ]


def _values(value: Any) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, dict) and set(value) == {ITEMS} and isinstance(value[ITEMS], list):
        yield from (((ITEMS, number), each) for number, each in enumerate(value[ITEMS]))
    elif isinstance(value, list):
        yield from (((number,), each) for number, each in enumerate(value))
    else:
        yield (), value


def _parse_golden(document: Document, path: Path, value: Any, diagnostics: Diagnostics) -> Golden | None:
    try:
        entry = GoldenEntry.model_validate(value)
    except ValidationError as error:
        for flaw in problems_from_error(error, GoldenEntry):
            diagnostics.add_problem(document, flaw._replace(path=(*path, *flaw.path)))
        return None
    golden = golden_from_entry(entry)
    for flaw in find_golden_problems(golden):
        diagnostics.add_problem(document, flaw._replace(path=(*path, *flaw.path)))
    return golden
