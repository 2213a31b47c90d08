"""Adapters that every job on GitHub needs: connection, template and approvals."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from evalgate.bootstrap.sources import build_workspace

if TYPE_CHECKING:
    from evalgate.adapters.github import Client, Site
    from evalgate.ports import ApprovalSource, TemplateSource
    from evalgate.settings.settings import Settings


def build_site(settings: Settings) -> Site:
    """The GitHub server and repository of the job."""
    from evalgate.adapters.github import Network, Site

    job = settings.job
    return Site(
        job.api_url,
        job.server_url,
        job.repository,
        job.repository_id,
        token=settings.inputs.github_token,
        results_url=job.results_url,
        runtime_token=job.runtime_token,
        network=Network(job.proxies, job.no_proxy, job.ca_bundle),
    )


def choose_template(settings: Settings, client: Client) -> TemplateSource | None:
    """The source of the template; for a pull request its base commit, so that it can't change its comment."""
    from evalgate.adapters.files.local_template import LocalTemplate
    from evalgate.adapters.github import TemplateInCommit

    inputs, job = settings.inputs, settings.job
    if not inputs.template:
        return None
    if settings.template_commit:
        path = posixpath.normpath(posixpath.join(inputs.working_directory, inputs.template))
        return TemplateInCommit(client, path, settings.template_commit)
    cwd = posixpath.normpath(f"{job.workspace}/{inputs.working_directory}")
    return LocalTemplate(build_workspace(cwd, job.workspace), inputs.template)


def choose_approvals(settings: Settings, client: Client) -> ApprovalSource:
    """The source of the approvals that count; for a pull request its base commit, not itself."""
    from evalgate.adapters.github import ApprovalsInCommit

    if settings.approvals_commit:
        return ApprovalsInCommit(client, settings.approvals_commit)
    return local_approvals(settings.job.workspace)


def local_approvals(root: str) -> ApprovalSource:
    """The approvals in the job's checkout."""
    from evalgate.adapters.files.local_approvals import LocalApprovals

    return LocalApprovals(build_workspace(root, root))
