"""`evalgate schema`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

KINDS = ("suite", "project", "trace", "results")
EXAMPLES = """examples:
  evalgate schema suite > suite.schema.json
  # then begin a suite with:  # yaml-language-server: $schema=suite.schema.json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of the verb."""
    parser.epilog = EXAMPLES
    parser.add_argument(
        "kind", choices=KINDS, nargs="?", default="suite", help="which document (default suite)"
    )


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints the schema."""
    import orjson

    from evalgate.application.schemas import schema

    shell.say(
        orjson.dumps(schema(arguments.kind), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode()
    )
    return 0
