"""Traces in a custom JSON format, from the command line."""

import io
import json
from types import SimpleNamespace

import pytest

from evalgate.cli import main
from evalgate.cli.shell import Shell

SUITE = """\
suite: acme
traces: [logs/*.json]
format: custom
custom:
  records: runs
  scenario_id: case
  messages: log
  message: {role: who, content: text}
  roles: {human: user, bot: assistant}
scenarios:
  - id: refund
    assertions: [{contains: refunded}]
"""


@pytest.fixture
def folder(tmp_path):
    log = [{"who": "human", "text": "Refund 5."}, {"who": "bot", "text": "It is refunded."}]
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "1.json").write_text(json.dumps({"runs": [{"case": "refund", "log": log}]}))
    (tmp_path / "suite.yaml").write_text(SUITE)
    head, _, rest = SUITE.partition("format:")
    (tmp_path / "plain.yaml").write_text(f"{head}scenarios:{rest.partition('scenarios:')[2]}")
    return tmp_path


def evalgate(folder, *words):
    out, err = io.StringIO(), io.StringIO()
    code = main(words, Shell(out, err, {}, str(folder)))
    return SimpleNamespace(exit_code=code, out=out.getvalue(), err=err.getvalue())


def test_run__reads_traces_as_the_suite_says(folder):
    done = evalgate(folder, "run", "suite.yaml", "--json")
    assert done.exit_code == 0, done.err
    (scenario,) = json.loads(done.out)["suites"][0]["scenarios"]
    assert (scenario["id"], scenario["verdict"]) == ("refund", "PASS")
    assert scenario["trials"][0]["trace"]["format"] == "custom"


def test_query__shows_what_is_read_of_a_trace_as_the_suite_says(folder):
    done = evalgate(folder, "query", "--config", "suite.yaml", "turns[].role", "logs/1.json")
    assert json.loads(done.out) == ["user", "assistant"], done.err


def test_query__prices_a_trace_as_a_run_of_the_suite_does(folder):
    run = {
        "case": "refund",
        "log": [{"who": "bot", "text": "Hi."}],
        "tokens": {"in": 1_000_000, "out": 0},
        "engine": "acme-1",
    }
    (folder / "logs" / "1.json").write_text(json.dumps({"runs": [run]}))
    fields = "\n  input_tokens: tokens.in\n  output_tokens: tokens.out\n  model: engine"
    priced = SUITE.replace("\nscenarios", f'{fields}\nprices: {{"acme-*": {{input: 3, output: 9}}}}\nscenarios')
    (folder / "suite.yaml").write_text(priced)
    done = evalgate(folder, "query", "--config", "suite.yaml", "metadata.cost_usd", "logs/1.json")
    assert done.out == "3.0\n", done.err


def test_query__names_the_expression_that_found_something_else(folder):
    (folder / "logs" / "1.json").write_text('{"runs": [{"log": [{"who": "robot"}]}]}')
    done = evalgate(folder, "query", "--config", "suite.yaml", "logs/1.json")
    assert done.exit_code == 2
    assert "custom.message.role (`who`) of message 1 is `robot`, which is not in `roles`" in done.err


def test_query__takes_another_format_than_the_suites_where_one_is_named(folder):
    done = evalgate(folder, "query", "--config", "suite.yaml", "--format", "native", "logs/1.json")
    assert "native needs" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["query", "--format", "custom", "logs/1.json"], "--format custom needs --config SUITE"),
        (["query", "--format", "custom", "--config", "plain.yaml", "logs/1.json"], "has no `format: custom`"),
        (["query", "--config", "*.yaml", "logs/1.json"], "--config takes one suite"),
        (["run", "plain.yaml", "--format", "custom"], "has no `custom`, which `--format custom` needs"),
    ],
)
def test_a_missing_mapping_is_reported(folder, words, message):
    if "*.yaml" in words:
        (folder / "plain.yaml").write_text((folder / "plain.yaml").read_text().replace("acme", "other"))
    done = evalgate(folder, *words)
    assert done.exit_code == 2
    assert message in done.err
