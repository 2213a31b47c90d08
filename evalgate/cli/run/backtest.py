"""The verb `backtest`: judges past runs by today's rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate backtest evals/refunds.yaml 'baselines/*.zip'
  evalgate backtest evalgate.yaml baselines --fail-on hard_fail,broken --json
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.shell import add_limits, add_plugins, parse_words
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    parser.add_argument("suite", metavar="SUITE", help="project or suite file, or a folder or glob of them")
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="baseline.zip of a past run, or a folder or glob of them"
    )
    parser.add_argument("--fail-on", type=parse_words, metavar="A,B", help="what fails a run; overrides every policy")
    add_limits(parser, of_the_process=True)
    add_plugins(parser)
    add_store(parser)
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Judges every past run again and prints which would have been blocked; always returns 0."""
    import orjson

    from evalgate.application.judge.backtest import backtest
    from evalgate.bootstrap import shell_verbs
    from evalgate.bootstrap.store import shell_store_opener
    from evalgate.reporting.terminal.backtest_table import build_backtest_document, render_backtest_table

    shell_verbs.use_plugin_evaluators(arguments.plugin, shell.cwd)
    paths = shell_verbs.find_baselines(arguments.runs, shell.cwd)
    store = shell_store_opener(arguments.store_url, shell.environ, shell.cwd)
    tools = shell_verbs.build_backtest_tools(shell.cwd, store, progress_to=shell.err)
    try:
        found = backtest([arguments.suite], paths, arguments.fail_on, tools)
    finally:
        tools.progress.finish()
    if arguments.json:
        shell.print_line(orjson.dumps(build_backtest_document(found)).decode())
    else:
        shell.print_line(render_backtest_table(found))
    return 0
