"""Makes the outputs of a run in the judge, and checks those that a sandboxed judge made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.ports.outputs import OutputSource
from evalgate.reporting.text.grouping import group_scenarios
from evalgate.reporting.text.root_paths import with_root_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from evalgate.models.results.results import ResultsDoc
    from evalgate.models.run.chunks import Content
    from evalgate.ports.outputs import RenderOptions, RunOutput, RunSubject

    LoadOutput = Callable[[str], RunOutput]


def make_source(results: ResultsDoc, subject: RunSubject, options: RenderOptions, origin: str = "") -> OutputSource:
    """What the outputs show of these results: paths are converted and scenarios grouped once for all of them."""
    shown = with_root_paths(results)
    return OutputSource(results, shown, group_scenarios(shown), subject, options, origin)


def render_outputs(
    asked: Mapping[str, Any], source: OutputSource, load: LoadOutput
) -> tuple[dict[str, Content], list[str]]:
    """The contents by the names of their outputs, and warnings; `asked` are options by name."""
    contents: dict[str, Content] = {}
    warnings: list[str] = []
    for name, options in asked.items():
        rendered = load(name).render(source, options)
        warnings += rendered.warnings
        if rendered.content is not None:
            contents[name] = rendered.content
    return contents, warnings


def keep_allowed(
    contents: Mapping[str, Content],
    results: ResultsDoc,
    subject: RunSubject,
    asked: Mapping[str, Any],
    load: LoadOutput,
) -> tuple[dict[str, Content], list[str]]:
    """The contents of an untrusted judge that are of this run, and a warning for each other one."""
    kept: dict[str, Content] = {}
    warnings: list[str] = []
    for name, content in contents.items():
        output = load(name)
        if output.is_allowed(content, results, subject, asked.get(name)):
            kept[name] = content
        else:
            warnings.append(output.refusal)
    return kept, warnings
