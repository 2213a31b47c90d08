"""The verb `schema`, for people who write suites and programs that read documents. No job of the Action runs it."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.cli.command import PLUGINS, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

KINDS = ("suite", "project", "trace", "results")
EDITED_KINDS = ("suite", "project")
"""Documents that people write in an editor."""


def print_schema(arguments: Namespace, shell: Shell) -> int:
    """Prints the JSON Schema of a document, or writes those that editors read."""
    import orjson

    from evalgate.application.judge.schemas import schema
    from evalgate.bootstrap.shell_tools import use_plugin_evaluators

    has_plugins = bool(arguments.plugin or arguments.installed)
    if has_plugins:
        use_plugin_evaluators(arguments.plugin, shell.cwd)
    if arguments.write is not None:
        return _write_schemas(arguments, shell, has_plugins=has_plugins)
    made = schema(arguments.kind or KINDS[0], with_own=has_plugins)
    shell.print_line(orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode())
    return 0


def _write_schemas(arguments: Namespace, shell: Shell, *, has_plugins: bool) -> int:
    """Writes the schemas of suites and projects for editors to a folder."""
    from evalgate.adapters.file_writer import make_folder, open_named
    from evalgate.application.judge.editor_schema import write_editor_schema

    if arguments.kind not in (None, *EDITED_KINDS):
        raise SettingError(Problem(f"--write has no schema of {arguments.kind}", None, "only of suite and project"))
    if not arguments.write:
        raise SettingError("--write needs the name of a folder")
    make_folder(arguments.write, shell.cwd)
    for kind in EDITED_KINDS if arguments.kind is None else [arguments.kind]:
        path = posixpath.join(arguments.write, f"{kind}.json")
        with open_named(path, shell.cwd) as stream:
            stream.write(write_editor_schema(kind, with_own=has_plugins))
        shell.print_safe(f"{path}: written")
    return 0


COMMANDS = {
    "schema": Command(
        print_schema,
        [
            option("kind", choices=KINDS, nargs="?", help="which document (default suite)"),
            option(
                "--write",
                metavar="DIR",
                help="write the schemas of suites and projects to this folder, for editors (JSON Schema draft-07)",
            ),
            PLUGINS,
            option("--installed", action="store_true", help="include the evaluators of installed packages"),
        ],
        """examples:
  evalgate schema trace
  evalgate schema --write evals/.schema              for editors; then: evalgate validate --fix-header
  evalgate schema suite --plugin my_checks
""",
    ),
}
