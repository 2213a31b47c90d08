"""The verbs `validate`, `evaluators`, `schema` and `fingerprint`, for people who write suites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evalgate.cli.command import ANY_LIMITS, PLUGINS, STORE, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell
    from evalgate.evaluators.core.evaluator import Evaluator

KINDS = ("suite", "project", "trace", "results")


def validate(arguments: Namespace, shell: Shell) -> int:
    """Loads everything and reports all errors at once, each as file:line:column."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.application.comparison.policies import check_quarantine, policies_of
    from evalgate.bootstrap.shell_tools import check_formats, read_approvals, use_plugin_evaluators
    from evalgate.bootstrap.sources import build_suite_files
    from evalgate.bootstrap.store import shell_store_opener
    from evalgate.gate.reach import find_harmless_suites, find_unreachable_rules
    from evalgate.reporting.text.wording import pluralize
    from evalgate.settings.limits import parse_limits

    use_plugin_evaluators(arguments.plugin, shell.cwd)
    store = shell_store_opener(arguments.store_url, shell.environ, shell.cwd)
    files = build_suite_files(shell.cwd, None, parse_limits(arguments.limit), store)
    configuration = files.load(arguments.configs)
    today = SystemClock(shell.epoch).now().date()
    check_quarantine(configuration, today)
    approvals = read_approvals(shell.cwd)
    if approvals is not None:
        files.load_approvals(approvals)
    policies = policies_of(configuration, None)
    check_formats(configuration)
    harmless = find_harmless_suites(configuration.suites, policies.suites, today)
    unreachable = find_unreachable_rules(configuration.suites, policies.suites)
    shell.report_problems([*configuration.warnings, *harmless, *unreachable], "warning")
    suites = configuration.suites
    scenarios = sum(len(suite.scenarios) for suite in suites)
    assertions = sum(len(scenario.assertions) for suite in suites for scenario in suite.scenarios)
    counts = [(len(suites), "suite"), (scenarios, "scenario"), (assertions, "assertion")]
    shell.print_line(f"ok: {', '.join(pluralize(*each) for each in counts)}")
    return 0


def list_evaluators(arguments: Namespace, shell: Shell) -> int:
    """Prints a line per evaluator, or what one checks and its settings."""
    from evalgate.bootstrap.shell_tools import use_plugin_evaluators
    from evalgate.evaluators.core.field_problems import suggest
    from evalgate.evaluators.core.other_tools import find_equivalent
    from evalgate.evaluators.core.registry import BUILT_IN_TYPES, evaluator_class, evaluator_types
    from evalgate.evaluators.core.shorthands import COMMON
    from evalgate.measures.values.json_values import show

    use_plugin_evaluators(arguments.plugin, shell.cwd)
    name = arguments.evaluator
    if name is None:
        for each in evaluator_types():
            shell.print_safe(f"{each:18} {_describe(evaluator_class(each))[0]}")
        return 0
    evaluator = evaluator_class(name)
    if evaluator is None:
        hint = find_equivalent(name) or suggest(name, evaluator_types()) or "`evalgate evaluators` lists them all"
        raise SettingError(Problem(f"unknown evaluator {name[:40]!r}", None, hint))
    for line in _describe(evaluator):
        shell.print_safe(line)
    shell.print_line("")
    for setting, field in evaluator.model_fields.items():
        if setting not in (*COMMON, "type"):
            default = field.get_default(call_default_factory=True)
            needed = (
                "required" if field.is_required() else "optional" if default is None else f"default {show(default)}"
            )
            shell.print_safe(f"  {field.alias or setting:20} {needed}")
    shell.print_line("")
    shell.print_line(f"and as for all evaluators: {', '.join(COMMON)}")
    if name in BUILT_IN_TYPES:
        shell.print_line("examples are in docs/evaluators.md")
    return 0


def _describe(evaluator: type[Evaluator] | None) -> list[str]:
    """The lines of an evaluator's docstring."""
    return [line.strip() for line in ((evaluator and evaluator.__doc__) or "").strip().split("\n")]


def print_schema(arguments: Namespace, shell: Shell) -> int:
    """Prints the JSON Schema of a document."""
    import orjson

    from evalgate.application.judge.schemas import schema
    from evalgate.bootstrap.shell_tools import use_plugin_evaluators

    has_plugins = bool(arguments.plugin or arguments.installed)
    if has_plugins:
        use_plugin_evaluators(arguments.plugin, shell.cwd)
    made = schema(arguments.kind, with_own=has_plugins)
    shell.print_line(orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS).decode())
    return 0


def print_fingerprint(arguments: Namespace, shell: Shell) -> int:
    """Prints a digest of files."""
    from evalgate.bootstrap.sources import build_fingerprints

    shell.print_line(build_fingerprints(shell.cwd).compute_fingerprint(arguments.globs))
    return 0


COMMANDS = {
    "validate": Command(
        validate,
        [
            option("configs", nargs="*", metavar="CONFIG", help="project or suite file, or a folder or glob of them"),
            ANY_LIMITS,
            PLUGINS,
            STORE,
        ],
        """examples:
  evalgate validate
  evalgate validate evals/refunds.yaml
""",
    ),
    "evaluators": Command(
        list_evaluators,
        [
            option("evaluator", metavar="NAME", nargs="?", help="describe this evaluator and its settings"),
            PLUGINS,
        ],
        """examples:
  evalgate evaluators
  evalgate evaluators tool_sequence
""",
    ),
    "schema": Command(
        print_schema,
        [
            option("kind", choices=KINDS, nargs="?", default="suite", help="which document (default suite)"),
            PLUGINS,
            option("--installed", action="store_true", help="include the evaluators of installed packages"),
        ],
        """examples:
  evalgate schema suite > suite.schema.json
  # then begin a suite with:  # yaml-language-server: $schema=suite.schema.json
  evalgate schema suite --plugin my_checks
""",
    ),
    "fingerprint": Command(
        print_fingerprint,
        [option("globs", nargs="+", metavar="GLOB", help="files, folders or globs, as in `freshness.watch`")],
        """examples:
  evalgate fingerprint 'agent/**' prompts/system.md
  AGENT_HASH=$(evalgate fingerprint 'agent/**') python record.py
""",
    ),
}
