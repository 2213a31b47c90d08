"""GitHub: finds baselines, writes the comment and check run, uploads artifacts, sets step outputs.

Entry points: `Client`, `Baselines`, `Comments`, `Artifacts`, `WorkflowStep`; imported on first access.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evalgate.adapters.github.ancestry import Reference
    from evalgate.adapters.github.artifacts import Artifacts
    from evalgate.adapters.github.baselines import BaselineRequest, Baselines
    from evalgate.adapters.github.check_runs import CheckRuns
    from evalgate.adapters.github.client import Client
    from evalgate.adapters.github.comments import Comments
    from evalgate.adapters.github.commit_files import ApprovalsInCommit, TemplateInCommit
    from evalgate.adapters.github.connection import Network, RequestDeadline, Site
    from evalgate.adapters.github.pull_request_review import PullRequestReview
    from evalgate.adapters.github.pull_requests import Pulls
    from evalgate.adapters.github.reports import Reports
    from evalgate.adapters.github.workflow_step import WorkflowStep

__all__ = [
    "ApprovalsInCommit",
    "Artifacts",
    "BaselineRequest",
    "Baselines",
    "CheckRuns",
    "Client",
    "Comments",
    "Network",
    "PullRequestReview",
    "Pulls",
    "Reference",
    "Reports",
    "RequestDeadline",
    "Site",
    "TemplateInCommit",
    "WorkflowStep",
]

_MODULES = {
    "ApprovalsInCommit": "commit_files",
    "Artifacts": "artifacts",
    "BaselineRequest": "baselines",
    "Baselines": "baselines",
    "CheckRuns": "check_runs",
    "Client": "client",
    "Comments": "comments",
    "Network": "connection",
    "PullRequestReview": "pull_request_review",
    "Pulls": "pull_requests",
    "Reference": "ancestry",
    "Reports": "reports",
    "RequestDeadline": "connection",
    "Site": "connection",
    "TemplateInCommit": "commit_files",
    "WorkflowStep": "workflow_step",
}


def __getattr__(name: str) -> Any:
    """Imports and returns the class of that name."""
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
