"""Of new scenarios that pass, every report shows a trial, however the traces were judged."""

import io
import json

import pytest
from command import NOW, evalgate

from evalgate.cli import main
from evalgate.cli.shell import Shell

EXAMPLE = {"trial": 0, "request": "cancel b", "calls": ['get_order {"id":1}'], "answer": "ok", "reads_only": True}


def call(tmp_path, *arguments):
    """What another verb prints."""
    out = io.StringIO()
    main([*arguments], Shell(out, io.StringIO(), {"SOURCE_DATE_EPOCH": NOW}, str(tmp_path)))
    return out.getvalue()


def record(tmp_path, ids):
    scenarios = [{"id": id_, "assertions": [{"contains": "ok"}]} for id_ in ids]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": scenarios}
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    (tmp_path / "traces").mkdir(exist_ok=True)
    for id_ in ids:
        asked = {"id": "c", "name": "get_order", "arguments": {"id": 1}}
        messages = [
            {"role": "user", "content": f"cancel {id_}"},
            {"role": "assistant", "content": None, "tool_calls": [asked]},
            {"role": "tool", "tool_call_id": "c", "content": "{}"},
            {"role": "assistant", "content": "ok"},
        ]
        trace = {"schema": "evalgate.trace/1", "scenario_id": id_, "messages": messages}
        (tmp_path / f"traces/{id_}.json").write_text(json.dumps(trace))


def list_examples(document):
    changes = {each["id"]: each["change"] for each in document["suites"][0]["scenarios"]}
    return {id_: change["example"] for id_, change in changes.items() if "example" in change}


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_trial_of_a_new_scenario_is_in_every_report(tmp_path, jobs):
    record(tmp_path, "a")
    evalgate(tmp_path, ["s.yaml"])
    (tmp_path / ".evalgate").rename(tmp_path / "before")
    record(tmp_path, "ab")
    ran = evalgate(tmp_path, ["s.yaml", "--baseline", "before/baseline.zip", "--jobs", jobs])
    assert list_examples(ran.results) == {"b": EXAMPLE}
    assert list_examples(json.loads(call(tmp_path, "compare", "before", "--json"))) == {"b": EXAMPLE}
    assert '- Calls: ` get_order {"id":1} ` (only look-ups)\n' in ran.text("comment.md")
    assert 'calls    get_order {"id":1} (only look-ups)\n' in call(tmp_path, "explain", "b")


def test_a_trial_of_a_new_scenario_is_found_in_shards(tmp_path):
    record(tmp_path, "a")
    evalgate(tmp_path, ["s.yaml"])
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / "base.zip")
    record(tmp_path, "abcd")
    for number in (1, 2):
        call(
            tmp_path, "run", "s.yaml", "--shard", f"{number}/2", "--baseline", "base.zip", "--output-dir", f"s{number}"
        )
    merge = ("merge", "s1/shard.zip", "s2/shard.zip", "--config", "s.yaml", "--baseline", "base.zip", "--json")
    found = list_examples(json.loads(call(tmp_path, *merge)))
    assert sorted(found) == ["b", "c", "d"]
    assert found["b"] == EXAMPLE
