"""The options of `track` that `run` has too."""

from __future__ import annotations

from argparse import ArgumentTypeError

from evalgate.cli.command import option, parse_words
from evalgate.errors import SettingError
from evalgate.models.results.published_run import CONTENT_LEVELS
from evalgate.settings.tracking import TRACKERS, require_tracker


def parse_trackers(text: str) -> list[str]:
    """The names in a value such as `langsmith,mlflow`."""
    try:
        return [require_tracker(name) for name in parse_words(text)]
    except SettingError as error:
        raise ArgumentTypeError(str(error)) from None


CONTENT_HELP = (
    "which texts leave: none (ids and numbers), final (also prompts, tool names and final answers), or full (also"
    " conversations and reasons); all redacted (default final)"
)
ALLOW_HTTP_HELP = "allow a tracker at http:// on another machine"
TRACKING = (
    option(
        "--track",
        type=parse_trackers,
        default=[],
        metavar="NAME",
        help=f"after the verdict publish the run to this tracker: {', '.join(TRACKERS)} (docs/tracking.md)",
    ),
    option("--track-content", choices=CONTENT_LEVELS, default="final", help=CONTENT_HELP),
)
