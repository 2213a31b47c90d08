"""The outputs of a run by name: those of the kernel, of features, and in a shell of installed packages.

A suite or a pull request can't add one: an output of a package is installed, and named by `--also`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.bootstrap.feature import OutputDeclaration
from evalgate.bootstrap.features import FEATURES, load_port
from evalgate.errors import InvalidInput, Problem, SettingError
from evalgate.ports.outputs import (
    COMMENT,
    JUNIT,
    STANDARD,
    AskedOutput,
    OutputSettings,
    RunOutput,
    deliver,
    list_unkept,
)
from evalgate.settings.setting import load_object

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from evalgate.application.messages.request import Judgement
    from evalgate.ports import OutputFolder
    from evalgate.ports.outputs import Delivered
    from evalgate.ports.store import RunStore

ALSO = "also"
"""The setting that names outputs of installed packages."""
_FILES = "evalgate.application.documents.report_files"
OUTPUTS: Mapping[str, OutputDeclaration] = {
    JUNIT: OutputDeclaration(f"{_FILES}:JUnitFile", ("junit_path",)),
    "results.sarif": OutputDeclaration(f"{_FILES}:SarifFile", ("sarif", "sarif_path")),
    "code-quality.json": OutputDeclaration(f"{_FILES}:CodeQualityFile", ("code_quality",)),
    **{name: output for feature in FEATURES for name, output in feature.outputs.items()},
}
"""What a user can ask for, in the order of delivery. Other files of the kernel are of every run."""


def load_output(name: str) -> RunOutput:
    """A new output of the kernel or a feature; raises KeyError."""
    from evalgate.application.documents.report_files import CommentFile, load_report_file

    if name == COMMENT:
        return CommentFile(lambda results: str(load_port("comment_part_for_agent")(results)))
    return load_object(OUTPUTS[name].implementation)() if name in OUTPUTS else load_report_file(name)


def load_any_output(name: str) -> RunOutput:
    """A new output, also of an installed package: for the judge of a shell only."""
    if name in OUTPUTS or name in STANDARD:
        return load_output(name)
    from evalgate.bootstrap.installed_outputs import find_installed_outputs, load_installed_output

    return load_installed_output(find_installed_outputs(OUTPUTS)[name])


def prepare_outputs(settings: OutputSettings, environ: Mapping[str, str]) -> list[AskedOutput]:
    """The outputs that the settings ask for, ready to be made; raises SettingError."""
    asked = []
    for output in _list_asked(settings):
        options = output.prepare(settings, environ)
        if options is not None:
            asked.append(AskedOutput(output, options))
    return asked


def options_for_judge(asked: Sequence[AskedOutput]) -> dict[str, Any]:
    """The options of what the judge makes for these outputs, by name."""
    return {each.output.name: each.options for each in asked if not each.output.delivers}


def _list_asked(settings: OutputSettings) -> Iterator[RunOutput]:
    for declaration in OUTPUTS.values():
        if any(settings.given.get(name) for name in declaration.asked_by):
            yield load_object(declaration.implementation)()
    if settings.given.get(ALSO):
        yield from _list_installed(dict.fromkeys(settings.given[ALSO]))


def _list_installed(names: Iterable[str]) -> Iterator[RunOutput]:
    from evalgate.bootstrap.installed_outputs import find_installed_outputs, load_installed_output

    for name in names:
        installed = find_installed_outputs(OUTPUTS)
        if name not in installed:
            hint = f"installed: {', '.join(sorted(installed))}" if installed else "no installed package has one"
            raise SettingError(Problem(f"--also: there is no output {name[:60]!r}", None, hint))
        yield load_installed_output(installed[name])


LEVELS = {"notice": "note"}
"""How a shell calls a level of a workflow."""


class ShellOutputs:
    """The outputs of one run; raises SettingError for flags that ask for what there is not."""

    def __init__(
        self,
        flags: Mapping[str, Any],
        environ: Mapping[str, str],
        cwd: str,
        branch: str | None,
        note: Callable[[str], None],
    ) -> None:
        self._cwd, self._is_quiet, self._note = cwd, flags["quiet"], note
        self._notes: list[str] = []
        self.asked = prepare_outputs(OutputSettings(flags, cwd, self._keep_note, branch), environ)
        self.unkept = list_unkept(self.asked)
        self.cautions: list[str] = []

    def write_named(self, judgement: Judgement) -> None:
        """Writes the files at paths that the user named."""
        from evalgate.adapters.file_writer import open_named
        from evalgate.models.run.chunks import join_chunks

        for asked in self.asked:
            for each in deliver([asked], judgement.files, judgement.results, is_late=False):
                for path, content in each.copies.items():
                    with open_named(path, self._cwd) as stream:
                        stream.write(join_chunks(content))
                    if asked.output.caution:
                        self.cautions.append(f"{path} ({asked.output.caution})")

    def deliver_late(self, judgement: Judgement, folder: OutputFolder, store: RunStore | None) -> None:
        """Saves and publishes the run; what fails is a line on stderr and changes nothing."""
        if store is not None:
            self._deliver([AskedOutput(store)], judgement, folder)
        if not judgement.problems:
            for line in self._notes:
                self._note(line)
            self._deliver(self.asked, judgement, folder)

    def _deliver(self, asked: Sequence[AskedOutput], judgement: Judgement, folder: OutputFolder) -> None:
        for each in deliver(asked, judgement.files, judgement.results, is_late=True):
            for name, content in each.files.items():
                try:
                    folder.write(name, content)
                except InvalidInput as error:
                    self._note(f"warning: {name} was not written: {error.problems[0]}")
            self._show(each)

    def _show(self, delivered: Delivered) -> None:
        """Notes what was done, then what failed."""
        for note in delivered.notes:
            if note.level == "log" or (note.level == "detail" and not self._is_quiet):
                self._note(note.text)
        for note in delivered.notes:
            if note.level in ("warning", "failure"):
                self._note(f"warning: {note.text}")

    def _keep_note(self, level: str, text: str) -> None:
        self._notes.append(f"{LEVELS.get(level, level)}: {text}")
