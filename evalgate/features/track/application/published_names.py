"""Names and facts of a published run that follow from its context, so that they can be computed again and compared."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import orjson
from msgspec import Struct

from evalgate.reporting.results.clean_values import clean_text
from evalgate.version import __version__

if TYPE_CHECKING:
    from evalgate.features.track.models import TrackingContext

NAMESPACE = UUID("6f0d5c1e-7a52-5d0e-9a0f-2d3c8b1e4a77")
MAX_TEXT, MAX_KEY, MAX_NAME = 20_000, 100, 120
NAME_END = 8


class PublishedNames(Struct, frozen=True):
    """The names of one run. `attempt` counts the attempts of `run_id`."""

    context: TrackingContext
    run_id: str
    attempt: str
    branch: str | None
    commit: str | None

    @property
    def base_branch(self) -> str | None:
        """The branch whose newest experiment the run is compared with."""
        base = self.context.base_branch
        return base if base != self.branch else None

    def name_dataset(self, suite: str) -> str:
        """The dataset of a suite, the same in all runs; forks share one that is no suite's."""
        return f"evalgate/{self.context.repository}/{clean_text(self._group(suite), MAX_KEY)}"

    def name_experiment(self, suite: str) -> str:
        """A name that only this run of the suite has; its end keeps it so where the rest is cut."""
        context = self.context
        identity = join_parts(context.server, context.repository, self.run_id, self.attempt, suite)
        parts = (context.prefix, suite, self.branch, (self.commit or "")[:7], f"{self.run_id}.{self.attempt}")
        start = "-".join(filter(None, parts))
        end = sha256(identity.encode()).hexdigest()[:NAME_END]
        return f"{re.sub(r'[^A-Za-z0-9._/-]+', '-', start)[: MAX_NAME - NAME_END - 1]}-{end}"

    def make_row_id(self, suite: str, scenario: str, variant: str | None, trial: int) -> str:
        """The id of a row, the same in all runs."""
        namespace = uuid5(NAMESPACE, join_parts(self.context.server, self.context.repository, self._group(suite)))
        return str(uuid5(namespace, join_parts(suite, scenario, variant or "", str(trial))))

    def describe(self, suite: str) -> dict[str, str]:
        """The facts about a suite's run that are known without its results, as metadata."""
        context = self.context
        facts = {
            "evalgate.version": __version__,
            "commit": self.commit,
            "branch": self.branch,
            "pull_request": context.pull_request,
            "repository": context.repository,
            "repository_id": context.repository_id,
            "event": context.event,
            "run_url": context.run_url,
            "run_id": self.run_id,
            "attempt": self.attempt,
            "suite": suite,
            "fork": str(context.is_fork).lower(),
            "head_repository": context.head_repository,
        }
        return {name: clean_text(value, MAX_TEXT) for name, value in facts.items() if value}

    def _group(self, suite: str) -> str:
        return "forks" if self.context.is_fork else suite


def join_parts(*parts: str) -> str:
    """The parts as one text that other parts can't give."""
    return orjson.dumps(parts).decode()
