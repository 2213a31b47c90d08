"""The verb `migrate`: whether another model, prompt or skill may replace the one in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.shell_tools import find_stored_run
from evalgate.cli.command import PROCESS_LIMITS, RUN_HELP, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell
    from evalgate.models.run.arms import ArmComparison

FAILED, CANNOT_JUDGE = 1, 3
MOST_ROWS = 40


def migrate_run(arguments: Namespace, shell: Shell) -> int:
    """Prints the comparison; returns 1 if what is required is not met, 3 if nothing is comparable, else 0."""
    from evalgate.bootstrap.sources import build_baseline_files
    from evalgate.features.evidence.application.migrate import migrate
    from evalgate.reporting.terminal.arm_table import render_arms
    from evalgate.suite.policy import VariantComparison

    if not 0 < arguments.alpha < 1:
        raise SettingError(Problem(f"--alpha is {arguments.alpha:g}, expected a number between 0 and 1"))
    rules = VariantComparison(
        control="BASE",
        treatment="HEAD",
        require=arguments.require,
        pair_by=arguments.pair_by,
        alpha=arguments.alpha,
    )
    base, head = (find_stored_run(path, shell.cwd) for path in (arguments.base, arguments.head))
    found = migrate(build_baseline_files(shell.cwd), base, head, rules)
    if arguments.json:
        from msgspec import to_builtins

        shell.print_json({"variant_comparisons": to_builtins(found)})
    elif arguments.markdown:
        from evalgate.reporting.markdown import render

        shell.print_line(render.render_arms(found))
    else:
        for line in render_arms(found, MOST_ROWS):
            shell.print_line(line)
    return _exit_code(found)


def _exit_code(found: Sequence[ArmComparison]) -> int:
    findings = {each.finding for each in found}
    if "regression" in findings or any(each.require == "lift" and each.finding == "neither" for each in found):
        return FAILED
    return CANNOT_JUDGE if "nothing_compared" in findings or not found else 0


COMMANDS = {
    "migrate": Command(
        migrate_run,
        [
            PROCESS_LIMITS,
            option("base", metavar="BASE", help=f"the run of the agent in use: {RUN_HELP}"),
            option("head", metavar="HEAD", help=f"the run of the agent that may replace it: {RUN_HELP}"),
            option(
                "--require",
                choices=["no_regression", "lift"],
                default="no_regression",
                help="what is required for exit code 0: no evidence that HEAD is worse (default), or that it is better",
            ),
            option(
                "--pair-by",
                choices=["scenario", "trial"],
                default="scenario",
                help="what the test over all counts: scenarios (default), or pairs of trials with the same number",
            ),
            option(
                "--alpha",
                type=float,
                default=0.05,
                metavar="P",
                help="the largest p-value that is evidence (default 0.05)",
            ),
            option("--json", action="store_true", help="print the comparison as in results.json"),
            option("--markdown", action="store_true", help="print the comparison as in the comment"),
        ],
        """examples:
  evalgate migrate runs/gpt-old/baseline.zip runs/gpt-new/baseline.zip
  evalgate migrate runs/without-skill runs/with-skill --require lift
""",
    ),
}
