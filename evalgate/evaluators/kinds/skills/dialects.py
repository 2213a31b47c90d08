"""How harnesses record that an agent uses a skill: the one table, to which a harness is a row.

A skill is a folder with a file SKILL.md. An agent uses it by a tool of its harness, or by reading that file.
"""

from __future__ import annotations

import re
from typing import NamedTuple

SKILL_FILE = "skill.md"
"""The file of a skill, in lower case."""


class SkillTool(NamedTuple):
    """A tool of harnesses: its name, the arguments that name the skill, and those that name a file of it."""

    tool: str
    skill: tuple[str, ...]
    file: tuple[str, ...] = ()
    harnesses: str = ""


SKILL_TOOLS = (
    SkillTool("Skill", ("skill", "command", "name"), (), "Claude Code, Claude Agent SDK, Kimi, Letta"),
    SkillTool("skill", ("skill", "name"), (), "Copilot, Qwen Code, OpenCode"),
    SkillTool("skills", ("skill_name",), (), "Strands"),
    SkillTool("activate_skill", ("name", "skill_name", "skill"), (), "Gemini CLI"),
    SkillTool("invoke_skill", ("name", "skill_name", "skill"), (), "OpenHands"),
    SkillTool(
        *("load_skill", ("skill_name", "name", "skillName", "skill"), ()),
        "Google ADK, Pydantic AI, OpenAI Agents, Agent Framework",
    ),
    SkillTool("load_skill_resource", ("skill_name", "name"), ("path", "file_path"), "Google ADK"),
    SkillTool("read_skill_resource", ("skill_name", "skillName"), ("resource_name", "resourceName"), "Agent Framework"),
    SkillTool(
        "run_skill_script", ("skill_name", "skillName"), ("script_path", "script_name", "scriptName"), "the same"
    ),
)
"""Names that are one word are compared as they are; the others also behind a prefix (`skills_load_skill`)."""

REFUSAL = re.compile(r"\s*(?:error\b|unknown skill\b|no skill\b|skill \S{1,200} (?:was |is )?not )", re.IGNORECASE)
"""How the result of such a tool begins that says, without the mark of an error, that there is no such skill."""

PATHS = (
    *("file_path", "path", "filePath", "filepath", "file", "filename", "absolute_path", "absolutePath"),
    *("target_file", "paths", "files", "include", "uri", "url"),
)
"""Arguments of a tool for files that name the file."""
PATH_IN_NAME = re.compile(r"Read(?: file)? '([^']+)'")
"""A title that the Agent Client Protocol has in place of the name of the tool, with the file that it reads."""
READING = frozenset({"read", "view", "open", "cat", "get", "load", "fetch", "show"})
"""First words of the names of tools that return what is in a file."""
NOT_READING = frozenset(
    (
        *("write", "edit", "create", "delete", "remove", "rename", "move", "copy", "replace", "apply", "insert"),
        *("update", "save", "append", "glob", "grep", "list", "ls", "search", "find", "stat", "multi", "notebook"),
        *("str", "todo", "mkdir", "patch", "diff"),
    )
)
"""First words of those that don't."""
EDITOR_ACTION, VIEW = "command", "view"
"""An editor whose argument `command` is one word reads a file only with `view`."""

COMMANDS = ("command", "cmd", "commands", "script", "CommandLine")
"""Arguments of a tool for commands that hold the command: a text, or a list of its words."""
SCRIPTS = ("input", "code", "source", "program")
"""Arguments of a tool that runs a script of the model which hold it."""
IN_SCRIPT = re.compile(r"""["']?\b(?:cmd|command)["']?\s*:\s*("(?:[^"\\]|\\.)*")""")
"""The command that a script of the model gives to a tool, as Codex's `exec` does."""
FOLDERS = ("workdir", "cwd", "directory", "dir_path", "working_directory")
"""Arguments that name the folder in which a command runs."""
SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd"})
"""Programs that run the command after `-c`, `-lc` or `/c`."""
PRINTERS = frozenset(
    (
        *("cat", "head", "tail", "sed", "less", "more", "bat", "batcat", "nl", "awk", "tac", "gc", "get-content"),
        *("type", "strings", "xxd", "od", "fold", "fmt", "glow", "mdcat"),
    )
)
"""Programs that print the files that they are given."""
NOT_PRINTERS = frozenset(
    (
        *("ls", "find", "grep", "egrep", "fgrep", "rg", "ag", "wc", "stat", "test", "[", "[[", "file", "echo"),
        *("printf", "rm", "cp", "mv", "mkdir", "touch", "git", "chmod", "chown", "ln", "tee", "which", "cd"),
        *("dirname", "basename", "realpath", "readlink", "du", "md5sum", "sha1sum", "sha256sum", "tree", "fd"),
        *("export", "true", "false", "pwd", "rmdir", "unlink"),
    )
)
"""Programs that don't print what is in the files that they are given, or no more than lines that they search."""
SHOWING = frozenset({"show", "cat-file"})
"""What `git` prints files with."""
HANDS_OVER = ("xargs", "-exec", "-execdir", "parallel")
"""Words with which a program hands the files that it finds to another one, so that what is printed is not known."""
