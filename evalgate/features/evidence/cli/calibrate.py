"""The verb `calibrate`: how often the gate is red without a change, and what it would miss."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import find_stored_run
from evalgate.cli.command import PROCESS_LIMITS, RUN_HELP, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell


def calibrate_gate(arguments: Namespace, shell: Shell) -> int:
    """Prints the calibration; returns 0. Too little history ends with exit code 3."""
    from evalgate.bootstrap.sources import build_baseline_files
    from evalgate.features.evidence.application.calibrate import calibrate
    from evalgate.features.evidence.reporting.calibration_text import build_calibration_document, render_calibration

    if arguments.trials is not None and arguments.trials < 1:
        raise SettingError(Problem(f"--trials is {arguments.trials}, expected 1 or more"))
    paths = [find_stored_run(path, shell.cwd) for path in arguments.history]
    found = calibrate(build_baseline_files(shell.cwd), paths, arguments.trials)
    if arguments.json:
        shell.print_json(build_calibration_document(found))
    else:
        for line in render_calibration(found):
            shell.print_line(line)
    return 0


COMMANDS = {
    "calibrate": Command(
        calibrate_gate,
        [
            PROCESS_LIMITS,
            option(
                "--history",
                action="append",
                required=True,
                metavar="RUN",
                help=f"a finished run of the agent: {RUN_HELP} (repeatable)",
            ),
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
""",
    ),
}
