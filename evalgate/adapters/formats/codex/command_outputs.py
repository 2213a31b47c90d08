"""Outputs of commands in a rollout: the exit code is in the text or next to it, or not recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from evalgate.adapters.formats.core.strict_json import decode
from evalgate.errors import TraceError

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.conversation import ToolResult
    from evalgate.models.trace.trace import ToolCall

SHELLS = frozenset({"shell", "shell_command", "exec_command", "container.exec", "local_shell", "write_stdin"})
EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,6})$", re.MULTILINE)
STILL_RUNNING = "Process running with session ID"
HEADER_CHARS = 400


def has_unknown_outcome(call: ToolCall) -> bool:
    """Whether the output of a command that has ended lacks its exit code."""
    is_known = call["status"] in ("error", "missing") or call["exit_code"] is not None or call["name"] not in SHELLS
    return not is_known and STILL_RUNNING not in (call["result_text"] or "")[:HEADER_CHARS]


def parse_shell_output(answer: ToolResult) -> ToolResult:
    """The output of a command with its exit code, which is in the text or next to it."""
    content = answer.content
    if not isinstance(content, str):
        return answer
    if content.startswith('{"output"'):
        return _parse_shell_object(answer, content)
    found = EXIT_CODE.search(content[:HEADER_CHARS])
    return answer._replace(exit_code=int(found[1]) if found else None)


def _parse_shell_object(answer: ToolResult, content: str) -> ToolResult:
    try:
        fields = decode(content.encode())
    except (TraceError, UnicodeEncodeError):
        return answer
    output, metadata = fields.get("output"), fields.get("metadata")
    code = metadata.get("exit_code") if isinstance(metadata, dict) else None
    if not isinstance(output, str) or not isinstance(code, int) or isinstance(code, bool):
        return answer
    return answer._replace(content=output, exit_code=code)
