"""A document in chunks loses the same values as the whole one, wherever it is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalgate.measures.redaction.redact import hide_secrets, redact_chunks, remove_exact_secrets

SECRETS = ('s3cr3t-","-of-the-job', "plain-value-of-a-variable", 'quoted\\","value')
TEXTS = st.lists(
    st.sampled_from([*SECRETS, SECRETS[1][:10] + "…", ",", '"', '\\"', '","', "},{", "x", "é"]), max_size=4
).map("".join)
DOCUMENTS = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner),
    max_leaves=12,
)


@pytest.fixture(autouse=True)
def _hidden():
    hide_secrets(SECRETS)


def cut(document, lengths):
    pieces = []
    for length in lengths:
        pieces.append(document[:length])
        document = document[length:]
    return [*pieces, document]


@given(DOCUMENTS, st.booleans(), st.lists(st.integers(0, 60), max_size=30))
def test_redaction_is_the_same_wherever_the_document_is_cut(document, ascii_only, lengths):
    written = json.dumps(document, separators=(",", ":"), ensure_ascii=ascii_only).encode()
    assert b"".join(redact_chunks(cut(written, lengths))) == remove_exact_secrets(written)


def test_chunks_are_written_before_the_end():
    record = json.dumps({"name": SECRETS[1], "reason": "y" * 50}).encode().replace(b", ", b",")
    made = []

    def records():
        for _ in range(1_000):
            made.append(1)
            yield record + b","

    cleaned = redact_chunks(records())
    first = next(cleaned)
    assert SECRETS[1].encode() not in first
    assert len(made) <= 2
