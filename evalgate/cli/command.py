"""Commands as tables of options, and the options that several commands share."""

from __future__ import annotations

from argparse import ArgumentTypeError
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.cli.shell import STDOUT
from evalgate.errors import SettingError
from evalgate.models.results.document_names import OUTPUT_FOLDER
from evalgate.settings import limits
from evalgate.settings.inputs import Inputs
from evalgate.settings.readers import OneOf, OneOrMoreOf, read_file_path, read_lines, read_text

if TYPE_CHECKING:
    import argparse
    from argparse import Namespace
    from collections.abc import Callable, Mapping, Sequence

    from evalgate.cli.shell import Shell
    from evalgate.errors import OverLimit
    from evalgate.settings.setting import Setting
    from evalgate.suite.models import Form, Suite

    Option = Callable[[Any], object]

AUTO, CUSTOM = "auto", "custom"


def _choose_action(arguments: Namespace, _: Shell) -> int:
    """What a verb does without one of its actions, which its parser requires."""
    raise SettingError(f"evalgate {arguments.verb} requires an action")


class Command(NamedTuple):
    """A verb, or an action of a verb: what it does, and the table of its options.

    `over_limit` reports that it exceeded the limits of its process; without it that is an error. `metavar` names
    the actions in the usage; in brackets they are optional.
    """

    run: Callable[[Namespace, Shell], int] = _choose_action
    options: Sequence[Option] = ()
    examples: str | None = None
    purpose: str = ""
    over_limit: Callable[[Namespace, Shell, OverLimit], int] | None = None
    actions: Mapping[str, Command] | None = None
    metavar: str = "ACTION"
    usage: str | None = None


def option(*names: str, **settings: Any) -> Option:
    """An argument or a flag, described as in `add_argument`."""
    return lambda parser: parser.add_argument(*names, **settings)


def flag(setting: Setting[Any]) -> Option:
    """The flag of a setting, as its declaration describes it."""
    declared, kind = setting.flag, _kind_of(setting.read)
    if declared is None:
        raise ValueError(f"{setting.name} has no flag")
    named = f"--{declared.name or setting.name}"
    return option(named, default=declared.default, metavar=declared.metavar, help=declared.help, **kind)


def _kind_of(read: Callable[[str], Any]) -> dict[str, Any]:
    """How argparse reads what an input of the Action reads so."""
    if isinstance(read, OneOf):
        return {"choices": [*read.words]}
    if isinstance(read, OneOrMoreOf):
        return {"type": parse_words}
    if read is read_lines:
        return {"action": "append"}
    return {} if read in _AS_WRITTEN else {"type": partial(_read_value, read)}


_AS_WRITTEN = frozenset({read_text, read_file_path})
"""Readers of what a verb checks by itself: in a shell a path may lead out of the working directory."""


def _read_value(read: Callable[[str], Any], text: str) -> Any:
    try:
        return read(text)
    except ValueError as error:
        raise ArgumentTypeError(str(error)) from None


RUN_HELP = "its folder, results.json or baseline.zip"
"""What names a finished run, wherever a verb reads one."""
RUN = option(
    "run",
    nargs="?",
    metavar="RUN",
    default=OUTPUT_FOLDER,
    help=f"a finished run: {RUN_HELP} (default {OUTPUT_FOLDER})",
)


def one_of(*options: Option) -> Option:
    """Flags that exclude each other."""

    def add(parser: argparse.ArgumentParser) -> None:
        group = parser.add_mutually_exclusive_group()
        for each in options:
            each(group)

    return add


def group(title: str, description: str, *options: Option) -> Option:
    """Flags under a heading of their own in the help."""

    def add(parser: argparse.ArgumentParser) -> None:
        section = parser.add_argument_group(title, description)
        for each in options:
            each(section)

    return add


def add_command(parser: argparse.ArgumentParser, command: Command) -> None:
    """Adds the options and the actions of a command to its parser; the parsed arguments hold the chosen command."""
    from argparse import RawDescriptionHelpFormatter

    parser.epilog, parser.usage = command.examples, command.usage
    parser.set_defaults(command=command)
    for each in command.options:
        each(parser)
    if not command.actions:
        return
    is_required = not command.metavar.startswith("[")
    actions = parser.add_subparsers(dest="action", metavar=command.metavar, required=is_required)
    for name, action in command.actions.items():
        description = f"{action.purpose[0].upper()}{action.purpose[1:]}."
        add_command(
            actions.add_parser(
                name, help=action.purpose, description=description, formatter_class=RawDescriptionHelpFormatter
            ),
            action,
        )


def parse_words(text: str) -> list[str]:
    """Splits the value of a flag that takes a list: `a,b`."""
    return [word.strip() for word in text.split(",") if word.strip()]


def _limits(names: Sequence[str]) -> Option:
    def add(parser: argparse.ArgumentParser) -> None:
        help_text = f"change a limit: {', '.join(names)}"
        parser.add_argument("--limit", action="append", metavar="NAME=VALUE", default=[], help=help_text)
        parser.set_defaults(limit_names=names)

    return add


ANY_LIMITS, PROCESS_LIMITS = _limits(sorted(limits.LIMITS)), _limits(limits.PROCESS_LIMITS)
"""Limits on what is read and used, for commands that read untrusted files, and those of the process only."""
PLUGINS = option(
    "--plugin",
    action="append",
    metavar="MODULE",
    default=[],
    help="load the evaluators of this module (repeatable)",
)
"""For commands that compile suites: modules with evaluators besides the built-in ones."""
JSON_TABLE = option("--json", action="store_true", help="print JSON instead of the table")
SUITE, VARIANT = (
    option("--suite", metavar="NAME", help="its suite, if several suites have a scenario with this id"),
    option("--variant", metavar="NAME", help="only this variant of the scenario"),
)
OUTPUT = option("-o", "--output", metavar="FILE", default=STDOUT, help="where to write (default -, stdout)")

STORE_HELP = (
    "the store: a file, or postgresql://... (default $EVALGATE_STORE_URL, else `store` of evalgate.yaml,"
    " else .evalgate/evalgate.db)"
)
STORE = option("--store-url", metavar="URL", help=STORE_HELP)
TRACE_FORMAT = flag(Inputs.format)
TRACE_SOURCE = flag(Inputs.traces), TRACE_FORMAT
FORMAT = (
    option("--format", metavar="NAME", default=AUTO, help="trace format (default: detect it)"),
    option(
        "--config",
        metavar="SUITE",
        help="a suite whose `format` and `custom` describe the traces; `traces`, `show` and `query` use its `prices`",
    ),
    ANY_LIMITS,
    PLUGINS,
)
"""For commands that read traces without judging them; a suite may describe a custom format."""


def choose_format(arguments: Namespace, shell: Shell) -> tuple[Form, Suite | None]:
    """The format to read traces in, and the suite of `--config`; SettingError if it is missing or there are several."""
    if arguments.config is None:
        if arguments.format == CUSTOM:
            raise SettingError("--format custom needs --config SUITE: the suite's `custom` describes the format")
        return arguments.format, None
    suite = _load_suite(arguments, shell)
    if arguments.format not in (AUTO, CUSTOM):
        from evalgate.suite.models import leave_out

        return leave_out(arguments.format, suite.ignored), suite
    if suite.custom is None and arguments.format == CUSTOM:
        raise SettingError(f"suite `{suite.name}` has no `format: custom`")
    return suite.form, suite


def _load_suite(arguments: Namespace, shell: Shell) -> Suite:
    from evalgate.bootstrap.shell_tools import check_formats, use_plugin_evaluators
    from evalgate.bootstrap.sources import build_suite_files

    use_plugin_evaluators(arguments.plugin, shell.cwd)
    files = build_suite_files(shell.cwd, None, limits.parse_limits(arguments.limit))
    configuration = files.load([arguments.config])
    check_formats(configuration)
    if len(configuration.suites) != 1:
        raise SettingError(f"--config takes one suite, {arguments.config!r} names {len(configuration.suites)}")
    return configuration.suites[0]
