"""Renders a project's template, which overrides built-in blocks, within limits of work and size."""

from __future__ import annotations

import re
from functools import singledispatchmethod
from typing import TYPE_CHECKING, Any, cast

from jinja2 import TemplateError, TemplateSyntaxError, nodes

from evalgate.errors import InvalidTemplate, Location, Problem
from evalgate.evaluators.core.field_problems import suggest
from evalgate.reporting.markdown import view

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from jinja2 import Environment, Template

    from evalgate.models.github import TemplateFile
    from evalgate.reporting.markdown.view import Report


BASE = "comment.md.j2"
MACROS = frozenset({"super", "table", "folded", "items"})
FILTERS = frozenset({"length", "first", "last", "join", "thousands"})
TAGS = ("details", "summary", "b", "i", "em", "strong", "sub", "sup", "kbd", "br")
MAX_DEPTH = 40
_RECORDS = [record for record in vars(view).values() if hasattr(record, "__struct_fields__")]
FIELDS = frozenset(name for record in _RECORDS for name in record.__struct_fields__) | {"left"}
LOOP_FIELDS = frozenset({"first", "last", "index", "length"})
_ALLOWED_NODES = (nodes.If, nodes.Name, nodes.CondExpr, nodes.Compare, nodes.Operand, nodes.And, nodes.Or, nodes.Not)
_TAG = re.compile(rf"<(/?)({'|'.join(TAGS)})>")
_CODE = re.compile(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)")


class TemplateRules:
    """Checks one template; every error names its path."""

    def __init__(self, path: str, blocks: Collection[str]) -> None:
        self._path = path
        self._blocks = blocks

    def check(self, template: nodes.Template) -> None:
        """Raises InvalidTemplate for the first part that is not allowed."""
        first, *rest = [node for node in template.body if not _is_blank(node)] or [template]
        if not (isinstance(first, nodes.Extends) and _text_of(first.template) == BASE):
            raise self._error(first, f'a template must begin with {{% extends "{BASE}" %}}')
        for node in rest:
            if not isinstance(node, nodes.Block | nodes.Assign):
                raise self._error(node, "text outside of blocks is not allowed")
            self._check_node(node, 0)

    def _check_node(self, node: nodes.Node, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise self._error(node, f"more than {MAX_DEPTH} levels of nesting")
        self._check_kind(node)
        for body in _iter_bodies(node):
            self._check_tags(body)
        for child in _iter_children(node):
            self._check_node(child, depth + 1)

    @singledispatchmethod
    def _check_kind(self, node: nodes.Node) -> None:
        if not isinstance(node, _ALLOWED_NODES):
            raise self._error(node, f"`{type(node).__name__.lower()}` is not allowed in a template")

    @_check_kind.register
    def _(self, node: nodes.Block) -> None:
        self._require("block", node.name, self._blocks, node)

    @_check_kind.register
    def _(self, node: nodes.For) -> None:
        if node.recursive or not isinstance(node.target, nodes.Name):
            raise self._error(node, "a loop must have one variable and not be recursive")

    @_check_kind.register
    def _(self, node: nodes.Assign) -> None:
        if not isinstance(node.target, nodes.Name):
            raise self._error(node, "`set` must assign to one name")

    @_check_kind.register
    def _(self, node: nodes.Getattr) -> None:
        known = LOOP_FIELDS if isinstance(node.node, nodes.Name) and node.node.name == "loop" else FIELDS
        self._require("field", node.attr, known, node)

    @_check_kind.register
    def _(self, node: nodes.Filter) -> None:
        self._require("filter", node.name, FILTERS, node)
        if node.kwargs or any(not isinstance(given, nodes.Const) for given in node.args):
            raise self._error(node, f"the filter `{node.name}` accepts only literal text")

    @_check_kind.register
    def _(self, node: nodes.Output) -> None:
        for each in node.nodes:
            if isinstance(each, nodes.Call):
                name = each.node.name if isinstance(each.node, nodes.Name) else "call"
                self._require("part", name, MACROS, each)
                if each.kwargs or each.dyn_args is not None or each.dyn_kwargs is not None:
                    raise self._error(each, f"`{name}` accepts only positional arguments")

    @_check_kind.register
    def _(self, node: nodes.Const) -> None:
        if isinstance(node.value, str):
            self._check_text(node, node.value)
            self._check_balance(node, node.value)

    @_check_kind.register
    def _(self, node: nodes.TemplateData) -> None:
        self._check_text(node, node.data)

    def _check_text(self, node: nodes.Node, text: str) -> None:
        """Checks the template's own text: any Markdown that can't affect the code around it."""
        if "<" in _TAG.sub("", text):
            names = ", ".join(f"<{tag}>" for tag in TAGS)
            raise self._error(node, "only complete HTML tags without attributes are allowed", f"allowed tags: {names}")
        if "```" in text or "~~~" in text or any("`" in _CODE.sub("", line) for line in text.split("\n")):
            raise self._error(node, "a code span must end on the line it starts on, and fences are not allowed")
        if "$" in text:
            raise self._error(node, "a dollar sign is not allowed: it starts a formula")

    def _check_tags(self, body: Sequence[nodes.Node]) -> None:
        """Checks that tags close in the part that opens them, whichever branches are taken."""
        texts = [_text_of(part) for node in body if isinstance(node, nodes.Output) for part in node.nodes]
        if body:
            self._check_balance(body[0], "".join(text for text in texts if text is not None))

    def _check_balance(self, node: nodes.Node, text: str) -> None:
        open_tags: list[str] = []
        for closing, tag in _TAG.findall(text):
            if tag == "br":
                continue
            if not closing:
                open_tags.append(tag)
            elif not open_tags or open_tags.pop() != tag:
                raise self._error(node, f"</{tag}> has no opening tag in the same part")
        if open_tags:
            raise self._error(node, f"<{open_tags[-1]}> is not closed in the same part")

    def _require(self, kind: str, name: str, known: Collection[str], node: nodes.Node) -> None:
        if name not in known:
            raise self._error(node, f"unknown {kind} `{name[:60]}`", suggest(name, known))

    def _error(self, node: nodes.Node, message: str, hint: str | None = None) -> InvalidTemplate:
        return InvalidTemplate(Problem(message, Location(self._path, node.lineno), hint))


def _iter_children(node: nodes.Node) -> Iterator[nodes.Node]:
    """Yields child nodes; for a call in an output, only its arguments."""
    for child in node.iter_child_nodes():
        if isinstance(node, nodes.Output) and isinstance(child, nodes.Call):
            yield from child.args
        else:
            yield child


def _iter_bodies(node: nodes.Node) -> Iterator[list[nodes.Node]]:
    for name in ("body", "else_"):
        body = getattr(node, name, None)
        if body:
            yield body


def _is_blank(node: nodes.Node) -> bool:
    return isinstance(node, nodes.Output) and not "".join(_text_of(part) or "x" for part in node.nodes).strip()


def _text_of(node: nodes.Node) -> str | None:
    if isinstance(node, nodes.TemplateData):
        return node.data
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None


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
