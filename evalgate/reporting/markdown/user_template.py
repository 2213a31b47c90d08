"""Renders a project's template, which overrides built-in blocks, within limits of work and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from jinja2 import TemplateError, TemplateSyntaxError, nodes

from evalgate.errors import Location, Problem, TemplateFlaw
from evalgate.reporting.markdown.template_injection import (
    APART,
    TemplateRefused,
    apart,
    close_joints,
    in_table,
    joined,
    value,
)
from evalgate.reporting.markdown.template_rules import BASE, TemplateRules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment, Template

    from evalgate.models.github.template_file import TemplateFile
    from evalgate.reporting.markdown.view import Report

MOST_WORK = 200_000
"""Most template nodes that the loops of one rendering may visit, counted at each step."""
OF_A_CALL = 50
"""Work that a call of a built-in macro counts as."""
MOST_CHARS = 400_000
"""Most characters that one rendering may write, before the check of the real limit."""
_VALUE, _APART, _STEPS = "_value", "_apart", "_steps"  # internal filters: the rules refuse them in templates
_CODE = "<a template of the project>"
_BORDERS = ("|", ":-", "-:")
_RAISED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors of a template that asks too much; NameError is for `1e400`, which Jinja writes as a name."""
_TOO_DEEP = "its parts lie too deep in one another"


class UserTemplate:
    """A checked template. `base` is the environment of the built-in templates, which it extends."""

    def __init__(self, file: TemplateFile, base: Environment) -> None:
        self._path = file.path
        self._work = 0
        environment = base.overlay()
        environment.filters = {
            "length": lambda rows: len(_rows(rows)),
            "first": lambda rows: next(iter(_rows(rows)), ""),
            "last": lambda rows: next(reversed(_rows(rows)), ""),
            "join": lambda rows, between="": joined(_rows(rows), between),
            "thousands": _thousands,
            _VALUE: in_table if any(border in file.text for border in _BORDERS) else value,
            _APART: apart,
            _STEPS: self._counted,
        }
        self._template = self._compiled(file.text, environment)

    def render(self, report: Report) -> str:
        """Renders the body of a report; raises TemplateFlaw if that fails."""
        self._work = written = 0
        texts = []
        try:
            for text in self._template.generate(report=report):
                texts.append(text)
                written += len(text)
                if written > MOST_CHARS:
                    raise self._flaw(f"it writes more than {MOST_CHARS:,} characters")
        except TemplateRefused as refusal:
            raise self._flaw(str(refusal), _line_of(refusal)) from None
        except (TemplateError, *_RAISED) as error:
            raise self._flaw("it asks for something that is not there", _line_of(error)) from None
        return close_joints("".join(texts), self._path)

    def _compiled(self, text: str, environment: Environment) -> Template:
        try:
            tree = environment.parse(text)
            TemplateRules(self._path, environment.get_template(BASE).blocks).check(tree)
            _bind(tree)
            tree.set_environment(environment)
            code = environment.compile(tree, _CODE, _CODE)
        except TemplateSyntaxError as error:
            raise self._flaw("this is no Jinja", error.lineno) from None
        except (TemplateError, SyntaxError, RecursionError, MemoryError):
            raise self._flaw(_TOO_DEEP) from None
        except (ValueError, ArithmeticError):  # a number with more digits than Python parses
            raise self._flaw("it holds what no template can mean") from None
        return environment.template_class.from_code(environment, code, {})

    def _counted(self, rows: Any, work: int) -> Iterator[Any]:
        for row in _rows(rows):
            self._work += work
            if self._work > MOST_WORK:
                raise TemplateRefused("its loops do not come to an end")
            yield row

    def _flaw(self, message: str, line: int | None = None) -> TemplateFlaw:
        return TemplateFlaw(Problem(message, Location(self._path, line)))


def _bind(tree: nodes.Template) -> None:
    """Adds filters to the tree that count every loop step and mark every printed value."""
    for loop in tree.find_all(nodes.For):
        work = sum(OF_A_CALL if isinstance(node, nodes.Call) else 1 for node in loop.find_all(nodes.Node))
        loop.iter = _through(_STEPS, loop.iter, nodes.Const(work))
    for block in tree.find_all(nodes.Block):
        block.body = [_blank_line(), *block.body, _blank_line()]
    for output in tree.find_all(nodes.Output):
        output.nodes = [
            node if isinstance(node, nodes.TemplateData) else _through(_passage(node), node)
            for node in output.nodes
        ]


def _blank_line() -> nodes.Output:
    """Separates blocks, so that an unclosed construct can't reach into the next block."""
    return nodes.Output([nodes.TemplateData(APART)])


def _passage(node: nodes.Node) -> str:
    return _APART if isinstance(node, nodes.Call) else _VALUE


def _through(name: str, node: nodes.Node, *given: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(cast("nodes.Expr", node), name, [*given], [], None, None, lineno=node.lineno)


def _rows(given: Any) -> tuple[Any, ...]:
    if not isinstance(given, tuple):
        raise TemplateRefused("a loop or a filter goes over a list, such as `report.failures.shown`")
    return given


def _thousands(given: Any) -> str:
    if not isinstance(given, int):
        raise TemplateRefused("`thousands` is for whole numbers")
    return f"{given:,}"


def _line_of(error: BaseException) -> int | None:
    """Finds the template line of an error in its traceback, where Jinja puts it."""
    line, step = None, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == _CODE:
            line = step.tb_lineno
        step = step.tb_next
    return line
