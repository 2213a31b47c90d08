"""The environment that the runner gives to the process of an Action."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path
    from types import SimpleNamespace

    from fakes.github.runner.events import Event

FILES = ("OUTPUT", "ENV", "PATH", "STATE", "STEP_SUMMARY")


def job_environment(state: dict[str, Any], services: SimpleNamespace, event: Event, home: Path) -> dict[str, str]:
    """`home` is an empty folder: for the event, the files that a step writes, and the home of the user."""
    paths = {"EVENT_PATH": home / "event.json", **{name: home / f"file-{name.lower()}" for name in FILES}}
    for path in paths.values():
        path.touch()
    paths["EVENT_PATH"].write_text(json.dumps(event.document), encoding="utf-8")
    known = {**_of_repository(state, event), **{name: str(path) for name, path in paths.items()}}
    known |= {"API_URL": services.github_api_url, "GRAPHQL_URL": services.graphql_url}
    return {
        **{f"GITHUB_{name}": value for name, value in known.items()},
        **_of_machine(home, services),
        **event.changed,
    }


def _of_repository(state: dict[str, Any], event: Event) -> dict[str, str]:
    repository = state["repo"]["full_name"]
    kind, _, name = event.ref.removeprefix("refs/").partition("/")
    return {
        "ACTION": "__evalgate",
        "ACTOR": "alice",
        "TRIGGERING_ACTOR": "alice",
        "SERVER_URL": "https://github.com",
        "HEAD_REF": event.head,
        "BASE_REF": event.base,
        "REF": event.ref,
        "REF_NAME": name,
        "REF_TYPE": "tag" if kind == "tags" else "branch",
        "SHA": event.sha,
        "JOB": "gate",
        "REPOSITORY": repository,
        "REPOSITORY_ID": str(state["repo"]["id"]),
        "REPOSITORY_OWNER": repository.partition("/")[0],
        "RETENTION_DAYS": "90",
        "RUN_ATTEMPT": "1",
        "RUN_ID": str(state["runtime"]["run_id"]),
        "RUN_NUMBER": "42",
        "WORKFLOW": "evalgate",
        "WORKFLOW_REF": f"{repository}/.github/workflows/evalgate.yml@{event.ref}",
        "WORKFLOW_SHA": event.sha,
    }


def _of_machine(home: Path, services: SimpleNamespace) -> dict[str, str]:
    return {
        "CI": "true",
        "GITHUB_ACTIONS": "true",
        "HOME": str(home),
        "RUNNER_OS": "Linux",
        "RUNNER_ARCH": "X64",
        "RUNNER_ENVIRONMENT": "github-hosted",
        "RUNNER_TEMP": str(home),
        "ACTIONS_RUNTIME_URL": "https://pipelines.example.invalid/x/",
        "ACTIONS_RUNTIME_TOKEN": services.runtime_token,
        "ACTIONS_RESULTS_URL": services.results_url,
    }
