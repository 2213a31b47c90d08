"""The examples for other CI systems: valid, run as the system would run them, and the exit code is not lost.

What can't be tried without the service: that it starts the image and takes the files. `docker` is replaced by a program
that checks the options and runs the command in the folder that would be mounted, as the image does.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import jsonschema
import pytest
import yaml
from documents import ROOT
from other_ci import COMPONENT, PAGE, component, example

from evalgate.version import __version__

IMAGE = re.compile(r"ghcr\.io/[a-z\d-]+/evalgate:([0-9.]+)")
SUITE = """\
suite: support
traces: ["../traces/*.json"]
scenarios:
  - {id: refund, assertions: [{type: contains, value: refunded, required: true}]}
"""
TRACE = {"schema": "evalgate.trace/1", "scenario_id": "refund", "messages": [{"role": "user", "content": "Refund 42"}]}
DOCKER = """\
#!/bin/sh
[ "$1 $2 $3 $4 $5 $6 $7 $8" = "run --rm -v $PWD:/w -w /w --user $(id -u)" ] || { echo "$@"; exit 125; }
shift 8; echo "$1" > image; shift
exec evalgate "$@"
"""
AGENT = """\
#!/bin/sh
[ "$1 $2 $3 $4" = "annotate --context evalgate --style" ] && cat > annotation.md
"""
NO_BUILDS = "#!/bin/sh\necho '[]'\n"


class System(NamedTuple):
    """A CI system: how it runs a script, the script, and the files that it takes from the workspace."""

    shell: list[str]
    script: list[str]
    files: list[str]
    schema: str = ""
    document: Any = None


def gitlab(document: Any) -> System:
    job = document["evalgate"]
    assert job["image"]["entrypoint"] == [""]  # else the image takes the runner's shell for a verb
    assert job["artifacts"]["when"] == "always"
    variables = [f"export {name}='{value}'" for name, value in job.get("variables", {}).items()]
    files = [*job["artifacts"]["paths"], *job["artifacts"]["reports"].values()]
    return System(["sh", "-e", "-c"], [*variables, *job["script"]], files, "gitlab-ci", document)


def jenkins() -> System:
    text = example("Jenkins")
    assert "args '--entrypoint='" in text
    assert text.index("always {") < text.index("junit ")
    files = re.findall(r"(?:testResults|artifacts): '([^']+)'", text)
    return System(["sh", "-xe", "-c"], re.findall(r"sh '([^']+)'", text), files)


def circleci() -> System:
    document = yaml.safe_load(example("CircleCI"))
    steps = document["jobs"]["evalgate"]["steps"]
    scripts = [step["run"] for step in steps if "run" in step]
    files = [step[name]["path"] for step in steps for name in ("store_test_results", "store_artifacts") if name in step]
    return System(["bash", "-eo", "pipefail", "-c"], scripts, files, "circle-ci", document)


def azure() -> System:
    document = yaml.safe_load(example("Azure Pipelines"))
    _, gate, *others = document["steps"]
    assert {step["condition"] for step in others} == {"always()"}
    files = [step.get("publish") or step["inputs"]["testResultsFiles"] for step in others]
    return System(["bash", "--noprofile", "--norc", "-c"], [gate["script"]], files, "azure-pipelines", document)


def bitbucket() -> System:
    document = yaml.safe_load(example("Bitbucket Pipelines"))
    _, step = (each["step"] for each in document["pipelines"]["pull-requests"]["**"])
    files = [*step["artifacts"], "test-results/junit.xml"]
    return System(["bash", "-e", "-c"], step["script"], files, "bitbucket-pipelines", document)


def buildkite() -> System:
    document = yaml.safe_load(example("Buildkite"))
    [step] = document["steps"]
    assert re.search(r"(?<!\$)\$(?!\$)", step["command"]) is None  # it would be expanded when the pipeline is uploaded
    script = step["command"].replace("$$", "$")
    files = [step["artifact_paths"], "annotation.md"]
    return System(["bash", "-e", "-c"], [script], files, "buildkite", document)


SYSTEMS = {
    "GitLab component": lambda: gitlab(component(config="evals/support.yaml", baseline="none")[1]),
    "Jenkins": jenkins,
    "CircleCI": circleci,
    "Azure Pipelines": azure,
    "Bitbucket Pipelines": bitbucket,
    "Buildkite": buildkite,
}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A repository with a suite, and a `docker` that is found first."""
    for name, text in {"docker": DOCKER, "buildkite-agent": AGENT, "curl": NO_BUILDS}.items():
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).write_text(text)
        (tmp_path / "tools" / name).chmod(0o755)
    folder = tmp_path / "repository"
    (folder / "evals").mkdir(parents=True)
    (folder / "traces").mkdir()
    (folder / "evals/support.yaml").write_text(SUITE)
    return folder


def run(system: System, workspace: Path, answer: str) -> int:
    messages = [*TRACE["messages"], {"role": "assistant", "content": answer}]
    (workspace / "traces/refund.json").write_text(json.dumps({**TRACE, "messages": messages}))
    environ = {
        "PATH": os.pathsep.join(
            [str(workspace.parent / "tools"), str(Path(sys.executable).parent), os.environ["PATH"]]
        ),
        "BUILDKITE": "true",
    }
    done = subprocess.run(
        [*system.shell, "\n".join(system.script)],
        cwd=workspace,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    return done.returncode


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_failed_gate_fails_the_job_and_leaves_its_reports(name: str, workspace: Path) -> None:
    system = SYSTEMS[name]()
    assert run(system, workspace, "No.") == 1
    for pattern in system.files:
        assert [*workspace.glob(pattern)], pattern
    [junit] = workspace.rglob("junit.xml")
    assert ET.parse(junit).getroot().get("failures") == "1"  # noqa: S314  our own output
    for report in workspace.rglob("gl-code-quality.json"):
        [entry] = json.loads(report.read_text())
        assert entry["location"] == {"path": "evals/support.yaml", "lines": {"begin": 4}}


@pytest.mark.parametrize("name", ["GitLab component", "Buildkite"])
def test_a_passed_gate_passes_the_job(name: str, workspace: Path) -> None:
    assert run(SYSTEMS[name](), workspace, "It is refunded.") == 0


def test_wrong_input_fails_the_job_too(workspace: Path) -> None:
    (workspace / "evals/support.yaml").write_text("suite: [")
    assert run(azure(), workspace, "It is refunded.") == 2


@pytest.mark.parametrize("name", [name for name in SYSTEMS if name != "Jenkins"])
def test_an_example_is_valid_under_the_systems_schema(name: str) -> None:
    system = SYSTEMS[name]()
    vendored = resources.files("check_jsonschema") / "builtin_schemas/vendor" / f"{system.schema}.json"
    schema = json.loads(vendored.read_text(encoding="utf-8"))
    jsonschema.validators.validator_for(schema)(schema).validate(system.document)


def test_the_component_has_the_inputs_that_the_page_describes() -> None:
    declared = component()[0]["spec"]["inputs"]
    rows = re.findall(r"^\| `([\w-]+)` \| (?:`(.*?)`)? ?\|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(name, described["default"] or "") for name, described in declared.items()]
    shown = PAGE.read_text(encoding="utf-8").partition("include:\n")[2].partition("```")[0]
    [included] = yaml.safe_load("include:\n" + shown)["include"]
    assert included["inputs"].keys() <= declared.keys()
    assert included["remote"].endswith(f"/v{__version__}/{COMPONENT.relative_to(ROOT).as_posix()}")


def test_every_example_names_the_image_of_this_version() -> None:
    texts = [PAGE.read_text(encoding="utf-8"), COMPONENT.read_text(encoding="utf-8")]
    assert {version for text in texts for version in IMAGE.findall(text)} == {__version__}
    assert all(IMAGE.search(example(heading)) for heading in SYSTEMS if "component" not in heading)


def test_the_command_of_the_page_keeps_the_exit_code(workspace: Path) -> None:
    command = re.search(r"^```sh\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)[1]
    assert run(System(["sh", "-c"], [command], []), workspace, "No.") == 1
