"""The outputs of a run by name: those of the kernel, of features, and in a shell of installed packages.

A suite or a pull request can't add one: an output of a package is installed, and named by `--also`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.bootstrap.feature import OutputDeclaration, load_object
from evalgate.bootstrap.features import FEATURES
from evalgate.errors import Problem, SettingError
from evalgate.ports.outputs import JUNIT, STANDARD, AskedOutput, RunOutput

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from evalgate.ports.outputs import OutputSettings

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
    from evalgate.application.documents.report_files import load_report_file

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
