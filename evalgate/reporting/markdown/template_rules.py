"""Checks a project's template: only built-in blocks, fields of the view, and plain Markdown are allowed.

Jinja's sandbox keeps a template from reaching Python, but not from running for hours or taking untrusted
text out of the code that makes it harmless. So only a small part of the language is allowed.
"""

from __future__ import annotations

import re
from functools import singledispatchmethod
from typing import TYPE_CHECKING

from jinja2 import nodes

from evalgate.errors import InvalidTemplate, Location, Problem
from evalgate.evaluators.core.field_problems import suggest
from evalgate.reporting.markdown import view

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

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
