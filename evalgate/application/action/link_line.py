"""The line of a comment that links to the services where the run was published."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.application.messages.request import TRACKING
from evalgate.reporting.text.escaping import is_safe_url

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.ports.outputs import ServiceLinks

LINE_LENGTH = 500
"""Characters that a comment of the greatest length leaves free."""
LABEL, SEPARATOR = "Tracked: ", " · "
LINK = r"\[[^\[\]\n]*\]\(https?://[^\s()<>]+\)"
LINE = re.compile(
    rf"^{LABEL}{LINK}(?:{SEPARATOR}{LINK})*(?:{SEPARATOR}\d+ more in {re.escape(TRACKING)})?$", re.MULTILINE
)
"""A line of links, as `format_links` writes it."""
TOTALS = "**Score** "
"""How the line of totals begins, below which the links are."""


def format_links(services: Sequence[ServiceLinks]) -> str:
    """One line of Markdown with a link to each URL, empty without any; further ones of a service are numbers.

    If not all fit, the first of each service come before further ones.
    """
    links = [
        (number, f"[{each.service if number == 1 else number}]({url})")
        for each in services
        for number, url in enumerate(each.urls, 1)
        if is_safe_url(url)
    ]
    room = LINE_LENGTH - len(LABEL)
    fitting = []
    for index, (_, link) in sorted(enumerate(links), key=lambda each: (each[1][0] > 1, each[0])):
        length = len(link) + len(SEPARATOR)
        if length <= room:
            room -= length
            fitting.append(index)
    if not fitting:
        return ""
    shown = [links[index][1] for index in sorted(fitting)]
    left = len(links) - len(shown)
    return LABEL + SEPARATOR.join([*shown, *([f"{left} more in {TRACKING}"] if left else [])])


def add_line(body: str, line: str) -> str:
    """The comment with the line below its totals, or at its end if a template leaves them out."""
    lines = body.rstrip("\n").split("\n")
    totals = next((number for number, each in enumerate(lines) if each.startswith(TOTALS)), len(lines) - 1)
    return "\n".join([*lines[: totals + 1], "", line, *lines[totals + 1 :]]) + "\n"


def find_line(body: str) -> str:
    """The line of links in a comment, empty if it has none."""
    found = LINE.search(body)
    return "" if found is None else found.group()
