"""Runs of workflows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakes.github.description import fill
from fakes.github.messages import Answer, Refusal, in_json
from fakes.github.pages import page_of
from fakes.github.routes.accounts import account
from fakes.github.routes.pulls import describe_repository

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World


def describe(world: World, run: dict[str, Any]) -> dict[str, Any]:
    workflow = next(each for each in world.state["workflows"] if each["id"] == run["workflow_id"])
    copied = {name: run[name] for name in ("id", "event", "head_branch", "head_sha", "status", "conclusion")}
    is_of_fork = run["head_repository_id"] != world.state["repo"]["id"]
    return fill(
        "workflow-run",
        **copied,
        name=workflow["name"],
        path=run.get("path", workflow["path"]),
        workflow_id=workflow["id"],
        run_attempt=run.get("run_attempt", 1),
        created_at=run["created_at"],
        updated_at=run.get("updated_at", run["created_at"]),
        run_started_at=run["created_at"],
        url=world.url(f"/actions/runs/{run['id']}"),
        html_url=world.page(f"/actions/runs/{run['id']}"),
        actor=account(world, run.get("actor", "alice")),
        pull_requests=[] if is_of_fork else [_named_pull(world, number) for number in run.get("pulls", ())],
        repository=describe_repository(world, world.state["repo"], "minimal-repository"),
        head_repository=describe_repository(
            world, world.find_repository(run["head_repository_id"]), "minimal-repository"
        ),
        head_repository_id=run["head_repository_id"],
    )


def _named_pull(world: World, number: int) -> dict[str, Any]:
    """GitHub names the pull requests of a run, unless they are of a fork."""
    pull = world.state["pulls"][str(number)]
    sides = {}
    for name, repository in (("head", pull["head"]["repo_id"]), ("base", world.state["repo"]["id"])):
        full_name = world.find_repository(repository)["full_name"]
        named = {"id": repository, "url": f"{world.addresses.base}/repos/{full_name}", "name": full_name.split("/")[1]}
        sides[name] = {"ref": pull[name]["ref"], "sha": pull[name]["sha"], "repo": named}
    return {"id": 1_000_000 + number, "number": number, "url": world.url(f"/pulls/{number}"), **sides}


def get(world: World, request: Request) -> Answer:
    run = world.find_run(request.number("run_id"))
    if run is None:
        raise Refusal(404, "Not Found")
    return in_json(describe(world, run))


def list_of_workflow(world: World, request: Request) -> Answer:
    """Those of a branch, an event, a commit and a status, the newest first."""
    workflow = _find_workflow(world, request.values["workflow_id"])
    fields = {"branch": "head_branch", "event": "event", "head_sha": "head_sha"}
    wanted = {fields[name]: value for name, value in request.query.items() if name in fields}
    found = [
        run
        for run in world.state["runs"]
        if run["workflow_id"] == workflow["id"]
        and all(run[name] == value for name, value in wanted.items())
        and request.query.get("status", run["status"]) in {run["status"], run["conclusion"]}
    ]
    newest_first = sorted(found, key=lambda run: run["id"], reverse=True)
    return page_of(world, request, newest_first, lambda run: describe(world, run), "workflow_runs")


def _find_workflow(world: World, named: str) -> dict[str, Any]:
    """By its number or the name of its file."""
    for workflow in world.state["workflows"]:
        if named in {str(workflow["id"]), workflow["path"].rpartition("/")[2]}:
            return workflow
    raise Refusal(404, "Not Found")
