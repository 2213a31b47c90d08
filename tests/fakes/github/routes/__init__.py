"""The operations of the REST API, a module for each area: each gives its answer from the world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fakes.github.routes import accounts, artifacts, checks, comments, commits, contents, pulls, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes.github.messages import Answer, Request
    from fakes.github.world import World

ROUTES: dict[str, Callable[[World, Request], Answer]] = {
    "actions/download-artifact": artifacts.download,
    "actions/get-workflow-run": runs.get,
    "actions/list-artifacts-for-repo": artifacts.list_all,
    "actions/list-workflow-run-artifacts": artifacts.list_of_run,
    "actions/list-workflow-runs": runs.list_of_workflow,
    "checks/create": checks.create,
    "checks/get": checks.get,
    "checks/list-for-ref": checks.list_of_commit,
    "checks/update": checks.update,
    "graphql": accounts.viewer,
    "issues/create-comment": comments.create,
    "issues/delete-comment": comments.delete,
    "issues/get-comment": comments.get,
    "issues/list-comments": comments.list_of_issue,
    "issues/update-comment": comments.update,
    "pulls/get": pulls.get,
    "pulls/list": pulls.list_all,
    "pulls/list-commits": pulls.list_commits,
    "repos/compare-commits-with-basehead": commits.compare,
    "repos/get-collaborator-permission-level": accounts.permission,
    "repos/get-commit": commits.get,
    "repos/get-content": contents.get,
    "users/get-authenticated": accounts.authenticated,
}
