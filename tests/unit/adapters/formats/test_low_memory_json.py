"""The decoder for limited memory gives the same values as the usual one."""

from __future__ import annotations

import subprocess
import sys

import orjson
import pytest

from evalgate.adapters.formats.core.strict_json import decode, decode_slowly, is_complete
from evalgate.errors import TraceError

TEXTS = [
    b'{"a": [1, -0, 1.5e3, true, null, "\\u00e9\\ud83c\\udf89", {"b": {}}]}',
    b"[18446744073709551615, 18446744073709551616, -9223372036854775808, -9223372036854775809]",
    b"[123456789012345678901234567890, 1e-400, 4.9e-324, 1.7976931348623157e308, 1E+5]",
    b' \t\r\n["x"]\n',
    b'"\\\\ud800"',
]
REFUSED = [
    b"",
    b"[",
    b"[1,]",
    b"01",
    b"NaN",
    b"[-Infinity]",
    b"[1e999]",
    b"9" * 400,
    b"9" * 5_000,
    b'"a\x01"',
    b'"\xff"',
    b"\xef\xbb\xbf1",
    b"1 2",
    b'{"a": 1, "\\u0061": 2}',
    b"[" * 100_000,
]


@pytest.mark.parametrize("data", TEXTS)
def test_both_decoders__give_the_same_value_to_the_last_digit(data):
    assert repr(decode_slowly(data).value) == repr(decode(data))


@pytest.mark.parametrize("data", REFUSED, ids=repr)
def test_input_that_one_decoder_refuses__the_other_refuses(data):
    for read in (decode, decode_slowly):
        with pytest.raises(TraceError):
            read(data)


@pytest.mark.parametrize("data", [b"", b"[", b'{"a"', b"1 2", b'"\xff"', b"[" * 100_000])
def test_a_part_of_a_value__is_not_complete(data):
    assert not is_complete(data)


def bounded(what, content, tmp_path, megabytes=280, define=""):
    """Exit code and output of a process with limited memory for one expression over a file's content."""
    (tmp_path / "t").write_bytes(content)
    code = (
        "import resource, sys; from pathlib import Path\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes}_000_000,) * 2)\n"
        "from evalgate.adapters.formats.core.strict_json import decode, is_complete\n"
        f"from evalgate.errors import TraceError\n{define}\n"
        "data = Path(sys.argv[1]).read_bytes()\n"
        f"try: print({what})\nexcept Exception as error: print(error)"
    )
    ran = subprocess.run([sys.executable, "-c", code, tmp_path / "t"], capture_output=True, check=False)
    return ran.returncode, ran.stdout.decode().strip()


@pytest.mark.parametrize(
    "value", ["y" * 24_000_000, [0] * 3_000_000, [str(each) for each in range(1_000_000)]], ids=type
)
def test_a_large_record__is_read_within_the_memory_limit(value, tmp_path):
    content = orjson.dumps({"x": value})
    assert bounded("is_complete(data) and len(decode(data)['x'])", content, tmp_path) == (0, str(len(value)))


def test_a_part_of_a_large_record__is_not_complete(tmp_path):
    assert bounded("is_complete(data), is_complete(data[:-1])", b'["' + b"y" * 24_000_000 + b'"]', tmp_path) == (
        0,
        "True False",
    )


REFUSED_TAILS = {
    b', "a": 1, "a": 2}': "the key `a` appears twice in one object",
    b', "a": NaN}': "NaN and Infinity are not valid JSON",
    b', "a": 1e999}': "a number is too large",
    b', "a": }': "not valid JSON, at column 24000016",
}
READ = """
def attempt(tail):
    try: return decode(data + tail)
    except TraceError as error: return str(error)
"""


def test_a_large_record__is_refused_with_the_same_messages(tmp_path):
    content = b'{"x": "' + b"y" * 24_000_000 + b'"'
    found = bounded(f"[*map(attempt, {list(REFUSED_TAILS)!r})]", content, tmp_path, define=READ)
    assert found == (0, str(list(REFUSED_TAILS.values())))
