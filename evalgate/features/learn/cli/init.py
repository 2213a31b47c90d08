"""The verb `init`: writes a suite that is learnt from traces, and what a project needs to run it."""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.cli.command import ANY_LIMITS, TRACE_FORMAT, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell
    from evalgate.features.learn.application.inference.build_suite import BuiltSuite
    from evalgate.features.learn.bootstrap.project_start import NewFile
    from evalgate.features.learn.bootstrap.workflow import Recording

FOLDER, FIRST = "evals", "first"
COMMON_FOLDERS = frozenset({"", ".", "..", "traces", "jobs", "logs", "runs"})
NAME_LENGTH = 60
"""Characters of a file's name."""
MAX_NAME = 200


def init(arguments: Namespace, shell: Shell) -> int:
    """Writes a suite and prints what it would notice; returns 0. Asks only on a terminal."""
    from evalgate.bootstrap.sources import build_workspace
    from evalgate.features.learn.application.inference.summary import describe_built_suite
    from evalgate.features.learn.application.inference.trace_choice import find_default_traces
    from evalgate.features.learn.bootstrap.project_start import NewFile, refuse_existing
    from evalgate.features.learn.bootstrap.workflow import plan_recording

    if arguments.agent is not None and not arguments.workflow:
        raise SettingError("--command is for the workflow: use it with --workflow")
    if arguments.format_help is not None:
        return _help_with_format(arguments, shell)
    if arguments.add is not None:
        return _add(arguments, shell)
    traces = arguments.traces or find_default_traces(build_workspace(shell.cwd))
    if not arguments.traces:
        traces = _ask_words(shell, arguments, "Traces", traces)
    if not traces:
        return _start_with_example(arguments, shell)
    name = arguments.suite or _ask(shell, arguments, "Name of the suite", choose_name(traces))
    _refuse_name(name)
    path = _choose_path(arguments, name)
    if not arguments.force and not arguments.dry_run:
        if (arguments.workflow or arguments.hook) and os.path.lexists(Path(shell.cwd, path)):
            return _add_files(arguments, shell, path, traces)
        refuse_existing([NewFile(path, "")], shell.cwd)  # before the work
    has_workflow = arguments.workflow or _ask(shell, arguments, "Write a workflow for GitHub", "no").startswith("y")
    built = _build(arguments, shell, traces, path, name)
    recording = plan_recording(built, arguments.agent) if has_workflow else None
    others = _list_others(arguments, shell, path, traces, recording)
    _write(arguments, shell, [NewFile(path, built.text), *others])
    for line in describe_built_suite(built, path):
        shell.note(line)
    return 0


def _help_with_format(arguments: Namespace, shell: Shell) -> int:
    """Prints a mapping for a file of an unknown format; returns 2 if it finds no list to map."""
    from evalgate.features.learn.bootstrap.format_help import build_format_help
    from evalgate.features.learn.reporting.format_help import describe_reading, describe_search
    from evalgate.settings.limits import parse_limits

    result = build_format_help(arguments.format_help, shell.cwd, parse_limits(arguments.limit))
    for line in result.suite:
        shell.print_safe(line)
    if result.known is not None:
        shell.note(f"the format {result.known} reads this file without a mapping")
    for line in describe_search(result.proposal.found, result.proposal.missing):
        shell.note(line)
    for line in describe_reading(result.traces, result.refused):
        shell.note(line)
    return 0 if result.suite else 2


def _add_files(arguments: Namespace, shell: Shell, path: str, traces: Sequence[str]) -> int:
    """Writes the files that were asked for besides a suite that exists."""
    from evalgate.features.learn.bootstrap.workflow import read_recording

    recording = read_recording(path, traces, shell.cwd, arguments.agent) if arguments.workflow else None
    _write(arguments, shell, _list_others(arguments, shell, path, traces, recording))
    shell.note(f"{path} exists and stays as it is")
    return 0


def _choose_path(arguments: Namespace, name: str) -> str:
    """Where the suite is written; raises SettingError."""
    from evalgate.features.learn.bootstrap.project_start import refuse_suite_path

    path = f"{FOLDER}/{_clean_name(name)}.yaml" if arguments.out is None else str(arguments.out)
    refuse_suite_path(path)
    return path


def _build(arguments: Namespace, shell: Shell, traces: Sequence[str], path: str, name: str) -> BuiltSuite:
    from evalgate.adapters.progress import progress_for
    from evalgate.adapters.suites.schema_header import find_schema
    from evalgate.bootstrap.sources import build_workspace
    from evalgate.features.learn.application.inference.build_suite import build_suite
    from evalgate.features.learn.application.inference.trace_choice import InferenceOptions
    from evalgate.features.learn.application.tool_kinds import read_kinds
    from evalgate.features.learn.bootstrap.inference import build_inference_sources
    from evalgate.settings.limits import parse_limits

    progress = progress_for(shell.err, quiet=False)
    schema = find_schema(build_workspace(shell.cwd), path, "suite")
    options = InferenceOptions(
        traces,
        path,
        name,
        shell.cwd,
        arguments.strictness,
        arguments.format,
        schema,
        arguments.scenario or (),
        read_kinds(arguments.lookup, arguments.no_lookup),
    )
    try:
        return build_suite(options, build_inference_sources(shell.cwd, parse_limits(arguments.limit)), progress)
    finally:
        progress.finish()


def _list_others(
    arguments: Namespace, shell: Shell, path: str, traces: Sequence[str], recording: Recording | None
) -> list[NewFile]:
    """The files besides the suite; `recording` is that of a workflow, None for none."""
    from evalgate.adapters.files.git_changes import has_files
    from evalgate.features.learn.bootstrap.project_start import HOOK, HOOK_TEXT, NewFile, build_ignore
    from evalgate.features.learn.bootstrap.workflow import build_workflow

    may_be_ignored = any(posixpath.normpath(each).split("/")[0] == "traces" for each in traces)
    are_committed = (recording is not None or may_be_ignored) and has_files(traces, shell.cwd, shell.environ)
    found = [] if recording is None else [build_workflow(path, None if are_committed else recording, shell.cwd)]
    if arguments.hook:
        found.append(NewFile(HOOK, HOOK_TEXT))
    if may_be_ignored and not are_committed:
        ignore = build_ignore(shell.cwd, "traces")
        found += [] if ignore is None else [ignore]
    return found


def _write(arguments: Namespace, shell: Shell, new: Sequence[NewFile]) -> None:
    """Writes the files, or with --dry-run prints what would change."""
    from evalgate.features.learn.bootstrap.project_start import diff_files, refuse_existing, refuse_links, write_files

    if arguments.dry_run:
        changes = list(diff_files(new, shell.cwd))
        for line in changes:
            shell.print_safe(line)
        if not changes:
            shell.note("no file would change")
        return
    refuse_links([each for each in new if each.path != arguments.out], shell.cwd)
    if not arguments.force:
        refuse_existing(new, shell.cwd)
    write_files(new, shell.cwd)
    for each in new:
        shell.print_safe(f"written: {each.path}")
        if each.note:
            shell.note(each.note)


def _start_with_example(arguments: Namespace, shell: Shell) -> int:
    """Writes an example trace and the suite learnt from it, and how to record."""
    from evalgate.features.learn.bootstrap.first_trace import EXAMPLE_PATH, build_example
    from evalgate.features.learn.bootstrap.project_start import NewFile, refuse_existing, refuse_links, write_files
    from evalgate.features.learn.bootstrap.workflow import plan_recording

    name = arguments.suite or FIRST
    path = _choose_path(arguments, name)
    example = NewFile(EXAMPLE_PATH, build_example())
    if arguments.dry_run:
        shell.note("no traces found: without --dry-run an example trace and a suite learnt from it are written")
        _write(arguments, shell, [example])
        return 0
    if not arguments.force:
        refuse_existing([example, NewFile(path, "")], shell.cwd)
    refuse_links([example], shell.cwd)
    shell.note("no traces were found in traces/, jobs/ or *.jsonl: what follows is of an example, not of your agent")
    write_files([example], shell.cwd)
    built = _build(arguments, shell, [EXAMPLE_PATH], path, name)
    others = _list_others(
        arguments, shell, path, [], plan_recording(built, arguments.agent) if arguments.workflow else None
    )
    _write(arguments, shell, [NewFile(path, built.text), *others])
    shell.print_safe(f"written: {EXAMPLE_PATH}")
    shell.note(
        "record your agent: evalgate record --scenario NAME -- python my_agent.py,"
        " or export what you have (`evalgate traces` reads it)"
    )
    shell.note(f"then: evalgate init traces/ --force; now: evalgate run {path}")
    return 0


def _add(arguments: Namespace, shell: Shell) -> int:
    """Appends the scenarios of a trace to an existing suite."""
    from evalgate.features.learn.application.inference.extend_suite import extend_suite
    from evalgate.features.learn.bootstrap.inference import build_inference_sources
    from evalgate.features.learn.bootstrap.project_start import NewFile
    from evalgate.settings.limits import parse_limits

    if arguments.lookup or arguments.no_lookup:
        raise SettingError(
            "--lookup and --no-lookup are for a new suite: write `tools` into the one that --add extends"
        )
    if arguments.out is None and not arguments.suite:
        raise SettingError(Problem("--add needs the suite to add to", None, "name it with --out evals/NAME.yaml"))
    path = _choose_path(arguments, arguments.suite)
    sources = build_inference_sources(shell.cwd, parse_limits(arguments.limit))
    extended = extend_suite(path, arguments.add, arguments.strictness, sources)
    _write(arguments, shell, [NewFile(path, extended.text, adds=True)])
    for id_ in extended.added:
        shell.note(f"added: scenario {id_}")
    for check in extended.left_out:
        shell.note(f"left out: {check}")
    if extended.failing:
        shell.note(f"warning: checks of {path} fail on this trace: {', '.join(extended.failing)}")
    if extended.red:
        shell.note(
            f"warning: the next run fails {', '.join(extended.red)}: except it from these checks, or require less"
        )
    if extended.missed:
        shell.note(f"recorded failures that pass every check: {', '.join(extended.missed)}")
    return 0


def choose_name(traces: Sequence[str]) -> str:
    """The name of the folder or file of the traces, of several the folder that holds them all, in whatever order.

    Not one that the traces of all projects have.
    """
    is_mixed = len({each.startswith("/") for each in traces}) > 1
    common = "" if is_mixed else posixpath.commonpath(traces)
    stem = posixpath.basename(common).partition(".")[0]
    return FIRST if stem in COMMON_FOLDERS or "*" in stem else stem


def _refuse_name(name: str) -> None:
    """Raises SettingError unless a suite can have this name."""
    if len(name) > MAX_NAME:
        raise SettingError(f"--suite can't be a name of more than {MAX_NAME} characters")
    if not name.isprintable():
        raise SettingError(f"--suite can't be {name!r}: it has a character that does not print")


def _clean_name(name: str) -> str:
    """A name as the name of a file."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:NAME_LENGTH] or FIRST


def _ask(shell: Shell, arguments: Namespace, question: str, default: str) -> str:
    """The answer of a person at a terminal, else the default."""
    stdin = shell.stdin
    is_asked = not (arguments.yes or shell.environ.get("CI") or stdin is None) and shell.err.isatty()
    if not is_asked or stdin is None or not stdin.isatty():
        return default
    shell.err.write(f"{question} [{default}]: ")
    shell.err.flush()
    return stdin.readline().strip() or default


def _ask_words(shell: Shell, arguments: Namespace, question: str, default: Sequence[str]) -> list[str]:
    return _ask(shell, arguments, question, " ".join(default)).split()


COMMANDS = {
    "init": Command(
        init,
        [
            option("traces", nargs="*", metavar="TRACES", help="traces (default traces/, else jobs/)"),
            option(
                "--suite",
                metavar="NAME",
                help="name of the suite (default that of the traces' folder, first for traces/)",
            ),
            option("--out", metavar="PATH", help="where to write the suite (default evals/NAME.yaml)"),
            TRACE_FORMAT,
            option(
                "--strictness",
                choices=("loose", "normal", "strict"),
                default="normal",
                help="how much of what the traces have in common is required (default normal)",
            ),
            option(
                "--scenario",
                action="append",
                metavar="GLOB",
                help="learn only the scenarios with this id (may be repeated; `*` matches any characters)",
            ),
            option(
                "--lookup",
                action="append",
                default=[],
                metavar="TOOL",
                help="take a tool as a look-up, which changes nothing, whatever its name says (may be repeated)",
            ),
            option(
                "--no-lookup",
                action="append",
                default=[],
                metavar="TOOL",
                help="take a tool as one that changes something (may be repeated)",
            ),
            option(
                "--add",
                metavar="TRACE",
                help="append the scenarios of a trace file, which the suite must find, to the suite that --out names",
            ),
            option(
                "--format-help",
                metavar="FILE",
                help="write nothing, print a mapping (`format: custom`) to start from for a file of an unknown format",
            ),
            option("--workflow", action="store_true", help="also write .github/workflows/evalgate.yml"),
            option(
                "--command",
                dest="agent",
                metavar="CMD",
                help="what starts the agent in that workflow (default the command that recorded the traces)",
            ),
            option("--hook", action="store_true", help="also write .pre-commit-config.yaml, which validates suites"),
            option("--force", action="store_true", help="overwrite files that exist"),
            option("--dry-run", action="store_true", help="write nothing, print the difference"),
            option("--yes", action="store_true", help="ask nothing, as without a terminal"),
            ANY_LIMITS,
        ],
        """examples:
  evalgate init traces/                       writes evals/first.yaml
  evalgate init 'logs/**/*.json' --suite support --workflow
  evalgate init --add traces/new-case.json --out evals/support.yaml
  evalgate init --format-help logs/run.jsonl > evals/mine.yaml
""",
    ),
}
