"""The flags for the format of traces, for verbs that read traces without judging them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell
    from evalgate.suite.models import CustomMapping, Suite

AUTO, CUSTOM = "auto", "custom"


class FormatChoice(NamedTuple):
    """The format to read traces in; `suite` is the one of `--config`."""

    trace_format: str | CustomMapping
    suite: Suite | None = None


def add_format(parser: argparse.ArgumentParser) -> None:
    """Adds `--format`, and `--config` for a suite that describes a custom format."""
    from evalgate.cli.shell import add_limits, add_plugins

    parser.add_argument("--format", metavar="NAME", default=AUTO, help="trace format (default: detect it)")
    parser.add_argument(
        "--config",
        metavar="SUITE",
        help="a suite whose `format` and `custom` describe the traces; query uses its `prices` too",
    )
    add_limits(parser)
    add_plugins(parser)


def choose_format(arguments: argparse.Namespace, shell: Shell) -> FormatChoice:
    """The format that the flags select; raises SettingError if a suite is missing or there are several."""
    from evalgate.errors import SettingError

    if arguments.config is None:
        if arguments.format == CUSTOM:
            raise SettingError("--format custom needs --config SUITE: the suite's `custom` describes the format")
        return FormatChoice(arguments.format)
    suite = _load_suite(arguments, shell)
    if arguments.format not in (AUTO, CUSTOM):
        return FormatChoice(arguments.format, suite)
    if suite.custom is None and arguments.format == CUSTOM:
        raise SettingError(f"suite `{suite.name}` has no `format: custom`")
    return FormatChoice(suite.custom or suite.format_name, suite)


def _load_suite(arguments: argparse.Namespace, shell: Shell) -> Suite:
    from evalgate.bootstrap import shell_verbs, sources
    from evalgate.errors import SettingError
    from evalgate.settings.limits import parse_limits

    shell_verbs.use_plugin_evaluators(arguments.plugin, shell.cwd)
    configuration = sources.build_suite_files(shell.cwd, None, parse_limits(arguments.limit)).load([arguments.config])
    shell_verbs.check_formats(configuration)
    if len(configuration.suites) != 1:
        raise SettingError(f"--config takes one suite, {arguments.config!r} names {len(configuration.suites)}")
    return configuration.suites[0]
