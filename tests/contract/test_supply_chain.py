"""Everything installed, run and released is pinned by hash, commit or digest, and has few permissions."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from documents import ROOT, blocks

if TYPE_CHECKING:
    from pathlib import Path

OWN = sorted((ROOT / ".github/workflows").glob("*.yml"))
SHOWN = sorted((ROOT / "examples/workflows").glob("*.yml"))
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in [*OWN, *SHOWN]} | {
    f"{block.document} {number}": block.text
    for number, block in enumerate(blocks("yaml"))
    if "\njobs:\n" in f"\n{block.text}"
}
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
OF_OURS = re.compile(r"\./|org/evalgate@v\d+")
DIGEST, BASE = "sha256:" + "ab" * 32, "sha256:" + "cd" * 32


def steps(workflow: Any) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job.get("steps", [])]


def named(workflow: str, start: str) -> dict[str, Any]:
    [step] = [each for each in steps(WORKFLOWS[workflow]) if each.get("name", each.get("uses", "")).startswith(start)]
    return step


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_has_no_permissions_and_each_job_declares_its_own(name):
    assert WORKFLOWS[name]["permissions"] == {}
    jobs = WORKFLOWS[name]["jobs"].values()
    assert all(isinstance(job["permissions"], dict) for job in jobs)


@pytest.mark.parametrize("name", WORKFLOWS)
def test_third_party_actions_are_pinned_by_commit_with_a_version_comment(name):
    used = [step["uses"] for step in steps(WORKFLOWS[name]) if "uses" in step]
    assert [each for each in used if not PINNED.fullmatch(each) and not OF_OURS.match(each)] == []
    lines = [line for line in TEXTS[name].splitlines() if re.search(r"uses: [\w.-]+/.*@[0-9a-f]{40}", line)]
    assert [line for line in lines if not re.search(r"@[0-9a-f]{40} # v\d", line)] == []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_checkout_persists_its_token(name):
    checkouts = [step for step in steps(WORKFLOWS[name]) if step.get("uses", "").startswith("actions/checkout@")]
    assert [step for step in checkouts if step["with"].get("persist-credentials") is not False] == []


def test_the_readmes_workflow_has_these_permissions_and_no_others():
    [text] = [block.text for block in blocks("yaml") if block.document == "README.md" and "jobs:" in block.text]
    [job] = yaml.safe_load(text)["jobs"].values()
    assert job["permissions"] == {"contents": "read", "actions": "read", "pull-requests": "write"}


def test_no_script_interpolates_event_data():
    pasted = [step for name in WORKFLOWS for step in steps(WORKFLOWS[name]) if "${{" in step.get("run", "")]
    assert pasted == []


@pytest.mark.parametrize("lock", ["image", "dev", "audit"])
def test_every_locked_requirement_has_one_version_and_hashes(lock):
    text = (ROOT / f"requirements/{lock}.txt").read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\S)", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    requirements = [entry for entry in entries if entry.strip()]
    assert requirements
    assert [entry for entry in requirements if not re.match(r"[\w.-]+(\[\w+\])?==\S+", entry)] == []
    assert [entry for entry in requirements if "--hash=sha256:" not in entry] == []


def test_the_image_installs_wheels_by_hash_without_their_dependencies():
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    install = re.search(r"pip install((?:.*\\\n)*.*)", dockerfile)
    assert install is not None
    words = install[1].replace("\\\n", " ").split()
    assert {"--require-hashes", "--no-deps", "--only-binary", ":all:"} <= set(words)
    assert words[words.index("--requirement") + 1] == "/opt/evalgate/image.txt"
    assert re.search(r'^ENTRYPOINT \["/usr/local/bin/python", "-I"', dockerfile, re.MULTILINE)


def test_a_release_has_an_sbom_a_provenance_and_a_signed_digest():
    release = ".github/workflows/release.yml"
    build = named(release, "docker/build-push-action@")["with"]
    assert (build["sbom"], build["provenance"]) == (True, "mode=max")
    signed = named(release, "actions/attest@")["with"]
    assert signed["subject-digest"] == "${{ steps.build.outputs.digest }}"
    assert named(release, "Name the image")["id"] == "names"


@pytest.fixture
def release(tmp_path: Path):
    """Runs a script of the release in a copy of what it changes; `docker` is asked for the base's digest only."""
    for name in ("action.yml", "Dockerfile"):
        shutil.copy(ROOT / name, tmp_path / name)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "docker").write_text(f"#!/bin/sh\necho '\"{BASE}\"'\n")
    (tools / "docker").chmod(0o755)

    def run(step: str, until: str = "", **variables: str) -> Path:
        script = named(".github/workflows/release.yml", step)["run"].partition(until or "\0")[0]
        environ = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "GITHUB_OUTPUT": str(tmp_path / "outputs"),
            **variables,
        }
        subprocess.run(["/bin/bash", "-e", "-o", "pipefail", "-c", script], cwd=tmp_path, env=environ, check=True)
        return tmp_path

    return run


def test_a_release_is_built_on_a_base_pinned_by_digest(release):
    folder = release("Name the image", OWNER="Org")
    assert re.search(rf"^FROM python:\S+@{BASE}$", (folder / "Dockerfile").read_text(), re.MULTILINE)
    assert "image=ghcr.io/org/evalgate\n" in (folder / "outputs").read_text()


def test_a_release_names_its_image_by_digest(release):
    variables = {"VERSION": "1.2.3", "IMAGE": "ghcr.io/org/evalgate", "DIGEST": DIGEST, "BASE": f"python:3@{BASE}"}
    folder = release("Tag a commit", until="git config", **variables)
    action = yaml.safe_load((folder / "action.yml").read_text())
    assert action["runs"]["image"] == f"docker://ghcr.io/org/evalgate:1.2.3@{DIGEST}"
    assert f"\nFROM python:3@{BASE}\n" in f"\n{(folder / 'Dockerfile').read_text()}"


def test_every_push_scans_code_workflows_and_image_for_vulnerabilities():
    security = WORKFLOWS[".github/workflows/security.yml"]
    assert {"pull_request", "push", "schedule"} <= set(security[True])  # YAML reads `on` as true
    commands = [step.get("run", "") + step.get("uses", "") for step in steps(security)]
    for tool in ("zizmor --offline", "pip-audit --require-hashes", "github/codeql-action/analyze@"):
        assert any(tool in each for each in commands), tool
    assert any(step.get("with", {}).get("languages") == "python, actions" for step in steps(security))
