"""What Google's own tools did, as most models record it: beside the answer, and not as parts of it."""

from __future__ import annotations

from typing import Any

from evalgate.adapters.formats.core.fields import dict_or_empty, listing, mapping, plain_keys, text

SEARCH, FETCH, RETRIEVAL = "google_search", "url_context", "file_search"
TOOLS = {"web": SEARCH, "image": SEARCH, "retrieved_context": RETRIEVAL, "maps": "google_maps"}
"""The tool that found each kind of piece on which an answer is grounded."""
QUERIES = {"web_search_queries": SEARCH, "image_search_queries": SEARCH, "retrieval_queries": RETRIEVAL}
METADATA = ("grounding_metadata", "url_context_metadata")


def list_side_calls(candidate: dict[str, Any], parts: list[Any]) -> list[dict[str, Any]]:
    """The searches and fetched pages of an answer as parts, each call with what it found; not those that `parts` hold.

    Raises FieldError.
    """
    if candidate.keys().isdisjoint(METADATA):
        return []
    grounding = plain_keys(mapping(candidate.get("grounding_metadata"), "grounding_metadata"))
    context = plain_keys(mapping(candidate.get("url_context_metadata"), "url_context_metadata"))
    pages = [plain_keys(dict_or_empty(page)) for page in listing(context.get("url_metadata"), "url_metadata")]
    asked: dict[str, list[Any]] = {}
    found: dict[str, list[Any]] = {}
    for field, tool in QUERIES.items():
        if queries := listing(grounding.get(field), f"grounding_metadata.{field}"):
            asked.setdefault(tool, []).extend(queries)
    for chunk in listing(grounding.get("grounding_chunks"), "grounding_metadata.grounding_chunks"):
        for kind, piece in plain_keys(dict_or_empty(chunk)).items():
            found.setdefault(TOOLS.get(kind, RETRIEVAL), []).append(piece)
    if pages:
        asked[FETCH] = [page.get("retrieved_url") for page in pages]
        found[FETCH] = pages
    named = {_name_tool(part) for part in parts}
    return [
        part
        for tool in dict.fromkeys([*asked, *found])
        if not any(name.startswith(tool) for name in named)
        for part in _make_parts(tool, asked.get(tool, []), found.get(tool, []))
    ]


def _name_tool(part: Any) -> str:
    call = plain_keys(dict_or_empty(plain_keys(dict_or_empty(part)).get("tool_call")))
    return (text(call.get("tool_type"), "tool_call.tool_type") or "").lower()


def _make_parts(tool: str, asked: list[Any], found: list[Any]) -> list[dict[str, Any]]:
    given = {"urls" if tool == FETCH else "queries": asked} if asked else {}
    return [
        {"function_call": {"name": tool, "args": given}},
        {"function_response": {"name": tool, "response": {"found": found}}},
    ]
