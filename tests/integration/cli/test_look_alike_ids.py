"""Ids that traces name: a report shows a person that two ids which look alike differ."""

from __future__ import annotations

import json

import pytest
from command import evalgate

SUITE = """\
version: 1
suite: s
traces: [t/*.json]
scenarios:
  - id: "*"
    assertions: [{contains: refunded}]
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "s.yaml").write_text(SUITE)
    (tmp_path / "t").mkdir()
    for number, scenario in enumerate(["refund", "refund ", "refund\u200b", "r\u0435fund", "\u00a0other"]):
        messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "refunded"}]
        trace = {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages}
        (tmp_path / f"t/{number}.json").write_text(json.dumps(trace))
    return tmp_path


def test_ids_of_traces_that_look_alike_are_warned_of(project):
    ran = evalgate(project, ["s.yaml", "-v"])
    assert ran.code == 0
    results = ran.results
    found = [warning["message"] for warning in results["warnings"] if warning["code"] == "look_alike_ids"]
    assert found == [
        "scenario `refund<U+200B>` looks like `refund`: one of them has U+200B ZERO WIDTH SPACE",
        "scenario `r\u0435fund` looks like `refund`: one of them has U+0435 CYRILLIC SMALL LETTER IE",
    ]
    reports = [ran.text("comment.md"), ran.text("junit.xml")]
    for report in [ran.stdout, *(each.replace("&lt;", "<").replace("&gt;", ">") for each in reports)]:
        for shown in ("refund<U+0020>", "refund<U+200B>", "<U+00A0>other"):
            assert shown in report
    assert [each["id"] for each in results["suites"][0]["scenarios"]][1:3] == ["refund ", "refund\u200b"]
