"""Without any extra the gate works and loads of features only what they declare; a feature names the extra it needs."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest
from documents import ROOT

from evalgate.bootstrap.features import FEATURES

if TYPE_CHECKING:
    from pathlib import Path

EXTRAS = {
    "terminal": ("rich",),
    "otlp": ("opentelemetry", "google.protobuf"),
    "record": ("aiohttp",),
    "prices": ("genai_prices",),
    "store": ("sqlalchemy", "alembic"),
    "postgres": ("psycopg",),
    "dask": ("distributed", "cloudpickle", "fsspec"),
}
"""What the packages of each extra are imported as."""
SUITE = """
version: 1
suite: refunds
traces: [traces.jsonl]
scenarios:
  - id: s1
    assertions: [{type: contains, value: refunded, required: true}]
"""
TRACE = {
    "schema": "evalgate.trace/1",
    "trace_id": "t1",
    "scenario_id": "s1",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "refunded"}],
}
WITHOUT = """
import sys
from io import StringIO
sys.modules |= dict.fromkeys({absent!r})
from evalgate.cli import main
from evalgate.cli.shell import Shell
out, err = StringIO(), StringIO()
code = main(sys.argv[1:], Shell(out, err, {{}}, "."))
print(out.getvalue(), err.getvalue(), sep="")
print(code, *(name for name in sys.modules if name.startswith("evalgate.features.")))
"""
NEEDED = {"record": ("record", "--", "true"), "store": ("history",)}
"""A command of each feature that needs an extra."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "traces.jsonl").write_text(json.dumps(TRACE) + "\n")
    return tmp_path


def evalgate(folder: Path, *words: str) -> tuple[str, int, list[str]]:
    """What a command prints where no extra is installed, its exit code, and the modules of features that it loads."""
    absent = [name for names in EXTRAS.values() for name in names]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(absent=absent), *words],
        cwd=folder, capture_output=True, text=True, check=True,
    )  # fmt: skip
    printed, _, last = done.stdout.rstrip("\n").rpartition("\n")
    code, *loaded = last.split()
    return printed, int(code), loaded


def test_every_extra_is_tried() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert declared.keys() == EXTRAS.keys()
    assert {feature.extra for feature in FEATURES if feature.extra} == NEEDED.keys()


@pytest.mark.parametrize(
    "words",
    [("run", "suite.yaml"), ("validate", "suite.yaml"), ("show", "traces.jsonl"), ("explain", "s1")],
    ids=lambda words: words[0],
)
def test_the_gate_works_and_loads_only_declarations(project: Path, words: tuple[str, ...]) -> None:
    if words[0] == "explain":
        evalgate(project, "run", "suite.yaml")
    printed, code, loaded = evalgate(project, *words)
    assert code == 0, printed
    assert [name for name in loaded if name.count(".") > 2 and not name.endswith(".feature")] == []


@pytest.mark.parametrize("extra", NEEDED)
def test_a_feature_names_the_extra_that_it_needs(project: Path, extra: str) -> None:
    printed, code, _ = evalgate(project, *NEEDED[extra])
    assert code == 2
    assert printed.startswith("error: ")
    assert f"evalgate-action[{extra}]" in printed
    assert printed.count("\n") == 1
