"""The jobs of the release workflow, in a clone with GitHub and the registry in a folder: once, and after each failure."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import Any

import pytest
import yaml
from fakes.release_run import ROOT, Forge, WorkflowRun, release_script
from programs import require

CHANGELOG = "# Changes\n\nText.\n\n## 1.0.0 (2026-11-24)\n\n- First.\n- Second.\n\n## 0.1.0\n\n- Before.\n"
DONE = ["success"] * 5
FAULTS = [
    *("before docker/build-push-action", "after docker buildx imagetools create", "after actions/attest"),
    *("after git push", "before gh release create"),
]
"""One of each step that changes something; the last step has a test of its own."""
MORE_FAULTS = [
    *("before docker buildx imagetools create", "before actions/attest", "before gh attestation verify"),
    *("before git push", "after gh release create"),
]


def faults(*, sample: list[str]) -> list[Any]:
    """All faults, of which those outside the sample are run with the matrix."""
    return [pytest.param(each, marks=[] if each in sample else pytest.mark.matrix) for each in FAULTS + MORE_FAULTS]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    require("git")
    forge = Forge(tmp_path_factory.mktemp("release"))
    forge.create(CHANGELOG)
    return forge


@pytest.fixture
def forge(prepared, tmp_path):
    shutil.copytree(prepared.folder, tmp_path / "forge", symlinks=True)
    forge = Forge(tmp_path / "forge")
    forge.git("remote", "set-url", "origin", forge.origin.as_uri())
    return forge


def step(forge: Forge, *arguments: str, **variables: str) -> int:
    """Does a step in a checkout of main; the exit code."""
    environ = {
        "PATH": f"{forge.folder / 'tools'}:{os.environ['PATH']}",
        "STATE": str(forge.state),
        "GITHUB_REPOSITORY": "org/evalgate",
        "GITHUB_SHA": forge.git("rev-parse", "HEAD"),
        **variables,
    }
    return release_script().main([*arguments], environ, forge.main)


def refusal(forge: Forge, name: str, version: str, capsys, **variables: str) -> str:
    """The reason why a step is not done."""
    assert step(forge, name, version, **variables) == 1
    return capsys.readouterr().err


def released_image(forge: Forge) -> str:
    [image] = re.findall(r"^  image: docker://(.+)$", forge.show("v1.0.0:action.yml"), re.MULTILINE)
    return image


def assert_released(forge: Forge) -> None:
    """One release of a signed image, at a tag whose parent is the commit that the signature names."""
    tags = forge.tags()
    assert list(tags) == ["v1", "v1.0.0"]
    assert tags["v1"] == tags["v1.0.0"]
    image, _, digest = released_image(forge).partition("@")
    assert image == "ghcr.io/org/evalgate:1.0.0"
    commit = forge.git("rev-parse", "v1.0.0^", cwd=forge.origin)
    assert [digest, commit] in forge.signed()
    assert forge.git("diff", "--name-only", commit, "v1.0.0", cwd=forge.origin) == "action.yml"
    manifest = json.loads((forge.state / "registry" / image.replace("/", "_")).read_text())
    assert manifest["digest"] == digest
    assert forge.release("v1.0.0") == {
        "draft": False,
        "title": "EvalGate 1.0.0",
        "notes": "- First.\n- Second.\n",
    }


def test_a_release_from_start_to_end_and_again(forge, capsys):
    assert list(WorkflowRun(forge, "1.0.0").run().values()) == DONE
    assert_released(forge)
    assert forge.git("rev-parse", "v1.0.0^", cwd=forge.origin) == forge.git("rev-parse", "HEAD")
    assert step(forge, "current") == 0
    assert capsys.readouterr().out.endswith(f"image={released_image(forge)}\n")
    other = {"COMMIT": forge.git("rev-parse", "HEAD"), "DIGEST": "sha256:" + "ab" * 32}
    assert "v1.0.0 exists with another image" in refusal(forge, "tag", "1.0.0", capsys, **other)
    before = (forge.tags(), forge.signed(), forge.release("v1.0.0"))
    results = WorkflowRun(forge, "1.0.0").run()
    assert (results["build"], results["image"], results["tag"]) == ("skipped", "skipped", "success")
    assert (forge.tags(), forge.signed(), forge.release("v1.0.0")) == before


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the files that git knows are not known in an exported tree")
def test_the_command_that_replaces_the_owner_leaves_itself_and_no_other_name(tmp_path):
    text = (ROOT / "RELEASING.md").read_text()
    [command] = re.findall(r"`(git grep -lE .*?)`", text)
    checkout = tmp_path / "evalgate"
    git, bash = require("git"), require("bash")
    subprocess.run([git, "clone", "--quiet", "--depth=1", ROOT.as_uri(), str(checkout)], check=True)
    (checkout / "RELEASING.md").write_text(text)
    command = command.replace("\\|", "|").replace("OWNER", "Acme").replace("owner/", "acme/")
    subprocess.run([bash, "-c", command], cwd=checkout, check=True)
    names = [git, "grep", "-hoE", r"(ghcr.io/|@|\b)(org|Acme|acme)/(evalgate|quality)", "--", ":!RELEASING.md"]
    found = set(subprocess.run(names, cwd=checkout, check=True, capture_output=True, text=True).stdout.split())
    assert {"ghcr.io/acme/evalgate", "@Acme/quality", "Acme/evalgate"} <= found
    assert [name for name in found if "org/" in name] == []
    assert (checkout / "RELEASING.md").read_text() == text


def test_a_package_that_is_not_public_stops_before_the_tag_and_the_moving_tag(forge, capsys):
    (forge.state / "private").write_text("")
    run = WorkflowRun(forge, "1.0.0")
    assert run.run()["tag"] == "failure"
    assert list(forge.tags()) == []
    [digest, commit], *_ = forge.signed()
    reason = refusal(forge, "tag", "1.0.0", capsys, COMMIT=commit, DIGEST=digest)
    assert f"make the package public: ghcr.io/org/evalgate@{digest} can't be read without a login" in reason
    (forge.state / "private").unlink()
    assert run.run()["tag"] == "success"
    assert_released(forge)
    (forge.state / "private").write_text("")
    assert "make the package public" in refusal(forge, "major", "1.0.0", capsys)


def test_an_image_that_is_gone_from_the_registry_stops_before_the_tag(forge, capsys):
    variables = {"COMMIT": forge.git("rev-parse", "HEAD"), "DIGEST": "sha256:" + "ab" * 32}
    (forge.state / "signed").write_text(f"{variables['DIGEST']} {variables['COMMIT']}\n")
    reason = refusal(forge, "tag", "1.0.0", capsys, **variables)
    assert f"the registry has no image ghcr.io/org/evalgate@{variables['DIGEST']}: run the workflow again" in reason
    assert forge.tags() == {}


def test_without_the_tag_nothing_is_published(forge, capsys):
    assert "couldn't find remote ref refs/tags/v1.0.0" in refusal(forge, "publish", "1.0.0", capsys)
    assert forge.tags() == {}
    assert not [*(forge.state / "releases").iterdir()]


@pytest.mark.parametrize("fault", faults(sample=["before gh release create"]))
def test_after_a_failure_the_failed_jobs_can_be_run_again(forge, fault):
    forge.fail(fault)
    run = WorkflowRun(forge, "1.0.0")
    assert "failure" in run.run().values()
    assert list(run.run().values()) == DONE
    assert_released(forge)


@pytest.mark.parametrize("fault", faults(sample=FAULTS))
def test_after_a_failure_a_new_run_continues_although_main_has_moved(forge, fault):
    forge.fail(fault)
    first = WorkflowRun(forge, "1.0.0")
    assert "failure" in first.run().values()
    started, tagged = forge.git("rev-parse", "HEAD"), "v1.0.0" in forge.tags()
    newest = forge.commit("Something else")
    assert "failure" not in WorkflowRun(forge, "1.0.0").run().values()
    assert_released(forge)
    assert forge.git("rev-parse", "v1.0.0^", cwd=forge.origin) == (started if tagged else newest)


def test_a_failure_between_the_release_and_the_moving_tag_is_continued(forge):
    assert list(WorkflowRun(forge, "1.0.0").run().values()) == DONE
    forge.git("update-ref", "-d", "refs/tags/v1", cwd=forge.origin)
    results = WorkflowRun(forge, "1.0.0").run()
    assert (results["build"], results["image"], results["tag"]) == ("skipped", "skipped", "success")
    assert_released(forge)


def test_a_signed_image_of_this_commit_is_not_built_again(forge):
    forge.fail("before git push")
    WorkflowRun(forge, "1.0.0").run()
    [[digest, _]] = forge.signed()
    assert WorkflowRun(forge, "1.0.0").run()["build"] == "skipped"
    assert released_image(forge).endswith(digest)
    assert_released(forge)


def test_a_draft_that_a_failure_left_is_published(forge):
    forge.fail("before gh release create")
    WorkflowRun(forge, "1.0.0").run()
    draft = {"draft": True, "title": "EvalGate 1.0.0", "notes": "- First.\n- Second.\n"}
    (forge.state / "releases/v1.0.0").write_text(json.dumps(draft))
    WorkflowRun(forge, "1.0.0").run()
    assert_released(forge)


def test_the_moving_tag_never_moves_back(forge):
    WorkflowRun(forge, "1.0.0").run()
    for name in ("pyproject.toml", "evalgate/version.py", "CHANGELOG.md"):
        text = (forge.main / name).read_text()
        (forge.main / name).write_text(text.replace("1.0.0 (2026-11-24)", "1.1.0").replace('"1.0.0"', '"1.1.0"'))
    forge.commit("Prepare 1.1.0")
    assert list(WorkflowRun(forge, "1.1.0").run().values()) == DONE
    assert forge.tags()["v1"] == forge.tags()["v1.1.0"] != forge.tags()["v1.0.0"]
    WorkflowRun(forge, "1.0.0").run()
    assert forge.tags()["v1"] == forge.tags()["v1.1.0"]


def test_versions_that_can_not_be_released(forge, capsys):
    assert "'1.0' is no version" in refusal(forge, "plan", "1.0", capsys)
    assert "pyproject.toml has version 1.0.0, not 1.0.1" in refusal(forge, "plan", "1.0.1", capsys)
    assert "this repository is another/evalgate" in refusal(
        forge, "plan", "1.0.0", capsys, GITHUB_REPOSITORY="another/evalgate"
    )
    forge.git("push", "--quiet", "origin", "HEAD:refs/tags/v1.2.0")
    assert "v1.2.0 is already released" in refusal(forge, "plan", "1.0.0", capsys)


@pytest.mark.parametrize(
    ("name", "old", "new", "reason"),
    [
        (
            "CHANGELOG.md",
            "## 1.0.0",
            "## Unreleased\n\n- New.\n\n## 1.0.0",
            "newest heading of CHANGELOG.md is 'Unreleased'",
        ),
        ("CHANGELOG.md", "- First.\n- Second.\n", "", "CHANGELOG.md lists no change of 1.0.0"),
        ("README.md", "# EvalGate\n", "# EvalGate\n\nIt is not released yet.\n", "README.md says 'not released yet'"),
        ("evalgate/version.py", '"1.0.0"', '"0.9.0"', "evalgate/version.py has version 0.9.0, not 1.0.0"),
        (
            "examples/workflows/evalgate.yml",
            "evalgate@v1",
            "evalgate@v2",
            "examples/workflows/evalgate.yml uses org/evalgate@v2, and this release is @v1 and :1.0.0",
        ),
        (
            "examples/workflows/evalgate.yml",
            "org/evalgate@",
            "another/evalgate@",
            "uses another/evalgate@v1, and this repository is",
        ),
    ],
)
def test_files_that_do_not_fit_the_version(forge, capsys, name, old, new, reason):
    text = (forge.main / name).read_text()
    assert old in text
    (forge.main / name).write_text(text.replace(old, new))
    forge.commit("Change a file")
    assert reason in refusal(forge, "plan", "1.0.0", capsys)


def test_a_tag_that_a_person_made_is_refused(forge, capsys):
    forge.git("push", "--quiet", "origin", "HEAD:refs/tags/v1.0.0")
    assert "was not made by this workflow" in refusal(forge, "plan", "1.0.0", capsys)


def test_a_tag_with_an_unsigned_image_is_refused(forge, capsys):
    action = (forge.main / "action.yml").read_text()
    image = "docker://ghcr.io/org/evalgate:1.0.0@sha256:" + "ab" * 32
    (forge.main / "action.yml").write_text(action.replace("image: Dockerfile", f"image: {image}"))
    forge.git("commit", "--quiet", "--all", "--message", "Release 1.0.0")
    forge.git("push", "--quiet", "origin", "HEAD:refs/tags/v1.0.0")
    assert "is not signed by .github/workflows/release.yml" in refusal(forge, "plan", "1.0.0", capsys)


def test_an_image_that_this_workflow_did_not_sign_is_not_tagged(forge, capsys):
    variables = {"COMMIT": forge.git("rev-parse", "HEAD"), "DIGEST": "sha256:" + "ab" * 32}
    assert "is not signed" in refusal(forge, "tag", "1.0.0", capsys, **variables)
    (forge.state / "signed").write_text(f"{variables['DIGEST']} {variables['COMMIT']}\n")
    forge.commit("Something else")
    assert "the checkout is not of" in refusal(forge, "tag", "1.0.0", capsys, **variables)
    assert forge.tags() == {}


def test_the_moving_tag_waits_for_the_release(forge, capsys):
    forge.git("push", "--quiet", "origin", "HEAD:refs/tags/v1.0.0")
    assert "v1.0.0 has no published release" in refusal(forge, "major", "1.0.0", capsys)
    assert list(forge.tags()) == ["v1.0.0"]


def test_an_image_without_one_of_the_platforms_is_refused(forge, capsys):
    digests = [f"sha256:{number:064}" for number in range(2)]
    for digest in digests:
        (forge.state / "built" / digest).write_text("amd64")
    variables = {"DIGESTS": " ".join(digests), "COMMIT": "c" * 40}
    assert "has the platforms ['linux/amd64'], expected" in refusal(forge, "index", "1.0.0", capsys, **variables)
    variables["DIGESTS"] = f"{digests[0]} "
    assert "expected the digests of 2 images" in refusal(forge, "index", "1.0.0", capsys, **variables)


def test_no_job_takes_an_artifact_of_this_run_which_the_tests_of_the_project_could_have_uploaded():
    jobs = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8"))["jobs"]
    used = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert used
    assert [each for each in used if "artifact" in each or "/cache" in each] == []


def test_before_the_first_release_there_is_no_newest(forge, capsys):
    assert step(forge, "current") == 0
    assert capsys.readouterr().out == ""


def test_the_notes_of_the_newest_version_are_cut_from_the_changelog(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    command = [sys.executable, "-I", ROOT / ".ci/release.py", "notes"]
    done = subprocess.run([*command, "1.0.0"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "- First.\n- Second.\n")
    assert subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).returncode == 2
