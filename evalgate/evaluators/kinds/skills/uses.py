"""The skills that an agent used in a trace, and the files of theirs that it read or ran."""

from __future__ import annotations

import json
import re
from posixpath import basename, dirname, normpath
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evalgate.evaluators.kinds.skills.commands import MAX_COMMAND, is_known_path, list_command_files
from evalgate.evaluators.kinds.skills.dialects import (
    COMMANDS,
    EDITOR_ACTION,
    FOLDERS,
    IN_SCRIPT,
    NOT_READING,
    PATH_IN_NAME,
    PATHS,
    READING,
    REFUSAL,
    SCRIPTS,
    SKILL_FILE,
    SKILL_TOOLS,
    VIEW,
    SkillTool,
)
from evalgate.measures.text.similar_names import SEPARATORS, unwrap_name
from evalgate.measures.text.tool_words import separate_words
from evalgate.models.trace.trace_view import get_view, is_captured

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from evalgate.models.trace.trace import ToolCall, Trace

MAX_PATHS = 1_000
"""Paths of one call."""
MAX_FOLDER = 128
"""Characters of the name of a folder."""
_CACHE = "skill_uses"
MAX_RESULT = 200_000
"""Characters of a result in which the heads of skills are looked for."""
_HEAD = re.compile(r"^---[ \t]*\r?\n(?:[\w-]+:[^\n]*\n){0,20}?name:[ \t]*[\"']?([\w.:-]{1,128})", re.MULTILINE)
"""The head of a SKILL.md, which names the skill."""
_MISSING = re.compile(r"[/\\]skill\.md['\"]?:? (?:no such file|because it does not exist)", re.IGNORECASE)
"""What programs say of a SKILL.md that is not there."""
_FOLDER = re.compile(r"[^/\\\s'\"]{1,128}\Z")
"""The folder before it, which should have it."""

State = Literal["used", "failed", "unclear"]


class SkillUse(NamedTuple):
    """A call, numbered from 1, that loads a skill; `state` is whether it did, as far as is known.

    `skill` is None if its name is not known: it can be any.
    """

    number: int
    call: ToolCall
    skill: str | None
    state: State


class SkillTrace(NamedTuple):
    """What a trace shows of skills: their uses, and files that calls read or run (number of the call, path)."""

    uses: list[SkillUse]
    files: list[tuple[int, str]]

    def has_file(self, skill: str, pattern: str, matches: Any) -> bool:
        """Whether a file inside the folder of the skill was read or run."""
        folder = skill.rpartition(":")[2]
        return any(matches(f"*/{folder}/{pattern}", f"/{path}") for _, path in self.files)


def find_skills(trace: Trace) -> SkillTrace:
    """The uses of skills by the agent's own calls, in order; found once for all checks of a trace."""
    cache = get_view(trace).cache
    found: SkillTrace | None = cache.get(_CACHE)
    if found is None:
        found = cache[_CACHE] = read_skills(trace)
    return found


def read_skills(trace: Trace) -> SkillTrace:
    """The same, without keeping it with the trace."""
    found = SkillTrace([], [])
    for number, call in enumerate(trace.agent_calls, 1):
        touched = _find_touched(call)
        found.uses.extend(SkillUse(number, call, *each) for each in _judge_uses(call, touched))
        if not _has_failed(call):
            found.files.extend((number, path) for path in touched.files)
    return found


class Touched(NamedTuple):
    """The skills that a call loads, each with whether that is sure, and the files that it reads or runs.

    `commands` is the number of shell commands in it, of which one may fail and another not.
    """

    skills: list[tuple[str | None, bool]]
    files: list[str]
    commands: int = 0


def _find_touched(call: ToolCall) -> Touched:
    arguments = call["arguments"]
    found = Touched([], [])
    tool = find_skill_tool(call["name"])
    if tool is not None:
        _add_skill_tool(found, tool, call)
    elif (named := PATH_IN_NAME.fullmatch(call["name"])) is not None:
        _add_files(found, "read", {"path": named[1]})
    elif isinstance(arguments, dict):
        _add_files(found, call["name"], arguments)
        scripts = (text for name in SCRIPTS if isinstance(text := arguments.get(name), str))
        count = _add_commands(found, arguments) + sum(_add_script(found, text) for text in scripts)
        return found._replace(commands=count)
    else:
        text = arguments if isinstance(arguments, str) else call["arguments_raw"] or ""
        return found._replace(commands=_add_script(found, text))
    return found


def _judge_uses(call: ToolCall, touched: Touched) -> Iterator[tuple[str | None, State]]:
    """Yields each skill with whether it was loaded; of a command, the heads of skills in its output decide."""
    if not touched.skills:
        return
    text = (call["result_text"] or "")[:MAX_RESULT] if touched.commands else ""
    heads = dict.fromkeys(_HEAD.findall(text))
    missing = {each.casefold() for each in _find_missing(text)}
    is_alone = touched.commands <= 1 and len(touched.skills) == 1
    state = _find_state(call, is_alone=is_alone)
    if state == "used" and touched.commands and call["result_text"] == "":
        state = "unclear"
    sure = dict.fromkeys(skill for skill, is_sure in touched.skills if is_sure and skill is not None)
    for skill in sure:
        if skill.casefold() in missing:
            yield skill, "failed"
        else:
            yield skill, "used" if skill in heads else state
    rest = [each for each in touched.skills if each[0] not in sure]
    if rest and heads:
        yield from ((each, "used") for each in heads if each not in sure)
    elif rest:
        named = rest[0][0] if len(rest) == 1 else None
        is_known = all(is_sure for _, is_sure in rest) or (is_alone and named is not None and _has_failed(call))
        yield named, state if is_known else "unclear"


def _find_missing(text: str) -> Iterator[str]:
    """Yields the folder of each SKILL.md that was not there."""
    for each in _MISSING.finditer(text):
        folder = _FOLDER.search(text, max(0, each.start() - MAX_FOLDER), each.start())
        if folder is not None:
            yield folder[0]


def _find_state(call: ToolCall, *, is_alone: bool) -> State:
    """Whether a call loaded what it is to load; of several commands another one may have failed."""
    if _has_failed(call):
        return "failed" if is_alone else "unclear"
    return "unclear" if call["status"] == "missing" else "used"


def _has_failed(call: ToolCall) -> bool:
    result = call["result"]
    refused = find_skill_tool(call["name"]) is not None and REFUSAL.match(call["result_text"] or "") is not None
    return (
        refused
        or call["status"] == "error"
        or call["exit_code"] not in (None, 0)
        or (isinstance(result, dict) and bool(result.get("error")))
    )


def find_skill_tool(name: str) -> SkillTool | None:
    """The row of a tool of a harness, also behind the prefix of a server.

    >>> find_skill_tool("mcp__s__load_skill").tool, find_skill_tool("skills_load_skill").tool
    ('load_skill', 'load_skill')
    """
    plain = unwrap_name(name)
    for each in SKILL_TOOLS:
        ends = (*SEPARATORS, "_") if "_" in each.tool else SEPARATORS
        if plain == each.tool or ("_" in each.tool and plain.endswith(tuple(f"{end}{each.tool}" for end in ends))):
            return each
    return None


def _add_skill_tool(found: Touched, tool: SkillTool, call: ToolCall) -> None:
    arguments = call["arguments"]
    if not isinstance(arguments, dict):
        if not is_captured(call) or call["arguments_error"] or isinstance(arguments, str):
            found.skills.append((None, False))
        return
    skill = _first_text(arguments, tool.skill).strip().lstrip("/$").split(" ")[0]
    if not tool.file:
        found.skills.extend([(skill, True)] if skill else [])
        return
    path = _first_text(arguments, tool.file)
    if skill and path:
        found.files.append(normpath(f"{skill}/{path}"))
        found.skills.extend([(skill, True)] if basename(path).casefold() == SKILL_FILE else [])


def _first_text(arguments: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((text for name in names if isinstance(text := arguments.get(name), str) and text), "")


def _add_files(found: Touched, tool: str, arguments: Mapping[str, Any]) -> None:
    paths = [path for name in PATHS for path in _list_texts(arguments.get(name))][:MAX_PATHS]
    if not paths:
        return
    reads = _is_reading(tool, arguments.get(EDITOR_ACTION))
    for path in (normpath(each.replace("\\", "/")) for each in paths):
        if reads:
            found.files.append(path)
        if reads is not False and basename(path).casefold() == SKILL_FILE:
            found.skills.append((_name_skill(path), reads is True))


def _is_reading(tool: str, action: Any) -> bool | None:
    """Whether a tool returns what is in a file that its arguments name; None if its name doesn't say."""
    if isinstance(action, str) and action.isidentifier():
        return action == VIEW
    last = unwrap_name(tool)
    for separator in SEPARATORS:
        last = last.rpartition(separator)[2] or last
    word = separate_words(last).lower().replace("-", "_").replace(" ", "_").split("_")[0]
    if word in READING or word.startswith("read"):
        return True
    return False if word in NOT_READING else None


def _add_commands(found: Touched, arguments: Mapping[str, Any]) -> int:
    """Adds what shell commands print; returns their number."""
    folder, count = _first_text(arguments, FOLDERS), 0
    for command in _list_commands(arguments):
        if SKILL_FILE not in command.casefold() and "skill" not in f"{command}{folder}".casefold():
            continue
        files = list_command_files(command, folder)
        count += files.commands
        found.files.extend(files.printed + files.named)
        loaded = [path for path in files.printed if basename(path).casefold() == SKILL_FILE]
        found.skills.extend((_name_skill(path), not files.hides_errors) for path in loaded)
        if files.is_unclear:
            found.skills.append((None, False))
    return count


def _add_script(found: Touched, text: str) -> int:
    """Adds what the commands print that a script of the model runs; returns their number."""
    if SKILL_FILE not in text.casefold():
        return 0
    commands = [_read_literal(each) for each in IN_SCRIPT.findall(text[:MAX_COMMAND])]
    if not any(SKILL_FILE in each.casefold() for each in commands):
        found.skills.append((None, False))
    return sum(_add_commands(found, {"cmd": each}) for each in commands)


def _read_literal(literal: str) -> str:
    """The text of a string of JavaScript; one that is not JSON as it is written."""
    try:
        return str(json.loads(literal))
    except ValueError:
        return literal[1:-1]


def _list_commands(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name in COMMANDS:
        value = arguments.get(name)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list) and all(isinstance(each, str) for each in value):
            yield value[-1] if len(value) > 1 and value[-2].startswith("-") else " ".join(value)


def _list_texts(value: Any) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str) and each]


def _name_skill(path: str) -> str | None:
    """The folder of a SKILL.md; None if the path does not say it.

    >>> _name_skill(".claude/skills/pdf/SKILL.md"), _name_skill("SKILL.md"), _name_skill("skills/*/SKILL.md")
    ('pdf', None, None)
    """
    folder = basename(dirname(path))
    return folder if folder not in ("", ".", "..", "~") and is_known_path(folder) else None
