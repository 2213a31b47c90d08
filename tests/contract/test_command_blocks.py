"""Every command block of the documents runs as a reader would run it, or is listed here with the reason why it can't.

The blocks of a page run in order in one folder, which holds what the page assumes. A block of which the page says where to
save it is saved there. What a page shows below a command is what the command prints; EVALGATE_REFRESH=1 writes it to the page.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from documents import DOCUMENTS, ROOT, blocks, steps
from example_installs import NAMES
from programs import require

from evalgate.cli import _build_parser, main
from evalgate.cli.shell import Shell

if TYPE_CHECKING:
    from collections.abc import Callable

TODAY = "1795392000"
"""23 November 2026: the pages name dates after it."""
EXAMPLES = ROOT / "examples"
BASH = shutil.which("bash") or "/bin/bash"
UNFENCED = re.compile(r"^(?: {4}|\t)(?:evalgate|python|pip|make|sqlite3|curl|git) ", re.MULTILINE)
PLAIN = re.compile(r"""evalgate(?!.*--(?:plugin|engine) )(?: (?:[^$`|&;<>*?~'"]|'[^']*'|"[^"$`]*")+)?""")
"""A line without anything of a shell, which leaves no imported plugin and no cluster in the process that runs it."""
FENCED = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)


class Run(NamedTuple):
    """A block that runs: the exit code of each command, what the reader does before it, and how often it is run."""

    codes: tuple[int, ...] = (0,)
    before: Callable[[Path], None] | None = None
    times: int = 1
    shows: bool = True
    """Whether the page shows what these commands print, and not what they print to someone with more runs."""


class Skip(NamedTuple):
    """A block that can't run in a test, and why."""

    reason: str


SUITE = """
suite: support
traces: ["../traces/**/*.jsonl"]
threshold: 1.0
scenarios:
  - id: refund-in-window
    assertions: [{type: output_contains, value: has been refunded}]
policy: {fail_on: [hard_fail, broken, below_threshold]}
"""


def nothing(folder: Path) -> None:
    """The page itself says what to save."""


def project(folder: Path) -> None:
    """A suite, and a trace of the example agent that it judges."""
    write(folder / "evals/support.yaml", SUITE)
    trace = (EXAMPLES / "support-agent/traces/main/refund-in-window.jsonl").read_text(encoding="utf-8")
    write(folder / "traces/refund.jsonl", trace.splitlines()[0])


def refund(folder: Path) -> None:
    """Recordings of an agent, and no suite."""
    project(folder)
    (folder / "evals/support.yaml").unlink()


def recordings(folder: Path) -> None:
    """Recordings of the reader's own."""
    write(folder / "recordings/one.jsonl", (EXAMPLES / "support-agent/traces/main/refund-in-window.jsonl").read_text())


def approvals(folder: Path) -> None:
    """A suite with a scenario of that name, which fails."""
    project(folder)
    suite = (folder / "evals/support.yaml").read_text(encoding="utf-8")
    write(folder / "evals/support.yaml", suite.replace("refund-in-window", "asks-for-order-number"))
    trace = (folder / "traces/refund.jsonl").read_text(encoding="utf-8")
    write(folder / "traces/refund.jsonl", trace.replace("refund-in-window", "asks-for-order-number"))
    break_answer(folder)


def saved(folder: Path) -> None:
    """A project with a saved baseline, whose agent broke."""
    project(folder)
    assert run("evalgate run\nevalgate baseline save\n", folder) == (0, 0)
    break_answer(folder)


def stored(folder: Path) -> None:
    """A project with a store."""
    project(folder)
    assert run("evalgate run --store-url .evalgate/evalgate.db\n", folder) == (0,)


def repository(folder: Path) -> None:
    """A git repository with an agent."""
    require("git")
    write(folder / "agent/main.py", "print()\n")
    author = "-c user.name=a -c user.email=a@example.com"
    assert run(f"git init -q\ngit add agent\ngit {author} commit -qm Add\n", folder) == (0, 0, 0)


def examples(folder: Path) -> None:
    """The examples of a clone."""
    shutil.copytree(EXAMPLES, folder / "examples")


def example_traces(folder: Path) -> None:
    """What the two versions of the example agent did."""
    shutil.copytree(EXAMPLES / "support-agent/traces", folder / "traces")


def added_trials(folder: Path) -> None:
    """A trial of each version of the example agent, and three more; of one scenario those pass again."""
    first, more = {"base": 0, "head": 0}, {"base-more": 1, "more": 1}
    for hour, (name, trial) in enumerate({**first, **more}.items()):
        lines = [
            {
                **trace,
                "commit": "1f0c" * 10 if "base" in name else "9ad3" * 10,
                "started_at": f"2026-11-02T{hour:02}:00:00Z",
            }
            for scenario in ("refund-in-window", "refund-outside-window")
            for trace in read_trials(
                scenario, "pr" if name == "head" or (name, scenario[7]) == ("more", "i") else "main"
            )
            if (trace["trial"] > 0) == bool(trial)
        ]
        write(folder / f"traces/{name}.jsonl", "\n".join(map(json.dumps, lines)))


def read_trials(scenario: str, version: str) -> list[dict[str, Any]]:
    path = EXAMPLES / f"support-agent/traces/{version}/{scenario}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def packages(folder: Path) -> None:
    """Two packages of a repository, each with its traces."""
    shutil.copytree(EXAMPLES / "support-agent/traces/pr", folder / "packages/billing/traces")
    shutil.copytree(EXAMPLES / "support-agent/traces/main", folder / "packages/parcels/traces")


def break_answer(folder: Path) -> None:
    """The agent no longer says that it has refunded."""
    [path] = folder.glob("traces/refund.json*")
    trace = path.read_text(encoding="utf-8")
    assert "has been refunded" in trace
    write(path, trace.replace("has been refunded", "will be refunded"))


def rename_tool(folder: Path) -> None:
    """The agent calls a tool by another name."""
    path = folder / "traces/refund.jsonl"
    trace = path.read_text(encoding="utf-8")
    assert "check_refund_policy" in trace
    write(path, trace.replace("check_refund_policy", "read_policy"))


INSTALLS = Skip("installs packages from the network")
DASK = Skip("starts a Dask cluster; integration/parallel/test_same_result.py runs one")
AGENT = Skip("runs an agent or a tool of someone else, which calls a model or a server")
FRAMEWORK = Skip("`make examples` installs its framework; integration/examples/test_examples.py runs it")
PAGES: dict[str, tuple[Callable[[Path], None], list[Run | Skip]]] = {
    "CONTRIBUTING.md": (project, [INSTALLS]),
    "README.md": (
        recordings,
        [INSTALLS, AGENT, Run((1,)), Run((0, 0, 0, 0, 1))],
    ),
    "docs/approvals.md": (approvals, [Run((1, 0, 0))]),
    "docs/baseline.md": (project, [Run((0, 0)), Run((1,), break_answer, times=2), Run((0, 0, 0))]),
    "docs/coding-agents.md": (saved, [Run((1, 0)), Run((0, 0))]),
    "docs/commands.md": (saved, [Run((1, 0), times=2)]),
    "docs/editors.md": (project, [Run((0, 0), times=2)]),
    "docs/hardening.md": (project, [Skip("asks GitHub and its registry for a release")] * 2),
    "docs/exports.md": (project, [Skip("test_exports_page.py runs them all, and compares what they print")] * 8),
    "docs/enterprise.md": (project, [*[Skip("test_enterprise_page.py runs it with a stand-in for gh")] * 3, INSTALLS]),
    "docs/history.md": (project, [Run((0, 0)), Run((0, 0), shows=False)]),
    "docs/init.md": (project, [Run((0, 0))]),
    "docs/calibrate.md": (example_traces, [Run((0, 0))]),
    "docs/confirm.md": (added_trials, [Run((0, 1, 0)), Run((0, 0, 1)), Run((1,))]),
    "docs/migrate.md": (example_traces, [Run((1,)), Run((0, 1, 1))]),
    "docs/migrate-from.md": (example_traces, [Run((0, 0)), Run(), Run((0, 0, 0)), Run((0, 0)), Run((0, 0))]),
    "docs/mutate.md": (project, [Run((1,))]),
    "docs/view.md": (saved, [Run((1, 0), times=2), Run()]),
    "docs/other-ci.md": (project, [Skip("test_other_ci.py runs it with a replacement of docker")]),
    "docs/quickstart.md": (
        nothing,
        [INSTALLS, Run((0, 0, 0, 0, 0)), Run(), Run((1, 0), break_answer, times=2)],
    ),
    "docs/provenance.md": (saved, [Run((0, 0, 0))]),
    "docs/recipes/block-a-tool.md": (example_traces, [Run((1,))]),
    "docs/recipes/pass-rate.md": (nothing, [Run()]),
    "docs/recipes/cost.md": (example_traces, [Run((0, 0, 1))]),
    "docs/recipes/compare-prompts.md": (example_traces, [Run((1,))]),
    "docs/recipes/known-failure.md": (example_traces, [Run((1, 0, 0))]),
    "docs/recipes/monorepo.md": (packages, [Run((1,))]),
    "docs/recording.md": (project, [INSTALLS, AGENT, AGENT, INSTALLS]),
    "docs/pytest.md": (
        project,
        [INSTALLS, *[Skip("runs pytest; tests/integration/pytest_plugin tries what it shows")] * 2],
    ),
    "docs/scale.md": (project, [Run(), Run((0, 0, 0)), Skip("needs a Dask cluster and an object store"), DASK]),
    "docs/store.md": (stored, [Run() if shutil.which("sqlite3") else Skip("needs the program sqlite3")]),
    "docs/suites.md": (repository, [Run()]),
    "docs/traces.md": (project, [INSTALLS, *[AGENT] * 11]),
    "evalgate/features/coding_agent/templates/SKILL.md": (
        refund,
        [Run((0, 0)), Run(), Run((0, 0, 0)), Run((1,)), Run((0, 0)), Run(), Run((0, 1), rename_tool), AGENT],
    ),
    "examples/plugin/README.md": (examples, [Run((0, 0))]),
    "examples/order-state/README.md": (nothing, [Skip("tests/integration/record/test_order_state.py runs it")] * 2),
    "examples/support-agent/README.md": (examples, [Run()]),
    **{f"examples/{name}/README.md": (nothing, [FRAMEWORK] * 3) for name in NAMES},
}
WORKING_FOLDER = {"examples/plugin/README.md": "examples/plugin"}
"""Where a page says that its commands are run, if not in the folder of the project."""


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def run(block: str, folder: Path) -> tuple[int, ...]:
    """Runs a block as pasted; gives the exit code of each command."""
    return run_and_print(block, folder)[0]


def run_and_print(block: str, folder: Path) -> tuple[tuple[int, ...], str]:
    """Runs a block as pasted; gives the exit code of each command, and what a terminal shows."""
    lines = [line for line in block.splitlines() if line.strip()]
    environ = {"HOME": str(folder), "USER": "ana", "SOURCE_DATE_EPOCH": TODAY}
    if not all(map(PLAIN.fullmatch, lines)):
        return run_in_shell(lines, folder, environ)
    terminal = StringIO()
    shell = Shell(terminal, terminal, environ, str(folder))
    codes = tuple(main(shlex.split(line, comments=True)[1:], shell) for line in lines)
    return codes, terminal.getvalue()


def run_in_shell(lines: list[str], folder: Path, environ: dict[str, str]) -> tuple[tuple[int, ...], str]:
    script = "\n".join(f"{line}\necho $? >> .codes" for line in lines)
    (folder / ".codes").unlink(missing_ok=True)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [BASH, "-c", script],
        cwd=folder,
        env={**environ, "PATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stdout, done.stdout
    assert len((folder / ".codes").read_text().split()) == len(lines), done.stdout
    return tuple(map(int, (folder / ".codes").read_text().split())), done.stdout


def check_output(document: str, text: str, shown: str, printed: str) -> None:
    """What a page shows below a command is what it prints; refreshed if asked."""
    if os.environ.get("EVALGATE_REFRESH"):
        page = (ROOT / document).read_text(encoding="utf-8")
        before, after = f"{text}```\n\n```text\n{shown}```", f"{text}```\n\n```text\n{printed}```"
        (ROOT / document).write_text(page.replace(before, after, 1), encoding="utf-8")
    else:
        assert printed == shown, text


def test_every_page_with_commands_is_listed():
    assert PAGES.keys() == {each.document for each in blocks("sh")}


@pytest.mark.parametrize("document", PAGES)
def test_the_commands_of_a_page_end_as_it_says(document, tmp_path):
    prepare, runs = PAGES[document]
    prepare(tmp_path)
    remaining = iter(runs)
    for step in steps(document):
        if step.path:
            write(tmp_path / step.path, step.text)
            continue
        planned = next(remaining)
        if isinstance(planned, Skip):
            continue
        if planned.before is not None:
            planned.before(tmp_path)
        for _ in range(planned.times):
            codes, printed = run_and_print(step.text, tmp_path / WORKING_FOLDER.get(document, "."))
            assert codes == planned.codes, f"{step.text}{printed}"
        if step.output is not None and planned.shows:
            check_output(document, step.text, step.output, printed)
    assert not list(remaining)


def test_the_whole_baseline_loop_run_twice_stays_red(tmp_path):
    project(tmp_path)
    commands = [step.text for step in steps("docs/baseline.md") if step.language == "sh"]
    save, compare = (text for text in commands if ".evalgate/saved/" in text and "show" not in text)
    assert run(save, tmp_path) == (0, 0)
    break_answer(tmp_path)
    assert run(compare, tmp_path) == (1,)
    assert run(save, tmp_path) == (1, 0)
    assert run(compare, tmp_path) == (1,)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_are_in_fenced_blocks(document):
    assert not UNFENCED.findall(FENCED.sub("", document.read_text(encoding="utf-8")))


def examples_of_help() -> list[str]:
    """The commands that the help of all verbs shows, without pipes and the notes next to them."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "evalgate").rglob("cli/**/*.py")]
    lines = [line for text in texts for line in re.findall(r"^  (evalgate .+)$", text, re.MULTILINE)]
    return sorted({re.split(r" {2,}| [|>] ", line)[0] for line in lines})


@pytest.mark.parametrize("command", examples_of_help())
def test_the_flags_of_an_example_in_a_help_exist(command):
    _, *words = shlex.split(command)
    _, unknown = _build_parser(words).parse_known_args(words)
    assert unknown == []
