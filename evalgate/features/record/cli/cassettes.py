"""The verb `cassettes`: which are stale, what one holds, and what is no longer used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.cli.command import JSON_TABLE, Command, option
from evalgate.errors import Problem, SettingError

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from evalgate.cli.shell import Shell
    from evalgate.features.record.application.staleness import CassetteStatus
    from evalgate.features.record.models.cassette import Cassette

SCHEMA = "evalgate.cassettes/1"
FOLDER = option("--cassettes", metavar="DIR", default="evals/cassettes", help="their folder (default evals/cassettes)")
SUITES = option(
    "--suite",
    action="append",
    metavar="FILE",
    default=[],
    help="the suite that they are for: finds those of removed scenarios, and applies its `freshness`",
)


def show_status(arguments: Namespace, shell: Shell) -> int:
    """Prints a line a cassette; returns 1 with --strict if one is not fresh."""
    from evalgate.adapters.files.git_changes import find_changed_files
    from evalgate.features.record.application.staleness import FRESH

    found = [status for _, _, status in _find_all(arguments, shell)]
    changed = find_changed_files(arguments.cassettes, shell.cwd, arguments.since, shell.environ) if found else None
    if arguments.json:
        fields = ("path", "states", "exchanges", "unused", "recorded_at")
        listed = [
            {
                **{name: getattr(each, name) for name in fields},
                "changed": None if changed is None else each.path in changed,
            }
            for each in found
        ]
        shell.print_json({"schema": SCHEMA, "cassettes": listed})
    else:
        since = f"changed since {arguments.since}" if arguments.since else "changed, not committed"
        for status in found:
            shell.print_safe(_describe(status, since if changed and status.path in changed else None))
    if not found:
        shell.note(f"no cassettes in {arguments.cassettes}")
    return int(arguments.strict and any(status.states != [FRESH] for status in found))


def _describe(status: CassetteStatus, change: str | None) -> str:
    """The line of a cassette; `change` is how git sees it."""
    from evalgate.reporting.text.wording import pluralize

    count = pluralize(status.exchanges, "exchange")
    unused = f", {status.unused:,} unused" if status.unused else ""
    details = f"{count}{unused}, {status.recorded_at}{f', {change}' if change else ''}"
    return f"{', '.join(status.states):20} {status.path} ({details})"


def show_cassette(arguments: Namespace, shell: Shell) -> int:
    """Prints the cassettes of a scenario as conversations."""
    from evalgate.features.record.bootstrap.cassettes import CassetteFolder, rebuild_trace
    from evalgate.reporting.terminal.conversation import render_conversation

    folder = CassetteFolder(shell.cwd, arguments.cassettes)
    found = [each for each in folder.load_all() if each[1].header.scenario == arguments.scenario]
    if not found:
        hint = "evalgate cassettes status lists all"
        raise SettingError(Problem(f"no cassette of {arguments.scenario!r} in {arguments.cassettes}", None, hint))
    for path, cassette in found:
        if not cassette.exchanges:
            shell.print_safe(f"{path}: no exchanges")
            continue
        trace = rebuild_trace(cassette, path)
        shell.print_line(render_conversation(trace, width=shell.width, colour=shell.has_colour, full=arguments.full))
    return 0


def prune(arguments: Namespace, shell: Shell) -> int:
    """Removes exchanges that the last replay did not use, and cassettes of removed scenarios."""
    from evalgate.features.record.application.staleness import UNUSED, drop_unused
    from evalgate.features.record.bootstrap.cassettes import CassetteFolder, read_replays

    folder, notes = CassetteFolder(shell.cwd, arguments.cassettes), read_replays(shell.cwd)
    for path, cassette, status in list(_find_all(arguments, shell)):
        if UNUSED not in status.states:
            continue
        kept = cassette if not status.unused else drop_unused(cassette, notes.get(path))
        if status.unused and kept.exchanges:
            shell.print_safe(f"{path}: {status.unused} of {status.exchanges} exchanges removed")
            if not arguments.dry_run:
                folder.rewrite(path, kept)
        else:
            shell.print_safe(f"{path}: removed")
            if not arguments.dry_run:
                folder.remove(path)
    return 0


def refresh(arguments: Namespace, shell: Shell) -> int:
    """Records the cassettes of one scenario again: `record --cache write --scenario`."""
    from evalgate.features.record.cli.record import COMMANDS as RECORD
    from evalgate.features.record.cli.record import record

    defaults = _record_defaults(RECORD["record"])
    scenario, *command = arguments.words
    if not command:
        raise SettingError(Problem("the command of the agent is missing", None, "write it after `--`"))
    given = {"words": command, "scenario": scenario, "cache": "write", "suite": arguments.suite}
    defaults.__dict__.update(given, cassettes=arguments.cassettes, provider=arguments.provider)
    return record(defaults, shell)


def _record_defaults(command: Command) -> Namespace:
    """The options of `record` as if none was given."""
    from evalgate.cli.command import add_command
    from evalgate.cli.parser import VerbParser

    parser = VerbParser()
    add_command(parser, command)
    found: Namespace = parser.parse_args(["command"])
    return found


def _find_all(arguments: Namespace, shell: Shell) -> Iterator[tuple[str, Cassette, CassetteStatus]]:
    from evalgate.adapters.clock import SystemClock
    from evalgate.features.record.application.staleness import SuiteFacts, find_status
    from evalgate.features.record.bootstrap.cassettes import CassetteFolder, read_replays
    from evalgate.features.record.bootstrap.record_plan import load_suite

    folder = CassetteFolder(shell.cwd, arguments.cassettes)
    notes = read_replays(shell.cwd)
    now = SystemClock(shell.epoch).now()
    suites = {loaded.suite.name: loaded for loaded in (load_suite(path, shell.cwd) for path in arguments.suite)}
    for path, cassette in folder.load_all():
        header = cassette.header
        loaded = suites.get(header.suite or "")
        if folder.path(header.trial_id) != path:  # no replay finds it
            facts = SuiteFacts(is_listed=False)
        elif loaded is not None:
            facts = loaded.find_facts(header.scenario, header.variant, header.trial)
        else:
            facts = SuiteFacts()
        yield path, cassette, find_status(path, cassette, notes.get(path), facts, now)


def _options(*more: Any) -> list[Any]:
    return [*more, SUITES, FOLDER]


COMMANDS = {
    "cassettes": Command(
        actions={
            "status": Command(
                show_status,
                _options(
                    option("--strict", action="store_true", help="exit 1 if one is not fresh"),
                    option(
                        "--since",
                        metavar="REF",
                        help="mark those changed since a branch or commit of git, such as origin/main (default: those "
                        "not committed)",
                    ),
                    JSON_TABLE,
                ),
                """examples:
  evalgate cassettes status
  evalgate cassettes status --suite evals/support.yaml --strict
  evalgate cassettes status --since origin/main                    what a pull request changes
""",
                purpose="list cassettes: fresh, prompt changed, agent changed, older than max_age, or unused",
            ),
            "show": Command(
                show_cassette,
                [
                    option("scenario", metavar="SCENARIO", help="its id"),
                    option("--full", action="store_true", help="print long texts whole"),
                    FOLDER,
                ],
                """examples:
  evalgate cassettes show refund
""",
                purpose="print the cassettes of a scenario as conversations",
            ),
            "prune": Command(
                prune,
                _options(
                    option("--dry-run", action="store_true", help="print what would be removed, and remove nothing")
                ),
                """examples:
  evalgate cassettes prune --suite evals/support.yaml
""",
                purpose="remove exchanges that the last replay did not use, and cassettes of removed scenarios",
            ),
            "refresh": Command(
                refresh,
                [
                    option("words", nargs="+", metavar="SCENARIO -- CMD", help="its id, and the agent's command"),
                    option("--suite", metavar="FILE", help="its suite"),
                    option(
                        "--provider", action="append", metavar="NAME=URL", default=[], help="base URL, as in `record`"
                    ),
                    FOLDER,
                ],
                """examples:
  evalgate cassettes refresh refund --suite evals/support.yaml -- python agent.py
""",
                purpose="record the cassettes of a scenario again",
                usage="evalgate cassettes refresh [-h] [--suite FILE] SCENARIO -- CMD ...",
            ),
        },
        metavar="ACTION",
    ),
}
