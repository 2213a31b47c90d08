"""The examples of the page for other CI systems, and the component for GitLab."""

from __future__ import annotations

import json
import re
from typing import Any

import yaml
from documents import ROOT

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
    text = re.sub(r"\"?\$\[\[ inputs\.([\w-]+) ]]\"?", lambda found: json.dumps({**values, **given}[found[1]]), jobs)
    return yaml.safe_load(header), yaml.safe_load(text)
