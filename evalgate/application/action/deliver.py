"""Applies what came of outputs that were delivered after all else: files, notes, and links in comment and summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.application.action.post_comment import add_annotation, add_to_comment
from evalgate.application.messages.request import TRACKING
from evalgate.errors import InvalidInput
from evalgate.reporting.text.escaping import is_safe_url
from evalgate.reporting.text.sentences import escape_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.action.post_comment import CommentText
    from evalgate.models.run.chunks import Content
    from evalgate.ports import OutputFolder, PullRequest, StepOutput
    from evalgate.ports.outputs import Delivered, DeliveryNote, ServiceLinks


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


class LatePorts(Struct, frozen=True):
    """Where links and notes of late outputs are written; `comment` is what was posted, None for no comment.

    Without `folder` no file is written.
    """

    step: StepOutput
    folder: OutputFolder | None
    pull_request: PullRequest | None = None
    comment: CommentText | None = None
    summarise: bool = True


def apply_late(delivered: Sequence[Delivered], ports: LatePorts) -> None:
    """Writes files, notes and step outputs, then links into the comment and the summary.

    A failure is a warning and a line of the summary: nothing here changes the verdict.
    """
    for each in delivered:
        if ports.folder is not None:
            _write_files(each.files, ports.folder, ports.step)
        for note in each.notes:
            _show(note, ports.step)
    line = format_links([links for each in delivered for links in each.links])
    failures = [note.text for each in delivered for note in each.notes if note.level == "failure"]
    if ports.summarise and (line or failures):
        sentences = [escape_sentence(text[0].upper() + text[1:]) for text in failures]
        ports.step.summary("\n" + "\n\n".join([*filter(None, [line]), *sentences]))
    if line and ports.comment is not None and ports.pull_request is not None:
        add_to_comment(ports.comment, lambda body: add_line(body, line), ports.pull_request, ports.step)
    outputs = {name: value for each in delivered for name, value in each.outputs.items()}
    if outputs:
        ports.step.outputs(outputs)


def _write_files(files: Mapping[str, Content], folder: OutputFolder, step: StepOutput) -> None:
    for name, content in files.items():
        try:
            folder.write(name, content)
        except InvalidInput as error:
            add_annotation(step, "warning", f"{name} was not written: {error.problems[0]}")


def _show(note: DeliveryNote, step: StepOutput) -> None:
    if note.level in ("log", "detail"):
        step.log(note.text)
    else:
        add_annotation(step, "warning", note.text)


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
