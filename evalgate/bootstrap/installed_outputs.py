"""Outputs of installed packages (entry points): in a shell, asked for by name, and never able to change a verdict."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from evalgate.errors import EvalGateError, Problem, SettingError
from evalgate.models.run.chunks import ChunkedText
from evalgate.ports.outputs import STANDARD, Delivered, DeliveryNote, Rendered, RunOutput

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from importlib.metadata import EntryPoint

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports.outputs import OutputSettings, OutputSource, RunSubject

GROUP = "evalgate.outputs"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")
RESERVED = {*STANDARD, "baseline.zip", "manifest.json", "shard.zip", "tracking.json"}


def find_installed_outputs(taken: Collection[str]) -> dict[str, EntryPoint]:
    """Entry points by name, without those that take a name of EvalGate's."""
    from importlib.metadata import entry_points  # slow to import, so only where such an output is asked for

    offered = sorted(entry_points(group=GROUP), key=lambda entry: (entry.name, entry.value))
    return {entry.name: entry for entry in reversed(offered) if entry.name not in {*taken, *RESERVED}}


def load_installed_output(entry: EntryPoint) -> RunOutput:
    """A new output of the package; raises SettingError if it can't be used."""
    label = f"installed output {entry.name} ({entry.value})"
    try:
        output = entry.load()()
    except (Exception, SystemExit) as error:  # noqa: BLE001  (code of others may raise anything)
        raise SettingError(f"{label} can't be imported ({type(error).__name__})") from None
    if not isinstance(output, RunOutput) or getattr(output, "name", "") != entry.name:
        hint = f"it must be a subclass of evalgate.ports.outputs.RunOutput with `name = {entry.name!r}`"
        raise SettingError(Problem(f"{label} is not an output", None, hint))
    if not NAME.fullmatch(output.name):
        raise SettingError(Problem(f"{label} has no valid name", None, "use small letters, digits, . - and _"))
    return _InstalledOutput(output, label)


class _InstalledOutput(RunOutput):
    """An output of others: what its code raises after the start is a warning."""

    def __init__(self, output: RunOutput, label: str) -> None:
        self._output, self._label = output, label
        self.name, self.delivers, self.caution = output.name, output.delivers, output.caution
        self.is_kept, self.is_late, self.needs_traces = output.is_kept, output.is_late, output.needs_traces

    def prepare(self, settings: OutputSettings, environ: Mapping[str, str]) -> Any:
        """Raises SettingError for any error."""
        try:
            return self._output.prepare(settings, environ)
        except EvalGateError:
            raise
        except Exception as error:  # noqa: BLE001  (code of others may raise anything)
            raise SettingError(f"{self._label} can't be prepared ({type(error).__name__})") from None

    def render(self, source: OutputSource, options: Any) -> Rendered:
        """The content; none, and a warning, for any error."""
        try:
            made: Any = self._output.render(source, options)
            content, warnings = made
        except Exception as error:  # noqa: BLE001  (the same)
            return Rendered(None, [f"{self._label} was not made ({type(error).__name__})"])
        if isinstance(content, bytes | ChunkedText | None):
            return Rendered(content, [str(each) for each in warnings])
        return Rendered(None, [f"{self._label} was not made (its content is {type(content).__name__}, not bytes)"])

    def is_allowed(self, content: Content, results: ResultsDoc, subject: RunSubject, options: Any) -> bool:
        """As the output says; only a job asks, which has none of a package."""
        return self._output.is_allowed(content, results, subject, options)

    def deliver(self, content: Content, results: ResultsDoc) -> Delivered:
        """What became of it; any error is a warning."""
        try:
            return self._output.deliver(content, results)
        except Exception as error:  # noqa: BLE001  (the same)
            return Delivered(
                notes=[DeliveryNote("failure", f"{self._label} was not delivered ({type(error).__name__})")]
            )
