"""No text of a library's exception is shown: it may quote an untrusted line, or an address with a token in it.

Of an exception that EvalGate does not define only these count: its type, places in the text, the system's own words. Functions
that are called with one are checked as well, by the annotation of the parameter.
"""

from __future__ import annotations

import ast
import builtins
import re
from typing import TYPE_CHECKING, TypeGuard

import pytest
from documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXTS = {
    str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
    for path in [*sorted((ROOT / "evalgate").rglob("*.py")), ROOT / "entrypoint.py"]
}
CATCHES = re.compile(r"\bexcept\b.* as \w+:|: ['\"]?[\w.| ]*(?:Error|Exception)\b")
SEARCHED_ONLY = {
    (
        "evalgate/features/store/adapters/database.py",
        "_error_from_violation",
        "str(error.orig)",
    ): "the name of one of EvalGate's constraints",
    ("evalgate/adapters/http.py", "_describe_refusal", "str(error)"): "how Python words a status of a proxy",
    ("evalgate/adapters/formats/core/strict_json.py", "_describe_error", "error.msg"): "a phrase",
    ("evalgate/adapters/suites/yaml_tree.py", "_syntax_error", "error.problem"): "phrases",
    (
        "evalgate/features/store/reporting/dataset/evaluation_csv.py",
        "read_evaluation_csv",
        "str(error)",
    ): "own readers raise it",
    ("evalgate/application/messages/judge_response.py", "_convert", "str(error)"): "the path of a field",
    ("evalgate/cli/command.py", "_read_value", "str(error)"): "a reader of settings raises it",
    ("evalgate/reporting/results/load_results.py", "_describe_error", "str(error)"): "path and type of a field",
    ("evalgate/settings/read_inputs.py", "read_values", "error"): "own readers raise it",
    ("evalgate/features/testing/calls.py", "judge_answer", "str(error)"): "the response cache raises it",
    ("evalgate/recording/recorder.py", "tool", "error"): "the failure of the agent, which its trace records",
    ("evalgate/recording/recorder.py", "_build_document", "str(error)"): "as above",
}
"""What is made of such an exception in a function, and what it is searched for, or why it is EvalGate's own text."""
MAKES_TEXT = {"str", "repr", "format", "ascii"}
TEXT_FIELDS = {"args", "msg", "message", "problem", "context", "reason", "detail", "note", "doc", "object"}
BUILT_IN = {
    name for name, found in vars(builtins).items() if isinstance(found, type) and issubclass(found, BaseException)
}
LIBRARIES = {
    *("ValidationError", "MarkedYAMLError", "ReaderError", "JSONDecodeError", "JSONEncodeError"),
    *("TemplateError", "TemplateSyntaxError", "RequestException", "BadZipFile", "LexerError", "ParseError"),
    *("JMESPathTypeError", "IntegrityError", "StatementError", "SQLAlchemyError", "Error", "error"),
}


def own_exceptions() -> set[str]:
    """Names of the exceptions that the project itself declares."""
    classes = re.findall(r"^class (\w+)\(([^)]*)\)", "\n".join(TEXTS.values()), re.MULTILINE)
    declared = {name: {base.strip().rpartition(".")[2] for base in bases.split(",")} for name, bases in classes}
    found: set[str] = set()
    while more := {name for name, bases in declared.items() if bases & (BUILT_IN | found)} - found:
        found |= more
    return found


OWN_EXCEPTIONS = own_exceptions()


def names_in(node: ast.expr | None) -> list[str]:
    """Of `requests.RequestException | OSError` or a tuple: the last name of each."""
    text = "" if node is None else ast.unparse(node).strip("()'\"")
    return [word.strip().rpartition(".")[2] for part in text.split(",") for word in part.split("|")]


def is_foreign(names: list[str]) -> bool:
    known = [name for name in names if name in BUILT_IN | LIBRARIES | OWN_EXCEPTIONS]
    return bool(known) and any(name not in OWN_EXCEPTIONS for name in known)


def foreign(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.AST, str]]:
    """Every name that a foreign exception is bound to, the part of the tree that sees it, and its function."""
    for node in ast.iter_child_nodes(tree):
        inside = function
        if isinstance(node, ast.ExceptHandler) and node.name and is_foreign(names_in(node.type)):
            yield node.name, node, function
        if isinstance(node, ast.FunctionDef):
            inside = node.name
            for each in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
                if each.annotation is not None and is_foreign(names_in(each.annotation)):
                    yield each.arg, node, node.name
        yield from foreign(node, inside)


def quoted_parts(name: str, tree: ast.AST) -> Iterator[ast.expr]:
    """Where the exception, or a text field of it, becomes text."""
    own_nodes = {
        id(part) for node in ast.walk(tree) if is_guarded_by_own_exception(name, node) for part in ast.walk(node.body)
    }
    for node in ast.walk(tree):
        if id(node) in own_nodes:
            continue
        if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "'msg'":  # of a model's errors
            yield node
        if isinstance(node, ast.FormattedValue) and quotes(name, node.value):
            yield node.value
        if isinstance(node, ast.Call):
            callee = ast.unparse(node.func).rpartition(".")[2]
            if callee in MAKES_TEXT and any(quotes(name, each) for each in node.args):
                yield node
        if isinstance(node, ast.Attribute) and node.attr in TEXT_FIELDS and is_name(name, node.value):
            yield node


def quotes(name: str, node: ast.expr) -> bool:
    """The exception itself, or a field of it that is neither a position nor a code."""
    if isinstance(node, ast.Attribute):
        return node.attr in {*TEXT_FIELDS, "orig"} and is_name(name, node.value)
    return is_name(name, node)


def is_guarded_by_own_exception(name: str, node: ast.AST) -> TypeGuard[ast.IfExp]:
    """`... if isinstance(error, TraceError) else ...`."""
    test = node.test if isinstance(node, ast.IfExp) else None
    return (
        isinstance(test, ast.Call)
        and ast.unparse(test.func) == "isinstance"
        and is_name(name, test.args[0])
        and not is_foreign(names_in(test.args[1]))
    )


def is_name(name: str, node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def faults(file: str, text: str) -> list[str]:
    if not CATCHES.search(text):
        return []
    found = [
        f"{file}:{part.lineno} {ast.unparse(part)}"
        for name, seen, function in foreign(ast.parse(text))
        for part in quoted_parts(name, seen)
        if (file, function, ast.unparse(part)) not in SEARCHED_ONLY
    ]
    return sorted(set(found))


def test_no_module_quotes_the_text_of_a_library_exception():
    assert [fault for file, text in TEXTS.items() for fault in faults(file, text)] == []


@pytest.mark.parametrize(
    "code",
    [
        "try: ...\nexcept ValueError as error: print(f'{error}')",
        "try: ...\nexcept (TraceError, yaml.MarkedYAMLError) as error: raise TraceError(str(error))",
        "try: ...\nexcept Exception as error: say(repr(error))",
        "try: ...\nexcept yaml.MarkedYAMLError as error: say(error.problem)",
        "try: ...\nexcept StatementError as error: say(str(error.orig))",
        "def words(error: ValidationError) -> str:\n    return error.errors()[0]['msg']",
        "def words(place: str, *, error: 'OSError | None') -> str:\n    return '{}'.format(error)",
    ],
)
def test_a_module_that_quotes_one_is_found(code):
    assert faults("evalgate/one.py", code) != []


@pytest.mark.parametrize(
    "code",
    [
        "try: ...\nexcept TraceError as error: raise SuiteError(str(error))",
        "try: ...\nexcept OSError as error: say(f'{error.strerror}, {type(error).__name__}')",
        "try: ...\nexcept (TraceError, OSError) as e:\n    x = str(e) if isinstance(e, TraceError) else ''",
        "try: ...\nexcept JSONDecodeError as error: say(f'line {error.lineno}')",
        "def kind(error: Exception) -> str:\n    return type(error).__name__",
    ],
)
def test_a_module_with_own_text_or_a_position_is_accepted(code):
    assert faults("evalgate/one.py", code) == []
