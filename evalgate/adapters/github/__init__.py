"""GitHub: baselines found, comment and check run kept, artifacts uploaded, and what a step hands on."""

from __future__ import annotations

from evalgate.adapters.github.approvals import ApprovalsInCommit
from evalgate.adapters.github.artifacts import Artifacts
from evalgate.adapters.github.baselines import Baselines, Wanted
from evalgate.adapters.github.check_runs import CheckRuns
from evalgate.adapters.github.client import Client
from evalgate.adapters.github.comments import Comments
from evalgate.adapters.github.lineage import Reference
from evalgate.adapters.github.pulls import Pulls
from evalgate.adapters.github.reports import Reports
from evalgate.adapters.github.review import PullRequestReview
from evalgate.adapters.github.site import Budget, Network, Site
from evalgate.adapters.github.step import Step
from evalgate.adapters.github.templates import TemplateInCommit

__all__ = [
    "ApprovalsInCommit",
    "Artifacts",
    "Baselines",
    "Budget",
    "CheckRuns",
    "Client",
    "Comments",
    "Network",
    "PullRequestReview",
    "Pulls",
    "Reference",
    "Reports",
    "Site",
    "Step",
    "TemplateInCommit",
    "Wanted",
]
