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

    from evalgate.application.judge.explained_scenarios import Explanation
    from evalgate.cli.shell import Shell
    from evalgate.ports import BaselineFiles


def explain_scenario(arguments: Namespace, shell: Shell) -> int:
    """Finds the scenario, or without its name what fails or acts differently, and prints the reasons; returns 0."""
    from evalgate.application.judge.compare_finished import add_details, load_compared
    from evalgate.application.judge.explained_scenarios import (
        ONE,
        ChosenScenarios,
        ExplainRequest,
        choose_unnamed,
        find_scenario,
    )
    from evalgate.bootstrap.sources import build_baseline_files, build_trace_files
    from evalgate.reporting.markdown.heading import build_heading

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
    document = load_compared(files, traces, path, baseline)
    if word is None:
        chosen = choose_unnamed(document, arguments.suite, arguments.variant, path)
    else:
        request = ExplainRequest(word, arguments.suite, arguments.variant)
        chosen = ChosenScenarios([find_scenario(document, request, path)])
    for number, found in enumerate(chosen.found):
        add_details(files, traces, found, path, baseline)
        shell.report_problems(found.warnings, "warning")
        _print_explanation(found, shell, full=arguments.all, is_first=not number)
    if chosen.rest:
        shell.print_line("")
        shell.print_safe(chosen.rest)
    if not chosen.found:
        shell.print_safe(f"EvalGate {build_heading(document).sentence} ({ONE} explains one)")
    return 0


def _print_explanation(found: Explanation, shell: Shell, *, full: bool, is_first: bool) -> None:
    from evalgate.reporting.terminal.explanation import render_explanation, render_removed_scenario
    from evalgate.reporting.text.scenario_sections import SuiteScenario

    width, colour = shell.width, shell.has_colour
    gap = "" if is_first else "\n"
    if found.suite is not None and found.scenario is not None:
        explained = SuiteScenario(found.suite, found.scenario)
        explanation = render_explanation(found.document, explained, found.traces, width=width, colour=colour, full=full)
        shell.print_line(f"{gap}{explanation}")
    elif found.removed is not None:
        shell.print_line(render_removed_scenario(found.removed, width=width, colour=colour))


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


COMMANDS = {
    "explain": Command(
        explain_scenario,
        [
            PROCESS_LIMITS,
            option(
                "scenario",
                nargs="?",
                metavar="SCENARIO",
                help="the id of a scenario, or its beginning (default what fails, else what acts differently)",
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
