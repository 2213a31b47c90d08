"""The action `goldens export`: writes goldens as JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate goldens export -o goldens.jsonl
  evalgate goldens export --tag money | head -1
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the action."""
    from evalgate.cli.goldens.list import add_filter
    from evalgate.cli.shell import STDOUT
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    add_filter(parser)
    parser.add_argument("-o", "--output", metavar="FILE", default=STDOUT, help="where to write (default -, stdout)")
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Writes one line per golden, ordered by id."""
    from evalgate.bootstrap import shell_verbs
    from evalgate.cli.goldens.list import parse_filter
    from evalgate.cli.shell import is_stdout
    from evalgate.cli.store.store_flags import open_store
    from evalgate.ports.store import EVERYTHING
    from evalgate.reporting.dataset.golden_document import build_golden_document, encode_json_line
    from evalgate.reporting.text.wording import pluralize

    with open_store(arguments, shell) as store:
        found = store.goldens.list(EVERYTHING, parse_filter(arguments))
    lines = [encode_json_line(build_golden_document(golden)) for golden in found]
    if is_stdout(arguments.output):
        for line in lines:
            shell.print_line(line.decode().rstrip("\n"))
        return 0
    with shell_verbs.open_output(arguments.output, shell.cwd) as file:
        file.writelines(lines)
    shell.note(f"{pluralize(len(lines), 'golden')} written to {arguments.output}")
    return 0
