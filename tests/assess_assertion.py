"""Parses one assertion of a suite and assesses it on one trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from builders import make_trace

from evalgate.evaluators.core.parse import Parser

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.evaluators.core.field_problems import FieldProblem
    from evalgate.models.run.run import AssertionResult
    from evalgate.models.trace.trace import Trace


def compile_assertion(raw: Any) -> Assertion:
    """The parsed assertion, which must have no errors."""
    parser = Parser(lambda _: None)
    found = parser.parse_assertions([raw], ())
    assert not parser.problems, parser.problems
    return found[0]


def assess(raw: Any, trace: Trace | None = None) -> AssertionResult:
    """Its result."""
    return compile_assertion(raw).assess(make_trace() if trace is None else trace)


def outcome(raw: Any, trace: Trace | None = None) -> str:
    """Its outcome."""
    return assess(raw, trace).outcome


def first_problem(raw: Any) -> FieldProblem:
    """The first error in it; there must be one."""
    parser = Parser(lambda _: None)
    assert parser.parse_assertions([raw], ()) == [], "an invalid assertion must not be judged"
    return parser.problems[0]
