"""The verb `explain`, and how its words name a scenario and a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.bootstrap.features import load_port
from evalgate.bootstrap.shell_tools import find_baseline, find_run, is_file
from evalgate.cli.command import PROCESS_LIMITS, RUN_HELP, SUITE, VARIANT, Command, one_of, option
from evalgate.errors import Problem, SettingError
from evalgate.models.results.document_names import OUTPUT_FOLDER

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell
    from evalgate.models.results.results import ResultsDoc
    from evalgate.ports import BaselineFiles

MAX_IDS = 8


def explain_scenario(arguments: Namespace, shell: Shell) -> int:
    """Finds the scenario and prints the reasons for its verdict.

    Returns 0 if the scenario exists, or if none is named and all pass as before.
    """
    from evalgate.application.judge.compare_finished import ExplainRequest, explain
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.reporting.terminal.explanation import render_explanation, render_removed_scenario
    from evalgate.reporting.text.scenario_sections import SuiteScenario

    files, traces = build_baseline_files(shell.cwd), build_trace_files(shell.cwd)
    word, run = _read_words(arguments, files, shell.cwd)
    path = find_run(run, shell.cwd)
    baseline = None if arguments.baseline is None else find_baseline(arguments.baseline, shell.cwd)
    if arguments.for_agent:
        if word is None and (arguments.suite or arguments.variant):
            raise SettingError(Problem("--suite and --variant choose a scenario", None, "name it before them"))
        wanted = word and ExplainRequest(word, arguments.suite, arguments.variant)
        explained = load_port("explainer_for_agent")(files, traces, wanted, path, baseline)
        shell.report_problems(explained.warnings, "warning")
        shell.print_line(explained.text)
        return 0
    scenario = word or _find_notable(files.load(path).results)
    if scenario is None:
        shell.print_line("All scenarios pass, and none acts differently than in the baseline.")
        return 0
    request = ExplainRequest(scenario, arguments.suite, arguments.variant)
    found = explain(files, traces, request, path, baseline)
    shell.report_problems(found.warnings, "warning")
    width, colour = shell.width, shell.has_colour
    if found.suite is not None and found.scenario is not None:
        explained = SuiteScenario(found.suite, found.scenario)
        explanation = render_explanation(
            found.document, explained, found.traces, width=width, colour=colour, full=arguments.all
        )
        shell.print_line(explanation)
    elif found.removed is not None:
        shell.print_line(render_removed_scenario(found.removed, width=width, colour=colour))
    return 0


def _read_words(arguments: Namespace, files: BaselineFiles, cwd: str) -> tuple[str | None, str]:
    """The scenario, None if no word names one, and the run. One word that is both names the scenario."""
    scenario, second, flag = arguments.scenario, arguments.run, arguments.named_run
    if second is not None and flag is not None:
        raise SettingError(Problem(f"two runs are named, {second} and --run {flag}", None, "name one"))
    run = flag if second is None else second
    if run is None and scenario is not None and _is_only_run(scenario, files, cwd):
        return None, scenario
    return scenario, OUTPUT_FOLDER if run is None else run


def _is_only_run(word: str, files: BaselineFiles, cwd: str) -> bool:
    """Whether a word is the path of a run, and no scenario of the last one or the beginning of its id."""
    from evalgate.measures.text.ids import find_ids

    if not is_file(find_baseline(word, cwd), cwd):
        return False
    if not is_file(find_baseline(OUTPUT_FOLDER, cwd), cwd):
        return True
    last = files.load(find_run(OUTPUT_FOLDER, cwd)).results
    known = {each["id"] for suite in last["suites"] for each in suite["scenarios"]}
    return not find_ids(word, known | {each["id"] for each in last["removed"]})


def _find_notable(results: ResultsDoc) -> str | None:
    """The id of the only scenario that does not pass, else of the only one that acts differently; None if none does.

    Raises SettingError if there are several.
    """
    scenarios = [each for suite in results["suites"] for each in suite["scenarios"]]
    failing = dict.fromkeys(each["id"] for each in scenarios if each["verdict"] != "PASS")
    ids = failing or dict.fromkeys(each["id"] for each in scenarios if each.get("differences"))
    if len(ids) <= 1:
        return next(iter(ids), None)
    more = f" and {len(ids) - MAX_IDS:,} more" if len(ids) > MAX_IDS else ""
    named = ", ".join([*ids][:MAX_IDS])
    what = "do not pass" if failing else "pass, but act differently than in the baseline"
    raise SettingError(Problem(f"{len(ids):,} scenarios {what}", None, f"name one of them: {named}{more}"))


COMMANDS = {
    "explain": Command(
        explain_scenario,
        [
            PROCESS_LIMITS,
            option(
                "scenario",
                nargs="?",
                metavar="SCENARIO",
                help="the id of a scenario, or its beginning (default the only one that fails or acts differently)",
            ),
            option("run", nargs="?", metavar="RUN", help=f"the finished run: {RUN_HELP} (default {OUTPUT_FOLDER})"),
            SUITE,
            VARIANT,
            one_of(
                option("--all", action="store_true", help="show what passed, repeats or did not change, too"),
                option(
                    "--for-agent",
                    action="store_true",
                    help="print what fails for a coding agent: at most 4,000 characters, untrusted text in a fence",
                ),
            ),
            option(
                "--run",
                "--results",
                metavar="RUN",
                dest="named_run",
                help="the finished run, where one word could be both it and a scenario (--results is its old name)",
            ),
            option("--baseline", metavar="RUN", help="compare with this run, not with the baseline that the run had"),
        ],
        """examples:
  evalgate explain refund-in-window
  evalgate explain refund-in-window out
  evalgate explain refund-in-window --baseline .evalgate/saved/baseline.zip
  evalgate explain refund --suite support --variant gpt --run out
""",
    ),
}
