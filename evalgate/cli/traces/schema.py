"""The verb `schema`: prints the JSON Schema of a document."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

KINDS = ("suite", "project", "trace", "results")
EXAMPLES = """examples:
  evalgate schema suite > suite.schema.json
  # then begin a suite with:  # yaml-language-server: $schema=suite.schema.json
  evalgate schema suite --plugin my_checks
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.shell import add_plugins

    parser.epilog = EXAMPLES
    parser.add_argument("kind", choices=KINDS, nargs="?", default="suite", help="which document (default suite)")
    add_plugins(parser)
    parser.add_argument("--installed", action="store_true", help="include the evaluators of installed packages")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Prints the schema."""
    import orjson

    from evalgate.application.judge.schemas import schema
    from evalgate.bootstrap import shell_verbs

    has_plugins = bool(arguments.plugin or arguments.installed)
    if has_plugins:
        shell_verbs.use_plugin_evaluators(arguments.plugin, shell.cwd)
    made = schema(arguments.kind, with_own=has_plugins)
    shell.print_line(orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode())
    return 0
