"""Lines of native and chat traces written in every way, damaged or not, and what reading each must give.

What must come out is decided from the bytes with the standard library alone, by the rules of docs/traces.md.
"""

from __future__ import annotations

import io
import json
import math
from datetime import datetime
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from evalgate.adapters.formats.core.format import ReadBudget, TraceLimits
from evalgate.adapters.formats.open.detect import FormatChoice
from evalgate.adapters.formats.open.raw_file import RawFile
from evalgate.adapters.formats.open.trace_file import TraceFile
from evalgate.ports import FoundFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEVELS = 64
SCHEMA = "evalgate.trace/1"


GOOD = {
    "native": {"schema": SCHEMA, "messages": [{"role": "user", "content": "hi"}]},
    "chat": {"messages": [{"role": "user", "content": "hi"}]},
}
"""A good line of each kind, from which the format of a file is known."""


def read(data: bytes) -> Iterator[Any]:
    """The records of a file."""
    raw = RawFile(io.BytesIO(data), TraceLimits(), ReadBudget(None))
    return TraceFile(FoundFile("a.jsonl", "a.jsonl", "a.jsonl"), FormatChoice(None), TraceLimits()).read_records(raw)


def read_lines(lines: Iterable[bytes], kind: str) -> dict[int, Any]:
    """The records of a file with these lines after a good one, by their number from 1."""
    good = json.dumps(GOOD[kind]).encode()
    records = {record.source.line - 2: record for record in read(b"\n".join([good, good, *lines]))}
    return {number: record for number, record in records.items() if number > 0}


class RefusedError(Exception):
    """The line must be refused."""


class UndecidedError(Exception):
    """The line may be read or refused."""


class Facts(NamedTuple):
    """What a trace must hold; `unknown` names the fields that it must warn of.

    `may_hold_calls`: an unknown field holds objects, so that the line may be refused too.
    """

    messages: list[tuple[str, Any]]
    calls: list[tuple[str | None, str, Any]]
    values: dict[str, Any]
    unknown: set[tuple[str | None, str]]
    may_hold_calls: bool


# Strict JSON


def parse_strictly(data: bytes) -> Any:
    """The value of a JSON text with unique keys, finite numbers and whole characters."""
    try:
        value = json.loads(
            data.decode(), object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite, parse_int=_integer
        )
    except (ValueError, RecursionError) as error:
        raise RefusedError(str(error)) from None
    return _repair(value)


def _refuse(text: str) -> Any:
    raise RefusedError(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise RefusedError("a key twice")
    return dict(pairs)


def _finite(digits: str) -> float:
    return _refuse(digits) if math.isinf(float(digits)) else float(digits)


def _integer(digits: str) -> float:
    if len(digits) < 25 and -(2**63) <= int(digits) < 2**64:
        return int(digits)
    return _finite(digits)


def _repair(value: Any) -> Any:
    """The value with U+FFFD for each half of a surrogate pair; a key that appears twice then is refused."""
    if isinstance(value, dict):
        return _unique([(_repair(key), _repair(each)) for key, each in value.items()])
    if isinstance(value, list):
        return [_repair(each) for each in value]
    if isinstance(value, str):
        return "".join("\N{REPLACEMENT CHARACTER}" if "\ud800" <= char <= "\udfff" else char for char in value)
    return value


def count_levels(value: Any) -> int:
    """The number of lists and objects inside each other."""
    levels, level = 0, [value]
    while level := [each for each in level if isinstance(each, dict | list)]:
        levels += 1
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]
    return levels


# Rules of fields


def is_number(value: Any) -> bool:
    """A number that is not beyond what a trace may record."""
    return value is None or (type(value) in (int, float) and abs(value) <= 1e15)


def is_amount(value: Any) -> bool:
    """A number that is not negative."""
    return is_number(value) and (value is None or value >= 0)


def is_cost(value: Any) -> bool:
    """An amount, by itself or in an object."""
    return is_amount(value.get("usd") if type(value) is dict else value)


def is_whole(value: Any) -> bool:
    """A whole number, also one written as 1.0."""
    return value is None or (type(value) in (int, float) and value == value // 1 and abs(value) <= 1e11)


def is_count(value: Any) -> bool:
    """A whole number that is not negative."""
    return is_whole(value) and (value is None or value >= 0)


def is_text(value: Any) -> bool:
    """Text, or nothing."""
    return value is None or type(value) is str


def is_name(value: Any) -> bool:
    """Text that is not empty."""
    return type(value) is str and value != ""


def is_identifier(value: Any) -> bool:
    """Text of 1 to 512 characters, or a number."""
    return value is None or type(value) in (int, float) or (type(value) is str and 0 < len(value) <= 512)


def is_object(value: Any) -> bool:
    """An object, or nothing."""
    return value is None or type(value) is dict


def is_time(value: Any) -> bool:
    """A time as ISO 8601 writes it."""
    if type(value) is not str:
        return value is None
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return False
    return True


def is_flag(value: Any) -> bool:
    """True, false, or nothing."""
    return value is None or type(value) is bool


def is_scores(value: Any) -> bool:
    """Numbers by name."""
    return is_object(value) and all(key and is_number(each) for key, each in (value or {}).items())


def is_tags(value: Any) -> bool:
    """A list of words, or an object of them, of which only the empty one is tried."""
    return value is None or value == {} or (type(value) is list and all(map(is_name, value)))


def is_usage(value: Any) -> bool:
    """Tokens by kind."""
    return is_object(value) and all(is_count(each) for key, each in (value or {}).items() if key in TOKENS)


TOKENS = {
    *("input_tokens", "output_tokens", "total_tokens"),
    *("cache_read_input_tokens", "cache_write_input_tokens", "reasoning_output_tokens"),
}
NATIVE_FIELDS = {
    **dict.fromkeys(("trace_id", "conversation_id", "name", "provider", "model", "finish_reason"), is_text),
    **dict.fromkeys(("started_at", "ended_at"), is_time),
    **dict.fromkeys(("cost_usd", "latency_seconds"), is_amount),
    "scenario_id": is_identifier,
    "trial": is_count,
    "metadata": is_object,
    "agent": is_object,
    "usage": is_usage,
    "scores": is_scores,
    "tags": is_tags,
}
NATIVE_MESSAGE = {"role", "content", "tool_calls", "tool_call_id", "name", "timestamp", "agent", "model", "is_error"}
NATIVE_MESSAGE |= {"exit_code", "duration_seconds", "reasoning"}
DETAILS = {"timestamp": is_time, "agent": is_text, "model": is_text, "reasoning": is_text}
OUTCOME = {"is_error": is_flag, "exit_code": is_whole, "duration_seconds": is_amount}
CHAT_FIELDS = {
    **dict.fromkeys(("id", "model", "provider", "finish_reason"), is_text),
    "cost_usd": is_cost,
    "latency_ms": is_amount,
    "scenario_id": is_identifier,
    "trial": is_count,
    "metadata": is_object,
    "scores": is_scores,
}
CHAT_TOKENS = ("prompt_tokens", "completion_tokens", "total_tokens")
CHAT_MESSAGE = {"role", "content", "tool_calls", "tool_call_id", "name"}


def _require(fields: dict[str, Any], rules: dict[str, Any]) -> None:
    for key, rule in rules.items():
        if not rule(fields.get(key)):
            raise RefusedError(key)


def _read_content(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    if type(value) is list and all(type(part) is str for part in value):
        return "\n".join(value) if value else None
    raise RefusedError("content")


def _format_identifier(value: Any) -> str | None:
    if value is None or type(value) is str:
        return value
    return str(int(value)) if value == value // 1 else format(Decimal(repr(value)), "f")


def read_arguments(recorded: Any) -> Any:
    """Arguments as an object, or as the text of one; None for text that is not strict JSON."""
    if type(recorded) is not str:
        return recorded
    if not recorded.strip():
        return {}
    try:
        value = parse_strictly(recorded.encode())
    except RefusedError:
        return None
    return value if count_levels(value) <= LEVELS else None


def expect_native(document: Any) -> Facts:
    """What a native trace in the short form must give."""
    if type(document) is not dict or document.get("schema") != SCHEMA or type(document.get("messages")) is not list:
        raise RefusedError("schema or messages")
    if count_levels(document) > LEVELS:
        raise RefusedError("too deep")
    _require(document, NATIVE_FIELDS)
    unknown = {(None, key) for key in document.keys() - NATIVE_FIELDS.keys() - {"schema", "messages"}}
    unknown |= {("usage", key) for key in (document.get("usage") or {}).keys() - TOKENS}
    may_hold_calls = any(
        _may_hold_calls(document[key]) for key in document.keys() - NATIVE_FIELDS.keys() - {"messages"}
    )
    messages, calls = [], []
    for message in document["messages"]:
        if type(message) is not dict or message.get("role") not in ("system", "user", "assistant", "tool"):
            raise RefusedError("message")
        _require(message, DETAILS)
        _require(message, {"name": is_text})
        unknown |= {("messages[]", key) for key in message.keys() - NATIVE_MESSAGE}
        may_hold_calls = may_hold_calls or any(_may_hold_calls(message[key]) for key in message.keys() - NATIVE_MESSAGE)
        content = message.get("content")
        if message["role"] == "tool":
            _require(message, {"tool_call_id": is_text})
            if not all(rule(message.get(key)) for key, rule in OUTCOME.items()):
                raise RefusedError("outcome") if calls else UndecidedError
            messages.append(("tool", content if type(content) is dict else _read_content(content)))
            continue
        messages.append((message["role"], _read_content(content)))
        for call in _list(message.get("tool_calls")):
            if type(call) is not dict or not is_text(call.get("id")) or not is_name(call.get("name")):
                raise RefusedError("call")
            unknown |= {("messages[].tool_calls[]", key) for key in call.keys() - {"id", "name", "arguments"}}
            calls.append((call.get("id"), call["name"], read_arguments(call.get("arguments"))))
    usage = document.get("usage") or {}
    if not messages and not any(usage.get(key) for key in ("input_tokens", "output_tokens", "total_tokens")):
        raise RefusedError("nothing")
    return Facts(
        messages,
        calls,
        _list_values(document, {key: usage.get(key) for key in TOKENS - {"total_tokens"}}),
        unknown,
        may_hold_calls,
    )


def expect_chat(document: Any) -> Facts:
    """What a chat trace, with fields next to its messages, must give."""
    messages = document.get("messages") if type(document) is dict else None
    if type(messages) is not list or str(document.get("schema", "")).startswith("evalgate."):
        raise RefusedError("messages")
    _require(document, CHAT_FIELDS)
    usage = document.get("usage")
    if not is_object(usage) or not all(is_count((usage or {}).get(key)) for key in CHAT_TOKENS):
        raise RefusedError("usage")
    read, calls, may_hold_calls = [], [], False
    for message in messages:
        if type(message) is not dict or message.get("role") not in ("system", "developer", "user", "assistant", "tool"):
            raise RefusedError("message")
        content = _read_content(message.get("content"))
        role = "system" if message["role"] == "developer" else message["role"]
        _require(message, {"name": is_text})
        if role == "tool":
            _require(message, {"tool_call_id": is_text})
        may_hold_calls = may_hold_calls or any(_may_hold_calls(message[key]) for key in message.keys() - CHAT_MESSAGE)
        read.append((role, content))
        calls += map(_read_chat_call, _list(message.get("tool_calls")) if role == "assistant" else ())
    if not messages or not {"content", "tool_calls"} & messages[0].keys():
        raise RefusedError("no message")
    if count_levels(document) > LEVELS:
        raise RefusedError("too deep")
    usage = usage or {}
    tokens = {"input_tokens": usage.get("prompt_tokens"), "output_tokens": usage.get("completion_tokens")}
    values = _list_values(document, tokens)
    values |= {"model": values["model"] or None, "provider": values["provider"] or None}
    return Facts(read, calls, values, set(), may_hold_calls)


def _read_chat_call(call: Any) -> tuple[str | None, str, Any]:
    if type(call) is dict and call.get("function") is None:
        raise UndecidedError
    function = call["function"] if type(call) is dict else None
    if type(function) is not dict or not is_text(call.get("id")) or not is_name(function.get("name")):
        raise RefusedError("call")
    given = function.get("arguments")
    if type(given) not in (str, dict, type(None)):
        raise RefusedError("arguments")
    return call.get("id") or None, function["name"], read_arguments(given)


def _list(value: Any) -> list[Any]:
    if value is not None and type(value) is not list:
        raise RefusedError("is not a list")
    return value or []


def _may_hold_calls(value: Any) -> bool:
    if type(value) is list:
        return any(each for each in value if type(each) in (dict, list, str))
    return type(value) is dict and bool(value)


def _list_values(document: dict[str, Any], tokens: dict[str, Any]) -> dict[str, Any]:
    return {
        "scenario_id": _format_identifier(document.get("scenario_id")),
        "trial": document.get("trial"),
        "model": document.get("model"),
        "provider": document.get("provider"),
        "metadata": document.get("metadata") or {},
        "tags": list(document.get("tags") or []),
        "scores": document.get("scores") or {},
        "usage": tokens,
    }


# Writing lines

TEXTS = (
    *("", "ok", "a: b", 'say "hi"', "back\\slash", "tab\tline\nend", "\x7f\x00\x1f", "é ✓ 🎉", "\u2028", "{x: [1]}"),
    *("the order of 10:30 is on its way", "x" * 300, '{"a": 1', "\\u003a", "null", "1e999"),
)
ARGUMENTS = (
    *('{"order": "A1", "n": 2}', '{"a": {"b": [1.5, null, true]}}', "", " ", '{"a": 1, "a": 2}', '{"a": NaN}'),
    *('{"a": 1e999}', "not JSON", '["x"]', '{"n": 18446744073709551616}', '{"\\u0061": 1, "a": 1}', '"text"'),
    *("[" * 64 + "]" * 64, "[" * 65 + "]" * 65, '{"k": "\\ud83c\\udf89"}', '{"k": "\\ud83c"}'),
)
KEYS = ("colour", "x:y", "schlüssel", "🎉", 'q"uote', "Role", "content ", "back\\slash", "a.b")
LEAVES = (
    *(b"0", b"-0", b"-1", b"1.5", b"1.0", b"1e3", b"1E+2", b"1e999", b"-1e999", b"1e-999", b"NaN", b"-Infinity"),
    *(b"9223372036854775807", b"9223372036854775808", b"18446744073709551615", b"18446744073709551616", b"1e400"),
    *(b"-9223372036854775809", b"123456789012345678901234567890", b"9" * 400, b"100000000001", b"1000000000000001"),
    *(b"null", b"true", b'""', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\u00"', b"[]", b"{}", b"01", b"+1", b".5", b"1."),
    *(b'"\xff"', b'"\xc0\xaf"', b'"\xed\xa0\x80"', b'"\x01"', b'"\t"', b"'x'", b"undefined", b'["a",]', b'{"a":1,}'),
)
ODD_BYTES = (b"\xff", b"\x00", b",", b":", b"}", b"]", b'"', b"\\", b"\xef\xbb\xbf", b"//", b"\x0c", b" ", b"\xc3")


class Pairs(list[Any]):
    """An object as a list of keys and values, so that a key may be there twice."""


class Raw(bytes):
    """A value as it is written."""


def start_draw(seed: int) -> Random:
    """The same choices for the same seed."""
    return Random(seed)  # noqa: S311


def draw_line(draw: Random, kind: str) -> bytes:
    """One line, as good as any or with up to two damages or oddities."""
    tree = draw_tree(draw, kind)
    changes = [draw.choice(CHANGES) for _ in range(draw.choice((0, 1, 1, 1, 2)))]
    for change in changes:
        change(draw, tree)
    line = Writer(draw).write(tree)
    if draw.random() < 0.2:
        line = draw.choice((_cut, _insert, _replace))(draw, line)
    return line.replace(b"\n", b" ")


def draw_tree(draw: Random, kind: str) -> Pairs:
    """A good trace, ready for changes."""
    tree: Pairs = _to_tree(draw_native(draw) if kind == "native" else draw_chat(draw))
    return tree


def draw_native(draw: Random) -> dict[str, Any]:
    """A native trace in the short form."""
    document: dict[str, Any] = {"schema": SCHEMA, "scenario_id": f"s{draw.randrange(9)}", "trial": draw.randrange(3)}
    document |= {"metadata": {"lane": draw.choice(TEXTS), "sizes": [1, 2.5], "flags": {"x": True}}, "model": "m-1"}
    for key, value in (("usage", {"input_tokens": 10, "output_tokens": 5}), ("cost_usd", 0.25), ("tags", ["a", "b:c"])):
        if draw.random() < 0.5:
            document[key] = value
    if draw.random() < 0.3:
        document |= {"latency_seconds": 1.5, "scores": {"helpful": 0.5}, "started_at": "2026-01-01T00:00:00Z"}
    messages: list[dict[str, Any]] = [{"role": "user", "content": draw.choice(TEXTS)}]
    for number in range(draw.randrange(3)):
        given: Any = (
            draw.choice(ARGUMENTS) if draw.random() < 0.4 else {"order": draw.choice(TEXTS), "deep": {"n": [1]}}
        )
        call = {"id": f"c{number}", "name": "look_up", "arguments": given}
        messages.append({"role": "assistant", "content": draw.choice((None, "hm")), "tool_calls": [call]})
        answer = {"role": "tool", "tool_call_id": f"c{number}", "content": draw.choice((*TEXTS, {"ok": True}))}
        messages.append({**answer, **draw.choice(({}, {"is_error": True}, {"exit_code": 1, "duration_seconds": 0.5}))})
    last = {"role": "assistant", "content": draw.choice(TEXTS)}
    messages.append(
        {**last, **draw.choice(({}, {"timestamp": "2026-01-01T00:00:09Z", "agent": "a"}, {"reasoning": "r"}))}
    )
    return {**document, "messages": messages}


def draw_chat(draw: Random) -> dict[str, Any]:
    """A chat trace with fields next to its messages."""
    document: dict[str, Any] = {
        "scenario_id": f"s{draw.randrange(9)}",
        "model": "m-1",
        "metadata": {"lane": draw.choice(TEXTS)},
    }
    if draw.random() < 0.5:
        document |= {
            "usage": {"prompt_tokens": 10, "completion_tokens": 5},
            "trial": 1,
            "cost_usd": 0.25,
            "latency_ms": 9,
        }
    messages: list[dict[str, Any]] = [
        {"role": draw.choice(("system", "developer", "user")), "content": draw.choice(TEXTS)}
    ]
    for number in range(draw.randrange(3)):
        given: Any = draw.choice(ARGUMENTS) if draw.random() < 0.8 else {"order": draw.choice(TEXTS)}
        call = {"id": f"c{number}", "type": "function", "function": {"name": "look_up", "arguments": given}}
        messages.append({"role": "assistant", "content": draw.choice((None, "hm")), "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": draw.choice(TEXTS)})
    return {**document, "messages": [*messages, {"role": "assistant", "content": draw.choice(TEXTS)}]}


def _to_tree(value: Any) -> Any:
    if isinstance(value, dict):
        return Pairs([key, _to_tree(each)] for key, each in value.items())
    return [_to_tree(each) for each in value] if isinstance(value, list) else value


def list_objects(tree: Any) -> Iterator[Pairs]:
    """All objects of a tree, the outermost first."""
    waiting = [tree]
    while waiting:
        each = waiting.pop(0)
        if isinstance(each, Pairs):
            yield each
            waiting += [value for _, value in each]
        elif isinstance(each, list):
            waiting += each


def _repeat_key(draw: Random, tree: Pairs) -> None:
    """A key twice in one object, with the same value or another."""
    target = draw.choice([each for each in list_objects(tree) if each])
    key, value = draw.choice(target)
    target.insert(draw.randrange(len(target) + 1), [key, draw.choice((value, "other"))])


def _add_unknown(draw: Random, tree: Pairs) -> None:
    """A field that no reader knows."""
    target = draw.choice(list(list_objects(tree)))
    key, value = draw.choice(KEYS), draw.choice((1, "x", None, True, ["y"], [1, 2], Pairs([["z", 1]]), [], "a: b"))
    if all(key != known for known, _ in target):
        target.insert(draw.randrange(len(target) + 1), [key, value])


def _change_leaf(draw: Random, tree: Pairs) -> None:
    """A value of another type, or one that JSON does not have."""
    target = draw.choice([each for each in list_objects(tree) if each])
    draw.choice(target)[1] = Raw(draw.choice(LEAVES))


def _nest(draw: Random, tree: Pairs) -> None:
    """A value so deep that the line has about as many levels as it may."""
    levels = draw.choice((LEVELS - 3, LEVELS - 2, LEVELS - 1, LEVELS, LEVELS + 1, 300, 3_000))
    opened, closed = draw.choice(((b"[", b"]"), (b'{"k":', b"}")))
    value = Raw(opened * levels + b"1" + closed * levels)
    place = draw.randrange(4)
    objects = list(list_objects(tree))
    if place == 0:
        next(pair for pair in tree if pair[0] == "metadata")[1] = Pairs([["deep", value]])
    elif place == 1:
        draw.choice(objects).append(["unheard", value])
    else:
        calls = [pair for each in objects for pair in each if pair[0] == "arguments"]
        draw.choice(calls or [tree[-2]])[1] = value


CHANGES = (_repeat_key, _add_unknown, _add_unknown, _change_leaf, _change_leaf, _nest)


def _cut(draw: Random, line: bytes) -> bytes:
    return line[: draw.randrange(len(line))]


def _insert(draw: Random, line: bytes) -> bytes:
    at = draw.randrange(len(line) + 1)
    return line[:at] + draw.choice(ODD_BYTES) + line[at:]


def _replace(draw: Random, line: bytes) -> bytes:
    at = draw.randrange(len(line))
    return line[:at] + bytes([draw.randrange(256)]) + line[at + 1 :]


class Writer:
    """Writes a tree in one of several spacings, with more or fewer escapes."""

    def __init__(self, draw: Random, spacing: int | None = None, escapes: float | None = None) -> None:
        self._draw = draw
        self._spacing = draw.randrange(3) if spacing is None else spacing
        self._escapes = draw.choice((0.0, 0.0, 0.1, 1.0)) if escapes is None else escapes

    def write(self, value: Any) -> bytes:
        """The value as JSON."""
        if isinstance(value, Raw):
            return bytes(value)
        if isinstance(value, Pairs):
            inner = (
                self._write_text(key) + self._space() + b":" + self._space(1) + self.write(each) for key, each in value
            )
            return b"{" + (self._space() + b"," + self._space(1)).join(inner) + b"}"
        if isinstance(value, list):
            return b"[" + (b"," + self._space(1)).join(map(self.write, value)) + self._space() + b"]"
        return self._write_text(value) if isinstance(value, str) else json.dumps(value).encode()

    def _space(self, usual: int = 0) -> bytes:
        return self._draw.choice((b"", b" ", b"\t", b" \r ")) if self._spacing == 2 else b" " * usual * self._spacing

    def _write_text(self, text: str) -> bytes:
        plain = json.dumps(text, ensure_ascii=bool(self._escapes))[1:-1] if self._escapes < 1 else None
        if plain is not None and self._draw.random() >= self._escapes:
            return f'"{plain}"'.encode()
        units = text.encode("utf-16-be")
        style = self._draw.choice(("\\u%04x", "\\u%04X"))
        return (
            b'"' + "".join(style % int.from_bytes(units[at : at + 2]) for at in range(0, len(units), 2)).encode() + b'"'
        )
