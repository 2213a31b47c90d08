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
    parser.add_argument("--id", metavar="ID", help="its id: what the scenario is called in recordings")
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--from-trace", metavar="TRACE", help="a recording, of any format, to take it from")
    source.add_argument("--file", metavar="FILE", help="YAML, JSON or JSON lines with one golden or several")
    parser.add_argument("--number", type=int, metavar="N", help="the N-th trace of --from-trace, from 1")
    add_format(parser)
    add_fields(parser)
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Stores the goldens and prints their ids."""
    from evalgate.application.goldens.golden_entries import doubts_of
    from evalgate.application.goldens.stored_goldens import add_goldens
    from evalgate.cli.store.store_flags import opened
    from evalgate.reporting.text.escaping import terminal

    goldens = _goldens(arguments, shell)
    shell.tell(doubts_of(goldens), "warning")
    with opened(arguments, shell, create=True) as store:
        add_goldens(goldens, store.goldens)
        for golden in goldens:
            shell.say(terminal(f"added: {golden.id}", None))
        shell.note(f"in the store {store.place}")
    return 0


def _goldens(arguments: argparse.Namespace, shell: Shell) -> Sequence[Golden]:
    from evalgate.cli.goldens.golden_flags import said_fields, whole_text
    from evalgate.errors import Problem, SettingError

    said = said_fields(arguments)
    if arguments.id is not None:
        said["id"] = whole_text(arguments.id)
    if arguments.file is not None:
        if said:
            raise SettingError("--file says all of its goldens; leave the flags of fields and --id out")
        from evalgate.bootstrap.golden_files import golden_files

        return golden_files([arguments.file], shell.cwd)
    from evalgate.application.goldens.golden_entries import golden_from_words, golden_with

    if arguments.from_trace is not None:
        return [golden_with(_from_trace(arguments, shell), said)]
    if arguments.id is None:
        hint = "give --id with --user and --response, or --from-trace, or --file"
        raise SettingError(Problem("there is no golden to add", None, hint))
    return [golden_from_words(said)]


def _from_trace(arguments: argparse.Namespace, shell: Shell) -> Golden:
    """Makes a golden from a trace; raises SettingError if it is unclear which trace is meant."""
    from evalgate.application.goldens.golden_from_trace import golden_from_trace
    from evalgate.bootstrap import sources
    from evalgate.cli.shell import place_of
    from evalgate.cli.traces.format_flags import chosen_format
    from evalgate.errors import Location, Problem, SettingError
    from evalgate.models.trace.trace import DamagedTrace

    form = chosen_format(arguments, shell).form
    records = list(sources.trace_files(shell.cwd).read([arguments.from_trace], ".", form))
    if not records:
        raise SettingError(f"no trace file at {arguments.from_trace!r}")
    number = arguments.number or 1
    if arguments.number is None and len(records) > 1:
        hint = "say which one with --number N"
        raise SettingError(Problem(f"{arguments.from_trace} holds {len(records):,} traces", None, hint))
    if not 1 <= number <= len(records):
        raise SettingError(f"--number {number}: {arguments.from_trace} holds {len(records):,} traces")
    record = records[number - 1]
    if isinstance(record, DamagedTrace):
        raise SettingError(Problem(record.reason, Location(place_of(record.source))))
    return golden_from_trace(record)
