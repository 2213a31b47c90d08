"""Asks an evaluator, format, setting or output for each fact that a table, a page or a warning is made of.

Every function lists what is missing, as `NAME: fact`. tests/contract/test_facts.py asks all of them.
"""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Any, get_args

import orjson
from action_inputs import text_of_default

from evalgate.application.action.step_outputs import OUTPUTS as STEP_OUTPUTS
from evalgate.application.documents.report_files import FileOutput
from evalgate.bootstrap.features import all_settings
from evalgate.cli import build_parser
from evalgate.cli.suites import build_example
from evalgate.errors import TraceError
from evalgate.evaluators.core.evaluator import Evaluator, find_tool_fields
from evalgate.evaluators.core.parse import Parser
from evalgate.evaluators.core.registry import built_in_class
from evalgate.evaluators.core.shorthands import COMMON

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from evalgate.adapters.formats.core.format import Format
    from evalgate.ports.outputs import RunOutput
    from evalgate.settings.setting import Setting

NAME = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)*")


def of_evaluator(kind: type[Evaluator]) -> list[str]:
    """What an evaluator does not say of itself."""
    (name,) = get_args(kind.model_fields["type"].annotation) or ("",)
    return [f"{name}: {each}" for each in (*_of_class(kind, name), *_of_fields(kind), *_of_names(kind))]


def _of_class(kind: type[Evaluator], name: str) -> Iterator[str]:
    if not name:
        yield "type"
    elif built_in_class(name) is None:
        yield "listed in the registry"
    if not (inspect.cleandoc(kind.__doc__ or "").partition("\n\n")[0].endswith(".")):
        yield "what it checks (docstring)"
    if not kind.words and kind.label is Evaluator.label:
        yield "the check in words (words or label)"
    if type(kind.version) is not int or kind.version < 1:
        yield "version"
    if "operator" in kind.model_fields and kind.compares_with not in kind.model_fields:
        yield "compares_with"
    own = kind.__mro__[: kind.__mro__.index(Evaluator)]
    if any("name" in vars(each).get("__annotations__", {}) for each in own) and not kind.judges_by_name:
        yield "judges_by_name"
    parser = Parser(lambda _: None)
    parser.parse_assertions([build_example(name, kind)], ())
    if parser.problems:
        yield "a valid example (examples of its fields)"


def _of_fields(kind: type[Evaluator]) -> Iterator[str]:
    with_role = {each.partition(".")[0] for each in (*kind.forbids, *kind.demands, *kind.judges_calls_of)}
    properties = kind.model_json_schema()["properties"]
    for name, field in kind.model_fields.items():
        if name == "type":
            continue
        if not (field.description or "").endswith("."):
            yield f"description of {name}"
        if not field.examples:
            yield f"example of {name}"
        has_order = name in kind.orders or name == kind.compares_with
        if name not in COMMON and not has_order and _is_number(properties[field.alias or name]):
            yield f"order of {name} (orders)"
    yield from (
        f"role of {name} (forbids, demands or judges_calls_of)"
        for name in find_tool_fields(kind)
        if name not in with_role
    )


def _is_number(described: dict[str, Any]) -> bool:
    return not {"number", "integer"}.isdisjoint(
        each.get("type", "") for each in (described, *described.get("anyOf", ()))
    )


def _of_names(kind: type[Evaluator]) -> Iterator[str]:
    """Facts about fields that there are not."""
    known = {*kind.model_fields, *kind.merged}
    roles = (each.partition(".")[0] for each in (*kind.forbids, *kind.demands, *kind.judges_calls_of))
    shown = (name for names in kind.merged.values() for name in names)
    yield from (f"field {name}" for name in (*roles, *kind.orders, *shown) if name not in known)


def read_documents(folder: Path) -> list[Any]:
    """The documents of a folder, and the lines of files that are not one document."""
    found = []
    for path in sorted(each for each in folder.rglob("*") if each.is_file()):
        content = path.read_bytes()
        try:
            found.append(orjson.loads(content))
        except orjson.JSONDecodeError:
            found += [orjson.loads(line) for line in content.splitlines() if line.startswith((b"{", b"["))]
    return found


def of_format(form: Format, documents: Sequence[Any]) -> list[str]:
    """What a format does not say of itself; `documents` are recorded in it."""
    facts = {
        "name": NAME.fullmatch(form.name) is not None,
        "what its files hold (needs)": bool(form.needs),
        "a recording": bool(documents),
        "how it is recognised (claims)": any(form.claims(each) for each in documents),
        "reader": _has_reader(form),
    }
    return [f"{form.name}: {fact}" for fact, is_there in facts.items() if not is_there]


def _has_reader(form: Format) -> bool:
    try:
        return form.reader.shapes is not None
    except (ImportError, AttributeError, TypeError, TraceError):
        return False


def of_setting(setting: Setting[Any]) -> list[str]:
    """What a setting does not say of itself."""
    text, default = setting.text, text_of_default(setting)
    facts = {
        "name": NAME.fullmatch(setting.name) is not None,
        "text of action.yml (help)": bool(text.help),
        "row of docs/github.md (row)": bool(text.row),
        "a default that its reader reads": not default or bool(text.expression) or _is_readable(setting, default),
        "help of its flag": setting.flag is None or bool(setting.flag.help),
    }
    return [f"{setting.name}: {fact}" for fact, is_there in facts.items() if not is_there]


def _is_readable(setting: Setting[Any], default: str) -> bool:
    try:
        return bool(setting.read(default) == setting.default)
    except ValueError:
        return False


def of_output(name: str, output: RunOutput, asked_by: Sequence[str]) -> list[str]:
    """What an output does not say of itself; `asked_by` are the settings that ask for it."""
    flags = vars(build_parser(["run"]).parse_args(["run"]))
    settings = {each.name.replace("-", "_") for each in all_settings()} | flags.keys()
    step_output = getattr(output, "step_output", "")
    facts = {
        "name": getattr(output, "name", "") == name,
        "what it is (docstring)": bool(type(output).__doc__),
        "a setting that asks for it (asked_by)": bool(asked_by) and settings.issuperset(asked_by),
        "the output of the step (step_output)": not step_output or step_output in STEP_OUTPUTS,
        "caution": bool(output.caution) or not (output.needs_traces and isinstance(output, FileOutput)),
    }
    return [f"{name}: {fact}" for fact, is_there in facts.items() if not is_there]
