"""The verbs `evaluators` and `fingerprint`, for people who write suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.cli.command import PLUGINS, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell
    from evalgate.evaluators.core.evaluator import Evaluator


def list_evaluators(arguments: Namespace, shell: Shell) -> int:
    """Prints a line per evaluator, or what one checks and its settings."""
    from evalgate.bootstrap.shell_tools import use_plugin_evaluators
    from evalgate.evaluators.core.field_problems import suggest
    from evalgate.evaluators.core.other_tools import find_equivalent
    from evalgate.evaluators.core.registry import BUILT_IN_TYPES, evaluator_class, evaluator_types
    from evalgate.evaluators.core.shorthands import COMMON
    from evalgate.measures.values.json_values import show
    from evalgate.reporting.text.flow_style import format_value

    use_plugin_evaluators(arguments.plugin, shell.cwd)
    name = arguments.evaluator
    if name is None:
        for each in evaluator_types():
            shell.print_safe(f"{each:18} {_describe(evaluator_class(each))[0]}")
        return 0
    evaluator = evaluator_class(name)
    if evaluator is None:
        hint = find_equivalent(name) or suggest(name, evaluator_types()) or "`evalgate evaluators` lists them all"
        raise SettingError(Problem(f"unknown evaluator {name[:40]!r}", None, hint))
    for line in _describe(evaluator):
        shell.print_safe(line)
    shell.print_line("")
    for setting, field in evaluator.model_fields.items():
        if setting != "type" and (setting not in COMMON or field.is_required()):
            default = field.get_default(call_default_factory=True)
            needed = (
                "required" if field.is_required() else "optional" if default is None else f"default {show(default)}"
            )
            shell.print_safe(f"  {field.alias or setting:20} {needed:26} {field.description or ''}".rstrip())
    shell.print_line("")
    shell.print_line(f"and as for all evaluators: {', '.join(COMMON)}")
    if name in BUILT_IN_TYPES:
        shell.print_line("")
        shell.print_line(f"- {format_value(build_example(name, evaluator))}")
    return 0


def build_example(name: str, evaluator: type[Evaluator]) -> dict[str, Any]:
    """A valid assertion of this built-in type: what it requires, and as many more settings as it takes to be valid."""
    from evalgate.evaluators.core.parse import Parser
    from evalgate.evaluators.core.shorthands import COMMON

    def is_valid(entry: dict[str, Any]) -> bool:
        parser = Parser(lambda _: None)
        parser.parse_assertions([entry], ())
        return not parser.problems

    example: dict[str, Any] = {"type": name}
    for setting, field in sorted(evaluator.model_fields.items(), key=lambda each: not each[1].is_required()):
        is_needed = field.is_required() or not (setting in COMMON or is_valid(example))
        if setting != "type" and is_needed and field.examples:
            example[field.alias or setting] = field.examples[0]
    return example


def _describe(evaluator: type[Evaluator] | None) -> list[str]:
    """The lines of an evaluator's docstring."""
    return [line.strip() for line in ((evaluator and evaluator.__doc__) or "").strip().split("\n")]


def print_fingerprint(arguments: Namespace, shell: Shell) -> int:
    """Prints a digest of files."""
    from evalgate.bootstrap.sources import build_fingerprints

    shell.print_line(build_fingerprints(shell.cwd).compute_fingerprint(arguments.globs))
    return 0


COMMANDS = {
    "evaluators": Command(
        list_evaluators,
        [
            option("evaluator", metavar="NAME", nargs="?", help="describe this evaluator and its settings"),
            PLUGINS,
        ],
        """examples:
  evalgate evaluators
  evalgate evaluators tool_sequence
""",
    ),
    "fingerprint": Command(
        print_fingerprint,
        [option("globs", nargs="+", metavar="GLOB", help="files, folders or globs, as in `freshness.watch`")],
        """examples:
  evalgate fingerprint 'agent/**' prompts/system.md
  AGENT_HASH=$(evalgate fingerprint 'agent/**') python record.py
""",
    ),
}
