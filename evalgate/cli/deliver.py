"""The outputs that a run in a shell was asked for: prepared before it, delivered and noted after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.application.action.deliver import deliver, list_unkept
from evalgate.bootstrap.outputs import prepare_outputs
from evalgate.errors import InvalidInput
from evalgate.models.run.chunks import join_chunks
from evalgate.ports.outputs import AskedOutput, OutputSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.application.messages.request import Judgement
    from evalgate.cli.shell import Shell
    from evalgate.ports import OutputFolder
    from evalgate.ports.outputs import Delivered
    from evalgate.ports.store import RunStore

LEVELS = {"notice": "note"}
"""How a shell calls a level of a workflow."""


class ShellOutputs:
    """The outputs of one run; raises SettingError for flags that ask for what there is not."""

    def __init__(self, arguments: Namespace, shell: Shell, branch: str | None) -> None:
        self._shell, self._is_quiet = shell, arguments.quiet
        self._notes: list[str] = []
        self.asked = prepare_outputs(OutputSettings(vars(arguments), shell.cwd, self._note, branch), shell.environ)
        self.unkept = list_unkept(self.asked)
        self.cautions: list[str] = []

    def write_named(self, judgement: Judgement) -> None:
        """Writes the files at paths that the user named."""
        from evalgate.adapters.file_writer import open_named

        for asked in self.asked:
            for each in deliver([asked], judgement.files, judgement.results, is_late=False):
                for path, content in each.copies.items():
                    with open_named(path, self._shell.cwd) as stream:
                        stream.write(join_chunks(content))
                    if asked.output.caution:
                        self.cautions.append(f"{path} ({asked.output.caution})")

    def deliver_late(self, judgement: Judgement, folder: OutputFolder, store: RunStore | None) -> None:
        """Saves and publishes the run; what fails is a line on stderr and changes nothing."""
        if store is not None:
            self._deliver([AskedOutput(store)], judgement, folder)
        if not judgement.problems:
            for line in self._notes:
                self._shell.note(line)
            self._deliver(self.asked, judgement, folder)

    def _deliver(self, asked: Sequence[AskedOutput], judgement: Judgement, folder: OutputFolder) -> None:
        for each in deliver(asked, judgement.files, judgement.results, is_late=True):
            for name, content in each.files.items():
                try:
                    folder.write(name, content)
                except InvalidInput as error:
                    self._shell.note(f"warning: {name} was not written: {error.problems[0]}")
            self._show(each)

    def _show(self, delivered: Delivered) -> None:
        """Notes what was done, then what failed."""
        for note in delivered.notes:
            if note.level == "log" or (note.level == "detail" and not self._is_quiet):
                self._shell.note(note.text)
        for note in delivered.notes:
            if note.level in ("warning", "failure"):
                self._shell.note(f"warning: {note.text}")

    def _note(self, level: str, text: str) -> None:
        self._notes.append(f"{LEVELS.get(level, level)}: {text}")
