"""What a person writes almost right is answered with what to write."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """suite: shop
traces: [recordings/*.json]
scenarios:
  - {id: refund-late, assertions: [{type: not_empty}]}
  - {id: cancel-late, assertions: [{type: not_empty}]}
"""


def run(folder: Path, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {"SOURCE_DATE_EPOCH": "1767323045"}, str(folder)))
    return code, out.getvalue(), err.getvalue()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    (tmp_path / "recordings").mkdir()
    (tmp_path / "evals/shop.yaml").write_text(SUITE)
    messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    for id_ in ("refund-late", "cancel-late"):
        trace = {"schema": "evalgate.trace/1", "scenario_id": id_, "messages": messages}
        (tmp_path / f"recordings/{id_}.json").write_text(json.dumps(trace))
    return tmp_path


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["run", "evals/shop.yaml", "--out", "x"], "did you mean --output-dir?"),
        (["run", "evals/shp.yaml"], "no suite file at 'evals/shp.yaml' (did you mean evals/shop.yaml?)"),
        (["run", "evals/other.yaml"], "(nothing was found there)"),
        (
            ["run", "evals/shop.yaml", "--baseline", "evals/shop.yaml"],
            "evals/shop.yaml is no baseline (a baseline is the baseline.zip or results.json of an earlier run",
        ),
    ],
)
def test_wrong_input_says_what_is_meant(project: Path, words: list[str], hint: str) -> None:
    code, _, err = run(project, *words)
    assert code == 2
    assert hint in err


def test_a_glob_that_starts_from_the_wrong_folder_is_written_as_it_must_be(project: Path) -> None:
    _, _, err = run(project, "run", "evals/shop.yaml")
    hint = "paths are relative to the suite: for recordings/*.json in evals/shop.yaml write ../recordings/*.json\n"
    assert hint in err
    (project / "evals/shop.yaml").write_text(SUITE.replace("recordings/", "../recordings/"))
    _, _, err = run(project, "run", "evals/shop.yaml")
    assert "paths are relative" not in err


def test_explain_takes_the_folder_of_results_and_a_part_of_an_id(project: Path) -> None:
    (project / "evals/shop.yaml").write_text(SUITE.replace("recordings/", "../recordings/"))
    run(project, "run", "evals/shop.yaml")
    code, out, _ = run(project, "explain", "refund-late", "--results", ".evalgate")
    assert (code, out.split("\n")[0]) == (0, "PASS  refund-late")
    assert "did you mean `refund-late`?" in run(project, "explain", "fund")[2]
    assert "ids with it: `cancel-late`, `refund-late`" in run(project, "explain", "late")[2]


@pytest.mark.parametrize(
    ("text", "place"),
    [("suite: a\nscenarios:\n\t- id: x\n", "3:1"), ("suite: a\nscenarios:\n  - id: x\n  \tcategory: b\n", "4:3")],
)
def test_a_tab_in_the_indentation_is_named_with_its_place(project: Path, text: str, place: str) -> None:
    (project / "evals/shop.yaml").write_text(text)
    _, _, err = run(project, "validate", "evals/shop.yaml")
    assert f"evals/shop.yaml:{place}: a tab indents this line (YAML allows only spaces there)" in err


@pytest.mark.parametrize("key", ["   prompt: hello", " weight: 1"])
def test_a_key_with_another_indentation_is_called_no_list(project: Path, key: str) -> None:
    suite = f"suite: a\nscenarios:\n  - id: x\n    assertions: [{{type: not_empty}}]\n{key}\n"
    (project / "evals/shop.yaml").write_text(suite)
    _, _, err = run(project, "validate", "evals/shop.yaml")
    assert "the indentation does not match the lines above" in err


def test_an_error_of_the_project_file_is_printed_once(project: Path) -> None:
    (project / "evalgate.yaml").write_text("version: [1\n")
    code, _, err = run(project, "validate")
    assert (code, err.count("evalgate.yaml:1:10: "), err.count("\n")) == (2, 1, 1)
