"""The port to trackers: services that keep and show experiments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from evalgate.features.track.models import Published, PublishedRun


class Tracker(Protocol):
    """A service that keeps experiments. Publishing the same run again adds nothing."""

    @property
    def name(self) -> str:
        """Its name, for people."""

    def publish(self, run: PublishedRun) -> Published:
        """Publishes each suite as an experiment; raises TrackerUnreachable or TrackerRefused."""
