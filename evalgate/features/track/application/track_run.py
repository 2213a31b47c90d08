"""Publishes a finished run to a tracker, whatever comes of it, and describes that in `tracking.json`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from evalgate.application.messages.request import TRACKING as TRACKING  # noqa: PLC0414  re-exported
from evalgate.errors import TrackerRefused, TrackerUnreachable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.errors import Problem
    from evalgate.features.track.models import Experiment, PublishedRun
    from evalgate.features.track.ports import Tracker

SCHEMA = "evalgate.tracking/1"
PARTIAL = "tracker_partial"
NO_TEXTS = (
    "no answers and conversations were sent: the run keeps no traces (baseline.zip), or more than 50 MB of their texts"
)


class TrackingReport(Struct, frozen=True):
    """What one tracker did with a run; `failure` is the reason if it does not have all of it."""

    tracker: str
    experiments: Sequence[Experiment] = ()
    warnings: Sequence[tuple[str, str]] = ()
    failure: TrackerRefused | TrackerUnreachable | None = None

    @property
    def problem(self) -> Problem | None:
        """The failure in one line."""
        return None if self.failure is None else self.failure.problems[0]


def track_run(run: PublishedRun, tracker: Tracker) -> TrackingReport:
    """Publishes the run; a failure is part of the report, never raised."""
    notes = [] if run.is_complete else [NO_TEXTS]
    try:
        published = tracker.publish(run)
    except (TrackerRefused, TrackerUnreachable) as failure:
        return TrackingReport(tracker.name, (), [(PARTIAL, note) for note in notes], failure)
    warnings = [(PARTIAL, message) for message in (*notes, *published.warnings)]
    return TrackingReport(tracker.name, published.experiments, warnings)


def build_tracking_document(reports: Sequence[TrackingReport]) -> dict[str, Any]:
    """The document `tracking.json`."""
    return {"schema": SCHEMA, "trackers": [_build_tracker(report) for report in reports]}


def _build_tracker(report: TrackingReport) -> dict[str, Any]:
    failure = report.failure
    failed = [] if failure is None else [{"code": failure.code, "message": str(failure.problems[0])}]
    return {
        "tracker": report.tracker,
        "status": "published" if failure is None else "failed",
        "experiments": [each._asdict() for each in report.experiments],
        "warnings": [*failed, *({"code": code, "message": message} for code, message in report.warnings)],
    }
