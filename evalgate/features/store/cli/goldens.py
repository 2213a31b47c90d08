"""The verb `goldens`: adds, lists, shows, changes, deletes, imports and exports golden conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.cli.command import FORMAT, OUTPUT, STORE, Command, choose_format, group, one_of, option
from evalgate.cli.shell import format_location, is_stdout
from evalgate.errors import Location, Problem, SettingError
from evalgate.features.store.cli.pages import PAGE, note_more_results, open_store, parse_page
from evalgate.features.store.cli.regression_suites import SUITE_COMMAND
from evalgate.features.store.ports import EVERYTHING, GoldenFilter, Page
from evalgate.reporting.text.wording import pluralize

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from evalgate.cli.shell import Shell
    from evalgate.models.run.golden import Golden

LAST = 5
"""Evaluations that are shown with a golden."""


class _FieldFlag(NamedTuple):
    flag: str
    field: str
    metavar: str
    meaning: str
    is_list: bool = False


FIELDS = (
    _FieldFlag("--title", "title", "TEXT", "a short title"),
    _FieldFlag("--description", "description", "TEXT", "a longer description"),
    _FieldFlag("--conversation-id", "conversation_id", "ID", "the conversation it was taken from"),
    _FieldFlag("--intent", "intent", "WORD", "what the user wants, such as task_execution"),
    _FieldFlag("--stance", "primary_stance", "WORD", "the attitude that the agent should show, such as helpful"),
    _FieldFlag("--second-stance", "secondary_stances", "WORD", "another stance of the agent", is_list=True),
    _FieldFlag("--memory", "required_memory_recall", "WORD", "what the agent must remember", is_list=True),
    _FieldFlag("--tool", "required_tool_usage", "WORD", "which tools must be called, or how", is_list=True),
    _FieldFlag("--refusal", "required_refusal", "WORD", "what must be refused or allowed", is_list=True),
    _FieldFlag("--user", "user_messages", "TEXT", "the user's message, one per turn", is_list=True),
    _FieldFlag("--response", "golden_responses", "TEXT", "the agent's expected answer, one per turn", is_list=True),
    _FieldFlag("--tag", "tags", "WORD", "a tag", is_list=True),
    _FieldFlag("--creator", "creator", "NAME", "who wrote it"),
)


def add(arguments: Namespace, shell: Shell) -> int:
    """Stores new goldens and prints their ids."""
    from evalgate.features.store.application.goldens.golden_import import doubts_of
    from evalgate.features.store.application.goldens.stored_goldens import add_goldens

    goldens = _read_goldens(arguments, shell)
    shell.report_problems(doubts_of(goldens), "warning")
    with open_store(arguments, shell, create=True) as store:
        add_goldens(goldens, store.goldens)
        for golden in goldens:
            shell.print_safe(f"added: {golden.id}")
        shell.note(f"in the store {store.display_url}")
    return 0


def _read_goldens(arguments: Namespace, shell: Shell) -> Sequence[Golden]:
    from evalgate.features.store.application.goldens.golden_import import golden_from_fields, update_golden
    from evalgate.features.store.bootstrap.exports import load_goldens

    fields = _collect_fields(arguments)
    if arguments.id is not None:
        fields["id"] = _replace_invalid_bytes(arguments.id)
    if arguments.file is not None:
        if fields:
            raise SettingError("--file can't be combined with --id or flags such as --title: the file has them all")
        return load_goldens([arguments.file], shell.cwd)
    if arguments.from_trace is not None:
        return [update_golden(_golden_from_trace(arguments, shell), fields)]
    if arguments.id is None:
        hint = "give --id with --user and --response, or --from-trace, or --file"
        raise SettingError(Problem("no golden given", None, hint))
    return [golden_from_fields(fields)]


def _golden_from_trace(arguments: Namespace, shell: Shell) -> Golden:
    from evalgate.bootstrap.sources import build_trace_files
    from evalgate.features.store.application.goldens.golden_import import golden_from_trace
    from evalgate.models.trace.trace import DamagedTrace

    trace_format, _ = choose_format(arguments, shell)
    records = list(build_trace_files(shell.cwd).read([arguments.from_trace], ".", trace_format))
    if not records:
        raise SettingError(f"no trace file at {arguments.from_trace!r}")
    number = arguments.number or 1
    if arguments.number is None and len(records) > 1:
        hint = "choose one with --number N"
        raise SettingError(Problem(f"{arguments.from_trace} holds {len(records):,} traces", None, hint))
    if not 1 <= number <= len(records):
        raise SettingError(f"--number {number}: {arguments.from_trace} holds {len(records):,} traces")
    record = records[number - 1]
    if isinstance(record, DamagedTrace):
        raise SettingError(Problem(record.reason, Location(format_location(record.source))))
    return golden_from_trace(record)


def _collect_fields(arguments: Namespace) -> dict[str, Any]:
    """The fields whose flags were given."""
    given = {each: getattr(arguments, each.field) for each in FIELDS}
    return {
        each.field: list(map(_replace_invalid_bytes, value)) if each.is_list else _replace_invalid_bytes(value)
        for each, value in given.items()
        if value is not None
    }


def _replace_invalid_bytes(text: str) -> str:
    """The text of an argument with bytes that are not UTF-8 replaced."""
    return text.encode("utf-8", "replace").decode()


def list_goldens(arguments: Namespace, shell: Shell) -> int:
    """Prints the goldens ordered by id."""
    from evalgate.features.store.reporting.dataset.golden_document import build_golden_document
    from evalgate.features.store.reporting.golden_tables import render_golden_table

    page = parse_page(arguments)
    with open_store(arguments, shell) as store:
        found = store.goldens.list(page, _parse_filter(arguments))
    if arguments.json:
        shell.print_json([build_golden_document(golden) for golden in found])
    elif found:
        shell.print_line(render_golden_table(found, shell.width))
    note_more_results(shell, len(found), page, "goldens")
    return 0


def _parse_filter(arguments: Namespace) -> GoldenFilter:
    """The filter that the flags describe."""
    return GoldenFilter(arguments.intent, arguments.stance, arguments.creator, arguments.tag)


def show(arguments: Namespace, shell: Shell) -> int:
    """Prints one golden and its last evaluations."""
    from evalgate.features.store.application.goldens.stored_goldens import stored_golden
    from evalgate.features.store.reporting.dataset.golden_document import build_golden_document
    from evalgate.features.store.reporting.golden_tables import render_golden

    with open_store(arguments, shell) as store:
        golden = stored_golden(arguments.id, store.goldens)
        last = store.evaluations.list(Page(LAST), golden_id=golden.id)
    if arguments.json:
        shell.print_json(build_golden_document(golden))
    else:
        shell.print_line(render_golden(golden, last, width=shell.width, colour=shell.has_colour))
    return 0


def update(arguments: Namespace, shell: Shell) -> int:
    """Replaces the given fields; a list is replaced as a whole."""
    from evalgate.features.store.application.goldens.golden_import import doubts_of, update_golden
    from evalgate.features.store.application.goldens.stored_goldens import stored_golden, without_secrets

    fields = _collect_fields(arguments)
    if not fields:
        raise SettingError(Problem("no field to change was given", None, "see evalgate store goldens update --help"))
    with open_store(arguments, shell) as store:
        changed = update_golden(stored_golden(arguments.id, store.goldens), fields)
        shell.report_problems(doubts_of([changed]), "warning")
        stored = store.goldens.update(without_secrets(changed))
    shell.print_safe(f"updated: {stored.id}, version {stored.version}")
    return 0


def delete(arguments: Namespace, shell: Shell) -> int:
    """Deletes goldens and prints what was deleted with each; if one is unknown, deletes none."""
    from evalgate.features.store.application.goldens.stored_goldens import unknown_golden

    golden_ids = list(dict.fromkeys(arguments.ids))
    with open_store(arguments, shell) as store:
        stored_ids = set(store.goldens.ids())
        unknown = [unknown_golden(id_, store.goldens) for id_ in golden_ids if id_ not in stored_ids]
        if unknown:
            raise SettingError(*unknown)
        for golden_id in golden_ids:
            deleted = store.goldens.delete(golden_id)
            if deleted is None:
                shell.note(f"note: {golden_id} was already deleted by another process")
                continue
            suites_note = f"; {pluralize(deleted.suites, 'regression suite')} named it" if deleted.suites else ""
            shell.print_safe(f"deleted: {golden_id} with {pluralize(deleted.evaluations, 'evaluation')}{suites_note}")
    return 0


def import_goldens(arguments: Namespace, shell: Shell) -> int:
    """Stores all goldens of the files, or none on an error; goldens already stored are updated."""
    from evalgate.features.store.application.goldens.golden_import import doubts_of
    from evalgate.features.store.application.goldens.stored_goldens import upsert_goldens
    from evalgate.features.store.bootstrap.exports import load_goldens

    goldens = load_goldens(arguments.files, shell.cwd)
    shell.report_problems(doubts_of(goldens), "warning")
    with open_store(arguments, shell, create=True) as store:
        counts = upsert_goldens(goldens, store.goldens)
        shell.print_line(f"goldens: {counts.created:,} new, {counts.updated:,} updated, {counts.unchanged:,} unchanged")
        shell.note(f"in the store {store.display_url}")
    return 0


def export(arguments: Namespace, shell: Shell) -> int:
    """Writes one line of JSON per golden, ordered by id."""
    from evalgate.adapters.file_writer import open_named
    from evalgate.features.store.reporting.dataset.golden_document import build_golden_document, encode_json_line

    with open_store(arguments, shell) as store:
        found = store.goldens.list(EVERYTHING, _parse_filter(arguments))
    lines = [encode_json_line(build_golden_document(golden)) for golden in found]
    if is_stdout(arguments.output):
        for line in lines:
            shell.print_line(line.decode().rstrip("\n"))
        return 0
    with open_named(arguments.output, shell.cwd) as file:
        file.writelines(lines)
    shell.note(f"{pluralize(len(lines), 'golden')} written to {arguments.output}")
    return 0


FIELD_FLAGS = group(
    "fields",
    "a flag marked + may be repeated",
    *(
        option(
            each.flag,
            dest=each.field,
            metavar=each.metavar,
            action="append" if each.is_list else "store",
            help=f"{each.meaning} +" if each.is_list else each.meaning,
        )
        for each in FIELDS
    ),
)
FILTER = (
    option("--intent", metavar="WORD", help="only those with this intent"),
    option("--stance", metavar="WORD", help="only those with this primary stance"),
    option("--tag", metavar="WORD", help="only those with this tag"),
    option("--creator", metavar="NAME", help="only those by this creator"),
)
"""A golden must match all that are given."""
COMMANDS = {
    "goldens": Command(
        examples="""examples:
  evalgate store goldens add --from-trace traces/refund.json --tag money
  evalgate store goldens list --intent task_execution
  evalgate store goldens import 'goldens/*.yaml'
  evalgate store goldens suite add nightly --tag money
""",
        actions={
            "add": Command(
                add,
                [
                    option("--id", metavar="ID", help="its id: the scenario id in traces"),
                    one_of(
                        option("--from-trace", metavar="TRACE", help="create it from this trace file, of any format"),
                        option("--file", metavar="FILE", help="YAML, JSON or JSON lines with one or more goldens"),
                    ),
                    option("--number", type=int, metavar="N", help="the N-th trace of --from-trace, counting from 1"),
                    *FORMAT,
                    FIELD_FLAGS,
                    STORE,
                ],
                """examples:
  evalgate store goldens add --from-trace traces/refund.json            its id is the scenario's
  evalgate store goldens add --from-trace run.jsonl --number 3 --id refund --tag money
  evalgate store goldens add --file goldens/refund.yaml
  evalgate store goldens add --id greet --user 'Hello' --response 'Hello! How can I help?'
""",
                purpose="store new goldens: from flags, from a file, or from a trace",
            ),
            "list": Command(list_goldens, [*FILTER, *PAGE, STORE], purpose="list goldens"),
            "show": Command(
                show,
                [
                    option("id", metavar="ID", help="the golden's id"),
                    option("--json", action="store_true", help="print it as JSON, in the format of golden files"),
                    STORE,
                ],
                purpose="show a golden, and how traces scored against it",
            ),
            "update": Command(
                update,
                [option("id", metavar="ID", help="the golden's id"), FIELD_FLAGS, STORE],
                """examples:
  evalgate store goldens update refund --title 'A refund in time' --tag money --tag vip
""",
                purpose="change a golden and increment its version",
            ),
            "delete": Command(
                delete,
                [option("ids", nargs="+", metavar="ID", help="goldens' ids"), STORE],
                purpose="delete goldens and their evaluations",
            ),
            "import": Command(
                import_goldens,
                [
                    option(
                        "files", nargs="+", metavar="FILE", help="YAML, JSON or JSON lines of goldens, or eval sets"
                    ),
                    STORE,
                ],
                """examples:
  evalgate store goldens import goldens/refund.yaml more.jsonl
  evalgate store goldens import 'agent/*.evalset.json'
""",
                purpose="import goldens from files: golden files of EvalGate, or eval sets of Google ADK",
            ),
            "export": Command(
                export,
                [*FILTER, OUTPUT, STORE],
                """examples:
  evalgate store goldens export -o goldens.jsonl
  evalgate store goldens export --tag money | head -1
""",
                purpose="export goldens as JSON lines, for `import` and for suites",
            ),
            "suite": SUITE_COMMAND,
        },
    ),
}
