from __future__ import annotations

import io

import pytest

from evalgate.adapters.github import Step


@pytest.fixture
def console():
    return io.StringIO()


@pytest.fixture
def step(tmp_path, console):
    return Step(console, str(tmp_path / "output"), str(tmp_path / "summary"))


def test_outputs_are_appended(step, tmp_path):
    (tmp_path / "output").write_text("earlier=1\n")
    step.outputs({"verdict": "pass", "exit-code": "0"})
    assert (tmp_path / "output").read_text() == "earlier=1\nverdict=pass\nexit-code=0\n"


@pytest.mark.parametrize("value", ["a\nverdict=pass", "a\r\nb", "a\nEOF\nverdict=pass"])
def test_a_value_of_several_lines_can_not_set_another_output(step, tmp_path, value):
    step.outputs({"report-path": value})
    first, _, rest = (tmp_path / "output").read_bytes().decode().partition("\n")
    delimiter = first.removeprefix("report-path<<")
    assert len(delimiter) > 32
    assert rest == f"{value}\n{delimiter}\n"


def test_an_output_of_no_name_is_a_bug_of_ours(step):
    with pytest.raises(ValueError, match="name"):
        step.outputs({"a=b": "c"})


def test_the_summary_is_appended(step, tmp_path):
    step.summary("# one")
    step.summary("# two\n")
    assert (tmp_path / "summary").read_text() == "# one\n# two\n"


def test_a_summary_over_the_limit_is_cut_at_a_line_and_says_so(step, tmp_path):
    (tmp_path / "summary").write_text("x" * 1_000_000)
    step.summary("line é\n" * 200_000)
    content = (tmp_path / "summary").read_bytes()
    assert len(content) <= 1024 * 1024
    assert content.decode().endswith("line é\n\n(The rest is left out: a job summary holds 1 MiB.)\n")


def test_a_full_summary_is_left_as_it_is(step, tmp_path):
    (tmp_path / "summary").write_text("x" * 1024 * 1024)
    step.summary("more")
    assert (tmp_path / "summary").stat().st_size == 1024 * 1024


def test_a_line_for_the_log_is_no_command(step, console):
    step.log("::error::x")
    step.log("x ##[error]y\r::add-mask::e")
    assert "::error" not in console.getvalue()
    assert "##[" not in console.getvalue()
    assert console.getvalue().count("\n") == 2


def test_without_files_nothing_is_written(console, tmp_path):
    step = Step(console)
    step.outputs({"verdict": "pass"})
    step.summary("x")
    assert list(tmp_path.iterdir()) == []
