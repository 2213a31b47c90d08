"""One assertion of a suite, read and judged on one trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from builders import make_trace

from evalgate.evaluators.core.parse import Parser

if TYPE_CHECKING:
    from evalgate.evaluators.core.assertion import Assertion
    from evalgate.evaluators.core.field_problems import FieldProblem
    from evalgate.models.run.run import AssertionResult
    from evalgate.models.trace.trace import Trace


def compiled(raw: Any) -> Assertion:
    """The assertion, which must be without mistakes."""
    parser = Parser(lambda _: None)
    found = parser.parse_assertions([raw], ())
    assert not parser.problems, parser.problems
    return found[0]


def assess(raw: Any, trace: Trace | None = None) -> AssertionResult:
    """Its row in the results."""
    return compiled(raw).assess(make_trace() if trace is None else trace)


def outcome(raw: Any, trace: Trace | None = None) -> str:
    """How it ends."""
    return assess(raw, trace).outcome


def flaw(raw: Any) -> FieldProblem:
    """The first mistake in it; there must be one."""
    parser = Parser(lambda _: None)
    assert parser.parse_assertions([raw], ()) == [], "a flawed assertion must not be judged"
    return parser.problems[0]
