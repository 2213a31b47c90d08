"""Parses values recorded as text: JSON in a string, Python literals, the repr of a Python object."""

from __future__ import annotations

import re
from typing import Any

from evalgate.adapters.formats.core import strict_json
from evalgate.errors import TraceError

MAX_CHARS = 1 << 18
LARGEST_INT = 1 << 63
SURROGATE = re.compile("[\ud800-\udfff]")
OPENERS = ("{", "[", "(")
CLOSERS = {"{": "}", "[": "]", "(": ")", "<": ">"}
FIELD = re.compile(r"([A-Za-z_]\w{0,63})=")
TOKEN = re.compile(
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|([{\[(<])|([}\])>])|[^'"{}\[\]()<>\s]+|['"\s]""", re.DOTALL
)


def unwrap_text(value: Any) -> Any:
    """The value of a text: JSON (also JSON in a JSON string), else a Python literal, else the text itself.

    Text that is not a list, object or quoted text stays text: "5" and "true" may be a person's words.
    """
    for _ in range(2):
        if type(value) is not str or not value.lstrip().startswith(("{", "[", '"')):
            break
        encoded = value.encode("utf-8", "surrogatepass")
        try:
            found = strict_json.decode(encoded)
            strict_json.require_shallow(found)
        except TraceError:
            if strict_json.decode_leniently(encoded) is not None:
                return value  # JSON with a contradictory duplicate key, or too deep
            break
        value = found
    if type(value) is str and value.lstrip().startswith(OPENERS):
        found = parse_literal(value)
        return value if found is None else found
    return value


def parse_literal(text: str) -> Any:
    """A Python literal as a JSON value; None if the text is not a literal or is longer than 256 KiB."""
    if len(text) > MAX_CHARS:
        return None
    import ast
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _to_json_value(ast.literal_eval(text.strip()), strict_json.MAX_DEPTH)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None


def parse_object_fields(text: str) -> dict[str, Any] | None:
    """The fields of a Python object written as `role='user' content='hi' ...`; None for other text.

    A value that is not a literal (a nested object) is left out.
    """
    if len(text) > MAX_CHARS:
        return None
    found: dict[str, Any] = {}
    position = 0
    while position < len(text):
        field = FIELD.match(text, position)
        if field is None:
            return None
        end = _find_value_end(text, field.end())
        value_text = text[field.end() : end]
        value = None if value_text == "None" else parse_literal(value_text)
        if value is not None or value_text == "None":
            found[field[1]] = value
        position = end + 1
    return found or None


def _find_value_end(text: str, position: int) -> int:
    """The end of a value: the first space outside quotes and brackets."""
    open_brackets: list[str] = []
    while position < len(text):
        token = TOKEN.match(text, position)
        if token is None or (token[0].isspace() and not open_brackets):
            return position
        if token[2]:
            open_brackets.append(CLOSERS[token[2]])
        elif token[3] and open_brackets and open_brackets[-1] == token[3]:
            open_brackets.pop()
        position = token.end()
    return position


def _to_json_value(value: Any, levels: int) -> Any:
    """Turns tuples into lists and keys into text; raises ValueError for values that JSON can't hold."""
    if value is None or type(value) is bool or (type(value) is str and not SURROGATE.search(value)):
        return value
    if type(value) is int and -LARGEST_INT <= value < LARGEST_INT:
        return value
    if type(value) is float and value - value == 0:
        return value
    if levels and type(value) is dict:
        return {_to_json_value(str(key), 0): _to_json_value(item, levels - 1) for key, item in value.items()}
    if levels and type(value) in (list, tuple):
        return [_to_json_value(item, levels - 1) for item in value]
    raise ValueError
