"""Decodes what a sandboxed judge built for trackers, and refuses what it must not decide: names, facts and texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from evalgate.application.messages.judge_response import is_bounded
from evalgate.features.track.application.published_names import MAX_KEY
from evalgate.features.track.application.published_run import LONGEST, YEARS
from evalgate.features.track.models import PublishedRun

if TYPE_CHECKING:
    from evalgate.features.track.application.published_names import PublishedNames
    from evalgate.features.track.feature import ContentLevel
    from evalgate.features.track.models import PublishedRow, PublishedScore, PublishedSuite

LARGEST = 100_000_000
UUID_FORM = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
PUBLIC_INPUTS, PUBLIC_OUTPUTS = frozenset({"scenario", "variant"}), frozenset({"call_count"})
"""What leaves of a trial with `content: none`."""
FACTS = frozenset(
    {
        *("evalgate.version", "commit", "branch", "pull_request", "repository", "repository_id", "event", "run_url"),
        *("run_id", "attempt", "suite", "fork", "head_repository"),
    }
)
"""Metadata that follow from the context alone."""


def decode_published(content: bytes, names: PublishedNames, content_level: ContentLevel) -> PublishedRun | None:
    """The run in a judge's document, None if it is not one of the run of these names or holds more than may leave."""
    if len(content) > LARGEST or not is_bounded(content):
        return None
    try:
        run = msgspec.json.decode(content, type=PublishedRun)
    except (msgspec.DecodeError, RecursionError, OverflowError, UnicodeDecodeError):
        return None
    level: ContentLevel = "none" if names.context.is_fork else content_level
    is_named = run.base_branch == names.base_branch and len({suite.name for suite in run.suites}) == len(run.suites)
    return run if is_named and all(_is_allowed(suite, names, level) for suite in run.suites) else None


def _is_allowed(suite: PublishedSuite, names: PublishedNames, level: ContentLevel) -> bool:
    facts = {name: value for name, value in suite.metadata.items() if name in FACTS}
    return (
        suite.dataset == names.name_dataset(suite.name)
        and suite.experiment == names.name_experiment(suite.name)
        and facts == names.describe(suite.name)
        and all(_is_row(row) and _holds_at_most(row, level) for row in suite.rows)
        and all(len(score.key) <= MAX_KEY for scores in _list_scores(suite) for score in scores)
    )


def _list_scores(suite: PublishedSuite) -> list[list[PublishedScore]]:
    return [suite.scores, *(row.scores for row in suite.rows)]


def _is_row(row: PublishedRow) -> bool:
    latency = row.latency_seconds
    return (
        UUID_FORM.fullmatch(row.id) is not None
        and row.started_at.tzinfo is not None
        and row.started_at.year in YEARS
        and (latency is None or 0 <= latency <= LONGEST)
    )


def _holds_at_most(row: PublishedRow, level: ContentLevel) -> bool:
    """Whether no text leaves that this level keeps."""
    if level == "full":
        return True
    if "messages" in row.outputs or any(score.comment is not None for score in row.scores):
        return False
    is_public = row.inputs.keys() <= PUBLIC_INPUTS and row.outputs.keys() <= PUBLIC_OUTPUTS and not row.expected
    return level == "final" or is_public
