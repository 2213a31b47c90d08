from __future__ import annotations

import io

import pytest

from evalgate.adapters.github.workflow_step import WorkflowStep
from evalgate.models.github import Annotation


@pytest.fixture
def console():
    return io.StringIO()


@pytest.fixture
def step(tmp_path, console):
    return WorkflowStep(console, str(tmp_path / "output"), str(tmp_path / "summary"))


def test_outputs_are_appended(step, tmp_path):
    (tmp_path / "output").write_text("earlier=1\n")
    step.outputs({"verdict": "pass", "exit-code": "0"})
    assert (tmp_path / "output").read_text() == "earlier=1\nverdict=pass\nexit-code=0\n"


@pytest.mark.parametrize("value", ["a\nverdict=pass", "a\r\nb", "a\rverdict=pass", "a\nEOF\nverdict=pass"])
def test_a_value_of_several_lines_can_not_set_another_output(step, tmp_path, value):
    step.outputs({"report-path": value})
    first, _, rest = (tmp_path / "output").read_bytes().decode().partition("\n")
    delimiter = first.removeprefix("report-path<<")
    assert len(delimiter) > 32
    assert rest == f"{value}\n{delimiter}\n"


def test_half_a_surrogate_pair_in_a_value_does_not_end_the_run(step, tmp_path):
    step.outputs({"comment-url": "a\ud800b"})
    assert (tmp_path / "output").read_text() == "comment-url=a?b\n"


def test_an_invalid_output_name_is_a_bug_in_evalgate(step):
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
    assert content.decode().endswith("line é\n\n(The rest is left out: a job summary is limited to 1 MiB.)\n")


def test_a_full_summary_is_left_as_it_is(step, tmp_path):
    (tmp_path / "summary").write_text("x" * 1024 * 1024)
    step.summary("more")
    assert (tmp_path / "summary").stat().st_size == 1024 * 1024


def test_a_line_for_the_log_is_not_a_command(step, console):
    step.log("::error::x")
    step.log("x ##[error]y\r::add-mask::e")
    assert "::error" not in console.getvalue()
    assert "##[" not in console.getvalue()
    assert console.getvalue().count("\n") == 2


def test_without_files_nothing_is_written(console, tmp_path):
    step = WorkflowStep(console)
    step.outputs({"verdict": "pass"})
    step.summary("x")
    assert list(tmp_path.iterdir()) == []


def test_of_a_level_nine_are_shown_and_the_rest_counted_and_logged(step, console):
    step.annotate([Annotation("error", f"t{n}", "m", "s.yaml", n + 1, 3) for n in range(30)])
    step.annotate([Annotation("warning", "w", "m")])
    lines = console.getvalue().splitlines()
    assert lines[:2] == [
        "::error file=s.yaml,line=1,col=3,title=t0::m",
        "::error file=s.yaml,line=2,col=3,title=t1::m",
    ]
    assert sum(line.startswith("::error ") for line in lines) == 9
    assert lines[9] == "::error::21 more in the log and in the results"
    assert lines[10:] == [*(f"error: t{n}: m" for n in range(9, 30)), "::warning title=w::m"]


def test_annotations_that_come_later_are_counted_with_the_earlier(step, console):
    for start in (0, 8, 20):
        step.annotate([Annotation("error", f"t{n}", "m") for n in range(start, start + 8)])
    lines = console.getvalue().splitlines()
    assert sum(line.startswith("::error") for line in lines) == 10
    assert lines[9:] == [
        "::error::7 more in the log and in the results",
        *(f"error: t{n}: m" for n in (*range(9, 16), *range(20, 28))),
    ]


def test_a_secret_reaches_no_output(step, console, tmp_path):
    step.hide("ghs_secret/token")
    step.outputs({"comment-url": "https://github.com/ghs_secret/token"})
    step.summary("it says ghs_secret/token and Z2hzX3NlY3JldC90b2tlbg==")
    step.log("error: ghs_secret/token")
    step.annotate([Annotation("error", "ghs_secret/token", "no ghs_secret/token here")])
    masks, printed = console.getvalue().split("\n", 2)[:2], console.getvalue().split("\n", 2)[2]
    assert masks == ["::add-mask::ghs_secret/token", "::add-mask::Z2hzX3NlY3JldC90b2tlbg=="]
    files = "".join(path.read_text() for path in tmp_path.iterdir())
    assert "***" in files
    for form in ("ghs_secret", "Z2hzX3NlY3JldC"):
        assert form not in printed + files
