"""What `make demo` and `make test` do first on a new machine."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from typing import Any

import pytest
from documents import ROOT
from programs import require

SCRIPT = ROOT / ".ci/environment.py"


@cache
def script() -> Any:
    spec = spec_from_file_location("environment", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_python_that_is_too_old_or_has_no_ensurepip_is_refused_with_the_remedy():
    refusal = script().refusal
    assert refusal((3, 11, 0), "python3", has_pip=True) is None
    assert refusal((3, 14, 2), "python3", has_pip=True) is None
    assert refusal((3, 10, 12), "/usr/bin/python3", has_pip=True) == (
        "Python 3.11 or newer is needed, /usr/bin/python3 is 3.10.12; run a newer one"
    )
    refused = refusal((3, 12, 3), "/usr/bin/python3", has_pip=False)
    assert refused.endswith("apt-get install python3.12-venv")


@pytest.mark.parametrize(
    ("line", "phase"),
    [
        ("Obtaining file:///home/ana/evalgate", "preparing EvalGate"),
        ("Collecting jsonschema-rs>=0.60 (from evalgate-action==1.0.0)", "looking up jsonschema-rs"),
        ("Processing /wheels/jinja2-3.1.6-py3-none-any.whl (from evalgate-action==1.0.0)", "looking up jinja2"),
        ("  Downloading jsonschema_rs-0.60.3-cp310-abi3-x86_64.whl (6.2 MB)", "downloading jsonschema_rs (6.2 MB)"),
        ("Installing collected packages: urllib3, regex", "unpacking the packages"),
        ("WARNING: Retrying (Retry(total=4, connect=None))", "no answer from the package index, trying again"),
        ("  Getting requirements to build editable: started", None),
    ],
)
def test_what_pip_prints_is_shown_as_a_phase(line, phase):
    assert script().phase_of(line) == phase


@pytest.mark.parametrize(
    ("output", "remedy"),
    [
        ('SSLError("Can\'t connect to HTTPS URL because the SSL module is not available.")', "built without SSL"),
        ("ProxyError('Cannot connect')\nERROR: No matching distribution found for regex\n", "PIP_INDEX_URL"),
        ("NameResolutionError(...)\nERROR: No matching distribution found for regex\n", "HTTPS_PROXY"),
        ("SSLError(SSLCertVerificationError(1, 'CERTIFICATE_VERIFY_FAILED'))\nERROR: No matching\n", "PIP_CERT"),
        ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n", "make room"),
        ("Error: [Errno 13] Permission denied: '/srv/.venv'\n", "[Errno 13] Permission denied: '/srv/.venv'"),
        ("Killed\n", "it gave no reason"),
    ],
)
def test_a_failure_of_pip_is_one_line_with_the_remedy(output, remedy):
    found = script().remedy_of(output)
    assert remedy in found
    assert "\n" not in found


def test_an_environment_of_another_python_is_not_reused(tmp_path):
    is_of_this_python = script().is_of_this_python
    assert not is_of_this_python(tmp_path)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    assert is_of_this_python(tmp_path / "venv")
    settings = tmp_path / "venv/pyvenv.cfg"
    settings.write_text(re.sub("executable = .*", "executable = /usr/bin/another-python3", settings.read_text()))
    assert not is_of_this_python(tmp_path / "venv")


def test_an_index_that_does_not_answer_is_named_as_the_cause(tmp_path):
    index = ("--isolated", "--retries", "1", "--index-url", "http://127.0.0.1:1/simple")
    command = [sys.executable, "-m", "pip", "download", *index, "--dest", str(tmp_path), "evalgate-absent"]
    with pytest.raises(script().Failure, match="the package index can't be reached") as failure:
        script().run(command, tmp_path / "install.log", script().Progress(io.StringIO()))
    assert str(failure.value).endswith(f"all it printed is in {tmp_path / 'install.log'}")
    assert "127.0.0.1" in (tmp_path / "install.log").read_text()


@pytest.mark.parametrize("target", ["demo", "test"])
def test_make_refuses_an_old_python_in_one_line(target, tmp_path):
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements/dev.txt").touch()
    old = tmp_path / "an old python"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && exec echo Python 3.9.2\nexit 1\n')
    old.chmod(0o755)
    done = subprocess.run(
        [require("make"), target, f"PYTHON={old}"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    first, *others = done.stderr.splitlines()
    assert first.startswith("error: Python 3.11 or newer is needed, here is Python 3.9.2;")
    assert "make PYTHON=" in first
    assert [line for line in others if not line.startswith("make")] == []
    assert not (tmp_path / ".venv").exists()


def test_a_shell_that_a_test_starts_gets_the_interpreter_quoted():
    """The project may lie in a path with a blank."""
    tests = {path: path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py")}
    assert [str(path) for path, text in tests.items() if re.search(r"[{]sys[.]executable[}] ", text)] == []
