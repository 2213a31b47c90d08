from __future__ import annotations

import base64
import json

import pytest

from evalgate.adapters.github.artifacts import BackendIds, get_either_spelling
from evalgate.errors import Unreachable


def token(claims) -> str:
    return "h." + base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=") + ".s"


def test_run_and_job_are_read_from_the_tokens_scopes():
    assert BackendIds.from_token(token({"scp": "Actions.X:1 Actions.Results:run:job Actions.Y:0/0:z"})) == BackendIds(
        "run", "job"
    )


@pytest.mark.parametrize(
    "claims",
    [{}, {"scp": 3}, {"scp": "Actions.Results:one"}, {"scp": "Actions.Results:a:b:c"}, [], None, "x"],
)
def test_a_token_without_them_is_refused_as_unexpected(claims):
    with pytest.raises(Unreachable):
        BackendIds.from_token(token(claims))


def test_both_spellings_are_read():
    assert get_either_spelling({"signed_upload_url": 1}, "signed_upload_url") == 1
    assert get_either_spelling({"signedUploadUrl": 1}, "signed_upload_url") == 1
    assert get_either_spelling({}, "signed_upload_url") is None
