"""The action `goldens suite`: adds, changes, lists, shows and deletes regression suites."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell
    from evalgate.models.goldens import RegressionSuite

DIMENSIONS = ("identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness")
EXAMPLES = """examples:
  evalgate goldens suite add nightly --tag money --passing-score 0.9 --without tone
  evalgate goldens suite list
  # then a suite file runs it:  goldens: [{store: {suite: nightly}}]
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the steps of the action."""
    from evalgate.cli.store.store_flags import add_action, add_page, add_store

    parser.epilog = EXAMPLES
    steps = parser.add_subparsers(dest="step", metavar="ACTION", required=True)
    for name, purpose in (("add", "store a new suite"), ("update", "change a suite")):
        step = add_action(steps, name, purpose)
        step.add_argument("name", metavar="NAME", help="the suite's name")
        _add_fields(step)
        add_store(step)
    listing = add_action(steps, "list", "list suites")
    add_page(listing)
    add_store(listing)
    show = add_action(steps, "show", "show a suite, and the goldens it selects now")
    show.add_argument("name", metavar="NAME", help="the suite's name")
    show.add_argument("--json", action="store_true", help="print it as JSON")
    add_store(show)
    delete = add_action(steps, "delete", "delete a suite, but not its goldens")
    delete.add_argument("name", metavar="NAME", help="the suite's name")
    add_store(delete)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Runs the chosen step."""
    steps = {"add": _store_suite, "update": _store_suite, "list": _list, "show": _show, "delete": _delete}
    steps[arguments.step](arguments, shell)
    return 0


def _add_fields(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fields", "a flag marked + may be repeated")
    add = group.add_argument
    add("--golden", dest="golden_ids", action="append", metavar="ID", help="the id of a golden +")
    add("--tag", dest="golden_tags", action="append", metavar="WORD", help="all goldens with this tag +")
    add("--intent", dest="golden_intents", action="append", metavar="WORD", help="all goldens with this intent +")
    add("--passing-score", type=float, metavar="SCORE", help="the score from which a golden passes (default 0.85)")
    add(
        "--critical-issues",
        dest="critical_issue_threshold",
        type=int,
        metavar="N",
        help="how many critical issues are allowed (default 0)",
    )
    add(
        "--without",
        action="append",
        choices=DIMENSIONS,
        metavar="DIMENSION",
        help=f"a dimension that is not evaluated: {', '.join(DIMENSIONS)} +",
    )
    add("--description", metavar="TEXT", help="what it is for")
    add("--creator", metavar="NAME", help="who made it")
    add("--label", dest="tags", action="append", metavar="WORD", help="a tag of the suite itself +")


def _collect_fields(arguments: argparse.Namespace) -> dict[str, Any]:
    from evalgate.application.goldens.stored_goldens import check_fields

    fields = {
        name: tuple(value) if isinstance(value, list) else value
        for name in (
            *("golden_ids", "golden_tags", "golden_intents", "passing_score", "critical_issue_threshold"),
            *("description", "creator", "tags"),
        )
        if (value := getattr(arguments, name)) is not None
    }
    if arguments.without is not None:
        fields |= {f"evaluate_{name}": name not in arguments.without for name in DIMENSIONS}
    return check_fields(fields)


def _store_suite(arguments: argparse.Namespace, shell: Shell) -> None:
    from evalgate.application.goldens.stored_goldens import add_suite, change_suite
    from evalgate.cli.store.store_flags import open_store
    from evalgate.reporting.text.escaping import escape_terminal

    fields, is_new = _collect_fields(arguments), arguments.step == "add"
    with open_store(arguments, shell, create=is_new) as store:
        suite = (add_suite if is_new else change_suite)(arguments.name, fields, store)
        done = "added" if is_new else "updated"
        shell.print_line(escape_terminal(f"{done}: {suite.name}, {_count_goldens(suite, store)}", None))


def _list(arguments: argparse.Namespace, shell: Shell) -> None:
    from evalgate.cli.store.store_flags import note_more_results, open_store, parse_page, print_json
    from evalgate.reporting.dataset.golden_document import build_suite_document
    from evalgate.reporting.terminal.golden_tables import render_suite_table

    page = parse_page(arguments)
    with open_store(arguments, shell) as store:
        found = store.suites.list(page)
    if arguments.json:
        print_json(shell, [build_suite_document(suite) for suite in found])
    elif found:
        shell.print_line(render_suite_table(found, shell.width))
    note_more_results(shell, len(found), page, "suites")


def _show(arguments: argparse.Namespace, shell: Shell) -> None:
    from evalgate.application.goldens.stored_goldens import goldens_of, stored_suite
    from evalgate.cli.store.store_flags import open_store, print_json
    from evalgate.reporting.dataset.golden_document import build_suite_document
    from evalgate.reporting.terminal.golden_tables import render_suite

    with open_store(arguments, shell) as store:
        suite = stored_suite(arguments.name, store.suites)
        goldens = goldens_of(suite, store.goldens)
    if arguments.json:
        print_json(shell, {**build_suite_document(suite), "goldens_now": [golden.id for golden in goldens]})
    else:
        shell.print_line(render_suite(suite, goldens, width=shell.width, colour=shell.has_colour))


def _delete(arguments: argparse.Namespace, shell: Shell) -> None:
    from evalgate.application.goldens.stored_goldens import unknown_suite
    from evalgate.cli.store.store_flags import open_store
    from evalgate.errors import SettingError
    from evalgate.reporting.text.escaping import escape_terminal

    with open_store(arguments, shell) as store:
        if not store.suites.delete(arguments.name):
            raise SettingError(unknown_suite(arguments.name, store.suites))
    shell.print_line(escape_terminal(f"deleted: {arguments.name}; its goldens are still stored", None))


def _count_goldens(suite: RegressionSuite, store: Any) -> str:
    from evalgate.application.goldens.stored_goldens import goldens_of
    from evalgate.reporting.text.wording import pluralize

    return f"{pluralize(len(goldens_of(suite, store.goldens)), 'golden')} now"
