from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ENTRYPOINT = Path(__file__).resolve().parents[2] / "entrypoint.py"


@pytest.fixture(scope="module")
def entrypoint():
    spec = importlib.util.spec_from_file_location("entrypoint", ENTRYPOINT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("is_on_github", [True, False])
@pytest.mark.parametrize("arguments", [["run", "evals/x.yaml"], ["evalgate", "run", "evals/x.yaml"]])
def test_arguments_are_a_command_line_everywhere(entrypoint, arguments, is_on_github):
    assert entrypoint.find_command_line(arguments, is_on_github=is_on_github) == ["run", "evals/x.yaml"]


@pytest.mark.parametrize(("is_on_github", "words"), [(True, None), (False, [])])
def test_without_arguments_it_is_the_action_in_a_job_only(entrypoint, is_on_github, words):
    assert entrypoint.find_command_line([], is_on_github=is_on_github) == words


def test_a_word_after_the_first_stays(entrypoint):
    assert entrypoint.find_command_line(["evalgate", "evalgate"], is_on_github=True) == ["evalgate"]
