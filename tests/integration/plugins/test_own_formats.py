"""A format in an installed package is found after ours, in a shell only, and its mistakes are one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

MODULE = """
from evalgate.adapters.formats.base import Format, Reader, no_identity, read_native


def convert(record):
    steps = record["diary"]
    calls = [{"name": step["did"], "arguments": step.get("with", {}), "result": "ok"} for step in steps]
    messages = [{"role": "user", "content": record["asked"]}, {"role": "assistant", "content": record["said"]}]
    return read_native({"schema": "evalgate.trace/1", "scenario_id": record["id"], "messages": messages,
                        "tool_calls": calls})


DIARY = Format(
    name="diary",
    needs="an object with `diary`",
    claims=lambda value: isinstance(value, dict) and "diary" in value,
    own_reader=Reader(build=convert, identify=no_identity, shapes=()),
)
EAGER = Format(name="eager", needs="anything", claims=lambda value: True, own_reader=DIARY.own_reader)
CRASHING = Format(name="crashing", needs="x", claims=lambda value: value["no"], own_reader=DIARY.own_reader)
WITHOUT_READER = Format(name="unread", needs="x", claims=lambda value: True)
"""
RECORD = {"id": "s1", "asked": "Hi", "said": "done", "diary": [{"did": "delete_user", "with": {"id": 7}}]}
SUITE = """
version: 1
suite: diary
traces: [diary.json]
scenarios:
  - id: s1
    assertions: [{type: forbidden_tools, tools: [delete_user], required: true}]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "diary.json").write_text(json.dumps(RECORD))
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


@pytest.fixture
def install(tmp_path_factory):
    """Lays a package down as pip does, which offers these formats."""

    def lay(**offered):
        site = tmp_path_factory.mktemp("site")
        (site / "diary_format.py").write_text(MODULE)
        info = site / "diary_format-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: diary-format\nVersion: 1\n")
        lines = [f"{name} = diary_format:{value}" for name, value in offered.items()]
        (info / "entry_points.txt").write_text("\n".join(["[evalgate.formats]", *lines]))
        return site

    return lay


def evalgate(folder, *words, site=None):
    return subprocess.run(
        [sys.executable, "-P", "-m", "evalgate", *words],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(site or "")}, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_a_forbidden_call_in_an_installed_format_fails(folder, install):
    done = evalgate(folder, "run", "suite.yaml", "--json", site=install(diary="DIARY"))
    trial = json.loads(done.stdout)["suites"][0]["scenarios"][0]["trials"][0]
    assert (done.returncode, trial["trace"]["format"], trial["status"]) == (1, "diary", "hard_fail")


def test_several_processes_read_it_too(folder, install):
    done = evalgate(folder, "run", "suite.yaml", "--jobs", "2", "--quiet", site=install(diary="DIARY"))
    assert done.returncode == 1, done.stderr


def test_it_can_be_named(folder, install):
    site = install(diary="DIARY")
    assert evalgate(folder, "traces", "diary.json", "--format", "diary", site=site).returncode == 0
    assert "did you mean diary?" in evalgate(folder, "traces", "diary.json", "--format", "diaries", site=site).stderr


def test_without_the_package_the_file_is_refused(folder):
    assert evalgate(folder, "traces", "diary.json").returncode == 2


def test_it_never_takes_a_file_of_ours(folder, install):
    (folder / "ours.json").write_text(json.dumps([{"role": "user", "content": "Hi"}]))
    done = evalgate(folder, "traces", "ours.json", "--json", site=install(eager="EAGER"))
    assert '"openai-chat"' in done.stdout


@pytest.mark.parametrize(
    ("offered", "message"),
    [
        (
            {"crashing": "CRASHING"},
            "installed format crashing (diary_format:CRASHING) can't recognise a file (KeyError)",
        ),
        ({"unread": "WITHOUT_READER"}, "installed format unread (diary_format:WITHOUT_READER) is not a format"),
        ({"other": "DIARY"}, "installed format other (diary_format:DIARY) is not a format"),
        ({"gone": "GONE"}, "installed format gone (diary_format:GONE) can't be imported (AttributeError)"),
    ],
)
def test_a_format_that_can_not_be_used_is_one_line(folder, install, offered, message):
    done = evalgate(folder, "run", "suite.yaml", site=install(**offered))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_record_that_it_can_not_read_is_an_error_of_its_scenario(folder, install):
    (folder / "diary.json").write_text(json.dumps({"diary": [{}]}))
    done = evalgate(folder, "run", "suite.yaml", site=install(diary="DIARY"))
    assert done.returncode != 0
    assert "installed format diary (diary_format:DIARY) can't read it (KeyError)" in done.stdout + done.stderr


def test_a_job_asks_no_package(tmp_path):
    """A job's files have a root; the formats of packages are allowed where a shell builds its own."""
    program = (
        "from evalgate.bootstrap.sources import build_trace_files\n"
        "from evalgate.adapters.formats.open import installed\n"
        f"build_trace_files({str(tmp_path)!r}, {str(tmp_path)!r}); print(installed._allowed)\n"
        f"build_trace_files({str(tmp_path)!r}); print(installed._allowed)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]
