"""Half of a surrogate pair, which RFC 8259 allows as an escape, is U+FFFD and a warning in every file."""

import json

import pytest
from fakes.files import MemoryFiles

from evalgate.adapters.formats.core.format import TraceLimits
from evalgate.adapters.formats.core.strict_json import decode, decode_repaired, decode_slowly, is_complete
from evalgate.adapters.formats.open.trace_files import TraceFiles
from evalgate.errors import TraceError

HALVES = [rb"\ud83d", rb"\udca9", rb"\uD83D!", rb"\udca9\ud83d"]


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("read", [decode_repaired, decode_slowly])
def test_half_a_character_is_replaced(half, read):
    data = b'{"a": ["cut ' + half + b'", 1.5, 18446744073709551615], "\\ud83d\\udca9": "\\ud83d\\udca9"}'
    found, has_halves = read(data)
    assert has_halves
    assert "\N{REPLACEMENT CHARACTER}" in found["a"][0]
    assert found["a"][1:] == [1.5, 18446744073709551615]
    assert found["\N{PILE OF POO}"] == "\N{PILE OF POO}"
    assert is_complete(data)


def test_whole_characters_are_not_repaired():
    assert decode_repaired(rb'["\ud83d\udca9"]') == (["\N{PILE OF POO}"], False)


@pytest.mark.parametrize(
    "data", [rb'{"\ud83d": 1, "\ud83c": 2}', rb'["\ud83d", NaN]', rb'["\ud83d", 1e999]', rb'["\ud83d"']
)
def test_what_is_wrong_besides_is_refused(data):
    with pytest.raises(TraceError):
        decode(data)


def test_a_session_whose_result_was_cut_within_a_character_is_read():
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "cut HALF"}
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
    lines = [
        {"type": "user", "sessionId": "S", "uuid": "0", "message": {"role": "user", "content": "List."}},
        {"type": "assistant", "sessionId": "S", "uuid": "1", "message": {"role": "assistant", "content": [use]}},
        {"type": "user", "sessionId": "S", "uuid": "2", "message": {"role": "user", "content": [result]}},
        {"type": "assistant", "sessionId": "S", "uuid": "3", "message": {"role": "assistant", "content": "Done."}},
    ]
    text = "".join(f"{json.dumps(line)}\n" for line in lines).replace("HALF", "\\ud83d")
    files = MemoryFiles({"t/a.jsonl": text.encode()})
    [trace] = TraceFiles(files, TraceLimits()).read(["t"], "", "auto")
    assert [call["result"] for call in trace.tool_calls] == ["cut \N{REPLACEMENT CHARACTER}"]
    assert "half_character" in {warning["code"] for warning in trace.warnings}
