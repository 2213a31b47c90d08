"""Which files a shell command prints, as far as its text shows it."""

from __future__ import annotations

import re
import shlex
from posixpath import basename, isabs, join, normpath
from typing import TYPE_CHECKING, NamedTuple

from evalgate.evaluators.kinds.skills.dialects import HANDS_OVER, NOT_PRINTERS, PRINTERS, SHELLS, SHOWING, SKILL_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MAX_COMMAND = 50_000
"""Characters of a command that are taken apart; a longer one may have printed any file that it names."""
MAX_SHELLS = 3
"""Shells inside each other."""
_OPERATOR = re.compile(r"[;&|()\n]+")
_REDIRECTION = re.compile(r"(?:\d|&)?(?:>>?|<)&?")
_BETWEEN_STREAMS = re.compile(r"\d?>&\d")
"""A redirection from one stream to another one."""
_BOTH_STREAMS = re.compile(r"&(?=>)")
_HIDDEN_ERRORS = re.compile(r"(?:2|&)>(?!&1)")
_HERE_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"]?)(\w+)\1([^\n]*)\n.*?(?:^[ \t]*\2[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
_SUBSTITUTION = re.compile(r"\$\([^)]{0,2000}skill\.md|`[^`]{0,2000}skill\.md")
"""A command whose output is part of another one."""
_BACKSLASH = re.compile(r"(?<=[\w.:])\\(?=[\w.])")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_BEFORE_COMMANDS = frozenset(
    {"sudo", "time", "env", "command", "exec", "nohup", "builtin", "then", "do", "else", "{", "!"}
)
_UNKNOWN_PART = re.compile(r"[*?$`{\[]")


class CommandFiles(NamedTuple):
    """The files that a command names: printed by it, or named without being printed.

    `is_unclear`: it names a SKILL.md and may have printed it. `hides_errors`: that a file is not there may not have
    been printed. `commands` is the number of commands in it.
    """

    printed: list[str]
    named: list[str]
    is_unclear: bool = False
    hides_errors: bool = False
    commands: int = 1


def list_command_files(command: str, folder: str = "") -> CommandFiles:
    """The files that a command names, below the `folder` in which it runs.

    >>> list_command_files("cd skills/pdf && cat SKILL.md | head -5").printed
    ['skills/pdf/SKILL.md']
    >>> list_command_files("bash -lc 'cat /s/pdf/SKILL.md'").printed
    ['/s/pdf/SKILL.md']
    >>> list_command_files("find . -name SKILL.md -exec cat {} +").is_unclear
    True
    """
    found = CommandFiles([], [])
    try:
        commands = [] if len(command) > MAX_COMMAND else list(_iter_commands(command, folder, 0))
    except ValueError:  # a quote is not closed
        commands = []
    is_unclear = not commands
    for words, place in commands:
        is_unclear |= _add_command(found, words, place)
    if not any(basename(each).casefold() == SKILL_FILE for each in found.printed):
        is_unclear |= _SUBSTITUTION.search(command[:MAX_COMMAND].casefold()) is not None
    is_unclear &= SKILL_FILE in command.casefold()
    hides_errors = _HIDDEN_ERRORS.search(command) is not None
    return found._replace(is_unclear=is_unclear, hides_errors=hides_errors, commands=len(commands))


def _iter_commands(script: str, folder: str, depth: int) -> Iterator[tuple[list[str], str]]:
    """Yields the words of each command, also of shells in it, and the folder in which it runs."""
    for words in _split_commands(script):
        name = basename(words[0]).casefold()
        inner = _find_script(words) if name in SHELLS and depth < MAX_SHELLS else None
        if inner is not None:
            yield from _iter_commands(inner, folder, depth + 1)
        elif name in ("cd", "pushd") and len(words) > 1:
            folder = _resolve(folder, words[1])
        else:
            yield words, folder


def _add_command(found: CommandFiles, words: Sequence[str], folder: str) -> bool:
    """Adds the files of one command; returns whether it may have printed a SKILL.md that it names."""
    name = basename(words[0]).casefold()
    read, given, is_written = _split_redirections(words[1:])
    files = [_resolve(folder, each) for each in given if not each.startswith("-")]
    read = [_resolve(folder, each) for each in read]
    changes = is_written or (name == "sed" and any(each.startswith(("-i", "--in-place")) for each in words))
    prints = name in PRINTERS and not changes
    found.printed.extend(files + read if prints else read)
    found.named.extend([_resolve(folder, words[0]), *([] if prints else files)])
    hands_over = any(each in HANDS_OVER for each in words) or (name == "git" and not SHOWING.isdisjoint(words))
    names_skill = any(SKILL_FILE in each.casefold() for each in given)
    return hands_over or (names_skill and not prints and not changes and name not in NOT_PRINTERS)


def _split_commands(script: str) -> Iterator[list[str]]:
    """Yields the words of each command of a script, without assignments and words before its name."""
    plain = _BOTH_STREAMS.sub("", _BETWEEN_STREAMS.sub(" ", script))
    text = _HERE_DOCUMENT.sub(r"\3", _BACKSLASH.sub("/", plain).replace("\\\n", " "))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    words: list[str] = []
    for word in [*lexer, ";"]:
        if not _OPERATOR.fullmatch(word):
            words.append(word)
            continue
        while words and (_ASSIGNMENT.match(words[0]) or words[0] in _BEFORE_COMMANDS):
            del words[0]
        if words:
            yield words
        words = []


def _split_redirections(words: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """The files that are read by `<`, the words that are no redirection, and whether the output goes into a file."""
    read: list[str] = []
    written: list[str] = []
    others: list[str] = []
    target: list[str] | None = None
    is_written = False
    for word in words:
        sign = _REDIRECTION.match(word)
        if target is not None:
            target.append(word)
            target = None
        elif sign is None:
            others.append(word)
        else:
            side = read if "<" in sign[0] else written
            is_written |= sign[0] in (">", ">>", "1>", "1>>")
            rest = word[sign.end() :]
            target = None if rest else side
            side.extend([rest] if rest else [])
    return read, others, is_written


def _find_script(words: Sequence[str]) -> str | None:
    """What follows the option of a shell that takes a command."""
    options = (at for at, word in enumerate(words) if re.fullmatch(r"-\w*c|/c|-Command", word, re.IGNORECASE))
    at = next(options, None)
    return None if at is None or at + 1 >= len(words) else " ".join(words[at + 1 :][:1])


def _resolve(folder: str, path: str) -> str:
    """A path below the folder in which the command runs.

    >>> _resolve("/a/b", "../c/x"), _resolve("", "~/x"), _resolve("a", "$HOME/x")
    ('/a/c/x', '~/x', '$HOME/x')
    """
    if not folder or isabs(path) or path.startswith(("~", "$")) or re.match(r"[A-Za-z]:", path):
        return normpath(path) if path else path
    return normpath(join(folder, path))


def is_known_path(path: str) -> bool:
    """Whether a path has no part that the shell fills in."""
    return _UNKNOWN_PART.search(path) is None
