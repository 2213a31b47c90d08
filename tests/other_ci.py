"""The examples of the page for other CI systems, and the component for GitLab."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import yaml
from documents import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = ROOT / "docs/other-ci.md"
COMPONENT = ROOT / "templates/gate.yml"


def example(heading: str) -> str:
    """The first fenced block below a heading."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    return re.search(r"^```\w+\n(.*?)^```", section, re.DOTALL | re.MULTILINE)[1]


def component(**inputs: str) -> tuple[Any, Any]:
    """The header of the component, and its jobs with inputs (`_` for `-`) or their defaults."""
    header, jobs = COMPONENT.read_text(encoding="utf-8").split("\n---\n")
    values = {name: described["default"] for name, described in yaml.safe_load(header)["spec"]["inputs"].items()}
    given = {name.replace("_", "-"): text for name, text in inputs.items()}
    return yaml.safe_load(header), _fill_in(yaml.safe_load(jobs), {**values, **given})


def _fill_in(node: Any, values: Mapping[str, Any]) -> Any:
    """The node with inputs in all its texts, as GitLab puts them there: after it has read the YAML."""
    if isinstance(node, dict):
        return {_fill_in(key, values): _fill_in(value, values) for key, value in node.items()}
    if isinstance(node, list):
        return [_fill_in(each, values) for each in node]
    if not isinstance(node, str):
        return node
    return re.sub(r"\$\[\[ inputs\.([\w-]+) ]]", lambda found: str(values[found[1]]), node)
