"""The first run saves the compiled templates, and later runs use them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jinja2 import nodes

import evalgate
from evalgate.reporting.markdown.render import _get_environment
from evalgate.reporting.markdown.user_template import FILTERS

PACKAGE = Path(evalgate.__path__[0])
RENDER = """
import jinja2
from evalgate.reporting.markdown.render import compile_templates
compiled = []
compile = jinja2.Environment.compile
jinja2.Environment.compile = lambda self, *args, **options: compiled.append(args) or compile(self, *args, **options)
compile_templates()
print(len(compiled))
"""


@pytest.fixture
def copy(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "evalgate", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def saved(copy):
    return sorted(copy.glob("evalgate/reporting/markdown/__pycache__/*.bytecode"))


def count_compiled(copy, *options):
    command = [sys.executable, *options, "-c", RENDER]
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, cwd=copy, check=True, capture_output=True, text=True, env=env)
    return int(done.stdout)


def test_templates_are_compiled_once(copy):
    names = sorted(path.name for path in copy.glob("evalgate/reporting/templates/*.j2"))
    assert names
    assert count_compiled(copy) == len(names)
    assert [path.name.split(".cpython")[0] for path in saved(copy)] == names
    assert count_compiled(copy) == 0


@pytest.mark.parametrize("spoil", [b"", b"for another Python"])
def test_a_template_is_compiled_again_if_its_bytecode_or_source_changed(copy, spoil):
    count_compiled(copy)
    first, second, *_ = saved(copy)
    first.write_bytes(spoil)
    source = copy / "evalgate" / "reporting" / "templates" / second.name.split(".cpython")[0]
    source.write_text(source.read_text() + "\n", encoding="utf-8")
    assert count_compiled(copy) == 2
    assert count_compiled(copy) == 0


def test_nothing_is_saved_if_python_writes_no_bytecode(copy):
    assert count_compiled(copy, "-B") == len(list(copy.glob("evalgate/reporting/templates/*.j2")))
    assert saved(copy) == []


def test_built_in_templates_use_only_filters_of_both_environments():
    """A project's template compiles them too, into the same cache: another filter would spoil later comments."""
    environment = _get_environment()
    for name in environment.list_templates(["j2"]):
        source, _, _ = environment.loader.get_source(environment, name)
        used = {node.name for node in environment.parse(source).find_all(nodes.Filter)}
        assert used <= environment.filters.keys() & FILTERS, name
