"""Renders a project's template, which overrides built-in blocks, within limits of work and size."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from jinja2 import TemplateError, TemplateSyntaxError, nodes

from evalgate.errors import InvalidTemplate, Location, Problem
from evalgate.reporting.markdown.template_rules import BASE, TemplateRules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jinja2 import Environment, Template

    from evalgate.models.github.template_file import TemplateFile
    from evalgate.reporting.markdown.view import Report

MAX_WORK = 200_000
"""Most template nodes that the loops of one rendering may visit, counted at each step."""
CALL_WORK = 50
"""Work that a call of a built-in macro counts as."""
MAX_CHARS = 400_000
"""Most characters that one rendering may write, before the check of the real limit."""
_VALUE, _BLOCK, _STEPS = "_value", "_apart", "_steps"  # internal filters: the rules refuse them in templates
_CODE_NAME = "<a template of the project>"
_BORDERS = ("|", ":-", "-:")
_RENDER_ERRORS = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    NameError,
    RecursionError,
    TypeError,
    ValueError,
)
"""Errors of a template that is too demanding; NameError is for `1e400`, which Jinja writes as a name."""
_TOO_DEEP = "it is nested too deeply"


class UserTemplate:
    """A checked template. `base` is the environment of the built-in templates, which it extends."""

    def __init__(self, file: TemplateFile, base: Environment) -> None:
        self._path = file.path
        self._work = 0
        environment = base.overlay()
        environment.filters = {
            "length": lambda rows: len(_require_rows(rows)),
            "first": lambda rows: next(iter(_require_rows(rows)), ""),
            "last": lambda rows: next(reversed(_require_rows(rows)), ""),
            "join": lambda rows, between="": join_values(_require_rows(rows), between),
            "thousands": _format_thousands,
            _VALUE: mark_table_value if any(border in file.text for border in _BORDERS) else mark_value,
            _BLOCK: isolate_block,
            _STEPS: self._count_steps,
        }
        self._template = self._compile(file.text, environment)

    def render(self, report: Report) -> str:
        """Renders the body of a report; raises InvalidTemplate if that fails."""
        self._work = length = 0
        texts = []
        try:
            for text in self._template.generate(report=report):
                texts.append(text)
                length += len(text)
                if length > MAX_CHARS:
                    raise self._error(f"its output is longer than {MAX_CHARS:,} characters")
        except TemplateRefused as refusal:
            raise self._error(str(refusal), _find_line(refusal)) from None
        except (TemplateError, *_RENDER_ERRORS) as error:
            raise self._error("it uses a value that does not exist", _find_line(error)) from None
        return secure_recorded_text("".join(texts), self._path)

    def _compile(self, text: str, environment: Environment) -> Template:
        try:
            tree = environment.parse(text)
            TemplateRules(self._path, environment.get_template(BASE).blocks).check(tree)
            _guard_nodes(tree)
            tree.set_environment(environment)
            code = environment.compile(tree, _CODE_NAME, _CODE_NAME)
        except TemplateSyntaxError as error:
            raise self._error("invalid Jinja syntax", error.lineno) from None
        except (TemplateError, SyntaxError, RecursionError, MemoryError):
            raise self._error(_TOO_DEEP) from None
        except (ValueError, ArithmeticError):  # a number with more digits than Python parses
            raise self._error("it contains an invalid number") from None
        return environment.template_class.from_code(environment, code, {})

    def _count_steps(self, rows: Any, work: int) -> Iterator[Any]:
        for row in _require_rows(rows):
            self._work += work
            if self._work > MAX_WORK:
                raise TemplateRefused("its loops take too many steps")
            yield row

    def _error(self, message: str, line: int | None = None) -> InvalidTemplate:
        return InvalidTemplate(Problem(message, Location(self._path, line)))


def _guard_nodes(tree: nodes.Template) -> None:
    """Adds filters to the tree that count every loop step and mark every printed value."""
    for loop in tree.find_all(nodes.For):
        work = sum(CALL_WORK if isinstance(node, nodes.Call) else 1 for node in loop.find_all(nodes.Node))
        loop.iter = _apply_filter(_STEPS, loop.iter, nodes.Const(work))
    for block in tree.find_all(nodes.Block):
        block.body = [_build_blank_line(), *block.body, _build_blank_line()]
    for output in tree.find_all(nodes.Output):
        output.nodes = [
            node if isinstance(node, nodes.TemplateData) else _apply_filter(_select_filter(node), node)
            for node in output.nodes
        ]


def _build_blank_line() -> nodes.Output:
    """Separates blocks, so that an unclosed construct can't reach into the next block."""
    return nodes.Output([nodes.TemplateData(BLANK_LINE)])


def _select_filter(node: nodes.Node) -> str:
    return _BLOCK if isinstance(node, nodes.Call) else _VALUE


def _apply_filter(name: str, node: nodes.Node, *arguments: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(cast("nodes.Expr", node), name, [*arguments], [], None, None, lineno=node.lineno)


def _require_rows(given: Any) -> tuple[Any, ...]:
    if not isinstance(given, tuple):
        raise TemplateRefused("a loop or filter needs a list, such as `report.failures.shown`")
    return given


def _format_thousands(given: Any) -> str:
    if not isinstance(given, int):
        raise TemplateRefused("`thousands` needs a whole number")
    return f"{given:,}"


def _find_line(error: BaseException) -> int | None:
    """Finds the template line of an error in its traceback, where Jinja puts it."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == _CODE_NAME:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


START, END = "\ufdd0", "\ufdd1"  # marks around recorded text: noncharacters, which no text may hold
BLANK_LINE = "\n\n"
MAX_TOKEN = 200
MAX_LINK = 5_000
_UNSAFE = re.compile(r"[/@\\`]|www\.|[^*_(\[>|]$")
_LINK = re.compile(r"\]\([^)]*$")  # the URL or title of a link that is still open
_HTML = re.compile(r"[\s>*+\-\d.)]*(?:</?(?:details|summary)>|</?[a-z]+>\s*$)")
_TOKEN = re.compile(r"[^ \t\n]+$")  # other whitespace does not end a URL
_MARKS = {ord(START): None, ord(END): None}
_PIPE = re.compile(r"(?<!\\)\|")


class TemplateRefused(Exception):
    """A template uses a value in a forbidden way; the text explains it."""


class MarkedText(str):
    """Text whose recorded parts are already marked."""

    __slots__ = ()


def mark_value(given: Any) -> str:
    """Marks recorded text in a printed value; raises TemplateRefused for lists and records."""
    if isinstance(given, MarkedText):
        return given
    text = str(given).translate(_MARKS)  # first, as Jinja raises its own error for an undefined value
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise TemplateRefused("only text and numbers can be printed: name a field")
    if "`" not in text:
        return text  # EvalGate's own words and numbers
    return f"{BLANK_LINE}{START}{text}{END}{BLANK_LINE}" if "\n" in text else f"{START}{text}{END}"


def mark_table_value(given: Any) -> str:
    """Marks a value in a template that draws tables; pipes are escaped so that no text ends a cell."""
    return _PIPE.sub(r"\\|", mark_value(given))


def join_values(rows: tuple[Any, ...], separator: str) -> MarkedText:
    """Marks and joins the values of a list with a fixed separator."""
    return MarkedText(separator.join(map(mark_value, rows)))


def isolate_block(given: Any) -> str:
    """Puts blank lines around a built-in part, so that the text around it can't affect it."""
    return f"{BLANK_LINE}{given}{BLANK_LINE}"


def secure_recorded_text(text: str, path: str) -> str:
    """Separates recorded text and removes the marks. Raises InvalidTemplate for recorded text inside HTML."""
    if _has_recorded_html(text):
        message = "recorded text is inside an HTML block, where it would not be shown as code"
        raise InvalidTemplate(Problem(message, Location(path), "leave an empty line after the tag"))
    first, *rest = text.split(START)
    output, tail, template_text = [first], first, first
    for piece in rest:
        recorded, _, after = piece.partition(END)
        opening = BLANK_LINE if _LINK.search(template_text[-MAX_LINK:]) else " " if _is_unsafe_before(tail) else ""
        closing = " " if after.startswith("`") else ""
        output += [opening, recorded, closing, after]
        tail, template_text = f"{recorded}{after}", after
    return "".join(output)


def _is_unsafe_before(text: str) -> bool:
    """Whether the text right before recorded text could change the meaning of its backtick."""
    token = _TOKEN.search(text[-MAX_TOKEN:])
    return token is not None and (len(token[0]) == MAX_TOKEN or _UNSAFE.search(token[0]) is not None)


def _has_recorded_html(text: str) -> bool:
    inside = False
    for line in text.split("\n"):
        if not line.strip():
            inside = False
        elif inside or _HTML.match(line):
            inside = True
            if START in line:
                return True
    return False
