"""The verb `feedback`: stores and lists people's feedback on conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from evalgate.cli.shell import Shell
    from evalgate.models.goldens import Sentiment

SENTIMENTS = ("positive", "negative", "neutral")
MAX_COMMENT, MAX_WORD, MAX_ISSUES = 10_000, 512, 100
EXAMPLES = """examples:
  evalgate feedback add talk-17 --rating 2 --comment 'asked twice for the order number'
  evalgate feedback list --conversation talk-17
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the two actions of the verb."""
    from evalgate.cli.store.store_flags import add_action, add_page, add_store

    parser.epilog = EXAMPLES
    actions = parser.add_subparsers(dest="action", metavar="add|list", required=True)
    new = add_action(actions, "add", "store user feedback on a conversation")
    add = new.add_argument
    add("conversation", metavar="CONVERSATION", help="the conversation's id")
    add("--rating", type=int, choices=range(1, 6), required=True, help="from 1 (bad) to 5 (good)")
    add("--feedback", choices=SENTIMENTS, help="its sentiment (default: positive from rating 4, negative up to 2)")
    add("--comment", metavar="TEXT", default="", help="the user's comment")
    add("--issue", action="append", metavar="TEXT", default=[], help="something that was wrong (repeatable)")
    add("--user-id", metavar="UUID", help="the user who gave the feedback")
    add("--message-id", metavar="ID", help="the message of the conversation that it is about")
    add("--golden", metavar="ID", help="the golden that it is about")
    add_store(new)
    listing = add_action(actions, "list", "list user feedback, oldest first")
    about = listing.add_mutually_exclusive_group()
    about.add_argument("--conversation", metavar="ID", help="only for this conversation")
    about.add_argument("--golden", metavar="ID", help="only for this golden")
    add_page(listing)
    add_store(listing)


def run(arguments: argparse.Namespace, shell: Shell) -> int:
    """Stores feedback or lists it."""
    return _add(arguments, shell) if arguments.action == "add" else _list(arguments, shell)


def _add(arguments: argparse.Namespace, shell: Shell) -> int:
    from evalgate.application.goldens.stored_goldens import add_feedback
    from evalgate.cli.store.store_flags import open_store
    from evalgate.models.goldens import Feedback

    _check_lengths(arguments)
    feedback = Feedback(
        "",
        arguments.conversation,
        arguments.rating,
        arguments.feedback or _default_sentiment(arguments.rating),
        arguments.comment,
        tuple(arguments.issue),
        arguments.user_id,
        arguments.message_id,
        arguments.golden,
    )
    with open_store(arguments, shell, create=True) as store:
        shell.print_line(f"added: {add_feedback(feedback, store).id}")
        shell.note(f"in the store {store.display_url}")
    return 0


def _list(arguments: argparse.Namespace, shell: Shell) -> int:
    from evalgate.cli.store.store_flags import note_more_results, open_store, parse_page, print_json
    from evalgate.reporting.dataset.golden_document import build_feedback_document
    from evalgate.reporting.terminal.golden_tables import render_feedback_table

    page = parse_page(arguments)
    with open_store(arguments, shell) as store:
        if arguments.conversation is not None:
            found = store.feedback.of_conversation(arguments.conversation, page)
        elif arguments.golden is not None:
            found = store.feedback.of_golden(arguments.golden, page)
        else:
            found = store.feedback.list(page)
    if arguments.json:
        print_json(shell, [build_feedback_document(feedback) for feedback in found])
    elif found:
        shell.print_line(render_feedback_table(found, shell.width))
    note_more_results(shell, len(found), page, "feedback")
    return 0


def _default_sentiment(rating: int) -> Sentiment:
    return "positive" if rating > 3 else "negative" if rating < 3 else "neutral"  # noqa: PLR2004


def _check_lengths(arguments: argparse.Namespace) -> None:
    """Raises SettingError for texts that are empty or too long, and for too many issues."""
    from evalgate.errors import SettingError

    if len(arguments.comment) > MAX_COMMENT:
        raise SettingError(f"--comment must have at most {MAX_COMMENT:,} characters")
    words = {"--message-id": arguments.message_id, "--golden": arguments.golden}
    words |= {f"--issue {number}": text for number, text in enumerate(arguments.issue, 1)}
    for name, text in {"CONVERSATION": arguments.conversation, **words}.items():
        if text is not None and not 0 < len(text.strip()) <= MAX_WORD:
            raise SettingError(f"{name} must have 1 to {MAX_WORD} characters")
    if len(arguments.issue) > MAX_ISSUES:
        raise SettingError(f"--issue may be given at most {MAX_ISSUES} times")
