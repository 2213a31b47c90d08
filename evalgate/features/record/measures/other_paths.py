"""Which API a path of a provider is, and whether an answer of an API that is not read may hold an agent's calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

CHAT, RESPONSES, ANTHROPIC = "chat", "responses", "anthropic"
_APIS = {"chat/completions": CHAT, "responses": RESPONSES, "messages": ANTHROPIC}
_ENDS = {"/chat/completions": CHAT, "/v1/responses": RESPONSES, "/v1/messages": ANTHROPIC}
"""Ends of paths, as gateways have them."""
_ASK_MODELS = {"runs", "batches", "realtime", "completions", "complete", "responses", "messages", "sessions"}
"""Parts of paths below which a model answers: assistants, batches, live sessions, stored answers, text completions."""
_GENERATE = (":generateContent", ":streamGenerateContent")
_ASK_NONE = ("count_tokens", "input_tokens", "cancel")
"""Last parts of paths below one of these that ask no model."""
_COMPACT = "compact"
_SIGNS = (b'"tool_calls"', b'"tool_use"', b'"function_call"', b'"functionCall"', b'"toolUse"')


def find_api(path: str) -> str | None:
    """The API of a path without its version, if its messages are read.

    >>> find_api("messages"), find_api("openai/deployments/x/chat/completions"), find_api("embeddings")
    ('anthropic', 'chat', None)
    """
    return _APIS.get(path) or next((api for end, api in _ENDS.items() if path.endswith(end)), None)


def asks_nothing(path: str) -> bool:
    """Whether a request only repeats messages, so that nothing in it or in its answer is new."""
    return path.rpartition("/")[2] in _ASK_NONE


def may_hold_calls(method: str, path: str, answer: bytes, known: Container[str]) -> bool:
    """Whether an answer that is not read may hold calls: by its path, or because it looks so.

    `known` are ids of answers that were recorded: reading one again shows nothing new.

    >>> [may_hold_calls("POST", path, b"{}", ()) for path in ("threads/t/runs", "messages/count_tokens", "embeddings")]
    [True, False, False]
    """
    parts = path.split("/")
    if method == "DELETE" or parts[-1] in (*_ASK_NONE, _COMPACT) or any(part in known for part in parts):
        return False
    asks = not _ASK_MODELS.isdisjoint(parts) and not ("threads" in parts and parts[-1] == "messages")
    return asks or path.endswith(_GENERATE) or any(sign in answer for sign in _SIGNS)
