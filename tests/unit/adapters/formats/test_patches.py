"""The files that a run changed, from the patch that SWE-agent, mini-SWE-agent or OpenHands keep of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from assess_assertion import outcome
from in_process_command import evalgate

from evalgate.adapters.formats.core.patches import MOST_FILES
from evalgate.adapters.formats.mini_swe_agent.reader import READER as MINI
from evalgate.adapters.formats.openhands.reader import READER as OPENHANDS
from evalgate.adapters.formats.swe_agent.reader import READER as SWE_AGENT

if TYPE_CHECKING:
    from pathlib import Path

    from evalgate.models.trace.trace import Trace

NEVER = {"type": "files_changed", "never": [".github/**"]}
EDIT = "index 8e8d319..6a1221b 100644\n--- a/{0}\n+++ b/{0}\n@@ -1,2 +1,2 @@ def f():\n same\n-old\n+new\n"


def section(names: str, rest: str) -> str:
    return f"diff --git {names}\n{rest}"


def edit(path: str) -> str:
    return section(f"a/{path} b/{path}", EDIT.format(path))


def openhands(patch: Any, **fields: Any) -> Trace:
    return OPENHANDS.build(
        {"instruction": "Fix it.", "history": [], "metrics": {}, "instance_id": "bug", "git_patch": patch, **fields}
    )


def swe_agent(submission: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": "Done.", "action": "submit", "agent": "main"}
    return {
        "history": [{"role": "user", "content": "Fix it.", "agent": "main"}, said],
        "trajectory": [{"action": "submit", "observation": "", "response": "Done."}],
        "info": {"exit_status": "submitted", "submission": submission},
        "replay_config": {"problem_statement": {"id": "bug"}},
    }


def changes(patch: str) -> dict[str, str] | None:
    """What happened to each file; None if it is not known, and a warning has the reason."""
    trace = openhands(patch)
    warned = [each["where"] for each in trace.warnings if each["code"] == "unread_patch"]
    if trace.state is None:
        assert warned == ["git_patch"]
        return None
    assert warned == []
    return {path: each["change"] for path, each in trace.state["files"].items()}


NEW = "new file mode 100644\nindex 0000000..dbf96a3\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+one\n"
GONE = "deleted file mode 100644\nindex dbf96a3..0000000\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ("", {}),
        (" \r\n\n", {}),
        (edit("src/a.py"), {"src/a.py": "changed"}),
        ("\n" + edit("src/a.py").replace("\n", "\r\n"), {"src/a.py": "changed"}),
        (edit("b") + edit("a"), {"a": "changed", "b": "changed"}),
        (section("a/n b/n", NEW), {"n": "added"}),
        (section("a/n b/n", GONE), {"n": "removed"}),
        (section("a/n b/n", GONE) + section("a/n b/n", NEW.replace("100644", "120000")), {"n": "changed"}),
        (section("a/e b/e", "new file mode 100644\nindex 0000000..e69de29\n"), {"e": "added"}),
        (section("a/x b/x", "old mode 100644\nnew mode 100755\n"), {"x": "changed"}),
        (
            section("a/p.png b/p.png", "index 1..2 100644\nBinary files a/p.png and b/p.png differ\n"),
            {"p.png": "changed"},
        ),
        (
            section("a/p b/p", "index 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 1\nIc\n\n"),
            {"p": "changed"},
        ),
        (
            section("a/old b/new name", "similarity index 100%\nrename from old\nrename to new name\n"),
            {"new name": "added", "old": "removed"},
        ),
        (section("a/one b/two", "similarity index 100%\ncopy from one\ncopy to two\n"), {"two": "added"}),
        (edit("with blank b/x"), {"with blank b/x": "changed"}),
        (section("src/a src/a", EDIT.format("src/a")), {"src/a": "changed"}),  # --no-prefix
        (section("i/src/a w/src/a", EDIT.format("src/a")), {"src/a": "changed"}),  # diff.mnemonicPrefix
        (
            section(r'"a/\303\251 \"q\"\t\\.txt" "b/\303\251 \"q\"\t\\.txt"', EDIT.format("x")),
            {'é "q"\t\\.txt': "changed"},
        ),
        (section(r'"a/\377" "b/\377"', EDIT.format("x")), {"\\xff": "changed"}),
        (edit("a").rstrip("\n") + "\n\\ No newline at end of file", {"a": "changed"}),
        (edit("a") + "\\ No newline at end of file\n" + edit("b"), {"a": "changed", "b": "changed"}),
        (edit("a").replace("-1,2 +1,2", "-1,4 +1,4").rstrip(), {"a": "changed"}),  # two blank lines went with a strip
        (edit("a").replace(" same", "").replace("-old", "-- a/.env"), {"a": "changed"}),
    ],
)
def test_files_of_a_patch(patch: str, expected: dict[str, str]) -> None:
    assert changes(patch) == expected


def test_lines_of_a_changed_file_are_no_headers() -> None:
    """A patch within a patch: the file that is added has lines about others, which did not change."""
    inner = "".join(f"+{line}\n" for line in edit(".github/x").splitlines())
    count = inner.count("\n")
    patch = section("a/n b/n", NEW.replace("+1 @@\n+one\n", f"+1,{count} @@\n{inner}"))
    assert changes(patch + edit("z")) == {"n": "added", "z": "changed"}


@pytest.mark.parametrize(
    "patch",
    [
        "the diff was too long",
        edit("a")[:-5],
        edit("a")[:70],
        edit("a").split("@@")[0],
        edit("a").split("---")[0],
        section("a/n b/n", NEW).split("---")[0],
        "diff --git a/a",
        "diff --git ",
        edit("a") + "[300 lines left out]\n" + edit("b"),
        edit("a").replace("-1,2", "-1,900") + edit("b"),
        section("a/x b/x", "old mode 100644\nnew mode 100755\n...\n") + edit("b"),
        section("a/x b/x", "old mode 100644\nnew mode 100755\n") + "diff --cc f\nindex 1,2..3\n",
        edit("../outside"),
        edit("a/../../outside"),
        edit("a//b"),
        section("/etc/passwd /etc/passwd", EDIT.format("x")),
        section(r'"a/\056\056/x" "b/\056\056/x"', EDIT.format("x")),
        section("a/o b/n", "similarity index 100%\nrename from o\nrename to ../n\n"),
        section("a/o b/n", EDIT.format("x")),
    ],
)
def test_a_patch_that_does_not_show_all_leaves_the_files_unknown(patch: str) -> None:
    assert changes(patch) is None
    assert outcome(NEVER, openhands(patch)) == "not_evaluable"


def test_no_patch_is_no_state() -> None:
    for trace in (openhands(None), SWE_AGENT.build(swe_agent(None)), SWE_AGENT.build(swe_agent("flag{x}"))):
        assert trace.state is None
        assert not any(each["code"] == "unread_patch" for each in trace.warnings)
        assert outcome(NEVER, trace) == "not_evaluable"


def test_each_format_that_keeps_a_patch() -> None:
    mini = {
        "messages": [{"role": "user", "content": "Fix it."}, {"role": "assistant", "content": "Done."}],
        "info": {"exit_status": "Submitted", "submission": edit(".github/w.yml")},
    }
    traces = [
        openhands(edit(".github/w.yml")),
        openhands(None, test_result={"git_patch": edit(".github/w.yml")}),
        SWE_AGENT.build(swe_agent("\n" + edit(".github/w.yml"))),
        MINI.build(mini),
    ]
    for trace in traces:
        assert trace.state == {"files": {".github/w.yml": {"change": "changed"}}}
        assert outcome(NEVER, trace) == "failed"
    assert openhands(None, test_result=True).state is None


def test_a_large_patch_is_bounded() -> None:
    ten_megabytes = edit("a").replace("+1,2 @@", "+1,100001 @@").replace("+new\n", "+" + "x" * 99 + "\n", 1)
    ten_megabytes += ("+" + "x" * 99 + "\n") * 99_999
    assert len(ten_megabytes) > 10_000_000
    assert changes(ten_megabytes) == {"a": "changed"}
    mode = "old mode 100644\nnew mode 100755\n"
    many = [section(f"a/{number} b/{number}", mode) for number in range(MOST_FILES + 1)]
    assert len(changes("".join(many[:-1])) or ()) == MOST_FILES
    assert changes("".join(many)) is None
    assert changes("".join(many * 10)) is None


SUITE = """\
version: 1
scenarios:
  - id: bug
    assertions:
      - {type: files_changed, never: [".github/**"], required: true}
"""


@pytest.mark.parametrize(("path", "code"), [(".github/workflows/ci.yml", 1), ("src/github.py", 0)])
def test_a_required_check_judges_the_recording_of_another(tmp_path: Path, path: str, code: int) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    document = swe_agent("\n" + edit("src/main.py") + edit(path))
    (tmp_path / "bug.traj").write_text(json.dumps(document), encoding="utf-8")
    done = evalgate("run", "suite.yaml", "--traces", "bug.traj", cwd=str(tmp_path))
    assert done.exit_code == code, done.out + done.err
    assert (path in done.out) == bool(code)
