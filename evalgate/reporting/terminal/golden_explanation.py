"""Explains a golden in a terminal: its dimensions, what changed them, and its issues."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.models.run.golden import DIMENSIONS
from evalgate.reporting.markdown.golden_rows import draw_bar
from evalgate.reporting.text import wording
from evalgate.scoring.golden.rules import level

if TYPE_CHECKING:
    from evalgate.models.results.results import ScenarioDoc
    from evalgate.models.results.results_golden import GoldenDoc, IssueDoc
    from evalgate.reporting.terminal.terminal_page import TerminalPage

MAX_ISSUES = 20
LABEL_WIDTH = 24
_COLOURS = {"critical": "red", "error": "red", "warning": "yellow"}


def add_golden(page: TerminalPage, scenario: ScenarioDoc) -> None:
    """Adds a golden's dimensions over its trials, then its issues; nothing if it is no golden."""
    golden = scenario.get("golden")
    if golden is None:
        return
    page.add_title(f"Golden conversation (version {golden['version']})")
    if golden["title"]:
        page.add_text(golden["title"], indent=2)
    if golden["level"]:
        status = f", {golden['regression_status']}" if golden["regression_status"] else ""
        page.add_text(f"{golden['level']}{status}", indent=2)
    for name in DIMENSIONS:
        if name in (scenario["dimensions"] or {}):
            page.add_text(_format_dimension(name, (scenario["dimensions"] or {})[name], golden), indent=2)
    for issue in golden["issues"][:MAX_ISSUES]:
        page.add_labelled(issue["severity"], _format_issue(issue), _COLOURS.get(issue["severity"], "dim"), indent=2)
    left = len(golden["issues"]) - MAX_ISSUES
    if left > 0:
        page.add_text(f"and {wording.pluralize(left, 'more issue')}", indent=2)


def _format_dimension(name: str, score: float | None, golden: GoldenDoc) -> str:
    """Formats a dimension: `tool success rate  ##--- 0.50 poor (-0.50, turn 2)`."""
    label = name.replace("_", " ").ljust(LABEL_WIDTH)
    if score is None:
        return f"{label}not evaluable{_format_move(name, golden)}"
    return f"{label}{draw_bar(score)} {wording.score(score)} {level(score)}{_format_move(name, golden)}"


def _format_move(name: str, golden: GoldenDoc) -> str:
    move = next((each for each in golden["moves"] if each["dimension"] == name), None)
    if move is None:
        return ""
    turn = "" if move["turn"] is None else f", turn {move['turn'] + 1}"
    if move["delta"] is None:
        return f" (was {wording.score(move['before'])})"
    return f" ({wording.points(move['delta'])}{turn})"


def _format_issue(issue: IssueDoc) -> str:
    turn = "" if issue["turn"] is None else f"turn {issue['turn'] + 1}: "
    evidence = f" ({issue['evidence']})" if issue["evidence"] else ""
    return f"{turn}{issue['message']}{evidence}"
