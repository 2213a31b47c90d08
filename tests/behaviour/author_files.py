"""Counts the files that an author touches to add an evaluator, a format, a setting or an output.

    .venv/bin/python tests/behaviour/author_files.py [KIND...]

It adds one of each to a copy of the project, as CONTRIBUTING describes, and runs the tests that ask for its facts.
Pages of the documentation and generated files are not counted.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
WRITERS = ("trace_table", "action_inputs", "composite_action", "doc_pages")
"""What `make docs` runs."""


class Edit(NamedTuple):
    """Text before `anchor` in a file; without an anchor the text of a new file."""

    path: str
    text: str
    anchor: str = ""


EVALUATOR = [
    Edit(
        "evalgate/evaluators/kinds/whole_run.py",
        '''class FewestTurns(Evaluator):
    """The conversation has at least `fewest_turns` exchanges, each a user message with its answers.

    Without messages: not_evaluable.
    """

    type: Literal["fewest_turns"]
    orders: ClassVar[dict[str, Order]] = {"fewest_turns": "at_least"}
    fewest_turns: Annotated[Count, described("The minimum number of exchanges.", 2)]
    words = "turns >= {fewest_turns}"

    def compile(self) -> Check:
        """Returns a check of the number of turns."""
        least = self.fewest_turns

        def check(trace: Trace) -> Finding:
            turns = trace.turn_count
            return Finding("passed" if turns >= least else "failed", f"{turns:,} turns, expected at least {least:,}")

        return require_evidence(check, ("messages",), ("passed",))


''',
        "_FEW_DIGITS = ",
    ),
    Edit("evalgate/evaluators/core/registry.py", '"fewest_turns", ', '"recorded_score", "token_limit"'),
    Edit("tests/assertion_examples.py", '    "fewest_turns": [{"fewest_turns": 1}],\n', '    "turn_limit": [{'),
    Edit(
        "docs/evaluators.md",
        "## fewest_turns\n\n```yaml\n- {type: fewest_turns, fewest_turns: 2}\n```\n\n",
        "## turn_limit\n",
    ),
    Edit("README.md", "`fewest_turns`, ", "`turn_limit`"),
]
FORMAT = [
    Edit(
        "evalgate/adapters/formats/diary/__init__.py",
        '''"""Diaries of an agent. Entry points: `DIARY`, `reader`."""

from __future__ import annotations

from evalgate.adapters.formats.core.format import Format

DIARY = Format(
    name="diary",
    needs="an object with `diary`",
    claims=lambda value: isinstance(value, dict) and "diary" in value,
    module="diary.reader",
)
''',
    ),
    Edit(
        "evalgate/adapters/formats/diary/reader.py",
        '''"""Reads a diary: what was asked, what the agent did, and what it said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.base import Reader, no_identity, read_native
from evalgate.adapters.formats.core.format import EACH, Shape, words

if TYPE_CHECKING:
    from evalgate.models.trace.trace import Trace


def build(record: Any) -> Trace:
    """Builds the trace of one diary."""
    calls = [{"name": each["did"], "arguments": each["with"], "result": each["saw"]} for each in record["diary"]]
    messages = [{"role": "user", "content": record["asked"]}, {"role": "assistant", "content": record["said"]}]
    document = {"schema": "evalgate.trace/1", "scenario_id": record["id"], "messages": messages}
    return read_native({**document, "tool_calls": calls})


SHAPES = (Shape(("diary", EACH), words("did with saw")),)
READER = Reader(build=build, identify=no_identity, shapes=SHAPES)
''',
    ),
    Edit("evalgate/adapters/formats/open/detect.py", "diary.DIARY ", "litellm.LITELLM"),
    Edit(
        "tests/recordings/diary/run.json",
        '{"id": "a", "asked": "Hi", "said": "Done", "diary": [{"did": "look", "with": {"n": 1}, "saw": "x"}]}\n',
    ),
    Edit("docs/traces.md", "### Diaries (`diary`)\n\nA diary.\n\n", "### LiteLLM log"),
]
KINDS = {
    "evaluator": (
        EVALUATOR,
        """
        tests/contract/test_facts.py tests/contract/test_editor_schemas.py tests/contract/test_schemas.py
        tests/contract/test_readme.py tests/contract/test_documents.py tests/unit/test_evaluators_verb.py
        tests/unit/evaluators/test_evidence.py tests/unit/evaluators/test_missing_evidence.py
        tests/unit/evaluators/test_laws.py tests/unit/gate/weakening
        """,
    ),
    "format": (
        FORMAT,
        """
        tests/contract/test_facts.py tests/contract/test_trace_formats.py tests/hostile/test_unknown_parts.py
        tests/contract/test_documents.py
        """,
    ),
}


def is_counted(path: str) -> bool:
    """Whether a file is neither a page nor generated."""
    return not path.endswith(".md")


def copy_project(folder: Path) -> None:
    """Copies the files that git knows."""
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.decode()  # noqa: S607
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())


def apply(edit: Edit, folder: Path) -> None:
    """Makes the edit in the copy."""
    path = folder / edit.path
    if not edit.anchor:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(edit.text, encoding="utf-8")
        return
    text = path.read_text(encoding="utf-8")
    if edit.anchor not in text:
        raise SystemExit(f"{edit.path} has no {edit.anchor!r}")
    path.write_text(text.replace(edit.anchor, edit.text + edit.anchor, 1), encoding="utf-8")


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs Python in the copy."""
    return subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True, check=False)


def write_generated(folder: Path) -> None:
    """What `make docs` and `make schema` write."""
    for name in WRITERS:
        done = run(folder, "-c", f"import sys; sys.path[:0] = ['.', 'tests']; import runpy; "
                   f"runpy.run_path('tests/{name}.py', run_name='__main__')")  # fmt: skip
        if done.returncode:
            raise SystemExit(done.stderr)
    for name in ("suite", "project", "trace", "results"):
        (folder / f"schemas/{name}.json").write_text(run(folder, "-m", "evalgate", "schema", name).stdout, "utf-8")
    run(folder, "-m", "evalgate", "schema", "--write", "schemas/editor")


def main(kinds: list[str]) -> int:
    """Prints the files of each kind, and whether the tests pass with them."""
    failed = 0
    for kind in kinds or KINDS:
        edits, tests = KINDS[kind]
        files = [each.path for each in edits if is_counted(each.path)]
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            copy_project(folder)
            for each in edits:
                apply(each, folder)
            write_generated(folder)
            done = run(folder, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", *tests.split())
        failed += done.returncode != 0
        print(f"{kind}: {len(files)} files ({', '.join(files)}); {done.stdout.splitlines()[-1]}")
        print(*(line for line in done.stdout.splitlines() if line.startswith("FAILED")), sep="\n", end="")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
