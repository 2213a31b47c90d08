"""The verb `calibrate`: how often the gate is red without a change, and what it would miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import find_stored_run
from evalgate.cli.command import PROCESS_LIMITS, RUN_HELP, Command, option
from evalgate.errors import InvalidInput, Problem, RulesMissing, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell
    from evalgate.features.evidence.application.past_runs import HistoryRun
    from evalgate.suite.models import Configuration

HOW = "name finished runs, or the store that keeps them"


def calibrate_gate(arguments: Namespace, shell: Shell) -> int:
    """Prints the calibration; returns 0. Too little history ends with exit code 3."""
    from evalgate.features.evidence.application.calibrate import calibrate
    from evalgate.features.evidence.reporting.calibration_text import build_calibration_document, render_calibration

    if arguments.trials is not None and arguments.trials < 1:
        raise SettingError(Problem(f"--trials is {arguments.trials}, expected 1 or more"))
    runs = _load_runs(arguments, shell)
    found = calibrate(runs, _choose_rules(arguments, runs, shell), arguments.trials)
    if arguments.json:
        shell.print_json(build_calibration_document(found))
    else:
        for line in render_calibration(found):
            shell.print_line(line)
    return 0


def _load_runs(arguments: Namespace, shell: Shell) -> list[HistoryRun]:
    from evalgate.features.evidence.application.past_runs import list_stored_runs, read_past_runs

    if bool(arguments.history) == bool(arguments.store):
        raise SettingError(Problem("--history or --store is needed, and only one of them", None, HOW))
    if arguments.history:
        from evalgate.bootstrap.sources import build_baseline_files

        paths = [find_stored_run(path, shell.cwd) for path in arguments.history]
        return read_past_runs(build_baseline_files(shell.cwd), paths)
    from evalgate.bootstrap.named_store import open_shell_store

    store = open_shell_store(arguments.store, shell.environ, shell.cwd)
    runs = [] if store is None else list_stored_runs(store.load_runs(arguments.branch))
    if not runs:
        raise RulesMissing("too little history: the store has no runs (give each run the same --store-url)")
    return runs


def _choose_rules(arguments: Namespace, runs: Sequence[HistoryRun], shell: Shell) -> Configuration:
    """The suites that are named, else those found as in a run if one of the runs is theirs, else the newest run's."""
    from evalgate.application.comparison.baseline import identify_rules
    from evalgate.application.comparison.baseline_rules import read_rules
    from evalgate.bootstrap.sources import build_baseline_files, build_suite_files

    suites = build_suite_files(shell.cwd)
    if arguments.configs or arguments.store:
        return suites.load(arguments.configs)
    try:
        found = suites.load([])
        if identify_rules(found) in {each.rules for each in runs}:
            return found
    except InvalidInput:  # there are none here, or not only valid ones: the runs hold theirs
        pass
    newest = read_rules(build_baseline_files(shell.cwd), runs[-1].name)
    if newest.configuration is None or newest.unknown is not None:
        problem = f"{runs[-1].name}: its suites are not known: {newest.unknown}"
        raise SettingError(Problem(problem, None, "give the baseline.zip of runs, or their folders"))
    return newest.configuration


COMMANDS = {
    "calibrate": Command(
        calibrate_gate,
        [
            PROCESS_LIMITS,
            option(
                "configs",
                nargs="*",
                metavar="SUITE",
                help="project or suite file, or a folder or glob of them (default as `run`, else the newest run's)",
            ),
            option(
                "--history",
                action="append",
                metavar="RUN",
                help=f"a finished run of the agent: {RUN_HELP} (repeatable)",
            ),
            option(
                "--store",
                metavar="URL",
                help="the store of the runs instead: a file, or postgresql://...",
            ),
            option("--branch", metavar="NAME", help="of a store the runs of this branch (default all)"),
            option(
                "--trials",
                type=int,
                metavar="N",
                help="trials a side (default `trials.min` of each scenario); 2N recorded trials are needed",
            ),
            option("--json", action="store_true", help="print the figures as JSON"),
        ],
        """examples:
  evalgate calibrate --history runs/monday --history runs/tuesday
  evalgate calibrate --history .evalgate --trials 2 --json
  evalgate calibrate evals/support.yaml --store .evalgate/evalgate.db --branch main
""",
    ),
}
