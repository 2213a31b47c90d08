"""Untrusted archives: each trick alone is refused, and the message says what is wrong."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from evalgate.adapters.safe_zip import SafeZip, ZipRefusedError

NAME = "results.json"
MOST = 10_000


def packed(content=b"{}", *, name=NAME, method=zipfile.ZIP_DEFLATED, mode=0o100644, times=1):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for number in range(times):
            entry = zipfile.ZipInfo(name if times < 3 else f"{name}{number}")
            entry.compress_type = method
            entry.external_attr = mode << 16
            archive.writestr(entry, content)
    return stream.getvalue()


def read(content, **bounds):
    return SafeZip(content, MOST, **bounds).read(NAME)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_plain_archive_is_read(method):
    assert read(packed(b"[1]" * 100, method=method)) == b"[1]" * 100


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_another_method_of_compression(method):
    with pytest.raises(ZipRefusedError, match="unsupported method"):
        read(packed(method=method))


@pytest.mark.parametrize("mode", [0o120777, 0o040755, 0o010644, 0o020644, 0o060644, 0o140644])
def test_a_member_that_is_not_a_regular_file(mode):
    with pytest.raises(ZipRefusedError, match="not a regular file"):
        read(packed(mode=mode))


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_the_name():
    with pytest.raises(ZipRefusedError, match="2 entries"):
        read(packed(times=2))


@pytest.mark.parametrize(
    "name", ["../results.json", "/results.json", "a/results.json", "RESULTS.JSON", "results.json "]
)
def test_a_member_of_nearly_the_name(name):
    with pytest.raises(ZipRefusedError, match="no entries"):
        read(packed(name=name))


def test_an_encrypted_member():
    content = bytearray(packed())
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(ZipRefusedError, match="encrypted"):
        read(bytes(content))


def test_a_member_that_declares_too_large_a_size():
    with pytest.raises(ZipRefusedError, match="too large"):
        read(packed(b"0" * (MOST + 1)))


def test_members_that_are_too_large_together():
    archive = SafeZip(packed(b"0" * 6_000), MOST)
    archive.read(NAME)
    with pytest.raises(ZipRefusedError, match="too large"):
        archive.read(NAME)


def test_a_member_that_declares_less_than_it_unpacks_to():
    content = bytearray(packed(b"0" * 50_000))
    for start, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = content.index(start) + place
        content[at : at + 4] = struct.pack("<I", 10)
    with pytest.raises(ZipRefusedError):
        read(bytes(content))


@pytest.mark.parametrize("times", [11, 30])
def test_more_entries_than_the_limit(times):
    with pytest.raises(ZipRefusedError, match="more than 10 entries"):
        SafeZip(packed(times=times), MOST, 10)


def test_entries_are_counted_before_any_is_read():
    with pytest.raises(ZipRefusedError, match="more than 10 entries"):
        SafeZip(b"PK\x01\x02" * 21, MOST, 10)


@pytest.mark.parametrize("content", [b"", b"PK", b"PK\x05\x06", b"no zip", packed()[:-10], packed()[5:]])
def test_bytes_that_are_not_an_archive(content):
    with pytest.raises(ZipRefusedError):
        read(content)
