"""The verb `init`: writes a suite that is learnt from traces, and what a project needs to run it."""

from __future__ import annotations

import os
import posixpath
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from evalgate.cli.command import ANY_LIMITS, TRACE_FORMAT, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from evalgate.application.inference.build_suite import BuiltSuite
    from evalgate.application.inference.pass_rates import FailedTrials, RecordedFailures
    from evalgate.application.inference.trace_choice import FoundTraces
    from evalgate.bootstrap.project_start import NewFile
    from evalgate.cli.shell import Shell

FOLDER, FIRST = "evals", "first"
COMMON_FOLDERS = frozenset({"", ".", "..", "traces", "jobs", "logs", "runs"})
NAME_LENGTH = 60
MAX_NAMED = 5


def init(arguments: Namespace, shell: Shell) -> int:
    """Writes a suite and prints what it would notice; returns 0. Asks only on a terminal."""
    from evalgate.application.inference.trace_choice import find_default_traces
    from evalgate.bootstrap.project_start import NewFile, refuse_existing
    from evalgate.bootstrap.sources import build_workspace

    if arguments.add is not None:
        return _add(arguments, shell)
    traces = arguments.traces or find_default_traces(build_workspace(shell.cwd))
    if not arguments.traces:
        traces = _ask_words(shell, arguments, "Traces", traces)
    if not traces:
        return _start_with_example(arguments, shell)
    name = arguments.suite or _ask(shell, arguments, "Name of the suite", _choose_name(traces))
    path = _choose_path(arguments, name)
    if not arguments.force and not arguments.dry_run:
        if (arguments.workflow or arguments.hook) and os.path.lexists(Path(shell.cwd, path)):
            return _add_files(arguments, shell, path, traces)
        refuse_existing([NewFile(path, "")], shell.cwd)  # before the work
    has_workflow = arguments.workflow or _ask(shell, arguments, "Write a workflow for GitHub", "no").startswith("y")
    built = _build(arguments, shell, traces, path, name)
    _write(
        arguments,
        shell,
        [NewFile(path, built.text), *_list_others(arguments, shell, path, traces, has_workflow=has_workflow)],
    )
    _summarize(built, path, shell)
    return 0


def _add_files(arguments: Namespace, shell: Shell, path: str, traces: Sequence[str]) -> int:
    """Writes the files that were asked for besides a suite that exists."""
    _write(arguments, shell, _list_others(arguments, shell, path, traces, has_workflow=arguments.workflow))
    shell.note(f"{path} exists and stays as it is")
    return 0


def _choose_path(arguments: Namespace, name: str) -> str:
    """Where the suite is written; raises SettingError."""
    from evalgate.bootstrap.project_start import refuse_suite_path

    path = f"{FOLDER}/{_clean_name(name)}.yaml" if arguments.out is None else str(arguments.out)
    refuse_suite_path(path)
    return path


def _build(arguments: Namespace, shell: Shell, traces: Sequence[str], path: str, name: str) -> BuiltSuite:
    from evalgate.adapters.progress import progress_for
    from evalgate.adapters.suites.schema_header import find_schema
    from evalgate.application.inference.build_suite import build_suite
    from evalgate.application.inference.trace_choice import InferenceOptions
    from evalgate.bootstrap.inference import build_inference_sources
    from evalgate.bootstrap.sources import build_workspace
    from evalgate.settings.limits import parse_limits

    progress = progress_for(shell.err, quiet=False)
    schema = find_schema(build_workspace(shell.cwd), path, "suite")
    options = InferenceOptions(
        traces, path, name, shell.cwd, arguments.strictness, arguments.format, schema, arguments.scenario or ()
    )
    try:
        return build_suite(options, build_inference_sources(shell.cwd, parse_limits(arguments.limit)), progress)
    finally:
        progress.finish()


def _list_others(
    arguments: Namespace, shell: Shell, path: str, traces: Sequence[str], *, has_workflow: bool
) -> list[NewFile]:
    """The files besides the suite."""
    from evalgate.adapters.files.git_changes import has_files
    from evalgate.bootstrap.project_start import HOOK, HOOK_TEXT, NewFile, build_ignore, build_workflow

    are_committed = has_files(traces, shell.cwd, shell.environ)
    found = [build_workflow(path, has_traces=are_committed)] if has_workflow else []
    if arguments.hook:
        found.append(NewFile(HOOK, HOOK_TEXT))
    if not are_committed and any(posixpath.normpath(each).split("/")[0] == "traces" for each in traces):
        ignore = build_ignore(shell.cwd, "traces")
        found += [] if ignore is None else [ignore]
    return found


def _write(arguments: Namespace, shell: Shell, new: Sequence[NewFile]) -> None:
    """Writes the files, or with --dry-run prints what would change."""
    from evalgate.bootstrap.project_start import diff_files, refuse_existing, refuse_links, write_files

    if arguments.dry_run:
        for line in diff_files(new, shell.cwd):
            shell.print_safe(line)
        return
    refuse_links([each for each in new if each.path != arguments.out], shell.cwd)
    if not arguments.force:
        refuse_existing(new, shell.cwd)
    write_files(new, shell.cwd)
    for each in new:
        shell.print_safe(f"written: {each.path}")


def _summarize(built: BuiltSuite, path: str, shell: Shell) -> None:
    """What the suite was learnt from, what it would notice, and what its first run shows."""
    from evalgate.application.inference.suite_text import list_briefly
    from evalgate.reporting.text.wording import pluralize

    found = built.found
    scenarios = pluralize(len(built.draft.written), "scenario")
    size = f"{built.text.count(chr(10)):,} lines"
    passed = f"the {len(found.passing):,} of {pluralize(found.read, 'trace')} that passed"
    shell.note(f"{scenarios} in {size}, learnt from {passed} ({_describe_results(found)})")
    for note in _list_unused(built):
        shell.note(f"not used: {note}")
    for line in _describe_failures(built.failures):
        shell.note(line)
    if built.draft.unchecked:
        named = list_briefly(built.draft.unchecked)
        whose = "its" if len(built.draft.unchecked) == 1 else "their"
        shell.note(f"{pluralize(len(built.draft.unchecked), 'scenario')} without a check of {whose} own: {named}")
    total, possible = built.caught.total, built.caught.possible
    caught = f"catches {total.caught:,} of {pluralize(total.tried, 'small change')}"
    command = f"evalgate mutate {shlex.quote(path)}"
    if possible > total.tried:
        command += f" --max {possible}"
        shell.note(f"{caught}, chosen evenly from {possible:,} (`{command}` tries all, so its share differs)")
    else:
        shell.note(f"{caught} (`{command}` lists the others)")
    shell.note(f"next: evalgate run {shlex.quote(path)}")


def _describe_results(found: FoundTraces) -> str:
    if not found.results:
        return "none of them records a result, so those count as passed that ended without an error"
    names = ", ".join(sorted(found.results))
    unknown = len(found.passing) - found.results.total()
    return f"recorded: {names}" + (f"; {unknown:,} record no result and ended without an error" if unknown else "")


def _list_unused(built: BuiltSuite) -> Iterator[str]:
    """Traces and files that nothing was learnt from, each kind on a line."""
    from evalgate.application.inference.suite_text import list_briefly
    from evalgate.models.trace.trace import format_place
    from evalgate.reporting.text.wording import pluralize

    found = built.found
    if found.failing:
        yield f"{pluralize(len(found.failing), 'trace')} that did not pass"
    if found.without_calls:
        places = [
            format_place(each.path, each.line, each.record) for each in (trace.source for trace in found.without_calls)
        ]
        names = list_briefly(places)
        yield f"{pluralize(len(found.without_calls), 'trace')} without a record of what the agent did: {names}"
    if found.unreadable:
        path, reason = next(iter(found.unreadable.items()))
        yield f"{pluralize(len(found.unreadable), 'file')} that can't be read, such as {path}: {reason}"
    if found.surplus:
        yield f"{pluralize(len(found.surplus), 'trace')} more that passed, which the suite judges too"
    if found.left_out:
        yield f"{pluralize(found.left_out, 'trace')} more than `init` judges: `evalgate run` shows whether they pass"
    for place, reason in list(found.damaged.items())[:MAX_NAMED]:
        yield f"a trace that can't be read, which fails a run until it is removed: {place}: {reason}"
    if len(found.damaged) > MAX_NAMED:
        yield f"{len(found.damaged) - MAX_NAMED:,} more traces that can't be read"
    yield from built.draft.omitted
    empty = len(built.draft.scenarios) - len(built.draft.written)
    if empty:
        yield f"{pluralize(empty, 'scenario')} in which nothing can be checked, or whose id no suite can hold"


def _describe_failures(failures: RecordedFailures) -> Iterator[str]:
    """What trials that failed when they were recorded mean for the suite."""
    from evalgate.application.inference.build_suite import describe_unnoticed
    from evalgate.reporting.text.wording import pluralize

    headings = {
        "demands that some trials pass in": [each for each in failures.failed if each.least],
        "checks that fail only lower the score, since too few trials passed to demand them, in": [
            each for each in failures.failed if each.least == 0
        ],
        "the first run fails in": [each for each in failures.failed if each.least is None],
    }
    for heading, failed in headings.items():
        if failed:
            yield f"{heading} {pluralize(len(failed), 'scenario')} with recorded failures:"
            for each in failed[:MAX_NAMED]:
                yield f"  {each.scenario}: {_describe_trials(each)}"
            if len(failed) > MAX_NAMED:
                yield f"  and {len(failed) - MAX_NAMED:,} more"
    if failures.unnoticed:
        yield describe_unnoticed(failures)
    elif failures.recorded:
        yield f"in every recorded failure ({failures.recorded:,}) a check of the suite fails"


def _describe_trials(failed: FailedTrials) -> str:
    """In how many trials a check fails, and what these recorded."""
    verb = "fails" if failed.failed == 1 else "fail"
    return f"{failed.failed:,} of {failed.trials:,} trials {verb} a check (recorded: {', '.join(failed.results)})"


def _start_with_example(arguments: Namespace, shell: Shell) -> int:
    """Writes an example trace and the suite learnt from it, and how to record."""
    from evalgate.bootstrap.first_trace import EXAMPLE_PATH, build_example
    from evalgate.bootstrap.project_start import NewFile, refuse_existing, refuse_links, write_files

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
    write_files([example], shell.cwd)
    built = _build(arguments, shell, [EXAMPLE_PATH], path, name)
    _write(
        arguments,
        shell,
        [NewFile(path, built.text), *_list_others(arguments, shell, path, [], has_workflow=arguments.workflow)],
    )
    shell.print_safe(f"written: {EXAMPLE_PATH}")
    shell.note("no traces were found in traces/, jobs/ or *.jsonl, so this is an example to look at")
    shell.note(
        "record your agent: evalgate record -- python my_agent.py, or export what you have (`evalgate traces` reads it)"
    )
    shell.note(f"then: evalgate init traces/ --force; now: evalgate run {path}")
    return 0


def _add(arguments: Namespace, shell: Shell) -> int:
    """Appends the scenarios of a trace to an existing suite."""
    from evalgate.application.inference.extend_suite import extend_suite
    from evalgate.bootstrap.inference import build_inference_sources
    from evalgate.bootstrap.project_start import NewFile
    from evalgate.settings.limits import parse_limits

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
    return 0


def _choose_name(traces: Sequence[str]) -> str:
    """The name of the folder or file of the traces, unless all projects have one of that name."""
    stem = posixpath.basename(traces[0].rstrip("/")).partition(".")[0]
    return FIRST if stem in COMMON_FOLDERS or "*" in stem else stem


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
            option("--suite", metavar="NAME", help="name of the suite (default that of the traces' folder)"),
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
            option("--add", metavar="TRACE", help="append the scenario of a trace to the suite that --out names"),
            option("--workflow", action="store_true", help="also write .github/workflows/evalgate.yml"),
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
""",
    ),
}
