"""The verb `convert`: writes traces of any format as native or OpenTelemetry traces."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate convert logs/run.json                               native traces, one per line
  evalgate convert 'logs/**/*.json' --output traces.jsonl
  evalgate convert --to otlp traces.jsonl -o spans.jsonl       for tools that read OpenTelemetry
"""


class _LineWriter:
    """Writes lines to stdout."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def write(self, line: bytes) -> None:
        """Prints one line, made safe for a terminal."""
        from evalgate.cli.shell import escape_invisible

        self._shell.print_line(escape_invisible(line.decode().rstrip("\n")))


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.shell import STDOUT
    from evalgate.cli.traces.format_flags import add_format

    parser.epilog = EXAMPLES
    add = parser.add_argument
    add("traces", nargs="+", metavar="TRACE", help="trace files or globs, of any format")
    add_format(parser)
    add("--to", choices=("native", "otlp"), default="native", help="format to write (default native)")
    add("-o", "--output", metavar="FILE", default=STDOUT, help="where to write (default -, stdout)")
    add("--full", action="store_true", help="write full native traces: calls joined with their results, no short form")
    add("--no-redact", action="store_true", help="don't redact what looks like a secret")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Writes one line per trace and reports traces that can't be read; returns 2 if there are any."""
    from evalgate.bootstrap import shell_verbs, sources
    from evalgate.cli.shell import format_location, is_stdout
    from evalgate.cli.traces.format_flags import choose_format
    from evalgate.errors import SettingError
    from evalgate.settings.limits import parse_limits

    if arguments.full and arguments.to != "native":
        raise SettingError("--full applies to native traces only")
    trace_format, to_stdout = choose_format(arguments, shell).trace_format, is_stdout(arguments.output)
    records = sources.build_trace_files(shell.cwd, None, parse_limits(arguments.limit)).read(
        arguments.traces, ".", trace_format
    )
    lines = shell_verbs.convert(records, arguments.to, full=arguments.full, redact=not arguments.no_redact)
    written, damaged = 0, 0
    with nullcontext(_LineWriter(shell)) if to_stdout else shell_verbs.open_output(arguments.output, shell.cwd) as out:
        for line in lines:
            if isinstance(line, bytes):
                out.write(line)
                written += 1
            else:
                damaged += 1
                shell.note(f"error: {format_location(line.source)}: {line.reason}")
        if not written and not damaged:
            raise SettingError(f"no trace file at {', '.join(map(repr, arguments.traces))}")
    if not to_stdout:
        shell.note(f"{written:,} traces written to {arguments.output}")
    return 2 if damaged else 0
