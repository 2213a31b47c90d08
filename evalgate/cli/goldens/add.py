"""The action `goldens add`: stores new goldens."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell
    from evalgate.models.run.golden import Golden

EXAMPLES = """examples:
  evalgate goldens add --from-trace traces/refund.json            its id is the scenario's
  evalgate goldens add --from-trace run.jsonl --number 3 --id refund --tag money
  evalgate goldens add --file goldens/refund.yaml
  evalgate goldens add --id greet --user 'Hello' --response 'Hello! How can I help?'
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the action."""
    from evalgate.cli.goldens.golden_flags import add_fields
    from evalgate.cli.store.store_flags import add_store
    from evalgate.cli.traces.format_flags import add_format

    parser.epilog = EXAMPLES
    parser.add_argument("--id", metavar="ID", help="its id: the scenario id in traces")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--from-trace", metavar="TRACE", help="create it from this trace file, of any format")
    source.add_argument("--file", metavar="FILE", help="YAML, JSON or JSON lines with one or more goldens")
    parser.add_argument("--number", type=int, metavar="N", help="the N-th trace of --from-trace, counting from 1")
    add_format(parser)
    add_fields(parser)
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Stores the goldens and prints their ids."""
    from evalgate.application.goldens.golden_import import doubts_of
    from evalgate.application.goldens.stored_goldens import add_goldens
    from evalgate.cli.store.store_flags import open_store
    from evalgate.reporting.text.escaping import escape_terminal

    goldens = _read_goldens(arguments, shell)
    shell.report_problems(doubts_of(goldens), "warning")
    with open_store(arguments, shell, create=True) as store:
        add_goldens(goldens, store.goldens)
        for golden in goldens:
            shell.print_line(escape_terminal(f"added: {golden.id}", None))
        shell.note(f"in the store {store.display_url}")
    return 0


def _read_goldens(arguments: argparse.Namespace, shell: Shell) -> Sequence[Golden]:
    from evalgate.cli.goldens.golden_flags import collect_fields, replace_invalid_bytes
    from evalgate.errors import Problem, SettingError

    fields = collect_fields(arguments)
    if arguments.id is not None:
        fields["id"] = replace_invalid_bytes(arguments.id)
    if arguments.file is not None:
        if fields:
            raise SettingError("--file can't be combined with --id or flags such as --title: the file has them all")
        from evalgate.bootstrap.export_files import load_goldens

        return load_goldens([arguments.file], shell.cwd)
    from evalgate.application.goldens.golden_import import golden_from_fields, update_golden

    if arguments.from_trace is not None:
        return [update_golden(_golden_from_trace(arguments, shell), fields)]
    if arguments.id is None:
        hint = "give --id with --user and --response, or --from-trace, or --file"
        raise SettingError(Problem("no golden given", None, hint))
    return [golden_from_fields(fields)]


def _golden_from_trace(arguments: argparse.Namespace, shell: Shell) -> Golden:
    from evalgate.application.goldens.golden_import import golden_from_trace
    from evalgate.bootstrap import sources
    from evalgate.cli.shell import format_location
    from evalgate.cli.traces.format_flags import choose_format
    from evalgate.errors import Location, Problem, SettingError
    from evalgate.models.trace.trace import DamagedTrace

    trace_format = choose_format(arguments, shell).trace_format
    records = list(sources.build_trace_files(shell.cwd).read([arguments.from_trace], ".", trace_format))
    if not records:
        raise SettingError(f"no trace file at {arguments.from_trace!r}")
    number = arguments.number or 1
    if arguments.number is None and len(records) > 1:
        hint = "choose one with --number N"
        raise SettingError(Problem(f"{arguments.from_trace} holds {len(records):,} traces", None, hint))
    if not 1 <= number <= len(records):
        raise SettingError(f"--number {number}: {arguments.from_trace} holds {len(records):,} traces")
    record = records[number - 1]
    if isinstance(record, DamagedTrace):
        raise SettingError(Problem(record.reason, Location(format_location(record.source))))
    return golden_from_trace(record)
