"""A finished run as it leaves for a tracker: one experiment for each suite, one row for each trial."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003  msgspec reads the types
from typing import Any, NamedTuple

from msgspec import Struct, field

from evalgate.features.track.feature import ContentLevel  # noqa: TC001  msgspec reads the types


class PublishedScore(Struct, frozen=True):
    """A score under its key; `score` is None if the trial could not be judged by it. `value` repeats a count."""

    key: str
    score: float | None
    value: float | str | None = None
    comment: str | None = None


class PublishedRow(Struct):
    """One trial. `id` is a UUID that is the same in every run of this scenario, variant and trial.

    `is_changed` is whether the scenario's verdict is another than in the baseline.
    """

    id: str
    scenario: str
    variant: str | None
    trial: int
    inputs: dict[str, Any]
    expected: dict[str, Any]
    outputs: dict[str, Any]
    scores: list[PublishedScore]
    metadata: dict[str, str]
    started_at: datetime
    latency_seconds: float | None = None
    error: str | None = None
    is_changed: bool = False


class PublishedSuite(Struct):
    """One suite; `dataset` is shared by all runs of it, `experiment` names this run only."""

    name: str
    dataset: str
    experiment: str
    rows: list[PublishedRow]
    scores: list[PublishedScore]
    metadata: dict[str, str]


class PublishedRun(Struct):
    """A run, redacted; `base_branch` is the branch whose newest experiment it is compared with, None for no other.

    `is_complete` is False if texts were asked for and the run keeps no traces.
    """

    suites: list[PublishedSuite] = field(default_factory=list)
    base_branch: str | None = None
    is_complete: bool = True


class TrackingContext(Struct, frozen=True):
    """Facts about a run that its results lack. `server` is the host of the repository, empty in a shell.

    `head_repository` is the name of a fork.
    """

    repository: str
    server: str = ""
    repository_id: str | None = None
    run_id: str | None = None
    attempt: str = "1"
    run_url: str | None = None
    event: str | None = None
    branch: str | None = None
    base_branch: str | None = None
    pull_request: str | None = None
    is_fork: bool = False
    head_repository: str | None = None
    prefix: str = "evalgate"


class TrackingOptions(Struct, frozen=True):
    """What the judge makes for trackers: from a run of this context, with texts up to this level.

    A run of more than `most_trials` trials makes nothing; None for no limit.
    """

    context: TrackingContext
    content: ContentLevel = "final"
    most_trials: int | None = None


class Experiment(NamedTuple):
    """A published experiment and the page that shows it; `is_new` is False if the tracker had it before."""

    suite: str
    name: str
    url: str
    is_new: bool


class Published(NamedTuple):
    """What a tracker holds now, and what it left out."""

    experiments: tuple[Experiment, ...]
    warnings: tuple[str, ...] = ()
