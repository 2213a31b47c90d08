"""Explains a golden in a terminal: its dimensions, what changed them, and its issues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.run.dimension import DIMENSIONS
from evalgate.reporting.markdown.golden_rows import bar
from evalgate.reporting.text import wording
from evalgate.scoring.golden.levels import level

if TYPE_CHECKING:
    from evalgate.models.results.results import ScenarioDoc
    from evalgate.models.results.results_golden import GoldenDoc, IssueDoc
    from evalgate.reporting.terminal.terminal_page import TerminalPage

MOST_ISSUES = 20
WIDTH = 24
_COLOURS = {"critical": "red", "error": "red", "warning": "yellow"}


def golden_lines(page: TerminalPage, scenario: ScenarioDoc) -> None:
    """Adds a golden's dimensions over its trials, then its issues; nothing if it is no golden."""
    golden = scenario.get("golden")
    if golden is None:
        return
    page.title(f"Golden conversation (version {golden['version']})")
    if golden["title"]:
        page.say(golden["title"], indent=2)
    if golden["level"]:
        status = f", {golden['regression_status']}" if golden["regression_status"] else ""
        page.say(f"{golden['level']}{status}", indent=2)
    for name in DIMENSIONS:
        if name in (scenario["dimensions"] or {}):
            page.say(_dimension(name, (scenario["dimensions"] or {})[name], golden), indent=2)
    for issue in golden["issues"][:MOST_ISSUES]:
        page.labelled(issue["severity"], _issue(issue), _COLOURS.get(issue["severity"], "dim"), indent=2)
    left = len(golden["issues"]) - MOST_ISSUES
    if left > 0:
        page.say(f"and {wording.counted(left, 'more issue')}", indent=2)


def _dimension(name: str, score: float | None, golden: GoldenDoc) -> str:
    """Formats a dimension: `tool success rate  ##--- 0.50 poor (-0.50, turn 2)`."""
    label = name.replace("_", " ").ljust(WIDTH)
    if score is None:
        return f"{label}not evaluable{_moved(name, golden)}"
    return f"{label}{bar(score)} {wording.score(score)} {level(score)}{_moved(name, golden)}"


def _moved(name: str, golden: GoldenDoc) -> str:
    move = next((each for each in golden["moves"] if each["dimension"] == name), None)
    if move is None:
        return ""
    turn = "" if move["turn"] is None else f", turn {move['turn'] + 1}"
    if move["delta"] is None:
        return f" (was {wording.score(move['before'])})"
    return f" ({wording.points(move['delta'])}{turn})"


def _issue(issue: IssueDoc) -> str:
    turn = "" if issue["turn"] is None else f"turn {issue['turn'] + 1}: "
    evidence = f" ({issue['evidence']})" if issue["evidence"] else ""
    return f"{turn}{issue['message']}{evidence}"
