from __future__ import annotations

import json
from datetime import UTC, date, datetime

import pytest

from evalgate.application.messages.request import JudgeRequest, RenderOptions
from evalgate.application.messages.request_codec import decode_value, encode_value
from evalgate.errors import Location
from evalgate.models.approvals.approval import ApprovalFile
from evalgate.models.approvals.review import TriggeringRun
from evalgate.models.comparison.comparison import BaselineDrift, BaselineInfo, ChangedEvaluator
from evalgate.models.github import TemplateFile
from evalgate.settings.limits import Limits

DRIFT = BaselineDrift("exact", has_changed_suites=True, evaluators=(ChangedEvaluator("regex", 1, 2),))
REQUEST = JudgeRequest(
    configs=("evals/\ud800 \u00fc.yaml",),
    traces=("a", "b"),
    baseline=BaselineInfo("drifted", "a" * 40, 3, "/tmp/b.zip", 2, DRIFT),
    fail_on=("hard_fail",),
    template=TemplateFile("t.j2", "{{ x }}"),
    approvals=ApprovalFile("evalgate-approvals.yaml", bytes(range(256))),
    proposed=ApprovalFile("p", b""),
    notes=("one",),
)


def send_and_decode(value):
    """The value after encoding, JSON and decoding."""
    return decode_value(json.loads(json.dumps(encode_value(value))))


@pytest.mark.parametrize(
    "value",
    [
        REQUEST,
        JudgeRequest(),
        Limits(traces=5, memory=7),
        RenderOptions("k", 1_000, "https://x", TemplateFile("t", "")),
        TriggeringRun(1, "pull_request", None, "", "b", "c" * 40, is_same_repository=False),
        Location("f", 1, None),
        ("a", 1, 1.5, None, True, b"\x00\xff", date(2026, 1, 2), datetime(2026, 1, 2, tzinfo=UTC)),
        {"a": ("b",), "record": "x"},
        frozenset({"a", "b"}),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_request_decodes_to_what_was_encoded(value):
    assert send_and_decode(value) == value


@pytest.mark.parametrize("name", ["os:system", "evalgatex.y:z", "subprocess:Popen"])
def test_only_evalgate_records_are_decoded(name):
    with pytest.raises(ValueError, match="a request holds only EvalGate's own records"):
        decode_value({"record": name, "fields": {}})


def test_a_value_that_is_not_plain_data_can_not_be_encoded():
    with pytest.raises(TypeError, match="can't hold"):
        encode_value(object())
