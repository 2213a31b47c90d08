"""Lists come in pages, with links to the others."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fakes.github.messages import Answer, in_json

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fakes.github.messages import Request
    from fakes.github.world import World

PER_PAGE = 30
MOST_PER_PAGE = 100


def page_of(
    world: World, request: Request, found: Sequence[Any], describe: Callable[[Any], Any], field: str | None = None
) -> Answer:
    """One page of what was found, described; below `field` with the number of all where the API wraps lists."""
    size = max(1, min(MOST_PER_PAGE, int(request.query.get("per_page", PER_PAGE))))
    number = max(1, int(request.query.get("page", 1)))
    ordered = sorted(found, key=lambda each: sha256(repr(each).encode()).digest()) if world.is_shuffled else found
    listed = [describe(each) for each in ordered[(number - 1) * size : number * size]]
    document = listed if field is None else {"total_count": len(found), field: listed}
    return in_json(document, headers=_links(world, request, number, -(-len(found) // size)))


def _links(world: World, request: Request, number: int, last: int) -> dict[str, str]:
    """Links name the repository by its number, as those of github.com do."""
    others = {"prev": number - 1, "next": number + 1, "last": last, "first": 1}
    tail = request.path.partition(f"/{world.repository}/")[2] or request.path.split("/", 3)[3]
    base = f"{world.addresses.base}/repositories/{world.state['repo']['id']}/{tail}"
    links = [
        f'<{base}?{urlencode({**request.query, "page": other})}>; rel="{name}"'
        for name, other in others.items()
        if 1 <= other <= last and other != number
    ]
    return {"Link": ", ".join(links)} if links else {}
