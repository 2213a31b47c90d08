"""Every evaluator, format, setting and output states its facts beside itself, and one that is missing is named."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any, Literal

import facts
import pytest
from assertion_examples import ALL, EXAMPLES, parse_assertion
from builders import make_call, make_trace
from msgspec.structs import replace
from trace_table import EXPECTATIONS, RECORDINGS

from evalgate.adapters import formats
from evalgate.adapters.formats.core.format import Format
from evalgate.adapters.formats.open.detect import FORMATS, LISTED
from evalgate.bootstrap.features import all_settings
from evalgate.bootstrap.outputs import OUTPUTS, load_output
from evalgate.evaluators import kinds
from evalgate.evaluators.base import Check, Evaluator, Finding
from evalgate.evaluators.core.evaluator import ToolName
from evalgate.evaluators.core.other_tools import find_equivalent
from evalgate.evaluators.core.registry import BUILT_IN_TYPES, built_in_class, list_classes
from evalgate.evaluators.kinds.calls.call_selection import TRAJECTORY_NAMES
from evalgate.settings.setting import Flag, Setting, SettingGroup, Text

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


class ToolOnce(Evaluator):
    """The tool is called at most once: as the guide says, but its author forgot what the names of tools mean."""

    type: Literal["tool_once"]
    name_of_it: ToolName
    tool: str = ""
    words = "{name_of_it} at most once"

    def compile(self) -> Check:
        """Counts."""

        def check(trace: Trace) -> Finding:
            return Finding("failed" if list(trace.called).count(self.name_of_it) > 1 else "passed", "")

        return check


def _class_of(name: str) -> type[Evaluator]:
    found = built_in_class(name)
    assert found is not None
    return found


@pytest.mark.parametrize("name", BUILT_IN_TYPES)
def test_an_evaluator_states_its_facts(name: str) -> None:
    missing = facts.of_evaluator(_class_of(name))
    missing += [] if name in EXAMPLES else [f"{name}: an example in tests/assertion_examples.py"]
    assert not missing, "\n".join(missing)


def test_every_evaluator_is_listed() -> None:
    modules = [each.name for each in pkgutil.walk_packages(kinds.__path__, f"{kinds.__name__}.") if not each.ispkg]
    names = [each.removeprefix(f"{kinds.__name__}.") for each in modules]
    found = {(kind, name) for name in names for kind in list_classes(name)}
    differing = sorted(found ^ BUILT_IN_TYPES.items())
    assert not differing, f"_FAMILIES in evaluators/core/registry.py and the classes differ in {differing}"


def test_a_pass_has_a_lower_score_only_where_the_evaluator_says_so() -> None:
    trace = make_trace(calls=[make_call("a")], response="a b c")
    score = {"name": "s", "score_value": 0.7, "score_label": None, "explanation": None, "source": None}
    trace.evaluations = [score]
    found = [(raw["type"], parse_assertion(raw).evaluate(trace)) for raw in ALL]
    graded = {kind for kind, each in found if each.outcome == "passed" and each.score not in (None, 1)}
    assert graded == {name for name in BUILT_IN_TYPES if _class_of(name).is_graded}


def test_a_name_in_another_tool_means_one_check_or_says_which() -> None:
    named = [name for kind in BUILT_IN_TYPES for name in _class_of(kind).other_names]
    assert {name for name in named if named.count(name) > 1} == set(TRAJECTORY_NAMES)
    assert [name for name in named if find_equivalent(name) is None] == []


EXPECTED_OF = {each.name: facts.read_documents(RECORDINGS / each.name) for each in FORMATS if each.name != EXPECTATIONS}
SETTINGS = {each.name: each for each in all_settings()}


def test_every_format_is_listed() -> None:
    packages = [each.name for each in pkgutil.iter_modules(formats.__path__) if each.ispkg]
    found = {
        f"{name}.{constant}"
        for name in packages
        for constant, value in vars(importlib.import_module(f"{formats.__name__}.{name}")).items()
        if isinstance(value, Format)
    }
    differing = sorted(found ^ set(LISTED))
    assert not differing, f"LISTED in formats/open/detect.py and the packages differ in {differing}"


@pytest.mark.parametrize("name", EXPECTED_OF)
def test_a_format_states_its_facts(name: str) -> None:
    assert facts.of_format(_format(name), EXPECTED_OF[name]) == []


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_states_its_facts(name: str) -> None:
    assert facts.of_setting(SETTINGS[name]) == []


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_states_its_facts(name: str) -> None:
    assert facts.of_output(name, load_output(name), OUTPUTS[name].asked_by) == []


def _format(name: str) -> Format:
    return next(each for each in FORMATS if each.name == name)


def _changed(name: str, **members: Any) -> type[Evaluator]:
    """The evaluator with other facts; a field is given as its annotation in `fields`."""
    kind, fields = _class_of(name), members.pop("fields", {})
    made = {"__doc__": kind.__doc__, "__module__": kind.__module__, "__annotations__": fields, **members}
    return type(kind.__name__, (kind,), made)


EVALUATORS_THAT_LACK: dict[str, type[Evaluator]] = {
    ": type": _changed("no_loops", fields={"type": str}),
    "tool_once: listed in the registry": ToolOnce,
    "tool_once: role of name_of_it (forbids, demands or judges_calls_of)": ToolOnce,
    "tool_once: role of tool (forbids, demands or judges_calls_of)": ToolOnce,
    "no_loops: what it checks (docstring)": _changed("no_loops", __doc__=""),
    "no_loops: the check in words (words or label)": _changed("no_loops", words=""),
    "no_loops: version": _changed("no_loops", version=0),
    "no_loops: order of max_repeats (orders)": _changed("no_loops", orders={}),
    "no_loops: field repeats": _changed("no_loops", orders={"max_repeats": "at_most", "repeats": "at_most"}),
    "no_loops: description of max_repeats": _changed("no_loops", fields={"max_repeats": int}),
    "no_loops: example of max_repeats": _changed("no_loops", fields={"max_repeats": int}),
    "turn_limit: a valid example (examples of its fields)": _changed("turn_limit", fields={"max_turns": int}),
    "forbidden_tools: role of tools (forbids, demands or judges_calls_of)": _changed("forbidden_tools", forbids=()),
    "tool_sequence: role of sequence (forbids, demands or judges_calls_of)": _changed("tool_sequence", demands=()),
    "tool_arguments: role of tool (forbids, demands or judges_calls_of)": _changed(
        "tool_arguments", judges_calls_of=()
    ),
    "tool_sequence: field is_closed": _changed("tool_sequence", merged={"is_ordered": ("mode",)}),
    "recorded_score: judges_by_name": _changed("recorded_score", judges_by_name=False),
    "output_numeric: compares_with": _changed("output_numeric", compares_with=""),
}


@pytest.mark.parametrize("fact", EVALUATORS_THAT_LACK)
def test_a_fact_that_an_evaluator_lacks_is_named(fact: str) -> None:
    assert fact in facts.of_evaluator(EVALUATORS_THAT_LACK[fact])


@pytest.mark.parametrize(
    ("fact", "change"),
    [
        (": name", {"name": ""}),
        ("codex: what its files hold (needs)", {"needs": ""}),
        ("codex: how it is recognised (claims)", {"claims": lambda _: False}),
        ("codex: reader", {"reader_name": "READER_OF_NOTHING"}),
    ],
)
def test_a_fact_that_a_format_lacks_is_named(fact: str, change: dict[str, Any]) -> None:
    assert facts.of_format(replace(_format("codex"), **change), EXPECTED_OF["codex"]) == [fact]


def test_a_format_without_a_recording_is_named() -> None:
    assert "codex: a recording" in facts.of_format(_format("codex"), [])


class Lacking(SettingGroup):
    """Settings that lack a fact each, after which they are named."""

    no_help = Setting("", str, Text("", "a row"))
    no_row = Setting("", str, Text("help", ""))
    no_reader = Setting("5", int, Text("help", "a row"))
    no_flag_help = Setting("", str, Text("help", "a row"), flag=Flag(""))


def test_a_fact_that_a_setting_lacks_is_named() -> None:
    assert [facts.of_setting(each) for each in Lacking.declared()] == [
        ["no-help: text of action.yml (help)"],
        ["no-row: row of docs/github.md (row)"],
        ["no-reader: a default that its reader reads"],
        ["no-flag-help: help of its flag"],
    ]


@pytest.mark.parametrize(
    ("fact", "change", "asked_by"),
    [
        ("name", {"name": "other.html"}, ("html",)),
        ("what it is (docstring)", {"__doc__": ""}, ("html",)),
        ("a setting that asks for it (asked_by)", {}, ("html", "no_such_flag")),
        ("a setting that asks for it (asked_by)", {}, ()),
        ("the output of the step (step_output)", {"step_output": "no-such-output"}, ("html",)),
        ("caution", {"caution": ""}, ("html",)),
    ],
)
def test_a_fact_that_an_output_lacks_is_named(fact: str, change: dict[str, Any], asked_by: tuple[str, ...]) -> None:
    page = type(load_output("report.html"))
    lacking = type("Lacking", (page,), {"__doc__": page.__doc__, **change})
    assert facts.of_output("report.html", lacking(), asked_by) == [f"report.html: {fact}"]


def test_a_field_that_names_tools_and_has_no_role_is_never_silent() -> None:
    for is_negated in (False, True):
        found = ToolOnce.find_unseen({"name_of_it": "a"}, is_negated=is_negated)
        assert (found.forbidden, found.needed) == ([], ["name_of_it", "tool"])
