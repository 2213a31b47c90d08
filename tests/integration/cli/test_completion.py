"""What a person gets who presses TAB: each script runs in its own shell, at a terminal where the shell needs one."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from in_process_command import evalgate
from programs import require

from evalgate.cli import VERBS, build_parser
from evalgate.cli.completion.command_words import list_commands

if TYPE_CHECKING:
    from pathlib import Path

IDS = ["refund in window", "refund[flat]", "tenant:a:1", "tenant:b", "$(touch hacked)", "it's", "日本"]
UNSAFE_IDS = ["", "bad\x9bid", "rtl\u202eid", 'quo"te', "back\\slash", "line\nbreak"]
PATIENCE = 20
SHOW = "evalgate() { printf '<%s>\\n' \"$@\"; echo '<''END>'; }"
"""Shows the words of a completed command line, as the shell would give them to the command."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "evals").mkdir()
    for name in ("evals/a b.yaml", "evals/c.yaml", "traces.jsonl"):
        (tmp_path / name).touch()
    (tmp_path / ".evalgate").mkdir()
    write_results(tmp_path, [*IDS, *UNSAFE_IDS])
    for shell in ("bash", "zsh", "fish", "powershell"):
        done = evalgate("completion", shell)
        assert (done.exit_code, done.err) == (0, "")
        (tmp_path / f"completion.{shell}").write_text(done.out, encoding="utf-8")
    return tmp_path


def write_results(folder: Path, ids: list[str]) -> None:
    """A results.json with scenarios, as a run writes it."""
    scenarios = [{"id": each, "variant": None, "verdict": "PASS"} for each in ids]
    text = json.dumps({"suites": [{"scenarios": scenarios}]}, separators=(",", ":"), ensure_ascii=False)
    (folder / ".evalgate" / "results.json").write_text(text, encoding="utf-8")


def press_keys(folder: Path, command: list[str], setup: str, lines: list[str]) -> list[list[str]]:
    """The words of each line after its keys were pressed in a shell at a terminal."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}
        environment |= {"INPUTRC": os.devnull, "COLUMNS": "1000", "PS1": "$ "}
        os.execve(command[0], command, environment)  # noqa: S606  (a terminal of its own)
    try:
        os.write(terminal, f"{setup}; {SHOW}; echo REA''DY\n".encode())
        read_until(terminal, "READY")
        words = []
        for line in lines:
            os.write(terminal, f"{line}\n".encode())
            shown = read_until(terminal, "<END>").replace("\r", "").split("\n")
            words.append([each[1:-1] for each in shown if each.startswith("<") and each != "<END>"])
        return words
    finally:
        os.close(terminal)
        os.waitpid(child, 0)


def read_until(terminal: int, end: str) -> str:
    out, deadline = "", time.monotonic() + PATIENCE
    while f"\n{end}" not in out:
        assert time.monotonic() < deadline, out
        if select.select([terminal], [], [], 0.1)[0]:
            out += os.read(terminal, 65536).decode(errors="replace")
    return out


def test_bash(folder: Path) -> None:
    setup = f"source completion.bash; bind 'set enable-bracketed-paste off' 2>/dev/null; cd {folder}"
    insert_all = "\x1b*"
    cases = {
        "ru": ["run"],
        "baseline ": ["baseline", "create", "save", "show"],
        "run --for": ["run", "--format"],
        "run --format tau": ["run", "--format", "tau-bench", "tau2", "tau2-folder"],
        "run --format=codex": ["run", "--format=codex"],
        "run evals/": ["run", "evals/a b.yaml", "evals/c.yaml"],
        "run --traces tr": ["run", "--traces", "traces.jsonl"],
        "run --traces=tr": ["run", "--traces=traces.jsonl"],
        "run --jobs ": ["run", "--jobs"],
        "run -k ref": ["run", "-k", "refund in window", "refund[flat]"],
        "run --scenario tenant:a": ["run", "--scenario", "tenant:a:1"],
        "explain ": ["explain", *sorted(IDS, key=str.encode)],
        "explain refund\\ i": ["explain", "refund in window"],
        "explain tenant:a": ["explain", "tenant:a:1"],
        "explain tenant:a:": ["explain", "tenant:a:1"],
        "explain run ev": ["explain", "run", "evals"],
        "--no-color run evals/c.yaml --js": ["--no-color", "run", "evals/c.yaml", "--json"],
        "explain x --results ev": ["explain", "x", "--results", "evals"],
        "evaluators tool_s": ["evaluators", "tool_sequence"],
        "completion p": ["completion", "powershell"],
    }
    lines = [f"evalgate {line}{insert_all}" for line in cases]
    assert press_keys(folder, [require("bash"), "--norc", "--noprofile", "-i"], setup, lines) == list(cases.values())
    assert not (folder / "hacked").exists()


def test_bash_within_quotes(folder: Path) -> None:
    setup = f"source completion.bash; bind 'set enable-bracketed-paste off' 2>/dev/null; cd {folder}"
    lines = ['evalgate explain "refund i\t', "evalgate explain '日\t"]
    shown = press_keys(folder, [require("bash"), "--norc", "--noprofile", "-i"], setup, lines)
    assert shown == [["explain", "refund in window"], ["explain", "日本"]]


@pytest.mark.parametrize("is_installed", [False, True])
def test_zsh(folder: Path, is_installed: bool) -> None:
    shutil.copy(folder / "completion.zsh", folder / "_evalgate")
    load = "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D"
    if not is_installed:
        load = "autoload -U compinit; compinit -u -D; source ./completion.zsh"
    setup = f"unset zle_bracketed_paste; setopt no_prompt_cr no_prompt_sp; {load}"
    cases = {
        "ru": ["run"],
        "baseline sh": ["baseline", "show"],
        "run --for": ["run", "--format"],
        "run --format=tau2-": ["run", "--format=tau2-folder"],
        "run evals/a": ["run", "evals/a b.yaml"],
        "run --traces tr": ["run", "--traces", "traces.jsonl"],
        "explain refund\\ ": ["explain", "refund in window"],
        "explain tenant:b": ["explain", "tenant:b"],
        "explain '$": ["explain", "$(touch hacked)"],
        "--no-color run evals/c.yaml --js": ["--no-color", "run", "evals/c.yaml", "--json"],
        "goldens suite upd": ["goldens", "suite", "update"],
        "evaluators tool_s": ["evaluators", "tool_sequence"],
    }
    shown = press_keys(folder, [require("zsh"), "-f", "-i"], setup, [f"evalgate {line}\t" for line in cases])
    assert shown == list(cases.values())
    assert not (folder / "hacked").exists()


def complete_in_fish(folder: Path, *lines: str) -> list[list[str]]:
    asked = "; ".join(f"complete -C '{line}'; echo ----" for line in lines)
    command = [require("fish"), "--no-config", "-c", f"source completion.fish; {asked}"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [[each.split("\t")[0] for each in part.splitlines()] for part in done.stdout.split("----\n")[:-1]]


def test_fish(folder: Path) -> None:
    cases = {
        "evalgate ru": ["run"],
        "evalgate baseline ": ["create", "save", "show"],
        "evalgate run --for": ["--format"],
        "evalgate run --format tau2": ["tau2", "tau2-folder"],
        "evalgate run evals/": ["evals/a b.yaml", "evals/c.yaml"],
        "evalgate run --traces=tr": ["--traces=traces.jsonl"],
        "evalgate run --jobs ": [],
        "evalgate explain ": sorted(IDS, key=str.encode),
        "evalgate explain tenant": ["tenant:a:1", "tenant:b"],
        "evalgate --no-color run evals/c.yaml --js": ["--json"],
        "evalgate goldens suite upd": ["update"],
        "evalgate evaluators tool_s": ["tool_sequence"],
    }
    assert [sorted(each) for each in complete_in_fish(folder, *cases)] == list(cases.values())


def complete_in_powershell(folder: Path, line: str) -> list[str]:
    ask = f"(TabExpansion2 '{line}' {len(line)}).CompletionMatches.CompletionText"
    command = [require("pwsh"), "-NoProfile", "-Command", f". ./completion.ps1; {ask}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.split("\n")[:-1]


def test_powershell(folder: Path) -> None:
    (folder / "completion.powershell").rename(folder / "completion.ps1")
    assert complete_in_powershell(folder, "evalgate baseline ") == ["save", "create", "show"]
    assert complete_in_powershell(folder, "evalgate run --for") == ["--format"]
    assert complete_in_powershell(folder, "evalgate run --format tau2-") == ["tau2-folder"]
    assert set(complete_in_powershell(folder, "evalgate explain refund")) == {"'refund in window'", "'refund[flat]'"}


def test_ids_of_a_large_results_file_are_not_read(folder: Path) -> None:
    write_results(folder, [*IDS, "x" * 1_000_000])
    assert complete_in_fish(folder, "evalgate explain ref") == [[]]
    setup = f"source completion.bash; bind 'set enable-bracketed-paste off' 2>/dev/null; cd {folder}"
    shell = [require("bash"), "--norc", "--noprofile", "-i"]
    assert press_keys(folder, shell, setup, ["evalgate explain ref\x1b*"]) == [["explain", "ref"]]


def test_the_ids_of_a_real_run_are_completed(folder: Path) -> None:
    suite = "examples/support-agent/evals/support.yaml"
    assert evalgate("run", suite, "--output-dir", str(folder / ".evalgate")).exit_code == 0
    assert "refund-in-window" in complete_in_fish(folder, "evalgate explain refund-in")[0]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_a_script_has_every_command_and_option(shell: str) -> None:
    script = evalgate("completion", shell).out
    commands = list_commands(build_parser(VERBS), ["native"])
    assert {command.path[0] for command in commands if command.path} == set(VERBS)
    for name in {name for command in commands for option in command.options for name in option.names}:
        assert (f" {name.lstrip('-')} " if shell == "fish" else name) in script


def test_no_script_calls_evalgate() -> None:
    for shell in ("bash", "zsh", "fish"):
        code = [line for line in evalgate("completion", shell).out.splitlines() if not line.lstrip().startswith("#")]
        assert not [line for line in code if line.lstrip().startswith(("evalgate ", "python"))]
        assert not [line for line in code if "$(evalgate" in line or "(evalgate " in line]


def test_an_unknown_shell_is_named() -> None:
    done = evalgate("completion", "basch")
    assert (done.exit_code, done.out) == (2, "")
    assert "did you mean bash?" in done.err
