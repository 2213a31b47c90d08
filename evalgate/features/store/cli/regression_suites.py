"""The action `goldens suite`: adds, changes, lists, shows and deletes regression suites."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from evalgate.cli.command import STORE, Command, group, option
from evalgate.errors import SettingError
from evalgate.features.store.cli.pages import PAGE, note_more_results, open_store, parse_page

if TYPE_CHECKING:
    from argparse import Namespace

    from evalgate.cli.shell import Shell

DIMENSIONS = ("identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness")
FIELDS = (
    *("golden_ids", "golden_tags", "golden_intents", "passing_score", "critical_issue_threshold"),
    *("description", "creator", "tags"),
)


def _collect_fields(arguments: Namespace) -> dict[str, Any]:
    from evalgate.features.store.application.goldens.stored_goldens import check_fields

    given = {name: value for name in FIELDS if (value := getattr(arguments, name)) is not None}
    fields = {name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    if arguments.without is not None:
        fields |= {f"evaluate_{name}": name not in arguments.without for name in DIMENSIONS}
    return check_fields(fields)


def _store_suite(arguments: Namespace, shell: Shell, *, is_new: bool) -> int:
    """Stores a new suite, or changes the fields of a stored one."""
    from evalgate.features.store.application.goldens.stored_goldens import add_suite, change_suite, goldens_of
    from evalgate.reporting.text.wording import pluralize

    fields = _collect_fields(arguments)
    with open_store(arguments, shell, create=is_new) as store:
        suite = (add_suite if is_new else change_suite)(arguments.name, fields, store)
        goldens = pluralize(len(goldens_of(suite, store.goldens)), "golden")
        shell.print_safe(f"{'added' if is_new else 'updated'}: {suite.name}, {goldens} now")
    return 0


def _list(arguments: Namespace, shell: Shell) -> int:
    from evalgate.features.store.reporting.dataset.golden_document import build_suite_document
    from evalgate.features.store.reporting.golden_tables import render_suite_table

    page = parse_page(arguments)
    with open_store(arguments, shell) as store:
        found = store.suites.list(page)
    if arguments.json:
        shell.print_json([build_suite_document(suite) for suite in found])
    elif found:
        shell.print_line(render_suite_table(found, shell.width))
    note_more_results(shell, len(found), page, "suites")
    return 0


def _show(arguments: Namespace, shell: Shell) -> int:
    from evalgate.features.store.application.goldens.stored_goldens import goldens_of, stored_suite
    from evalgate.features.store.reporting.dataset.golden_document import build_suite_document
    from evalgate.features.store.reporting.golden_tables import render_suite

    with open_store(arguments, shell) as store:
        suite = stored_suite(arguments.name, store.suites)
        goldens = goldens_of(suite, store.goldens)
    if arguments.json:
        shell.print_json({**build_suite_document(suite), "goldens_now": [golden.id for golden in goldens]})
    else:
        shell.print_line(render_suite(suite, goldens, width=shell.width, colour=shell.has_colour))
    return 0


def _delete(arguments: Namespace, shell: Shell) -> int:
    from evalgate.features.store.application.goldens.stored_goldens import unknown_suite

    with open_store(arguments, shell) as store:
        if not store.suites.delete(arguments.name):
            raise SettingError(unknown_suite(arguments.name, store.suites))
    shell.print_safe(f"deleted: {arguments.name}; its goldens are still stored")
    return 0


NAME = option("name", metavar="NAME", help="the suite's name")
FIELD_FLAGS = group(
    "fields",
    "a flag marked + may be repeated",
    option("--golden", dest="golden_ids", action="append", metavar="ID", help="the id of a golden +"),
    option("--tag", dest="golden_tags", action="append", metavar="WORD", help="all goldens with this tag +"),
    option("--intent", dest="golden_intents", action="append", metavar="WORD", help="all goldens with this intent +"),
    option("--passing-score", type=float, metavar="SCORE", help="the score from which a golden passes (default 0.85)"),
    option(
        "--critical-issues",
        dest="critical_issue_threshold",
        type=int,
        metavar="N",
        help="how many critical issues are allowed (default 0)",
    ),
    option(
        "--without",
        action="append",
        choices=DIMENSIONS,
        metavar="DIMENSION",
        help=f"a dimension that is not evaluated: {', '.join(DIMENSIONS)} +",
    ),
    option("--description", metavar="TEXT", help="what it is for"),
    option("--creator", metavar="NAME", help="who made it"),
    option("--label", dest="tags", action="append", metavar="WORD", help="a tag of the suite itself +"),
)
SUITE_COMMAND = Command(
    examples="""examples:
  evalgate store goldens suite add nightly --tag money --passing-score 0.9 --without tone
  evalgate store goldens suite list
  # then a suite file runs it:  goldens: [{store: {suite: nightly}}]
""",
    purpose="manage regression suites: which goldens are judged together, and how strictly",
    actions={
        "add": Command(partial(_store_suite, is_new=True), [NAME, FIELD_FLAGS, STORE], purpose="store a new suite"),
        "update": Command(partial(_store_suite, is_new=False), [NAME, FIELD_FLAGS, STORE], purpose="change a suite"),
        "list": Command(_list, [*PAGE, STORE], purpose="list suites"),
        "show": Command(
            _show,
            [NAME, option("--json", action="store_true", help="print it as JSON"), STORE],
            purpose="show a suite, and the goldens it selects now",
        ),
        "delete": Command(_delete, [NAME, STORE], purpose="delete a suite, but not its goldens"),
    },
)
