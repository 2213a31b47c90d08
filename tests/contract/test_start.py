"""The modules a verb loads: every run pays for start-up, so nothing is loaded that the run does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from request_builder import make_request

from evalgate.adapters.sandbox.exchange_dir import ExchangeDir
from evalgate.adapters.sandbox.judge_process import JUDGE_GROUP
from evalgate.application.messages.request_codec import encode_value
from evalgate.bootstrap.clean_start import LOADED_BY_BOTH
from evalgate.bootstrap.judge_context import JudgeContext

if TYPE_CHECKING:
    from pathlib import Path

SUITE = """
version: 1
suite: refunds
traces: [traces.jsonl]
scenarios:
  - id: "*"
    assertions: [{type: output_contains, value: refunded}]
"""
TRACE = {
    "schema": "evalgate.trace/1",
    "trace_id": "t1",
    "scenario_id": "s1",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "refunded"}],
}
LOADED = """
import sys
before = set(sys.modules)
from io import StringIO
from evalgate.cli import main
from evalgate.cli.shell import Shell
code = main(sys.argv[1:], Shell(StringIO(), StringIO(), {}, "."))
print(code, *sorted(set(sys.modules) - before))
"""
NO_VERB = {"evalgate"}
SUITES = {
    *NO_VERB,
    *("annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"),
    "jmespath",
    "msgspec",
    "orjson",
    "yaml",
}
RUN = {*SUITES, "jinja2", "markupsafe"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "suite.yaml").write_text(SUITE)
    (tmp_path / "traces.jsonl").write_text(json.dumps(TRACE) + "\n")
    return tmp_path


def loaded(folder: Path, *words: str) -> set[str]:
    """Every module that a command loads; the command must succeed."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    code, *modules = done.stdout.splitlines()[-1].split()
    assert code == "0", done.stdout
    return set(modules)


def packages(modules: set[str]) -> set[str]:
    """The packages of them that do not come with Python, without the inner parts of compiled ones."""
    names = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names
    return {name for name in names if not name.startswith(("_", "cython"))}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--version"], NO_VERB),
        (["--help"], NO_VERB),
        (["validate", "suite.yaml"], SUITES),
        (["run", "suite.yaml", "--no-baseline-zip"], RUN),
    ],
    ids=["version", "help", "validate", "run"],
)
def test_a_command_loads_these_packages_and_no_others(project, words, expected):
    assert packages(loaded(project, *words)) == expected


def test_a_pattern_loads_the_package_for_patterns(project):
    (project / "suite.yaml").write_text(SUITE.replace("{type: output_contains, value: refunded}", "{regex: re.und}"))

    assert packages(loaded(project, "run", "suite.yaml", "--no-baseline-zip")) == {*RUN, "regex"}


def test_a_run_loads_only_the_modules_of_evalgate_it_uses(project):
    modules = loaded(project, "run", "suite.yaml", "--no-baseline-zip")

    def within(package: str) -> set[str]:
        return {name.removeprefix(f"{package}.") for name in modules if name.startswith(f"{package}.")}

    assert within("evalgate.cli") == {"command", "parser", "run", "shell"}
    readers = {name for name in within("evalgate.adapters.formats") if name.endswith("reader")}
    assert readers == {"native.reader"}
    assert not within("evalgate.adapters.formats.spans")
    assert "evalgate.adapters.formats.openai_chat" not in modules
    assert "evalgate.adapters.github" not in modules
    assert not within("evalgate.adapters.engines")
    assert "evalgate.application.parallel.batched_evaluation" not in modules
    assert "evalgate.reporting.ci.sarif" not in modules
    assert "evalgate.reporting.markdown.user_template" not in modules
    assert "evalgate.evaluators.kinds.outputs" in modules
    assert "evalgate.evaluators.kinds.calls.tool_sequence" not in modules
    assert not within("evalgate.evaluators.kinds.skills")
    assert not within("evalgate.models.results") & {"results", "results_statistics", "results_approvals"}


def test_a_run_loads_no_mail_zip_or_network_module_it_does_not_use(project):
    modules = loaded(project, "run", "suite.yaml", "--no-baseline-zip")

    assert not modules & {"email", "importlib.metadata", "socket", "zipfile"}


def test_other_uses_of_pydantic_plugins_get_its_own_loader():
    asked = (
        "import evalgate.strict_model;"
        "from pydantic.plugin._loader import get_plugins; print(list(get_plugins()));"
        "from pydantic.plugin._loader import PYDANTIC_ENTRY_POINT_GROUP as group; print(group)"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["[]", "pydantic"]


@pytest.mark.parametrize("words", [["--version"], ["validate", "suite.yaml"]], ids=" ".join)
def test_the_renderer_is_not_loaded_where_nothing_is_rendered(project, words):
    assert "evalgate.reporting.markdown.render" not in loaded(project, *words)


JOB = """
import os, sys
before = set(sys.modules)
from io import StringIO
from evalgate.action import run
from evalgate.adapters.github.workflow_step import WorkflowStep
code = run({environ!r}, WorkflowStep(StringIO()))
print(code, *sorted(set(sys.modules) - before))
"""
JUDGED = """
import os, sys
before = set(sys.modules)
sys.argv = ["evalgate.judge", *{arguments!r}]
os._exit = lambda code: print(code, *sorted(set(sys.modules) - before))
from evalgate.judge import main
main()
"""
HEAVY = {
    "pydantic",
    "pydantic_core",
    "jinja2",
    "yaml",
    "jmespath",
    "regex",
    "jsonschema_rs",
    "requests",
    "orjson",
}
"""Readers of files; msgspec is not among them, since it also makes the records."""


def modules_of(script: str, expected: str = "0") -> set[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, *modules = done.stdout.splitlines()[-1].split()
    assert code == expected, done.stdout
    return set(modules)


def job_of(project, tmp_path):
    """A job without GitHub, as a script."""
    (tmp_path / "event.json").write_text("{}")
    environ = {
        "GITHUB_WORKSPACE": str(project),
        "GITHUB_EVENT_NAME": "workflow_dispatch",
        "GITHUB_EVENT_PATH": str(tmp_path / "event.json"),
        "GITHUB_REPOSITORY": "acme/agent",
        "GITHUB_REPOSITORY_ID": "1",
        "GITHUB_SHA": "a" * 40,
        "GITHUB_RUN_ID": "1",
        "RUNNER_TEMP": str(tmp_path),
        "INPUT_CONFIG": "suite.yaml",
        "INPUT_BASELINE": "none",
        "INPUT_COMMENT": "off",
    }
    return JOB.format(environ=environ)


def judged_of(project, tmp_path):
    """The judge of such a job, as a script."""
    bench = JudgeContext(str(project), str(project), str(project / ".evalgate"))
    place = ExchangeDir(tmp_path / "judge", None, JUDGE_GROUP)
    request = make_request(configs=("suite.yaml",))
    place.write_request(
        json.dumps(encode_value(["judge", bench.with_folder(f"{place.path}/files"), [request]])).encode()
    )
    return JUDGED.format(arguments=[place.path, "60", "600", "1000000000", "-"])


def test_the_process_that_holds_the_token_loads_no_reader_of_untrusted_files(project, tmp_path):
    modules = modules_of(job_of(project, tmp_path))
    assert packages(modules) & HEAVY == set()
    assert "evalgate.suite.models" not in modules
    assert (project / ".evalgate/results.json").is_file()


def test_invalid_settings_are_refused_without_loading_the_suite_reader(tmp_path):
    modules = modules_of(JOB.format(environ={"GITHUB_WORKSPACE": str(tmp_path)}), "2")
    assert packages(modules) & HEAVY <= {"jinja2", "orjson"}  # the report says what is wrong
    assert (tmp_path / ".evalgate/results.json").is_file()


def test_the_judge_loads_no_network_module(project, tmp_path):
    modules = modules_of(judged_of(project, tmp_path))
    assert (tmp_path / "judge" / "files" / "results.json").is_file()
    assert {name.partition(".")[0] for name in modules} & {"requests", "urllib3", "ssl", "http"} == set()
    assert not any(name.startswith("evalgate.adapters.github") for name in modules)
    assert "evalgate.settings.settings" not in modules


AT_FORK = """
import sys
before = set(sys.modules)
from importlib import import_module
from evalgate.bootstrap.clean_start import LOADED_BY_BOTH
import evalgate.adapters.sandbox.judge_process, evalgate.bootstrap.judge_main, evalgate.adapters.sandbox.kernel
for name in LOADED_BY_BOTH:
    import_module(name)
print(0, *sorted(set(sys.modules) - before))
"""
MAY_BE_LOADED_TWICE = 5 + (sys.version_info >= (3, 13))  # since then urllib.parse loads math


def test_modules_of_both_parent_and_judge_are_loaded_before_the_fork(project, tmp_path):
    parent, judge = modules_of(job_of(project, tmp_path)), modules_of(judged_of(project, tmp_path))
    at_fork = modules_of(AT_FORK)
    assert len(parent & judge - at_fork) <= MAY_BE_LOADED_TWICE, parent & judge - at_fork
    assert set(LOADED_BY_BOTH) <= parent & judge
    assert packages(at_fork) == {"evalgate", "msgspec", "typing_extensions"}  # msgspec loads the latter
