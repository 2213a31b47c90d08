"""Delivers the outputs of a judged run, and applies what came of it to the files, the step and the comment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from evalgate.application.action.link_line import add_line, format_links
from evalgate.application.action.post_comment import add_annotation, add_to_comment
from evalgate.errors import InvalidInput
from evalgate.reporting.text.sentences import escape_sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from evalgate.application.action.post_comment import CommentText
    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports import OutputFolder, PullRequest, StepOutput
    from evalgate.ports.outputs import AskedOutput, Delivered, DeliveryNote


class LatePorts(Struct, frozen=True):
    """Where links and notes of late outputs are written; `comment` is what was posted, None for no comment.

    Without `folder` no file is written.
    """

    step: StepOutput
    folder: OutputFolder | None
    pull_request: PullRequest | None = None
    comment: CommentText | None = None
    summarise: bool = True


def deliver(
    asked: Sequence[AskedOutput], contents: Mapping[str, Content], results: ResultsDoc, *, is_late: bool
) -> list[Delivered]:
    """Delivers the outputs of one moment that have a content."""
    return [
        each.output.deliver(contents[each.source], results)
        for each in asked
        if each.output.is_late is is_late and each.source in contents
    ]


def list_unkept(asked: Sequence[AskedOutput]) -> list[str]:
    """The names of contents that are not written to the output folder."""
    return [each.output.name for each in asked if not each.output.is_kept]


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
