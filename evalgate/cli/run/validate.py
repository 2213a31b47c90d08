"""The verb `validate`: checks suites without reading traces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell

EXAMPLES = """examples:
  evalgate validate
  evalgate validate evals/refunds.yaml
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the options of the verb."""
    from evalgate.cli.shell import add_limits, add_plugins
    from evalgate.cli.store.store_flags import add_store

    parser.epilog = EXAMPLES
    parser.add_argument(
        "configs", nargs="*", metavar="CONFIG", help="project or suite file, or a folder or glob of them"
    )
    add_limits(parser)
    add_plugins(parser)
    add_store(parser)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Loads everything and reports all errors at once, each as file:line:column."""
    from evalgate.application.comparison.policies import check_quarantine, policies_of
    from evalgate.bootstrap import shell_verbs, sources
    from evalgate.bootstrap.store import shell_store_opener
    from evalgate.gate.reach import find_harmless_suites, find_unreachable_rules
    from evalgate.reporting.text.wording import pluralize
    from evalgate.settings.limits import parse_limits

    shell_verbs.use_plugin_evaluators(arguments.plugin, shell.cwd)
    store = shell_store_opener(arguments.store_url, shell.environ, shell.cwd)
    files = sources.build_suite_files(shell.cwd, None, parse_limits(arguments.limit), store)
    configuration = files.load(arguments.configs)
    today = shell_verbs.current_time(shell.environ.get("SOURCE_DATE_EPOCH")).date()
    check_quarantine(configuration, today)
    approvals = shell_verbs.read_approvals(shell.cwd)
    if approvals is not None:
        files.load_approvals(approvals)
    policies = policies_of(configuration, None)
    shell_verbs.check_formats(configuration)
    harmless = find_harmless_suites(configuration.suites, policies.suites, today)
    unreachable = find_unreachable_rules(configuration.suites, policies.suites)
    shell.report_problems([*configuration.warnings, *harmless, *unreachable], "warning")
    suites = configuration.suites
    scenarios = sum(len(suite.scenarios) for suite in suites)
    assertions = sum(len(scenario.assertions) for suite in suites for scenario in suite.scenarios)
    counts = [(len(suites), "suite"), (scenarios, "scenario"), (assertions, "assertion")]
    shell.print_line(f"ok: {', '.join(pluralize(*each) for each in counts)}")
    return 0
