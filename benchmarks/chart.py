"""Draws the table of the simulation as SVG: false alarms on the left, missed breaks on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Table = Sequence[Sequence[float | None]]

WIDTH, HEIGHT = 920, 400
TOP, BOTTOM = 60, 280
STYLE = (
    "text{font:13px sans-serif;fill:#1f2328}.title{font-weight:bold}.small{font-size:11px;fill:#59636e}"
    ".axis{stroke:#818b98;stroke-width:1}.grid{stroke:#d1d9e0;stroke-width:1}"
    "path{fill:none;stroke-width:2}"
)


class Line(NamedTuple):
    """A column of the table and how it is drawn."""

    column: int
    name: str
    colour: str
    dashes: str = ""


class Panel(NamedTuple):
    """One half of the picture; figures above `most` leave it at the top."""

    left: int
    right: int
    title: str
    most: float
    steps: int
    lines: tuple[Line, ...]


PANELS = (
    Panel(
        *(60, 420),
        "False alarms in a run of 50 scenarios",
        0.5,
        5,
        (
            Line(1, "no correction", "#0969da"),
            Line(3, "expected at most", "#818b98", "2 3"),
            Line(4, "Holm", "#bc4c00", "6 3"),
            Line(5, "Benjamini-Hochberg", "#8250df", "3 3"),
        ),
    ),
    Panel(
        *(520, 880),
        "Share missed of scenarios that always passed",
        1.0,
        5,
        (
            Line(6, "now pass in 75 % of trials", "#d4a72c"),
            Line(7, "now in 50 %", "#2da44e"),
            Line(8, "now in 25 %", "#1b7c83"),
            Line(9, "now never", "#0969da"),
            Line(10, "now never, Holm", "#bc4c00", "6 3"),
            Line(11, "now never, Benjamini-Hochberg", "#8250df", "3 3"),
        ),
    ),
)


def draw_picture(table: Table) -> str:
    """The whole SVG; the same table always gives the same text."""
    return "\n".join(_parts(table)) + "\n"


def _parts(table: Table) -> Iterator[str]:
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    yield "<title>False alarms and missed breaks by number of trials and correction</title>"
    yield f"<style>{STYLE}</style>"
    yield f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    for panel in PANELS:
        yield from _axes(panel, [line[0] for line in table])
        for place, line in enumerate(panel.lines):
            yield from _curve(panel, line, [row[line.column] for row in table])
            yield from _legend(panel, line, place)
    yield "</svg>"


def _axes(panel: Panel, trials: Sequence[float | None]) -> Iterator[str]:
    yield f'<text class="title" x="{panel.left}" y="{TOP - 24}">{panel.title}</text>'
    for step in range(panel.steps + 1):
        value = panel.most * step / panel.steps
        y = _y(panel, value)
        yield f'<line class="grid" x1="{panel.left}" y1="{y}" x2="{panel.right}" y2="{y}"/>'
        yield f'<text class="small" x="{panel.left - 8}" y="{y + 4}" text-anchor="end">{value:.1f}</text>'
    yield f'<line class="axis" x1="{panel.left}" y1="{BOTTOM}" x2="{panel.right}" y2="{BOTTOM}"/>'
    for place, number in enumerate(trials):
        x = _x(panel, place, len(trials))
        yield f'<text class="small" x="{x}" y="{BOTTOM + 16}" text-anchor="middle">{number:.0f}</text>'
    middle = (panel.left + panel.right) // 2
    yield f'<text class="small" x="{middle}" y="{BOTTOM + 32}" text-anchor="middle">trials a side</text>'


def _curve(panel: Panel, line: Line, values: Sequence[float | None]) -> Iterator[str]:
    """A path through the known values; a figure above the panel is written at its top."""
    points = []
    for place, value in enumerate(values):
        if value is None:
            continue
        x, y = _x(panel, place, len(values)), _y(panel, min(value, panel.most))
        points.append(f"{x} {y}")
        if value > panel.most and line is panel.lines[0]:
            yield f'<text class="small" x="{x + 6}" y="{y - 5}">{value:.1f} with one trial</text>'
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    yield f'<path stroke="{line.colour}"{dashes} d="M{" L".join(points)}"/>'


def _legend(panel: Panel, line: Line, place: int) -> Iterator[str]:
    x, y = panel.left + place % 2 * 180, BOTTOM + 58 + place // 2 * 20
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    yield f'<path stroke="{line.colour}"{dashes} d="M{x} {y - 4} L{x + 24} {y - 4}"/>'
    yield f'<text class="small" x="{x + 30}" y="{y}">{line.name}</text>'


def _x(panel: Panel, place: int, count: int) -> int:
    return panel.left + 12 + round(place * (panel.right - panel.left - 24) / max(count - 1, 1))


def _y(panel: Panel, value: float) -> int:
    return BOTTOM - round(value / panel.most * (BOTTOM - TOP))
