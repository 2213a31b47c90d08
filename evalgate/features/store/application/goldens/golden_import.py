"""Makes goldens of single fields, of files of goldens, of good traces, and of eval sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from pydantic import ValidationError

from evalgate.errors import Problem, SettingError, SuiteError
from evalgate.evaluators.core.field_problems import problems_from_error
from evalgate.measures.redaction.redact import redact
from evalgate.measures.text.refusals import is_refusal
from evalgate.models.run.golden import Golden
from evalgate.scoring.golden.answers import REFUSE
from evalgate.scoring.golden.turns import collect_turns
from evalgate.suite.diagnostics import Diagnostics
from evalgate.suite.golden_file import MAX_DUE, MAX_MESSAGE, MAX_TURNS, GoldenEntry
from evalgate.suite.golden_rules import encode_golden, find_golden_problems, find_likely_typos, golden_from_entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.evaluators.core.field_problems import FieldProblem, Path
    from evalgate.models.trace.trace import Trace
    from evalgate.scoring.golden.turns import ActualTurn
    from evalgate.suite.diagnostics import Document


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


UNNAMED = "give the golden an id: --id NAME"


def golden_from_trace(trace: Trace, golden_id: str | None = None, *, creator: str | None = None) -> Golden:
    """A golden that requires what the trace shows; its id defaults to the trace's scenario id.

    Secrets are redacted. Raises SettingError for a trace without an id or without text, or with more than a
    golden may hold.
    """
    id_ = golden_id or trace.scenario_id
    if not id_ or "*" in id_:
        raise SettingError(Problem("the trace names no scenario", None, UNNAMED))
    turns = collect_turns(trace)
    user_messages = [turn.user or "" for turn in turns]
    answers = [turn.response or "" for turn in turns]
    if not any(user_messages) and not any(answers):
        raise SettingError(Problem(f"the trace of `{id_}` has no message of a user or an agent"))
    if len(turns) > MAX_TURNS or max(map(len, (*user_messages, *answers))) > MAX_MESSAGE:
        bound = f"{MAX_TURNS:,} turns of {MAX_MESSAGE:,} characters"
        raise SettingError(Problem(f"the trace of `{id_}` holds more than a golden may: at most {bound}"))
    return Golden(
        id=id_,
        title=redact(next(filter(None, user_messages), id_))[:100],
        conversation_id=trace.conversation_id,
        required_tool_usage=tuple(_required_tools(turns))[:MAX_DUE],
        required_refusal=tuple(_required_refusals(turns))[:MAX_DUE],
        user_messages=tuple(map(redact, user_messages)),
        golden_responses=tuple(map(redact, answers)),
        creator=creator,
    )


def _required_tools(turns: Sequence[ActualTurn]) -> Iterator[str]:
    """The tool name and turn of every call that did not fail."""
    for number, turn in enumerate(turns):
        for call in turn.calls:
            if call["status"] != "error":
                yield _requirement(call["name"], number, len(turns))


def _required_refusals(turns: Sequence[ActualTurn]) -> Iterator[str]:
    for number, turn in enumerate(turns):
        if turn.response and is_refusal(turn.response):
            yield _requirement(REFUSE, number, len(turns))


def _requirement(word: str, number: int, turns: int) -> str:
    return f"{word[:190]}@{number + 1}" if turns > 1 else word[:200]


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
