"""The baseline of a sandboxed judge, before the process that knows the secrets passes it on."""

from __future__ import annotations

import io
import os
import zipfile

import pytest

from evalgate.adapters.archives.baseline_writer import redact_archive
from evalgate.errors import JudgeCrashed
from evalgate.measures.redaction.redact import hide_secrets

SECRET = 'c0rrect "horse" battery'


@pytest.fixture(autouse=True)
def _hidden():
    hide_secrets([SECRET])
    yield
    hide_secrets([])


@pytest.fixture
def opened(tmp_path):
    def opened(content):
        (tmp_path / "b.zip").write_bytes(content)
        return os.open(tmp_path / "b.zip", os.O_RDONLY)

    return opened


def archive_of(members):
    place = io.BytesIO()
    with zipfile.ZipFile(place, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return place.getvalue()


def read(handle):
    with os.fdopen(handle, "rb") as stream:
        return stream.read()


def test_an_archive_without_secrets_is_passed_on_unchanged(opened):
    content = archive_of({"results.json": b"{}", "traces.jsonl": b'{"a": 1}\n{"a": 2}\n'})
    assert read(redact_archive(opened(content))) == content


def test_a_secret_is_removed_from_every_member_and_the_rest_stays(opened):
    line = b'{"text": "c0rrect \\"horse\\" battery"}\n{"text": "nothing"}\n'
    left = read(redact_archive(opened(archive_of({"results.json": b"[1]", "traces.jsonl": line}))))
    with zipfile.ZipFile(io.BytesIO(left)) as archive:
        assert archive.testzip() is None
        members = {name: archive.read(name) for name in archive.namelist()}
    clean = b'{"text": "[redacted: secret]"}\n{"text": "nothing"}\n'
    assert members == {"results.json": b"[1]", "traces.jsonl": clean}


def test_an_entry_without_a_name_is_refused(opened):
    made = bytearray(archive_of({"x": SECRET.encode()}))
    for at in (26, made.find(b"PK\x01\x02") + 28):
        made[at], made[at + 2] = 0, 1  # what was the name is something extra now
    with pytest.raises(JudgeCrashed):
        redact_archive(opened(bytes(made)))


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"x" * 81_000_000], ids=["", "PK", "large"])
def test_a_file_that_is_not_a_baseline_is_a_bug_in_the_judge(opened, content):
    with pytest.raises(JudgeCrashed):
        redact_archive(opened(content))
