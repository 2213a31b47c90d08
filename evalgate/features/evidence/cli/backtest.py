"""The verb `backtest`: which of the past runs the current suites would have blocked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import find_stored_run
from evalgate.cli.command import JSON_TABLE, PLUGINS, PROCESS_LIMITS, RUN_HELP, STORE, Command, option, parse_words
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell


def backtest_runs(arguments: Namespace, shell: Shell) -> int:
    """Judges every past run again and prints which would have been blocked; always returns 0."""
    from evalgate.application.judge.backtest import backtest
    from evalgate.bootstrap.named_store import shell_store_opener
    from evalgate.bootstrap.shell_tools import build_backtest_tools, use_plugin_evaluators
    from evalgate.features.evidence.reporting.backtest_table import build_backtest_document, render_backtest_table

    use_plugin_evaluators(arguments.plugin, shell.cwd)
    paths = _find_baselines(arguments.runs, shell.cwd)
    store = shell_store_opener(arguments.store_url, shell.environ, shell.cwd)
    tools = build_backtest_tools(shell.cwd, store, progress_to=shell.err)
    try:
        found = backtest([arguments.suite], paths, arguments.fail_on, tools)
    finally:
        tools.progress.finish()
    if arguments.json:
        shell.print_json(build_backtest_document(found), indent=False)
    else:
        shell.print_line(render_backtest_table(found))
    return 0


def _find_baselines(patterns: Sequence[str], cwd: str) -> list[str]:
    """The zips that files, folders or globs name, each once; raises SettingError for one that finds none."""
    from evalgate.bootstrap.sources import build_workspace

    files, found = build_workspace(cwd), dict[str, None]()
    for pattern in patterns:
        place = find_stored_run(pattern, cwd) if pattern.endswith("results.json") else pattern
        matches = [file.path for file in files.expand(place, ".") if file.path.endswith(".zip")]
        if not matches:
            raise SettingError(Problem(f"no baseline.zip at {pattern!r}"))
        found.update(dict.fromkeys(matches))
    return list(found)


COMMANDS = {
    "backtest": Command(
        backtest_runs,
        [
            option("suite", metavar="SUITE", help="project or suite file, or a folder or glob of them"),
            option("runs", nargs="+", metavar="RUN", help=f"a past run: {RUN_HELP}; or a glob"),
            option("--fail-on", type=parse_words, metavar="A,B", help="what fails a run; overrides every policy"),
            PROCESS_LIMITS,
            PLUGINS,
            STORE,
            JSON_TABLE,
        ],
        """examples:
  evalgate backtest evals/refunds.yaml 'baselines/*.zip'
  evalgate backtest evalgate.yaml baselines --fail-on hard_fail,broken --json
""",
    ),
}
