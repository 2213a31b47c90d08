"""The hooks that docs/editors.md shows: they name what the project has."""

from __future__ import annotations

from fnmatch import fnmatch
from typing import Any

import yaml
from documents import ROOT, blocks

from evalgate.cli import VERBS, build_parser
from evalgate.version import __version__

SHOWN: list[dict[str, Any]] = [
    yaml.safe_load(block.text) for block in blocks("yaml") if block.document == "docs/editors.md"
]


def test_the_hooks_for_pre_commit_exist() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    [repository] = [each for shown in SHOWN for each in shown.get("repos", ())]
    assert repository["rev"] == f"v{__version__}"
    assert {each["id"] for each in repository["hooks"]} <= {hook["id"] for hook in hooks}
    verbs = {build_parser(VERBS).parse_args(hook["entry"].split()[1:]).verb for hook in hooks}
    assert verbs == {"validate", "cassettes"}


def test_the_job_of_lefthook_passes_files_of_evalgate_to_a_command_that_exists() -> None:
    [job] = [each for shown in SHOWN for each in shown.get("pre-commit", {}).get("jobs", ())]
    command = job["run"].replace("{staged_files}", "evals/a.yaml").split()[1:]
    assert build_parser(VERBS).parse_args(command).configs == ["evals/a.yaml"]
    globs = [glob.replace("{yaml,yml}", "yaml") for glob in job["glob"]]
    for path in (
        "evalgate.yaml",
        "one/evalgate.yaml",
        "one/refunds.evalgate.yaml",
        "evals/a.yaml",
        "evals/deep/a.yaml",
    ):
        assert any(fnmatch(path, glob) for glob in globs), path
    assert not any(fnmatch("charts/web.yaml", glob) for glob in globs)
