"""GitHub: baselines found, the comment kept, artifacts uploaded, and what a workflow step hands on."""

from __future__ import annotations

from evalgate.adapters.github.artifacts import Artifacts
from evalgate.adapters.github.baselines import Baselines, Wanted
from evalgate.adapters.github.client import Client
from evalgate.adapters.github.comments import Comments
from evalgate.adapters.github.lineage import Reference
from evalgate.adapters.github.site import Budget, Network, Site
from evalgate.adapters.github.step import Step

__all__ = [
    "Artifacts",
    "Baselines",
    "Budget",
    "Client",
    "Comments",
    "Network",
    "Reference",
    "Site",
    "Step",
    "Wanted",
]
