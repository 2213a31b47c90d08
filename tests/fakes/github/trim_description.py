"""Cuts GitHub's description of its API to the operations that EvalGate uses: `trim.py api.github.com.json`.

The input is in the npm package @octokit/openapi (MIT), `generated/api.github.com.json`. What remains are parameters,
bodies of requests and of successful answers, without texts and examples.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TRIMMED = Path(__file__).with_name("api.json")
TEXTS = {"description", "example", "examples", "summary", "externalDocs", "tags", "deprecated"}
OPERATIONS = [
    "actions/download-artifact",
    "actions/get-workflow-run",
    "actions/list-artifacts-for-repo",
    "actions/list-workflow-run-artifacts",
    "actions/list-workflow-runs",
    "checks/create",
    "checks/get",
    "checks/list-for-ref",
    "checks/update",
    "issues/create-comment",
    "issues/delete-comment",
    "issues/get-comment",
    "issues/list-comments",
    "issues/update-comment",
    "pulls/get",
    "pulls/list",
    "pulls/list-commits",
    "repos/compare-commits-with-basehead",
    "repos/get-collaborator-permission-level",
    "repos/get-commit",
    "repos/get-content",
    "users/get-authenticated",
]


def trim(whole: dict[str, Any]) -> dict[str, Any]:
    """The description of our operations, with the components that they refer to."""
    paths: dict[str, Any] = {}
    for path, item in whole["paths"].items():
        kept = {
            method: _operation(described)
            for method, described in item.items()
            if described.get("operationId") in OPERATIONS
        }
        if kept:
            paths[path] = _without_texts(kept)
    components: dict[str, dict[str, Any]] = {}
    _collect(paths, whole["components"], components)
    return {
        "info": {key: whole["info"][key] for key in ("version", "license")},
        "paths": paths,
        "components": components,
    }


def _operation(described: dict[str, Any]) -> dict[str, Any]:
    kept = {key: described[key] for key in ("operationId", "parameters", "requestBody") if key in described}
    successes = {
        status: {"content": {"application/json": {"schema": answer["content"]["application/json"]["schema"]}}}
        for status, answer in described["responses"].items()
        if status < "300" and "application/json" in answer.get("content", {})
    }
    return {**kept, "responses": successes}


def _without_texts(node: Any, *, named: bool = False) -> Any:
    """`named` where the keys are names of the API's own fields, of which one may be `description`."""
    if isinstance(node, list):
        return [_without_texts(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _without_texts(each, named=key == "properties")
        for key, each in node.items()
        if named or (key not in TEXTS and not key.startswith("x-"))
    }


def _collect(node: Any, known: dict[str, Any], found: dict[str, dict[str, Any]]) -> None:
    if isinstance(node, list):
        for each in node:
            _collect(each, known, found)
    if not isinstance(node, dict):
        return
    if "$ref" in node:
        kind, name = node["$ref"].split("/")[-2:]
        if name not in found.setdefault(kind, {}):
            found[kind][name] = _without_texts(known[kind][name])
            _collect(found[kind][name], known, found)
    for each in node.values():
        _collect(each, known, found)


def written(document: dict[str, Any]) -> str:
    """A line for each path and component."""
    parts = {"info": document["info"], "paths": document["paths"], **document["components"]}
    lines = [
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(f" {json.dumps(key)}: {json.dumps(each)}" for key, each in sorted(part.items()))
        + "\n}"
        for name, part in parts.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    TRIMMED.write_text(written(trim(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))), encoding="utf-8")
