"""Everything installed, run and released is pinned by hash, commit or digest, and has few permissions."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
import yaml
from action_steps import load_script
from documents import ROOT, blocks, read_lock
from fakes.release_run import release_script

OWN = sorted((ROOT / ".github/workflows").glob("*.yml"))
SHOWN = sorted((ROOT / "examples/workflows").glob("*.yml"))
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in [*OWN, *SHOWN]} | {
    f"{block.document} {number}": block.text
    for number, block in enumerate(blocks("yaml"))
    if "\njobs:\n" in f"\n{block.text}"
}
WORKFLOWS = {name: yaml.safe_load(text) for name, text in TEXTS.items()}
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
OF_OURS = re.compile(r"\./|org/evalgate(/composite|/record)?@v\d+")
RELEASE, PYPI, IMAGE, SCORECARD = (
    f".github/workflows/{name}.yml" for name in ("release", "pypi", "image", "scorecard")
)


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


def test_actions_that_documents_show_in_a_few_lines_are_pinned_too():
    texts = [path.read_text(encoding="utf-8") for path in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]]
    used = re.findall(r"^ *(?:- )?uses: (.+)", "\n".join(texts), re.MULTILINE)
    assert any(each.startswith("actions/cache/restore@") for each in used)
    own = re.compile(rf"{OF_OURS.pattern}|org/evalgate@COMMIT # v")
    assert [each for each in used if not re.match(rf"{PINNED.pattern} # v\d", each) and not own.match(each)] == []


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


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_installs_evalgate_by_the_hashes_of_its_lock_only(name):
    commands = [line for step in steps(WORKFLOWS[name]) for line in step.get("run", "").splitlines()]
    installs = [line for line in commands if re.search(r"\b(pipx?|uv tool) install .*evalgate", line, re.IGNORECASE)]
    assert [line for line in installs if "--require-hashes" not in line] == []


@pytest.mark.parametrize(
    "lock",
    [
        *("core", "image", "gate", "record", "record-prices", "dev", "audit", "build"),
        *("trackers-mlflow", "trackers-phoenix"),
    ],
)
def test_every_locked_requirement_has_one_version_and_hashes(lock):
    text = (ROOT / f"requirements/{lock}.txt").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    assert [
        line for line in lines if line.startswith("-") and not re.fullmatch(r"-r (core|gate|record)\.txt", line)
    ] == []
    entries = re.split(r"\n(?=\S)", "\n".join(line for line in lines if not line.startswith("-r ")))
    requirements = [entry for entry in entries if entry.strip()]
    assert requirements
    assert [entry for entry in requirements if not re.match(r"[\w.-]+(\[\w+\])?==\S+", entry)] == []
    assert [entry for entry in requirements if "--hash=sha256:" not in entry] == []


def lock_versions(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([\w.-]+)==(\S+)", read_lock(f"requirements/{name}.txt"), re.MULTILINE))


def test_jobs_install_what_the_tests_ran_with_and_the_gate_no_database_and_no_server():
    tested, image, gate, record, priced = map(lock_versions, ("dev", "image", "gate", "record", "record-prices"))
    of_other_systems = {"httpx2-jsfetch", "tzdata"}
    for locked in (image, gate, record, priced):
        assert {name: each for name, each in locked.items() if tested.get(name, each) != each} == {}
    assert gate.items() <= image.items()
    assert image.keys() - gate.keys() - of_other_systems == {
        "alembic",
        "mako",
        "psycopg",
        "psycopg-binary",
        "sqlalchemy",
    }
    assert "aiohttp" in record
    assert not {"sqlalchemy", "genai-prices"} & record.keys()
    assert record.items() <= priced.items()
    assert "genai-prices" in priced


@pytest.mark.parametrize(
    ("wheel", "used"),
    [
        ("a-1-py3-none-any.whl", True),
        ("a-1-py2.py3-none-any.whl", True),
        ("a-1-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl", True),
        ("a-1-cp39-abi3-macosx_11_0_arm64.whl", True),
        ("a-1-cp314-cp314-musllinux_1_2_aarch64.whl", True),
        ("a-1-cp313-cp313-win_amd64.whl", True),
        ("a-1-cp310-cp310-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp313-cp313t-manylinux_2_17_x86_64.whl", False),
        ("a-1-pp311-pypy311_pp73-manylinux_2_17_x86_64.whl", False),
        ("a-1-cp313-cp313-manylinux_2_17_s390x.whl", False),
        ("a-1-cp313-cp313-win32.whl", False),
    ],
)
def test_a_lock_of_jobs_names_the_wheels_that_they_can_install(wheel, used):
    script = load_script(ROOT / ".ci/lock_wheels.py")
    package = {"name": "a", "version": "1", "wheels": [{"url": f"https://i/{wheel}", "hashes": {"sha256": "00"}}]}
    assert script.is_used(wheel) is used
    if used:
        assert script.write_entry(package) == "a==1 \\\n    --hash=sha256:00\n"
    else:
        with pytest.raises(ValueError, match="a 1 has no wheel that can be used"):
            script.write_entry(package)


def test_a_lock_leaves_out_what_the_lock_that_it_includes_has(tmp_path, monkeypatch, capsys):
    script = load_script(ROOT / ".ci/lock_wheels.py")
    package = "[[packages]]\nname = '{0}'\nversion = '1'\nwheels = [{{name = '{0}-1-py3-none-any.whl', hashes.sha256 = '00'}}]\n"
    for lock, names, bases in (("core", "a", []), ("gate", "ab", ["core"]), ("image", "abc", ["gate"])):
        monkeypatch.setattr("sys.stdin", io.StringIO("".join(map(package.format, names))))
        monkeypatch.setattr("sys.argv", ["lock", *(str(tmp_path / f"{base}.txt") for base in bases)])
        script.main()
        (tmp_path / f"{lock}.txt").write_text(capsys.readouterr().out)
    assert (tmp_path / "image.txt").read_text() == script.HEAD + "-r gate.txt\nc==1 \\\n    --hash=sha256:00\n"


def test_the_image_installs_wheels_by_hash_without_their_dependencies():
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    install = re.search(r"pip install((?:.*\\\n)*.*)", dockerfile)
    assert install is not None
    words = install[1].replace("\\\n", " ").split()
    assert {"--require-hashes", "--no-deps", "--only-binary", ":all:"} <= set(words)
    assert words[words.index("--requirement") + 1] == "/opt/evalgate/image.txt"
    assert re.search(r'^ENTRYPOINT \["/usr/local/bin/python", "-I"', dockerfile, re.MULTILINE)


def test_the_base_image_is_pinned_by_digest_and_moved_by_dependabot():
    bases = re.findall(r"^FROM (\S+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.fullmatch(r"python:3\.12\.\d+-slim-bookworm@sha256:[0-9a-f]{64}", bases[0])
    assert set(bases[1:]) <= {"scratch"}
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text(encoding="utf-8"))["updates"]
    [docker] = [each for each in updates if each["package-ecosystem"] == "docker"]
    [python] = docker["ignore"]
    assert set(python["update-types"]) == {"version-update:semver-major", "version-update:semver-minor"}


RELEASED = f"ghcr.io/org/evalgate:1.0.0@sha256:{'ab' * 32}"


def test_a_mirrors_action_names_the_released_image_in_its_registry(tmp_path, capsys, monkeypatch):
    action = (ROOT / "action.yml").read_text(encoding="utf-8")
    released = release_script().pin_image(action, RELEASED)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "action.yml").write_text(released)
    mirror = load_script(ROOT / ".ci/mirror.py")
    assert mirror.main("registry.acme.example:5000/ci/") == 0
    moved = (tmp_path / "action.yml").read_text()
    assert moved == released.replace("ghcr.io/org/", "registry.acme.example:5000/ci/")
    assert mirror.main("registry.acme.example/other") == 0  # again, for another one
    assert (
        "image: docker://registry.acme.example/other/evalgate:1.0.0@sha256:abab"
        in (tmp_path / "action.yml").read_text()
    )
    capsys.readouterr()
    for registry, text, reason in (
        ("registry.acme.example/ci", action, "action.yml names no image by digest: check out the tag of a release"),
        ("", released, "REGISTRY is ''"),
        ("https://registry.acme.example/ci", released, "REGISTRY is 'https://"),
    ):
        (tmp_path / "action.yml").write_text(text)
        assert mirror.main(registry) == 2
        assert reason in capsys.readouterr().err
        assert (tmp_path / "action.yml").read_text() == text


def test_a_release_has_an_sbom_a_provenance_and_a_signed_digest():
    build = named(RELEASE, "docker/build-push-action@")["with"]
    assert (build["sbom"], build["provenance"], build["no-cache"]) == (True, "mode=max", True)
    signed = named(RELEASE, "actions/attest@")["with"]
    assert named(RELEASE, "docker/build-push-action@")["env"] == {"SOURCE_DATE_EPOCH": "315532800"}
    written = dict(each.split("=") for each in build["outputs"].split(","))
    assert {"rewrite-timestamp": "true", "force-compression": "true", "compression": "zstd"}.items() <= written.items()
    assert signed["subject-digest"] == "${{ steps.index.outputs.digest }}"
    assert signed["push-to-registry"] is True


def test_each_platform_is_built_and_scanned_on_a_machine_of_its_own():
    for workflow, job in ((RELEASE, "build"), (IMAGE, "rebuild")):
        variants = WORKFLOWS[workflow]["jobs"][job]["strategy"]["matrix"]["include"]
        machines = {variant["platform"]: variant["runner"] for variant in variants}
        assert machines == {"amd64": "ubuntu-24.04", "arm64": "ubuntu-24.04-arm"}
        assert {f"linux/{name}" for name in machines} == release_script().PLATFORMS


def test_what_a_release_can_write_or_sign_waits_for_tests_that_can_only_read():
    jobs = WORKFLOWS[RELEASE]["jobs"]
    assert jobs["tests"]["permissions"] == {"contents": "read"}
    assert jobs["tests"]["steps"][-1]["run"] == ".ci/run"
    for name, job in jobs.items():
        needed, waiting = set(), [name]
        while waiting:
            needs = jobs[waiting.pop()].get("needs", [])
            waiting += [needs] if isinstance(needs, str) else needs
            needed |= set(waiting)
        assert "tests" in needed or set(job["permissions"].values()) == {"read"}, name


def test_what_a_release_can_write_or_sign_starts_from_a_fresh_checkout_and_installs_nothing():
    for name, job in WORKFLOWS[RELEASE]["jobs"].items():
        if set(job["permissions"].values()) == {"read"}:
            continue
        first, *rest = job["steps"]
        assert first["uses"].startswith("actions/checkout@")
        assert first["with"] == {"persist-credentials": False}
        assert not any(each.get("uses", "").startswith("actions/setup-") for each in rest)
        commands = [line for each in rest for line in each.get("run", "").splitlines()]
        assert not [line for line in commands if re.search(r"\b(pip|make|npm|apt|curl|\.ci/run)\b", line)], name


def test_a_job_that_attests_may_record_where_the_image_is_stored():
    [job] = [each for each in WORKFLOWS[RELEASE]["jobs"].values() if "attest@" in str(each)]
    assert job["permissions"] == {
        "contents": "read",
        "packages": "write",
        "id-token": "write",
        "attestations": "write",
        "artifact-metadata": "write",
    }


def test_the_python_index_gets_what_a_job_without_its_token_has_built():
    build, publish = WORKFLOWS[PYPI]["jobs"].values()
    assert build["permissions"] == {"contents": "read"}
    assert publish["permissions"] == {"id-token": "write"}
    assert [each["uses"].partition("@")[0] for each in publish["steps"]] == [
        "actions/download-artifact",
        "pypa/gh-action-pypi-publish",
    ]
    assert "--require-hashes" in build["steps"][-2]["run"]


def test_the_job_of_scorecard_uses_only_what_its_service_accepts():
    [job] = WORKFLOWS[SCORECARD]["jobs"].values()
    used = {each["uses"].partition("@")[0] for each in job["steps"]}
    assert used == {"actions/checkout", "ossf/scorecard-action", "github/codeql-action/upload-sarif"}
    assert not {"env", "defaults"} & (job.keys() | WORKFLOWS[SCORECARD].keys())


def test_every_week_mains_image_and_the_released_one_are_scanned():
    scanned = [each["with"] for each in steps(WORKFLOWS[IMAGE]) if "scan-action@" in each.get("uses", "")]
    assert [each["image"] for each in scanned] == ["evalgate:main", "${{ steps.current.outputs.image }}"]
    assert all("fail-build" not in each for each in scanned)
    assert WORKFLOWS[IMAGE][True]["schedule"]  # YAML reads `on` as true


def test_every_push_scans_code_workflows_and_image_for_vulnerabilities():
    security = WORKFLOWS[".github/workflows/security.yml"]
    assert {"pull_request", "push", "schedule"} <= set(security[True])  # YAML reads `on` as true
    commands = [step.get("run", "") + step.get("uses", "") for step in steps(security)]
    for tool in ("zizmor --offline", "pip-audit --require-hashes", "github/codeql-action/analyze@"):
        assert any(tool in each for each in commands), tool
    assert any(step.get("with", {}).get("languages") == "python, actions" for step in steps(security))
