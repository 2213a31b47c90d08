"""Pull requests and their commits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakes.github.description import fill
from fakes.github.history import commits_between
from fakes.github.messages import Answer, Refusal, in_json
from fakes.github.pages import page_of
from fakes.github.routes.accounts import account
from fakes.github.routes.commits import describe as describe_commit

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

MOST_COMMITS = 250


def find_pull(world: World, number: int) -> dict[str, Any]:
    found = world.state["pulls"].get(str(number))
    if found is None:
        raise Refusal(404, "Not Found")
    return found


def describe_repository(world: World, repository: dict[str, Any], schema: str = "repository") -> dict[str, Any]:
    owner, _, name = repository["full_name"].partition("/")
    return fill(
        schema,
        id=repository["id"],
        name=name,
        full_name=repository["full_name"],
        owner=account(world, owner),
        private=repository.get("private", False),
        fork=repository.get("fork", False),
        url=f"{world.addresses.base}/repos/{repository['full_name']}",
        html_url=f"https://github.com/{repository['full_name']}",
        default_branch=repository.get("default_branch", "main"),
    )


def _side(world: World, side: dict[str, Any], repository: dict[str, Any]) -> dict[str, Any]:
    owner = repository["full_name"].partition("/")[0]
    return {
        "label": f"{owner}:{side['ref']}",
        "ref": side["ref"],
        "sha": side["sha"],
        "user": account(world, owner),
        "repo": describe_repository(world, repository),
    }


def describe(world: World, pull: dict[str, Any], schema: str) -> dict[str, Any]:
    number = pull["number"]
    return fill(
        schema,
        id=1_000_000 + number,
        number=number,
        state=pull["state"],
        title=pull["title"],
        url=world.url(f"/pulls/{number}"),
        html_url=world.page(f"/pull/{number}"),
        user=account(world, pull["user"]),
        draft=pull.get("draft", False),
        merge_commit_sha=pull.get("merge_commit_sha"),
        head=_side(world, pull["head"], world.find_repository(pull["head"]["repo_id"])),
        base=_side(world, pull["base"], world.state["repo"]),
        **({"merged": pull.get("merged", False)} if schema == "pull-request" else {}),
    )


def get(world: World, request: Request) -> Answer:
    return in_json(describe(world, find_pull(world, request.number("pull_number")), "pull-request"))


def list_all(world: World, request: Request) -> Answer:
    """Those of a state, a head as `owner:branch`, and a base."""
    state, query = request.query.get("state", "open"), request.query
    found = [
        pull
        for pull in world.state["pulls"].values()
        if state in {"all", pull["state"]}
        and query.get("head", _head(world, pull)) == _head(world, pull)
        and query.get("base", pull["base"]["ref"]) == pull["base"]["ref"]
    ]
    return page_of(world, request, found, lambda pull: describe(world, pull, "pull-request-simple"))


def _head(world: World, pull: dict[str, Any]) -> str:
    repository = world.find_repository(pull["head"]["repo_id"])
    return f"{repository['full_name'].partition('/')[0]}:{pull['head']['ref']}"


def list_commits(world: World, request: Request) -> Answer:
    """The oldest first; GitHub lists no more than 250."""
    pull = find_pull(world, request.number("pull_number"))
    made = commits_between(world.state["commits"], pull["base"]["sha"], pull["head"]["sha"])
    return page_of(world, request, made[:MOST_COMMITS], lambda sha: describe_commit(world, sha))
