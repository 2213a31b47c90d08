"""The verb `validate`: all errors of suites at once, and the line by which editors find their schema."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.cli.command import ANY_LIMITS, PLUGINS, STORE, Command, option
from evalgate.errors import EvalGateError, Problem, SuiteError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from evalgate.adapters.suites import SuiteFiles
    from evalgate.cli.shell import Shell
    from evalgate.ports import Files
    from evalgate.settings.limits import Limits
    from evalgate.suite.models import Configuration


MAX_SCHEMA_BYTES = 10_000_000


def validate(arguments: Namespace, shell: Shell) -> int:
    """Loads everything and reports all errors at once, each as file:line:column."""
    from evalgate.adapters.clock import SystemClock
    from evalgate.application.comparison.policies import check_quarantine, policies_of
    from evalgate.bootstrap.named_store import shell_store_opener
    from evalgate.bootstrap.shell_tools import check_formats, read_approvals, use_plugin_evaluators
    from evalgate.bootstrap.sources import build_suite_files, build_workspace
    from evalgate.gate.idle_checks import find_idle_checks
    from evalgate.gate.reach import find_harmless_suites, find_unreachable_rules
    from evalgate.gate.variant_reach import find_idle_comparisons, find_impossible_lifts
    from evalgate.reporting.text.wording import pluralize
    from evalgate.settings.limits import parse_limits

    use_plugin_evaluators(arguments.plugin, shell.cwd)
    store = shell_store_opener(arguments.store_url, shell.environ, shell.cwd)
    limits = parse_limits(arguments.limit)
    suite_files = build_suite_files(shell.cwd, None, limits, store)
    files = build_workspace(shell.cwd)
    if arguments.only_suites and arguments.configs:
        configurations = _load_changed(suite_files, files, arguments.configs)
    else:
        configurations = [suite_files.load(arguments.configs)]
    today = SystemClock(shell.epoch).now().date()
    approvals = read_approvals(shell.cwd)
    if approvals is not None:
        suite_files.load_approvals(approvals)
    for configuration in configurations:
        check_quarantine(configuration, today)
        policies = policies_of(configuration, None)
        check_formats(configuration)
        harmless = find_harmless_suites(configuration.suites, policies.suites, today)
        unreachable = find_unreachable_rules(configuration.suites, policies.suites)
        idle = find_idle_comparisons(configuration.suites, policies.suites)
        holding = find_idle_checks(configuration.suites)
        shell.report_problems([*configuration.warnings, *harmless, *holding, *unreachable, *idle], "warning")
        if not arguments.only_suites:  # hooks run for each commit
            shell.report_problems(_find_misspelt(configuration, shell, limits), "warning")
        if arguments.history:
            shell.report_problems(_find_false_alarms(arguments.history, configuration, shell), "warning")
        if impossible := list(find_impossible_lifts(configuration.suites, policies.suites)):
            raise SuiteError(*impossible)
        if arguments.fix_header:
            _fix_headers(configuration, files, shell)
    suites = [suite for configuration in configurations for suite in configuration.suites]
    scenarios = sum(len(suite.scenarios) for suite in suites)
    assertions = sum(len(scenario.assertions) for suite in suites for scenario in suite.scenarios)
    counts = [(len(suites), "suite"), (scenarios, "scenario"), (assertions, "assertion")]
    shell.print_line(f"ok: {', '.join(pluralize(*each) for each in counts)}")
    return 0


def _find_misspelt(configuration: Configuration, shell: Shell, limits: Limits) -> list[Problem]:
    """Tools that checks name and no recording has; recordings that can't be read are for `run` to report."""
    from evalgate.application.evaluation.named_tools import find_misspelt_tools
    from evalgate.bootstrap.sources import build_trace_files

    traces = build_trace_files(shell.cwd, None, limits)
    found: list[Problem] = []
    for suite in configuration.suites:
        try:
            found += find_misspelt_tools(suite, traces)
        except EvalGateError as error:
            shell.note(f"note: tools of {suite.path} are not compared with its traces: {error.problems[0].message}")
    return found


def _find_false_alarms(history: list[str], configuration: Configuration, shell: Shell) -> list[Problem]:
    """How the alarms of these suites by chance, in finished runs, compare with `max_false_alarm`."""
    from evalgate.bootstrap.features import load_port
    from evalgate.bootstrap.shell_tools import find_stored_run
    from evalgate.bootstrap.sources import build_baseline_files

    paths = [find_stored_run(path, shell.cwd) for path in history]
    found: list[Problem] = load_port("find_false_alarms")(build_baseline_files(shell.cwd), paths, configuration)
    return found


def _load_changed(suite_files: SuiteFiles, files: Files, paths: list[str]) -> list[Configuration]:
    """The projects of the suites among these files, and suites without one; raises SuiteError with all errors."""
    from evalgate.adapters.suites.changed_files import group_by_project

    loaded: list[Configuration] = []
    problems, without_project = list[Problem](), list[str]()
    for project, members in group_by_project(files, paths).items():
        if project is None:
            without_project += members
            continue
        try:
            loaded.append(suite_files.load([project]))
        except SuiteError as error:
            problems += error.problems
        else:
            known = {project, *(suite.path for suite in loaded[-1].suites)}
            without_project += [path for path in members if path not in known]
    if without_project:
        try:
            loaded.append(suite_files.load(without_project))
        except SuiteError as error:
            problems += error.problems
    if problems:
        raise SuiteError(*problems)
    return loaded


def _fix_headers(configuration: Configuration, files: Files, shell: Shell) -> None:
    """Writes the line that names the schema into each YAML file that has a schema; notes what has none."""
    from evalgate.adapters.file_writer import open_named
    from evalgate.adapters.suites.schema_header import change_header

    places = dict(_find_schemas(configuration, files))
    without = [path for path, schema in places.items() if schema is None]
    if without:
        hint = "`evalgate schema --write evals/.schema` writes one; or set `schema_url` in evalgate.yaml"
        shell.note(f"no folder .schema beside or above {', '.join(without[:3])}: no header written ({hint})")
    for path, schema in places.items():
        changed = None if schema is None or path.endswith(".json") else change_header(files, path, schema)
        if changed is not None:
            with open_named(path, shell.cwd) as stream:
                stream.write(changed)
            shell.print_safe(f"{path}: header written")
    ways = [(path, schema) for path, schema in places.items() if schema is not None and "://" not in schema]
    for path in sorted({posixpath.normpath(posixpath.join(posixpath.dirname(path), way)) for path, way in ways}):
        _note_old_schema(path, files, shell)


def _note_old_schema(path: str, files: Files, shell: Shell) -> None:
    """Notes a schema that is not the one of this version: in an editor it would mark what is right."""
    try:
        from evalgate.application.judge.editor_schema import write_editor_schema
    except ModuleNotFoundError:  # the archive that jobs of the Action download has no schemas, and nobody edits there
        return
    kind = posixpath.basename(path).removesuffix(".json")
    content = files.read(path, MAX_SCHEMA_BYTES, what="schema")
    if all(content != write_editor_schema(kind, with_own=with_own) for with_own in (False, True)):
        folder = posixpath.dirname(path)
        shell.note(f"{path} is not the schema of this EvalGate (`evalgate schema --write {folder}` writes it again)")


def _find_schemas(configuration: Configuration, files: Files) -> Iterator[tuple[str, str | None]]:
    """Each file with the address of its schema; without one of its own, a project takes that of its first suite."""
    from evalgate.adapters.suites.schema_header import find_schema

    url = configuration.project_content.get("schema_url")
    project, found = configuration.project_path, None
    for suite in configuration.suites:
        schema = posixpath.join(url, "suite.json") if url else find_schema(files, suite.path, "suite")
        yield suite.path, schema
        if found is None and schema is not None and project is not None:
            place = posixpath.join(posixpath.dirname(suite.path), posixpath.dirname(schema), "project.json")
            found = posixpath.relpath(place, posixpath.dirname(project) or ".")
            found = None if any(map(str.isspace, found)) else found  # the line could not hold it
    if project is not None:
        own = posixpath.join(url, "project.json") if url else find_schema(files, project, "project")
        folder = posixpath.dirname(project) or "."
        yield project, own or (found if found and files.expand(found, folder) else None)


COMMANDS = {
    "validate": Command(
        validate,
        [
            option("configs", nargs="*", metavar="CONFIG", help="project or suite file, or a folder or glob of them"),
            option(
                "--only-suites",
                action="store_true",
                help="for hooks: skip files that are no suites; validate a suite with its project",
            ),
            option(
                "--fix-header",
                action="store_true",
                help="write the line by which editors find the schema, where there is one (`schema --write`)",
            ),
            option(
                "--history",
                action="append",
                metavar="RUN",
                help="a finished run (repeatable): warns if the gate is red by chance more than `max_false_alarm`",
            ),
            ANY_LIMITS,
            PLUGINS,
            STORE,
        ],
        """examples:
  evalgate validate
  evalgate validate evals/refunds.yaml
  evalgate validate --only-suites evals/refunds.yaml docs/mkdocs.yml    in a pre-commit hook
  evalgate schema --write evals/.schema
  evalgate validate --fix-header
""",
    ),
}
