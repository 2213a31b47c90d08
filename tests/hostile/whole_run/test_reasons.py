"""Trials that fail one check for different reasons say so everywhere: none of the reasons hides another."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
from command import evalgate

from evalgate.cli import main
from evalgate.cli.shell import Shell
from hostile.suite_edits import write

if TYPE_CHECKING:
    from pathlib import Path

BOOKS = {"tool": "book_flight", "args": {"flight_id": "TP533"}}
CHECK = {"type": "tool_sequence", "sequence": [BOOKS], "mode": "in_order", "required": True, "name": "books"}
MANY = ["TP1", "AB2", "CD3", "EF4", "GH5", None]


def recorded(flight: str | None, *, earlier: int = 0) -> dict[str, Any]:
    """A trace that books a flight, or none, after so many other calls."""
    calls = [("search", {"q": number}) for number in range(earlier)]
    calls += [("book_flight", {"flight_id": flight})] if flight else []
    messages: list[Any] = [{"role": "user", "content": "a flight, please"}]
    for number, (name, arguments) in enumerate(calls):
        call = {"id": f"c{number}", "name": name, "arguments": arguments}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{number}", "content": "done"},
        ]
    messages.append({"role": "assistant", "content": "Here you are."})
    return {"schema": "evalgate.trace/1", "scenario_id": "trip", "messages": messages}


def run(folder: Path, traces: list[dict[str, Any]]) -> dict[str, str]:
    """What the terminal, the comment, JUnit, the annotations, `explain` and the page say of the run."""
    scenarios = [{"id": "trip", "assertions": [CHECK]}]
    suite = {"version": 1, "suite": "trips", "traces": ["traces/*"], "scenarios": scenarios}
    write(folder, {"s.yaml": suite, **{f"traces/{n}.json": {**each, "trial": n} for n, each in enumerate(traces)}})
    ran = evalgate(folder, ["s.yaml"])
    assert ran.code == 1
    texts = {"terminal": ran.stdout, "comment": ran.text("comment.md")}
    texts["junit"] = ran.text("junit.xml")
    for verb, arguments in (("explain", ["trip"]), ("view", [])):
        shell = Shell(io.StringIO(), io.StringIO(), {}, str(folder))
        assert main([verb, *arguments], shell) == 0, shell.err.getvalue()
        texts[verb] = shell.out.getvalue()
    texts["view"] = (folder / ".evalgate/report.html").read_text()
    return texts


@pytest.mark.parametrize("place", ["terminal", "comment", "junit", "explain", "view"])
def test_two_reasons_are_two(tmp_path, place):
    text = run(tmp_path, [recorded(None), recorded("TP534"), recorded(None)])[place]
    assert "2 of 3: " in text
    assert "1 of 3: " in text
    assert "TP534" in text


@pytest.mark.parametrize("place", ["terminal", "comment", "junit", "explain", "view"])
def test_reasons_that_differ_only_in_the_number_of_the_call_are_one(tmp_path, place):
    text = run(tmp_path, [recorded("TP534", earlier=number) for number in range(3)])[place]
    assert "TP534" in text
    assert "2 of 3: " not in text


def test_of_many_reasons_three_are_shown_and_the_others_counted(tmp_path):
    texts = run(tmp_path, [recorded(flight) for flight in MANY])
    for place in ("terminal", "comment", "junit"):
        assert texts[place].count("1 of 6: ") == (6 if place == "junit" else 3)  # in its message and its text
        assert ("and 1 more" if place == "terminal" else "and 3 more reasons") in texts[place]


def test_one_failed_trial_of_several_has_one_reason(tmp_path):
    texts = run(tmp_path, [recorded("TP533"), recorded("TP534"), recorded("TP533")])
    assert "1 of 3: " not in texts["comment"]
    assert "TP534" in texts["comment"]
