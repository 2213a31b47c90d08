from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest
import yaml
from action_inputs import text_of_default, with_inputs, with_table
from documents import read_lock
from results_builder import a_baseline, a_scenario, a_suite, results

from evalgate.application.action.step_outputs import OUTPUTS, comment_outputs, outputs_of
from evalgate.bootstrap.features import all_settings
from evalgate.models.comparison.comparison import BaselineStatus
from evalgate.ports import Comment
from evalgate.version import __version__

ROOT = Path(__file__).resolve().parents[2]
PATHS = {"results-path": "", "report-path": "", "baseline-path": "", "sarif-path": "", "html-path": ""}


@pytest.fixture(scope="module")
def action():
    return yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))


def table(heading: str) -> list[str]:
    """Names in the first column of the table below a heading."""
    text = (ROOT / "docs/github.md").read_text(encoding="utf-8")
    section = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_the_inputs_and_their_table_are_as_declared():
    """`make docs` writes them."""
    text, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("action.yml", "docs/github.md"))
    assert text == with_inputs(text, all_settings())
    assert page == with_table(page, all_settings())


def test_yaml_holds_the_declared_texts(action):
    assert {name: each["description"] for name, each in action["inputs"].items()} == {
        each.name: each.text.help for each in all_settings()
    }


def test_the_page_names_the_same_outputs(action):
    assert sorted(table("Outputs")) == sorted(action["outputs"])


def test_every_default_equals_an_omitted_input(action):
    for each in all_settings():
        default = action["inputs"][each.name]["default"]
        assert default == (each.text.expression or text_of_default(each))
        if default and not each.text.expression:
            assert each.read(default) == each.default


def test_every_value_of_an_input_and_an_output_is_described(action):
    for each in all_settings():
        words = [word for word in getattr(each.read, "words", ()) if word not in {"auto", "true", "false"}]
        assert [word for word in words if word not in action["inputs"][each.name]["description"]] == []
    states = re.split(", | or ", action["outputs"]["baseline-status"]["description"])
    assert states == list(get_args(BaselineStatus))


def test_the_token_defaults_to_the_token_of_the_job(action):
    assert action["inputs"]["github-token"]["default"] == "${{ github.token }}"


def test_the_matrix_leg_is_known_without_an_input(action):
    """Contexts that GitHub allows in the default of an input: github, strategy, matrix, job, runner."""
    assert action["inputs"]["matrix"]["default"] == "${{ toJSON(matrix) }}"


def test_the_outputs_are_those_that_a_run_sets(action):
    document = results([a_suite("s", [a_scenario()])], baseline=a_baseline())
    outputs = {**outputs_of(document, PATHS), **comment_outputs(Comment(1, "", created=True, changed=True))}
    outputs["tracking-url"] = ""  # set once the run is published
    assert list(action["outputs"]) == list(OUTPUTS)
    assert sorted(action["outputs"]) == sorted(outputs)


def test_the_action_is_a_container_built_from_the_dockerfile(action):
    assert action["runs"] == {"using": "docker", "image": "Dockerfile"}


def test_action_yml_is_valid_under_githubs_schema():
    tool = Path(sys.executable).with_name("check-jsonschema")
    checked = subprocess.run(
        [tool, "--builtin-schema", "vendor.github-actions", ROOT / "action.yml"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout


def test_the_image_installs_packages_locked_by_hash_and_never_evalgate_by_name():
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    assert re.search(r"^FROM python:3\.12\.\d+-slim-bookworm", dockerfile, re.MULTILINE)
    assert "--require-hashes" in dockerfile
    assert '"-I"' in dockerfile
    assert not re.search(r"pip install[^\n]*evalgate(?!/)", dockerfile)


def test_the_image_has_the_command_by_its_name(tmp_path):
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    [text] = re.findall(r"printf '(.+)' > /usr/local/bin/evalgate", dockerfile)
    shebang, *lines = text.replace("\\n", "\n").splitlines()
    assert shebang == "#!/usr/local/bin/python -IXutf8"
    (tmp_path / "evalgate").write_text("\n".join(lines))
    command = [sys.executable, "-IXutf8", str(tmp_path / "evalgate"), "--version"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == f"evalgate {__version__}\n"


def test_the_image_holds_every_dependency_and_the_extras_that_need_no_terminal():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    locked = set(re.findall(r"^([a-z0-9_.-]+)==", read_lock("requirements/image.txt"), re.MULTILINE))
    named = {re.split(r"[<>=!~]", dependency)[0].strip() for dependency in project["dependencies"]}
    assert named <= locked
    assert {"opentelemetry-proto", "protobuf", "genai-prices"} <= locked
    assert {"sqlalchemy", "alembic", "psycopg", "psycopg-binary"} <= locked
    assert "rich" not in locked
