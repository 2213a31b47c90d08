"""The history of commits: who descends from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    Commits = Mapping[str, dict[str, Any]]


def resolve(state: Mapping[str, Any], ref: str) -> str | None:
    """The commit of a branch, a tag, or an id, which may be short."""
    for name in (ref, f"refs/{ref}", f"refs/heads/{ref}", f"refs/tags/{ref}"):
        if name in state["refs"]:
            return state["refs"][name]
    found = [sha for sha in state["commits"] if sha.startswith(ref)] if len(ref) >= 7 else []
    return found[0] if len(found) == 1 else None


def ancestors(commits: Commits, sha: str) -> list[str]:
    """The commit and all before it, nearest first."""
    found, waiting = {sha: None}, [sha]
    for each in waiting:
        for parent in commits.get(each, {}).get("parents", ()):
            if parent not in found:
                found[parent] = None
                waiting.append(parent)
    return list(found)


def commits_between(commits: Commits, base: str, head: str) -> list[str]:
    """What head has and base has not, the oldest first."""
    known = set(ancestors(commits, base))
    return [sha for sha in reversed(ancestors(commits, head)) if sha not in known]


def merge_base(commits: Commits, base: str, head: str) -> str | None:
    """The newest common ancestor: one that no other common one descends from."""
    known = set(ancestors(commits, base))
    common = [sha for sha in ancestors(commits, head) if sha in known]
    older = {parent for sha in common for parent in commits.get(sha, {}).get("parents", ())}
    return next((sha for sha in common if sha not in older), None)
