"""`evalgate validate` as hooks and editors use it: a list of changed files, and the header that names the schema."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from documents import ROOT
from msgspec.structs import replace
from programs import require
from recorded_cassettes import HEADER as CASSETTE_HEADER
from recorded_cassettes import build_cassette

from evalgate.bootstrap.sources import build_fingerprints
from evalgate.cli import main
from evalgate.cli.shell import Shell
from evalgate.features.record.bootstrap.cassettes import CassetteFolder

SUITE = "suite: {}\nscenarios:\n  - id: a\n    assertions:\n      - {{type: tool_called, tool: t, required: true}}\n"
BROKEN = SUITE.format("broken").replace("tool_called", "tool_caled")
HOOK = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))[0]
CALLED = (0, "get_member"), (1, "lend_book")
HEADER = "# yaml-language-server: $schema="


def validate(folder: Path, *arguments: str) -> tuple[int, str, str]:
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=str(folder))
    code = main(["validate", *arguments], shell)
    return code, shell.out.getvalue(), shell.err.getvalue()


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_yaml", ".yaml")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def test_files_that_are_no_suites_are_skipped_quietly(tmp_path: Path) -> None:
    write(tmp_path, evals__a_yaml=SUITE.format("a"), evals__compose_yaml="services: {web: {}}\n", empty_yaml="")
    (tmp_path / "trace.jsonl").write_text("{}\n", encoding="utf-8")
    changed = ("evals/compose.yaml", "evals/a.yaml", "empty.yaml", "trace.jsonl")
    assert validate(tmp_path, "--only-suites", *changed) == (0, "ok: 1 suite, 1 scenario, 1 assertion\n", "")
    assert validate(tmp_path, "--only-suites", "empty.yaml") == (0, "ok: 0 suites, 0 scenarios, 0 assertions\n", "")
    assert validate(tmp_path, *changed[:2])[0] == 2
    missing = validate(tmp_path, "--only-suites", "evals/a.yaml", "evals/b.yaml")
    assert missing == (2, "", "error: no file at 'evals/b.yaml'\n")


@pytest.mark.parametrize("text", [BROKEN, "suite: [\n", "scenarios: {}\n"])
def test_a_broken_suite_is_reported(tmp_path: Path, text: str) -> None:
    write(tmp_path, evals__a_yaml=SUITE.format("a"), evals__b_yaml=text)
    code, out, err = validate(tmp_path, "--only-suites", "evals/a.yaml", "evals/b.yaml")
    assert (code, out) == (2, "")
    assert err.startswith("error: evals/b.yaml:")


def test_a_file_is_a_suite_by_its_name(tmp_path: Path) -> None:
    write(tmp_path, refunds_evalgate_yaml="scenaroi: []\n")
    (tmp_path / "refunds_evalgate.yaml").rename(tmp_path / "refunds.evalgate.yaml")
    assert validate(tmp_path, "--only-suites", "refunds.evalgate.yaml")[0] == 2


def test_a_suite_is_validated_with_its_project(tmp_path: Path) -> None:
    """Alone it would have an unknown format: the project's `defaults` describe it."""
    project = "version: 1\nsuites: [evals/*.yaml]\ndefaults: {custom: {messages: log}}\n"
    suite = SUITE.format("a") + "format: custom\n"
    write(tmp_path, one__evalgate_yaml=project, one__evals__a_yaml=suite, two__evalgate_yaml=project)
    write(tmp_path, two__evals__b_yaml=suite, alone_yaml=SUITE.format("alone"), two__other_yaml=SUITE.format("other"))
    assert validate(tmp_path, "one/evals/a.yaml")[0] == 2
    changed = ("one/evals/a.yaml", "two/evalgate.yaml", "two/evals/b.yaml", "alone.yaml", "two/other.yaml")
    done = validate(tmp_path, "--only-suites", *changed)
    assert done == (0, "ok: 4 suites, 4 scenarios, 4 assertions\n", "")


@pytest.mark.parametrize(
    ("steps", "warns"),
    [
        ("[get_member, lend_bok]", True),
        ("[get_member, {tool: lend_bok, args: {id: 1}}]", True),
        ("[get_member, [lend_bok, get_member]]", True),
        ("[get_member, lend_book]", False),
        ("[get_member, lend_bo*]", False),
        ("[lend_book, lend_bok]", True),
        ("[get_member, send_notice]", False),
    ],
)
def test_a_misspelt_tool_of_a_sequence_is_a_warning(tmp_path: Path, steps: str, warns: bool) -> None:
    calls = [{"id": str(at), "type": "function", "function": {"name": name, "arguments": "{}"}} for at, name in CALLED]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    trace = {"messages": [{"role": "user", "content": "Lend me Dune"}, message]}
    check = f"      - {{type: tool_sequence, required: true, sequence: {steps}}}\n"
    suite = f"suite: s\ntraces: [t.json]\nscenarios:\n  - id: a\n    assertions:\n{check}"
    write(tmp_path, s_yaml=suite)
    (tmp_path / "t.json").write_text(json.dumps(trace), encoding="utf-8")
    code, out, err = validate(tmp_path, "s.yaml")
    said = "s.yaml:6:9: no trace calls or defines the tool `lend_bok`, did you mean `lend_book`?"
    assert (code, out, said in err, bool(err)) == (0, "ok: 1 suite, 1 scenario, 1 assertion\n", warns, warns)
    assert validate(tmp_path, "--only-suites", "s.yaml")[2] == "", "hooks read no traces"


@pytest.mark.parametrize(
    "check",
    [
        "type: tool_calls, tool: lend_bok, exactly: 1",
        "type: tool_called, tool: lend_bok",
        "type: no_tool, tool: lend_bok",
    ],
)
def test_a_misspelt_tool_of_any_check_is_a_warning(tmp_path: Path, check: str) -> None:
    calls = [{"id": "1", "type": "function", "function": {"name": "lend_book", "arguments": "{}"}}]
    trace = {"messages": [{"role": "user", "content": "Dune"}, {"role": "assistant", "tool_calls": calls}]}
    write(tmp_path, s_yaml=f"suite: s\ntraces: [t.json]\nscenarios:\n  - id: a\n    assertions: [{{{check}}}]\n")
    (tmp_path / "t.json").write_text(json.dumps(trace), encoding="utf-8")
    assert "`lend_bok`, did you mean `lend_book`?" in validate(tmp_path, "s.yaml")[2]


def test_errors_of_several_projects_are_reported_together(tmp_path: Path) -> None:
    project = "version: 1\nsuites: [evals/*.yaml]\n"
    write(tmp_path, one__evalgate_yaml=project, one__evals__a_yaml=BROKEN, evals__c_yaml=BROKEN)
    write(tmp_path, two__evalgate_yaml=project, two__evals__b_yaml=BROKEN)
    code, _, err = validate(tmp_path, "--only-suites", "one/evals/a.yaml", "two/evalgate.yaml", "evals/c.yaml")
    assert code == 2
    assert [line.split(":")[1].strip() for line in err.splitlines()] == [
        "one/evals/a.yaml",
        "two/evals/b.yaml",
        "evals/c.yaml",
    ]


def test_a_header_is_written_only_where_there_is_a_schema(tmp_path: Path) -> None:
    write(tmp_path, evals__a_yaml=SUITE.format("a"))
    code, out, err = validate(tmp_path, "--fix-header", "evals/a.yaml")
    assert (code, out) == (0, "ok: 1 suite, 1 scenario, 1 assertion\n")
    assert "`evalgate schema --write evals/.schema` writes one" in err
    assert (tmp_path / "evals/a.yaml").read_text(encoding="utf-8") == SUITE.format("a")


def test_a_project_and_its_suites_get_the_way_to_their_schema(tmp_path: Path) -> None:
    project = 'version: 1\nsuites: ["evals/**/*.yaml"]\n'
    write(tmp_path, evalgate_yaml=project, evals__a_yaml=SUITE.format("a"), evals__deep__b_yaml=SUITE.format("b"))
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=str(tmp_path))
    assert main(["schema", "--write", "evals/.schema"], shell) == 0
    assert validate(tmp_path, "--fix-header")[0] == 0
    for name, way in (
        ("evalgate.yaml", "evals/.schema/project.json"),
        ("evals/a.yaml", ".schema/suite.json"),
        ("evals/deep/b.yaml", "../.schema/suite.json"),
    ):
        first = (tmp_path / name).read_text(encoding="utf-8").split("\n")[0]
        assert first == f"{HEADER}{way}"
        assert ((tmp_path / name).parent / way).is_file()
    again = validate(tmp_path, "--fix-header")
    assert again == (0, "ok: 2 suites, 2 scenarios, 2 assertions\n", "")


def test_a_schema_of_another_version_is_noted(tmp_path: Path) -> None:
    write(tmp_path, evals__a_yaml=SUITE.format("a"))
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=str(tmp_path))
    assert main(["schema", "--write", "evals/.schema"], shell) == 0
    assert validate(tmp_path, "--fix-header")[2] == ""
    old = (tmp_path / "evals/.schema/suite.json").read_text(encoding="utf-8").replace("max_usd", "max_dollars")
    (tmp_path / "evals/.schema/suite.json").write_text(old, encoding="utf-8")
    code, _, err = validate(tmp_path, "--fix-header")
    what = "evals/.schema/suite.json is not the schema of this EvalGate"
    assert (code, err) == (0, f"{what} (`evalgate schema --write evals/.schema` writes it again)\n")


def test_a_path_with_a_blank_is_not_written_into_a_header(tmp_path: Path) -> None:
    project = 'version: 1\nsuites: ["my evals/*.yaml"]\n'
    write(tmp_path, evalgate_yaml=project, **{"my evals__a_yaml": SUITE.format("a")})
    shell = Shell(out=StringIO(), err=StringIO(), environ={}, cwd=str(tmp_path))
    assert main(["schema", "--write", "my evals/.schema"], shell) == 0
    _, out, err = validate(tmp_path, "--fix-header")
    assert "my evals/a.yaml: header written\n" in out
    assert "no header written" in err
    assert (tmp_path / "evalgate.yaml").read_text(encoding="utf-8") == project


def test_a_header_names_the_address_of_the_project(tmp_path: Path) -> None:
    project = "version: 1\nsuites: [evals/*.yaml]\nschema_url: https://example.com/evalgate/1/\n"
    write(tmp_path, evalgate_yaml=project, evals__a_yaml=SUITE.format("a"))
    assert validate(tmp_path, "--fix-header")[0] == 0
    first = (tmp_path / "evals/a.yaml").read_text(encoding="utf-8").split("\n")[0]
    assert first == f"{HEADER}https://example.com/evalgate/1/suite.json"


@pytest.mark.parametrize("address", ["file:///etc/passwd", "https://a b", "", "https://"])
def test_an_address_of_schemas_is_one_of_the_web(tmp_path: Path, address: str) -> None:
    write(tmp_path, evalgate_yaml=f"version: 1\nsuites: [evals/*.yaml]\nschema_url: '{address}'\n")
    write(tmp_path, evals__a_yaml=SUITE.format("a"))
    code, _, err = validate(tmp_path)
    assert (code, "schema_url" in err) == (2, True)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Refunds\n", f"{HEADER}.schema/suite.json\n# Refunds\n"),
        (f"# Refunds\n{HEADER}old.json\n", f"# Refunds\n{HEADER}.schema/suite.json\n"),
        ("# Refunds\r\n", f"{HEADER}.schema/suite.json\r\n# Refunds\r\n"),
        ("\ufeff# Refunds\n", f"\ufeff{HEADER}.schema/suite.json\n# Refunds\n"),
        ("\n#yaml-language-server:$schema=x\n", f"\n{HEADER}.schema/suite.json\n"),
    ],
)
def test_the_rest_of_a_file_stays_as_it_is(tmp_path: Path, before: str, after: str) -> None:
    text = SUITE.format("a") + f"description: |\n  {HEADER}not-this-one\n"
    write(tmp_path, evals__a_yaml=before + text)
    (tmp_path / "evals/.schema").mkdir()
    (tmp_path / "evals/.schema/suite.json").write_text("{}", encoding="utf-8")
    (tmp_path / "evals/a.yaml").chmod(0o640)
    assert validate(tmp_path, "--fix-header", "evals/a.yaml")[0] == 0
    assert (tmp_path / "evals/a.yaml").read_bytes() == (after + text).encode()
    assert (tmp_path / "evals/a.yaml").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("path", "is_checked"),
    [
        ("evalgate.yaml", True),
        ("agents/one/evalgate.yaml", True),
        ("refunds.evalgate.yaml", True),
        ("evals/a.yaml", True),
        ("evals/deep/a.yml", True),
        ("docs/evals/a.yaml", False),
        ("mkdocs.yml", False),
        ("evals/trace.jsonl", False),
    ],
)
def test_the_hook_is_for_files_of_evalgate(path: str, is_checked: bool) -> None:
    assert bool(re.search(HOOK["files"], path)) == is_checked


class Project:
    """A project whose hooks a manager runs, with the installed EvalGate instead of an environment from the network."""

    def __init__(self, folder: Path, program: str, hook: dict[str, Any]) -> None:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        for needed in ("git", program):
            require(needed, path)
        self.folder, self._program = folder / "project", program
        self._environment = {
            **{name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ},
            "PATH": path,
            "HOME": str(folder),
            **{f"GIT_{who}_{what}": "a@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        hooks = folder / "hooks"
        for each in (hooks, self.folder):
            each.mkdir()
            assert self._run(each, "git", "init", "-q", "-b", "main").returncode == 0
        shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
        self._run(hooks, "git", "add", "-A")
        self._run(hooks, "git", "commit", "-qm", "Add hooks")
        commit = self._run(hooks, "git", "rev-parse", "HEAD").stdout.strip()
        settings = {"repos": [{"repo": str(hooks), "rev": commit, "hooks": [{"language": "system", **hook}]}]}
        (self.folder / ".pre-commit-config.yaml").write_text(yaml.safe_dump(settings), encoding="utf-8")

    def run_hooks(self) -> tuple[int, str]:
        """Adds all files, and runs the hooks."""
        self._run(self.folder, "git", "add", "-A")
        done = self._run(self.folder, self._program, "run")
        return done.returncode, done.stdout + done.stderr

    def _run(self, folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
        command = (shutil.which(command[0], path=self._environment["PATH"]) or command[0], *command[1:])
        return subprocess.run(command, cwd=folder, env=self._environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("program", ["prek", "pre-commit"])
def test_a_manager_of_hooks_runs_the_hook(tmp_path: Path, program: str) -> None:
    project = Project(tmp_path, program, {"id": HOOK["id"]})
    write(project.folder, evals__a_yaml=SUITE.format("a"), evals__compose_yaml="services: {}\n", other_yaml=BROKEN)
    code, out = project.run_hooks()
    assert (code, "Passed" in out) == (0, True), out
    write(project.folder, evals__b_yaml=BROKEN)
    code, out = project.run_hooks()
    assert code == 1
    assert "evals/b.yaml:5:10: unknown evaluator" in out
    assert "did you mean `tool_called`?" in out


@pytest.mark.parametrize("program", ["prek", "pre-commit"])
def test_a_manager_of_hooks_runs_the_hook_of_cassettes(tmp_path: Path, program: str) -> None:
    project = Project(tmp_path, program, {"id": "evalgate-cassettes", "args": ["--suite", "evals/a.yaml"]})
    watched = SUITE.format("a") + "policy: {freshness: {watch: agent.py}}\n"
    write(project.folder, evals__a_yaml=watched.replace("id: a", "id: refund"))
    (project.folder / "agent.py").write_text("version 1")
    cassette = build_cassette()
    cassette.header = replace(
        CASSETTE_HEADER, suite="a", agent_hash=build_fingerprints(str(project.folder)).compute_fingerprint(["agent.py"])
    )
    CassetteFolder(str(project.folder)).write(cassette.header.trial_id, cassette)
    code, out = project.run_hooks()
    assert (code, "Passed" in out) == (0, True), out
    (project.folder / "agent.py").write_text("version 2")
    code, out = project.run_hooks()
    assert (code, "agent changed" in out) == (1, True), out
