"""`jmespath`: compares what an expression finds in the view of a trace with a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, model_validator

from evalgate.evaluators.core.evaluator import Check, Evaluator, Finding, require_evidence
from evalgate.evaluators.core.field_problems import FieldProblemError
from evalgate.evaluators.core.operators import (
    Alias,
    Operator,
    build_schema_check,
    build_value_check,
    resolve_alias,
    sign,
)
from evalgate.evaluators.core.queries import FOUND_NOTHING, build_getter, compile_query, query_evidence
from evalgate.evaluators.core.shorthands import DEFAULT_PATH, finds_prose
from evalgate.measures.jmespath.query import Query, QueryFailedError
from evalgate.measures.text.patterns import PatternFailedError, matches_all
from evalgate.measures.text.plain_text import EXACT, SEEN, Forms, choose_forms, remove_unseen
from evalgate.measures.values.json_values import mark_name, shorten, show
from evalgate.strict_model import described

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from evalgate.evaluators.core.operators import ValueCheck
    from evalgate.models.run.run import Outcome
    from evalgate.models.trace.trace import Trace

SEARCHES = frozenset({"contains", "eq", "in", "regex"})
COMPARES_TEXTS = SEARCHES | {"ne", "not_in"}
"""Operators that compare texts, after NFC."""
DENIES = frozenset({"ne", "not_in"})
MAX_EXPRESSION = 60
"""The longest expression that a reason repeats."""
_IDLE_VALUES: dict[str, list[Any]] = {"contains": [""], "matches_schema": [True, {}]}
_OF_CLOSED_SETS = frozenset({"status", "role", "requestor", "source", "evidence"})
"""Fields of which every value is one of a few words, and the section whose fields all are."""
ITS_VALUE = "the value of the expression"
COUNTED = " (text that is a number counts as one)"


class QueryAssertion(Evaluator):
    """What `expression` finds compares to `value` as `operator` demands.

    If it finds nothing, every operator but `exists` is not_evaluable. `evalgate query TRACE` lists the
    fields of a trace, such as `response.content`, `tool_calls[].name` and `metadata.cost_usd`.
    """

    type: Literal["jmespath"]
    version = 4  # 2: NFC, and what can't be seen where negated; 3: typographic signs; 4: text that is a number, schemas
    compares_with = "value"
    expression: Annotated[str, described("A JMESPath expression over the trace.", "length(tool_calls)")]
    operator: Annotated[
        Operator,
        BeforeValidator(resolve_alias, json_schema_input_type=Operator | Alias),
        described("How the values are compared.", "lte"),
    ]
    value: Annotated[Any, described("The value to compare with.", 3)] = None

    @model_validator(mode="before")
    @classmethod
    def _ask_for_presence(cls, fields: Any) -> Any:
        """`exists` without a value asks whether something is found."""
        is_open = isinstance(fields, dict) and fields.get("operator") == "exists" and "value" not in fields
        return {**fields, "value": True} if is_open else fields

    def label(self) -> str:
        """Returns the assertion as a person would write it."""
        is_pattern = self.operator == "regex" and isinstance(self.value, str)
        value = f"/{shorten(self.value, 60)}/" if is_pattern else show(self.value, 40)
        return f"{shorten(self.expression, 60)} {sign(self.operator)} {value}"

    def holds_always(self) -> bool:
        """Whether every value that the expression may find fits."""
        from evalgate.evaluators.core.always_found import fits_all_sizes

        if self.operator == "regex":
            return matches_all(self.value)
        if self.operator in _IDLE_VALUES:
            return self.value in _IDLE_VALUES[self.operator]
        if self.operator == "length":
            bounds = self.value if isinstance(self.value, dict) else {}
            return bool(bounds) and all(fits_all_sizes(resolve_alias(name), bound) for name, bound in bounds.items())
        return self._finds_size() and fits_all_sizes(self.operator, self.value)

    def _finds_size(self) -> bool:
        from evalgate.evaluators.core.always_found import finds_size

        return finds_size(Query(self.expression))

    def compile(self) -> Check:
        """Compiles the expression and validates the value; raises FieldProblemError."""
        return self._compile(self._build_written(is_denied=self.operator in DENIES), "failed")

    def compile_opposite(self) -> Check:
        """Returns a check that a text also passes if it does as it is seen."""
        if self.operator == "matches_schema":
            return self._compile(build_schema_check(self.value, is_strict=False), "passed")
        find_problem = self._build_written(is_denied=False)
        if self.operator not in SEARCHES:
            return self._compile(find_problem, "passed")
        if self.operator == "regex":
            others = [self._build_check(remove_unseen, form) for form in SEEN]
        else:
            others = [self._build_check(self._choose_forms().seen)]

        def find_every_problem(actual: Any) -> str | None:
            problem = find_problem(actual)
            return problem and (problem if all(each(actual) for each in others) else None)

        return self._compile(find_every_problem, "passed")

    def _build_written(self, *, is_denied: bool) -> ValueCheck:
        """The check of a value as it is written: typographic signs are plain in what was said, and if denied."""
        is_plain = self.operator != "regex" and (is_denied or finds_prose(self.expression))
        return self._build_check((self._choose_forms() if is_plain else EXACT).written)

    def _choose_forms(self) -> Forms:
        values = self.value if isinstance(self.value, list) else [self.value]
        return choose_forms(each for each in values if isinstance(each, str))

    def _build_check(self, prepare: Callable[[str], str], form: Callable[[str], str] | None = None) -> ValueCheck:
        """The check of a value, of which texts are prepared as the expected ones are, or in another form."""
        if self.operator not in COMPARES_TEXTS:
            return build_value_check(self.operator, self.value)
        find_problem = build_value_check(self.operator, _prepare_texts(self.value, prepare))
        return lambda actual: find_problem(_prepare_texts(actual, form or prepare))

    def _compile(self, find_problem: ValueCheck, decisive: Outcome) -> Check:
        """Builds the check; the `decisive` outcome counts if text that is a number leads to it as text or as one."""
        query = compile_query(self.expression, "expression")
        if self.operator == "exists" and _finds_always(query):
            message = "`exists` says the same of every trace: this always finds something, if only an empty list"
            raise FieldProblemError("value", message, "`length: {gte: 1}` demands an entry, `length: 0` allows none")
        if self.operator in COMPARES_TEXTS and any(each in self.expression for each in _OF_CLOSED_SETS):
            _refuse_same(query, find_problem, self.operator)
        getters = [build_getter(each) for each in query.list_readings()]
        subject, getter = _mark_subject(self.expression), getters[0]
        check = judge_readings([self._build_judge(each, subject, find_problem) for each in getters], decisive)

        def was_found(found: Finding, trace: Trace) -> bool:
            return must_exist and found.outcome == "passed" and bool(getter(trace))

        must_exist = self.operator == "exists" and self.value is True
        kinds = query_evidence(query, is_measured=self.operator in ("exists", "length"))
        return require_evidence(check, kinds, is_decided=was_found)

    def _build_judge(self, getter: Callable[[Trace], Any], subject: str, find_problem: ValueCheck) -> Check:
        """A check of what the getter returns; `subject` names it in reasons."""
        passed = Finding("passed", self.label())
        whole = {"expression": self.expression} if subject == ITS_VALUE else None
        nothing = Finding("not_evaluable", f"{subject}: {FOUND_NOTHING}", whole)
        null_is_evidence = self.operator == "exists"

        def check(trace: Trace) -> Finding:
            try:
                actual = getter(trace)
                if actual is None and not null_is_evidence:
                    return nothing
                problem = find_problem(actual)
            except (QueryFailedError, PatternFailedError) as error:
                return Finding("error", f"{subject}: {error}", whole)
            return passed if problem is None else Finding("failed", f"expected {subject} {problem}", whole)

        return check


def judge_readings(checks: Sequence[Check], decisive: Outcome) -> Check:
    """A check of both readings of an expression: text that is a number as text, and as a number, if there is a second.

    A decisive outcome of one of them stays.
    """
    check, *others = checks
    if not others:
        return check
    (check_numbers,) = others

    def check_both(trace: Trace) -> Finding:
        found = check(trace)
        if found.outcome in (decisive, "error"):
            return found
        other = check_numbers(trace)
        return other._replace(reason=f"{other.reason}{COUNTED}") if other.outcome in (decisive, "error") else found

    return check_both


def _refuse_same(query: Query, find_problem: ValueCheck, operator: str) -> None:
    """Raises FieldProblemError if the check says the same of all values that the expression can find."""
    from evalgate.evaluators.core.closed_fields import list_findable  # only if one of these fields is read

    values = [each for each in list_findable(query.tree) if isinstance(each, str) or operator == "contains"]
    if len({find_problem(each) is None for each in values}) == 1:
        words = ", ".join(each if isinstance(each, str) else each[0] for each in values)
        raise FieldProblemError("value", f"`{operator}` says the same of every trace", f"it is one of {words}")


def _finds_always(query: Query) -> bool:
    from evalgate.evaluators.core.always_found import finds_always  # only if a check asks for existence

    return len(query.path) < 2 and finds_always(query.tree)  # noqa: PLR2004  (a longer path finds a field)


def _prepare_texts(value: Any, prepare: Callable[[str], str]) -> Any:
    """A text, or the texts of a list, prepared to be compared; any other value as it is."""
    if isinstance(value, str):
        return value if value.isascii() else prepare(value)
    return [_prepare_texts(each, prepare) for each in value] if isinstance(value, list) else value


def _mark_subject(expression: str) -> str:
    """The value that is judged, as a part of a sentence; a long expression is in the evidence, not cut here."""
    if expression == DEFAULT_PATH:
        return "the answer"
    shown = " ".join(expression.split())
    return mark_name(shown) if len(shown) <= MAX_EXPRESSION else ITS_VALUE
