"""The command of a recording as its traces keep it, so that the workflow that `init` writes can repeat it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from evalgate.measures.redaction.redact import redact
from evalgate.settings.secret_variables import is_secret_name

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

MAX_COMMAND = 1_000
"""Characters of a command."""


def describe_command(words: Sequence[str], options: Sequence[str], cwd: str, secrets: Collection[str]) -> str | None:
    """The agent's command as a shell reads it, after options of `record` and `--` if there are any.

    Paths below `cwd` are relative. None for a command that may hold a secret, is no text, or is too long to be kept.

    >>> describe_command(["/p/.venv/bin/python", "agent.py", "{prompt}"], [], "/p", ["hunter22"])
    ".venv/bin/python agent.py '{prompt}'"
    >>> describe_command(["./agent"], ["--state=./dump"], "/p", [])
    '--state=./dump -- ./agent'
    >>> describe_command(["./agent", "--password", "abc"], [], "/p", [])
    """
    own = [word.removeprefix(f"{cwd}/") for word in words]
    text = shlex.join([*options, "--", *own] if options else own)
    is_text = text.isascii() or text.encode("utf-8", "ignore").decode() == text
    has_secret = any(secret in text for secret in secrets) or _names_secret(own) or redact(text) != text
    return text if is_text and len(text) <= MAX_COMMAND and not has_secret else None


def _names_secret(words: Sequence[str]) -> bool:
    """Whether an option or a variable has the name of a secret and a value that is no number."""
    for word, following in zip(words, [*words[1:], "-"], strict=True):
        name, is_set, value = word.partition("=")
        given = value if is_set else following if word.startswith("-") and not following.startswith("-") else ""
        if given and not given.isdigit() and is_secret_name(name.lstrip("-")):
            return True
    return False
