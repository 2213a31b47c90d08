"""Events that start a workflow: their documents, and the ref and commit that the job is about."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Event:
    """`head` and `base` are branches of a pull request."""

    document: dict[str, Any]
    ref: str
    sha: str
    head: str = ""
    base: str = ""
    changed: dict[str, str] = field(default_factory=dict)
    """Variables of the runner that are other than usual."""


def make_event(state: dict[str, Any], name: str, **about: Any) -> Event:
    """`about` are `pr`, a number; `ref`, that of a push; `after_run`, a run; `heard` and `action`, of a comment."""
    makers = {
        "pull_request": _pull_request,
        "pull_request_target": _pull_request_target,
        "push": _push,
        "merge_group": _merge_group,
        "workflow_run": _workflow_run,
        "issue_comment": _issue_comment,
    }
    ref = f"refs/heads/{state['repo']['default_branch']}"
    event = makers.get(name, lambda *_: Event({}, ref, state["refs"][ref]))(state, about)
    sender = {"login": "alice", "type": "User"}
    event.document = {"repository": _repository(state["repo"]), "sender": sender, **event.document}
    return event


def _repository(known: dict[str, Any]) -> dict[str, Any]:
    owner, _, name = known["full_name"].partition("/")
    return {
        "id": known["id"],
        "full_name": known["full_name"],
        "name": name,
        "owner": {"login": owner},
        "fork": known.get("fork", False),
        "private": known.get("private", False),
        "default_branch": known.get("default_branch", "main"),
        "html_url": f"https://github.com/{known['full_name']}",
    }


def _find_repository(state: dict[str, Any], number: int) -> dict[str, Any]:
    known = {each["id"]: each for each in (state["repo"], *state["repos"])}
    return _repository(known.get(number, {"id": number, "full_name": "ghost/x"}))


def _pull_request(state: dict[str, Any], about: dict[str, Any]) -> Event:
    """The commit is that which merges head into base."""
    event = _pull_request_target(state, about)
    pull = event.document["pull_request"]
    event.ref, event.sha = f"refs/pull/{pull['number']}/merge", pull["merge_commit_sha"]
    return event


def _pull_request_target(state: dict[str, Any], about: dict[str, Any]) -> Event:
    pull, ref = state["pulls"][str(about["pr"])], f"refs/heads/{state['repo']['default_branch']}"
    copied = {name: pull[name] for name in ("number", "state", "draft", "title", "merge_commit_sha")}
    head_repository = _find_repository(state, pull["head"]["repo_id"])
    sides = {
        "head": {"ref": pull["head"]["ref"], "sha": pull["head"]["sha"], "repo": head_repository},
        "base": {"ref": pull["base"]["ref"], "sha": pull["base"]["sha"], "repo": _repository(state["repo"])},
    }
    labels = [{"name": name} for name in pull.get("labels", ())]
    described = {**copied, **sides, "user": {"login": pull["user"]}, "labels": labels}
    document = {"action": "synchronize", "number": pull["number"], "pull_request": described}
    return Event(document, ref, state["refs"][ref], pull["head"]["ref"], pull["base"]["ref"])


def _push(state: dict[str, Any], about: dict[str, Any]) -> Event:
    main = f"refs/heads/{state['repo']['default_branch']}"
    ref = about.get("ref") or main
    sha = state["refs"].get(ref, state["refs"][main])
    return Event({"ref": ref, "before": "0" * 40, "after": sha, "deleted": False}, ref, sha)


def _merge_group(state: dict[str, Any], about: dict[str, Any]) -> Event:
    """A branch of the merge queue."""
    branch = state["repo"]["default_branch"]
    base = state["refs"][f"refs/heads/{branch}"]
    sha = state["pulls"][str(about["pr"])]["merge_commit_sha"]
    ref = f"refs/heads/gh-readonly-queue/{branch}/pr-{about['pr']}-{base}"
    group = {"head_sha": sha, "head_ref": ref, "base_sha": base, "base_ref": f"refs/heads/{branch}"}
    return Event({"action": "checks_requested", "merge_group": group}, ref, sha)


def _workflow_run(state: dict[str, Any], about: dict[str, Any]) -> Event:
    ref = f"refs/heads/{state['repo']['default_branch']}"
    run = next(each for each in state["runs"] if each["id"] == about["after_run"])
    copied = {name: run[name] for name in ("id", "event", "head_branch", "head_sha", "status", "conclusion")}
    is_ours = run["head_repository_id"] == state["repo"]["id"]
    described = {
        **copied,
        "run_attempt": run.get("run_attempt", 1),
        "name": "evalgate",
        "path": ".github/workflows/evalgate.yml",
        "repository": _repository(state["repo"]),
        "head_repository": _find_repository(state, run["head_repository_id"]),
        "pull_requests": [{"number": number} for number in run.get("pulls", ())] if is_ours else [],
    }
    return Event({"action": "completed", "workflow_run": described}, ref, state["refs"][ref])


def _issue_comment(state: dict[str, Any], about: dict[str, Any]) -> Event:
    """A comment is heard by another workflow than that of the gate."""
    ref, comment = f"refs/heads/{state['repo']['default_branch']}", about["heard"]
    number = comment["issue_number"]
    issue = {"number": number, **({"pull_request": {"url": "x"}} if str(number) in state["pulls"] else {})}
    described = {**comment, "user": {"login": comment["user"]}}
    document = {"action": about["action"], "issue": issue, "comment": described}
    workflow = f"{state['repo']['full_name']}/.github/workflows/approve.yml@{ref}"
    changed = {"GITHUB_WORKFLOW_REF": workflow, "GITHUB_JOB": "approve"}
    return Event(document, ref, state["refs"][ref], changed=changed)
