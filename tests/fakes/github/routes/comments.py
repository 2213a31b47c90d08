"""Comments of pull requests, which are issues too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakes.github.clock import moment
from fakes.github.description import fill
from fakes.github.messages import Answer, Refusal, in_json
from fakes.github.pages import page_of
from fakes.github.routes.accounts import account
from fakes.github.routes.pulls import find_pull

if TYPE_CHECKING:
    from fakes.github.messages import Request
    from fakes.github.world import World

LONGEST = 65_536
MOST_BYTES = 262_144


def describe(world: World, comment: dict[str, Any]) -> dict[str, Any]:
    number, issue = comment["id"], comment["issue_number"]
    return fill(
        "issue-comment",
        id=number,
        url=world.url(f"/issues/comments/{number}"),
        html_url=world.page(f"/pull/{issue}#issuecomment-{number}"),
        issue_url=world.url(f"/issues/{issue}"),
        body=comment["body"],
        user=account(world, comment["user"]),
        created_at=comment["created_at"],
        updated_at=comment["updated_at"],
        author_association=comment.get("author_association", "NONE"),
    )


def list_of_issue(world: World, request: Request) -> Answer:
    issue, since = find_pull(world, request.number("issue_number"))["number"], request.query.get("since", "")
    found = [each for each in world.state["comments"] if each["issue_number"] == issue and each["updated_at"] >= since]
    return page_of(world, request, sorted(found, key=lambda each: each["id"]), lambda each: describe(world, each))


def get(world: World, request: Request) -> Answer:
    return in_json(describe(world, _find(world, request)))


def create(world: World, request: Request) -> Answer:
    pull = find_pull(world, request.number("issue_number"))
    if pull.get("locked"):
        raise Refusal(403, "Unable to create comment because issue is locked.")
    comment = {
        "id": 3_000_000_000 + next(world.numbers),
        "issue_number": pull["number"],
        "body": _checked(world, request),
        "user": request.account["login"],
        "created_at": moment(),
        "updated_at": moment(),
        "author_association": "CONTRIBUTOR",
    }
    world.state["comments"].append(comment)
    document = describe(world, comment)
    return in_json(document, 201, {"Location": document["url"]})


def update(world: World, request: Request) -> Answer:
    comment = _find(world, request)
    is_persons = account(world, comment["user"])["type"] != "Bot"
    if is_persons and comment["user"] != request.account["login"]:
        world.note(request, f"changes a comment of {comment['user']}")
    comment.update(body=_checked(world, request), updated_at=moment())
    return in_json(describe(world, comment))


def delete(world: World, request: Request) -> Answer:
    comment = _find(world, request)
    if comment["user"] != request.account["login"]:
        world.note(request, f"deletes a comment of {comment['user']}")
    world.state["comments"].remove(comment)
    return Answer(204)


def _find(world: World, request: Request) -> dict[str, Any]:
    number = request.number("comment_id")
    found = next((each for each in world.state["comments"] if each["id"] == number), None)
    if found is None:
        raise Refusal(404, "Not Found")
    return found


def _checked(world: World, request: Request) -> str:
    body = request.document["body"]
    is_long = len(body) > LONGEST or len(body.encode()) > MOST_BYTES
    if is_long:
        world.note(request, f"a comment of {len(body)} characters")
    if is_long or not body.strip():
        message = f"Body is too long (maximum is {LONGEST} characters)" if is_long else "Body cannot be blank"
        raise Refusal(422, "Validation Failed", {"resource": "IssueComment", "field": "data", "message": message})
    return body
