"""`skill_used` and `no_skill`: every harness's record, near misses that are none, and what is not known."""

from __future__ import annotations

from typing import Any

import pytest
from assess_assertion import assess, outcome
from builders import make_call, make_trace

from evalgate.gate.weakening.implication import is_implied, parse_requirement

HEAD = "---\nname: pdf\ndescription: Read PDF files.\n---\n# PDF\n"
PATH = "/home/a/.claude/skills/pdf/SKILL.md"
USED, NONE = {"type": "skill_used", "skill": "pdf"}, {"type": "no_skill", "skill": "pdf"}


def call(name: str, arguments: Any, at: int = 0, **fields: Any) -> Any:
    return make_call(name, arguments, index=at, **{"result": HEAD, **fields})


def judge(*calls: Any, check: Any = USED) -> str:
    return outcome(check, make_trace(list(calls)))


LOADS: list[tuple[str, Any]] = [
    ("Skill", {"skill": "pdf"}),
    ("Skill", {"command": "pdf"}),
    ("Skill", {"skill": "/pdf", "args": "form.pdf"}),
    ("Skill", {"skill": "documents:pdf"}),
    ("skill", {"skill": "pdf"}),
    ("skill", {"name": "pdf"}),
    ("skills", {"skill_name": "pdf"}),
    ("activate_skill", {"name": "pdf"}),
    ("invoke_skill", {"name": "pdf"}),
    ("load_skill", {"skill_name": "pdf"}),
    ("load_skill", {"name": "pdf"}),
    ("skills_load_skill", {"skill_name": "pdf"}),
    ("mcp__skills__load_skill", {"skill_name": "pdf"}),
    ("load_skill_resource", {"skill_name": "pdf", "path": "SKILL.md"}),
    ("Read", {"file_path": PATH}),
    ("read_file", {"path": "skills/pdf/SKILL.md"}),
    ("ReadFile", {"absolute_path": r"C:\Users\a\skills\pdf\SKILL.md"}),
    ("mcp__fs__read_text_file", {"path": PATH}),
    ("view", {"path": PATH}),
    (f"Read file '{PATH}'", {}),
    ("str_replace_based_edit_tool", {"command": "view", "path": PATH}),
    ("read_many_files", {"paths": ["a.md", PATH]}),
    ("Bash", {"command": f"cat {PATH}"}),
    ("exec_command", {"cmd": f"sed -n '1,220p' {PATH}"}),
    ("exec_command", {"cmd": "cat SKILL.md", "workdir": "/s/pdf"}),
    ("exec", {"input": 'await tools.exec_command({cmd: "cat s/pdf/SKILL.md"})'}),
    ("exec", {"input": r'await tools.exec_command({"cmd": "cat \x73/pdf/SKILL.md"})'}),
    ("exec", {"input": r"""await tools.exec_command({"cmd": "sed -n \"1,5p\" /s/pdf/SKILL.md"})"""}),
    ("shell", {"command": ["bash", "-lc", f"cat {PATH} | head -50"]}),
    ("command_execution", {"command": f"/bin/bash -lc 'cat {PATH}'"}),
    ("shell", {"command": "cd /s/pdf && cat SKILL.md references/a.md"}),
    ("Bash", {"command": f'ls /s; FOO=1 head -100 "{PATH}" 2>/dev/null'}),
    ("Bash", {"command": f"cat < {PATH}"}),
    ("Bash", {"command": f"cat {PATH} >&2"}),
    ("Bash", {"command": f"cat {PATH} 2>/dev/null || true"}),
    ("read_many_files", {"include": [PATH, "notes/*"]}),
    ("powershell", {"command": r"Get-Content C:\s\pdf\SKILL.md"}),
    ("Bash", {"command": "cat skills/*/SKILL.md"}),
    ("Bash", {"command": "python -c \"print(open('skills/pdf/SKILL.md').read())\""}),
]
OTHERS: list[tuple[str, Any]] = [
    ("Skill", {"skill": "pdf-forms"}),
    ("Skill", {"skill": "pdf:other"}),
    ("unload_skill", {"skill_name": "pdf"}),
    ("list_skills", {"filter": "pdf"}),
    ("search_skills", {"skill_name": "pdf"}),
    ("load_skill_resource", {"skill_name": "pdf", "path": "references/a.md"}),
    ("Read", {"file_path": "/s/pdf/README.md"}),
    ("Read", {"file_path": "/s/docx/SKILL.md"}),
    ("Write", {"file_path": PATH, "content": HEAD}),
    ("Edit", {"file_path": PATH}),
    ("Glob", {"pattern": "**/SKILL.md", "path": "/s/pdf/SKILL.md"}),
    ("str_replace_based_edit_tool", {"command": "create", "path": PATH}),
    ("Bash", {"command": "ls skills/pdf/SKILL.md"}),
    ("Bash", {"command": "find . -name SKILL.md"}),
    ("Bash", {"command": "git add skills/pdf/SKILL.md && git commit -m 'cat skills/pdf/SKILL.md'"}),
    ("Bash", {"command": "sed -i s/a/b/ skills/pdf/SKILL.md"}),
    ("Bash", {"command": "cat > skills/pdf/SKILL.md <<'EOF'\ncat skills/pdf/SKILL.md\nEOF\n"}),
    ("Bash", {"command": "echo 'cat skills/pdf/SKILL.md' > run.sh"}),
    ("Bash", {"command": "rg -n pdf skills/pdf/SKILL.md"}),
    ("Bash", {"command": "cat skills/pdf/SKILL.md > copy.md"}),
    ("Bash", {"command": "sed -n 1,9p skills/pdf/SKILL.md 1>>copy.md 2>&1"}),
    ("Bash", {"command": "cat skills/pdf/SKILL.md &>/dev/null"}),
    ("Bash", {"command": "git diff -- skills/pdf/SKILL.md"}),
    ("Task", {"prompt": "look at skills/pdf/SKILL.md"}),
]


@pytest.mark.parametrize(("tool", "arguments"), LOADS)
def test_a_harness_loads_a_skill(tool: str, arguments: Any) -> None:
    loaded = call(tool, arguments)
    assert (judge(loaded), judge(loaded, check=NONE)) == ("passed", "failed")


@pytest.mark.parametrize(("tool", "arguments"), OTHERS)
def test_what_loads_no_skill_of_this_name(tool: str, arguments: Any) -> None:
    other = call(tool, arguments, result="done")
    assert (judge(other), judge(other, check=NONE)) == ("failed", "passed")


@pytest.mark.parametrize(
    ("tool", "arguments", "fields"),
    [
        ("Skill", {"skill": "pdf"}, {"status": "error", "result": "Unknown skill: pdf"}),
        ("skills", {"skill_name": "pdf"}, {"result": "Skill 'pdf' not found. Available skills: docx"}),
        ("load_skill", {"skill_name": "pdf"}, {"result": {"error": "not found"}, "status": "unknown"}),
        ("Bash", {"command": "cat s/pdf/SKILL.md"}, {"status": "error", "exit_code": 1, "result": ""}),
        ("Bash", {"command": "cat s/pdf/SKILL.md 2>/dev/null"}, {"status": "error", "exit_code": 1, "result": ""}),
        ("Bash", {"command": "cat s/pdf/SKILL.md; ls"}, {"result": "cat: s/pdf/SKILL.md: No such file or directory"}),
    ],
)
def test_a_load_that_failed_is_no_use_but_an_attempt(tool: str, arguments: Any, fields: Any) -> None:
    tried = call(tool, arguments, **fields)
    assert (judge(tried), judge(tried, check=NONE)) == ("failed", "failed")
    assert (judge(tried, check={"not": USED}), judge(tried, check={"not": NONE})) == ("failed", "failed")


@pytest.mark.parametrize(
    ("tool", "arguments", "fields"),
    [
        ("Skill", {"skill": "pdf"}, {"status": "missing"}),
        ("Bash", {"command": "cat s/pdf/SKILL.md && rg x"}, {"status": "error", "exit_code": 1, "result": "# PDF"}),
        ("Bash", {"command": "find . -name SKILL.md | xargs cat"}, {"result": "text"}),
        ("Bash", {"command": "cat */SKILL.md"}, {"result": "text"}),
        ("Bash", {"command": "cat 'SKILL.md"}, {"result": "text"}),
        ("Bash", {"command": "cat s/pdf/SKILL.md 2>/dev/null; echo done"}, {"result": "done"}),
        ("Bash", {"command": "cat s/pdf/SKILL.md 2> errors.txt; echo done"}, {"result": "done"}),
        ("Bash", {"command": "cat s/pdf/SKILL.md || true"}, {"result": ""}),
        ("Bash", {"command": "node read.js s/pdf/SKILL.md"}, {"result": "text"}),
        ("peruse", {"path": "s/pdf/SKILL.md"}, {"result": "text"}),
        ("Bash", {"command": "cat $(find . -name SKILL.md)"}, {"result": "text"}),
        ("Bash", {"command": "cat `ls */SKILL.md`"}, {"result": "text"}),
        ("Bash", {"command": "git show HEAD:s/pdf/SKILL.md"}, {"result": "text"}),
        ("Bash", {"command": "ssh host 'cat s/pdf/SKILL.md'"}, {"result": "text"}),
        ("run_python", {"code": "print(open('s/pdf/SKILL.md').read())"}, {"result": "text"}),
    ],
)
def test_what_may_have_loaded_it(tool: str, arguments: Any, fields: Any) -> None:
    assert judge(call(tool, arguments, **fields)) == "not_evaluable"


def test_a_script_of_the_model_runs_commands() -> None:
    script = 'const r = await tools.exec_command({"cmd":"sed -n \'1,9p\' ~/s/pdf/SKILL.md && ls","workdir":"/w"});'
    asked = call("exec", None, result="Script completed", status="unknown")
    asked |= {"arguments": None, "arguments_raw": script, "arguments_error": "not JSON"}
    assert (judge(asked), judge(asked, check=NONE)) == ("passed", "failed")
    asked["arguments_raw"] = "for (const each of list) await tools.read(each + '/SKILL.md')"
    assert judge(asked) == "not_evaluable"


def test_a_command_of_which_a_later_part_fails_is_judged_by_what_it_printed() -> None:
    assert judge(call("Bash", {"command": f"cat {PATH} && rg x"}, status="error", exit_code=1)) == "passed"


@pytest.mark.parametrize("command", ["sed -n 20,40p s/pdf/SKILL.md 2>&1", "sed -n 20,40p s/pdf/SKILL.md | head -5"])
def test_a_later_part_of_it_is_a_use_where_a_failure_would_show(command: str) -> None:
    assert judge(call("Bash", {"command": command}, result="## Fill a form")) == "passed"


def test_a_name_that_is_written_alike_is_forbidden_and_does_not_satisfy() -> None:
    loaded = call("Skill", {"skill": " PDF"})
    assert (judge(call("Skill", {"skill": "PDF"})), judge(loaded, check=NONE)) == ("failed", "failed")
    assert judge(call("Skill", {"skill": "docx"}), check={"type": "no_skill"}) == "failed"
    assert judge(call("lookup", {}), check={"type": "no_skill"}) == "passed"


BEFORE = {**USED, "before": "fill_form"}


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (("Skill", 1, "fill_form", 2), "passed"),
        (("Skill", 1, "fill_form", 1), "failed"),
        (("fill_form", 1, "Skill", 2), "failed"),
    ],
)
def test_a_skill_is_loaded_in_an_earlier_answer_than_the_tool_is_asked_for(steps: Any, expected: str) -> None:
    pairs = [steps[:2], steps[2:]]
    calls = [call(name, {"skill": "pdf"}, at, step=step) for at, (name, step) in enumerate(pairs)]
    assert judge(*calls, check=BEFORE) == expected
    assert judge(call("Skill", {"skill": "pdf"}), check=BEFORE) == "passed"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("Read", {"file_path": "/s/pdf/references/forms.md"}),
        ("load_skill_resource", {"skill_name": "pdf", "path": "references/forms.md"}),
        ("Bash", {"command": "cat .claude/skills/pdf/references/forms.md"}),
        ("Bash", {"command": "cd /w && ~/.claude/skills/pdf/references/forms.md --run"}),
        ("exec_command", {"cmd": "cat references/forms.md", "workdir": "/skills/pdf"}),
    ],
)
def test_files_of_a_skill(tool: str, arguments: Any) -> None:
    check = {**USED, "files": "references/*.md"}
    loaded = call("Skill", {"skill": "documents:pdf"})
    assert judge(loaded, call(tool, arguments, 1), check=check) == "passed"
    assert judge(loaded, call(tool, arguments, 1, status="error"), check=check) == "failed"
    for other in ("/s/docx/references/forms.md", "/s/my-pdf/references/forms.md", "/s/pdf/references/a/forms.txt"):
        assert judge(loaded, call("Read", {"file_path": other}, 1), check=check) == "failed"


def test_reasons() -> None:
    wanted = assess(USED, make_trace([call("Skill", {"skill": "docx"})]))
    assert wanted.reason == "skill `pdf` must be used, but the agent used `docx`"
    denied = assess({"type": "no_skill"}, make_trace(["a", call("Skill", {"skill": "docx"}, 1)]))
    assert denied.reason == "skill `docx` must not be used, but was (call 2)"


@pytest.mark.parametrize(
    ("weaker", "stronger", "expected"),
    [
        (USED, BEFORE, True),
        (BEFORE, USED, False),
        (USED, {**USED, "files": ["a.md"]}, True),
        ({**USED, "files": ["a.md"]}, USED, False),
        (USED, {**USED, "skill": "*"}, False),
        (NONE, {"type": "no_skill"}, True),
        ({"type": "no_skill"}, NONE, False),
    ],
)
def test_which_of_two_is_stricter(weaker: Any, stronger: Any, *, expected: bool) -> None:
    assert is_implied(parse_requirement(weaker), parse_requirement(stronger)) is expected
