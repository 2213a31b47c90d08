"""The verb `import-suite`: writes a suite from the checks of another tool, and names each that is not carried over."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.cli.command import ANY_LIMITS, OUTPUT, Command, option
from evalgate.cli.shell import is_stdout
from evalgate.errors import Location, Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

TOOLS = ("auto", "promptfoo", "vally", "agentskills", "openai")
TRACES = "traces/**/*.json*"


def import_suite(arguments: Namespace, shell: Shell) -> int:
    """Writes the suite to stdout or a file, and the lines that are not carried over to stderr; returns 0."""
    from evalgate.adapters.file_writer import make_folder, open_named
    from evalgate.features.importing.bootstrap.carry_over import ImportOptions, carry_over
    from evalgate.features.importing.reporting.suite_text import describe_suite
    from evalgate.settings.limits import parse_limits

    to_stdout = is_stdout(arguments.output)
    if not (to_stdout or arguments.force) and Path(shell.cwd, arguments.output).exists():
        problem = Problem(f"{arguments.output} exists already", None, "--force overwrites, -o writes to another file")
        raise SettingError(problem)
    folder = "evals" if to_stdout else posixpath.dirname(arguments.output)
    traces = [posixpath.relpath(each, folder or ".") for each in arguments.traces or [TRACES]]
    options = ImportOptions(
        arguments.file,
        arguments.tool,
        traces,
        "" if to_stdout else arguments.output,
        arguments.data,
        has_scores=arguments.scores,
    )
    suite, text = carry_over(options, shell.cwd, parse_limits(arguments.limit))
    for line in describe_suite(suite, arguments.file):
        shell.note(line)
    if not text:
        problem = Problem("none of its checks can be carried over", Location(arguments.file), "the lines above say why")
        raise SettingError(problem)
    if to_stdout:
        shell.out.write(text)
        return 0
    make_folder(folder, shell.cwd)
    with open_named(arguments.output, shell.cwd) as stream:
        stream.write(text.encode())
    shell.print_safe(f"written: {arguments.output}")
    return 0


COMMANDS = {
    "import-suite": Command(
        import_suite,
        [
            option("file", metavar="FILE", help="the file of the other tool, such as promptfooconfig.yaml"),
            option("--from", dest="tool", choices=TOOLS, default="auto", help="whose file it is (default: find out)"),
            option(
                "--traces",
                action="append",
                metavar="GLOB",
                default=[],
                help=f"the traces that the suite judges (repeatable; default {TRACES})",
            ),
            option(
                "--data",
                action="append",
                metavar="FILE",
                default=[],
                help="rows of the data of OpenAI's evals, as JSON Lines or JSON (repeatable)",
            ),
            option("--scores", action="store_true", help="check the recorded grades of what a model judges"),
            OUTPUT,
            option("--force", action="store_true", help="overwrite a file that exists"),
            ANY_LIMITS,
        ],
        """examples:
  evalgate import-suite promptfooconfig.yaml -o evals/support.yaml
  evalgate import-suite eval.json --data rows.jsonl -o evals/answers.yaml
""",
    ),
}
