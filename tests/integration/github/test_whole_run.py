"""How a run ended, whether it is new, and who else acted count in the Action as in a shell."""

from __future__ import annotations

import json

import pytest
from fakes.agent import next_run, on_main, own_comments, trace, write_trace
from hostile.whole_run.test_who_acted import SESSION, session, sub_agent

NO_DELETE = "- {type: forbidden_tools, tools: [delete_db], required: true}"
OF_SESSIONS = f"""\
version: 1
suite: support
traces: ["../traces/*.jsonl"]
scenarios:
  - id: "*"
    assertions:
      {NO_DELETE}
"""


@pytest.fixture
def after_main(hub, act):
    """Main passes, and keeps its baseline."""
    on_main(hub)
    assert act("push").exit_code == 0
    next_run(hub, "success")


@pytest.mark.usefixtures("after_main")
def test_a_run_that_failed_blocks(hub, act, workspace):
    write_trace(workspace, {**trace(), "status": "error", "error": {"type": "exit", "message": "exit code 1"}})
    assert act().exit_code == 1
    [body] = own_comments(hub)
    assert "exit code 1" in body


@pytest.mark.usefixtures("after_main")
@pytest.mark.parametrize(("fail_on", "code"), [("hard_fail", 0), ("hard_fail,nothing_recorded", 1)])
def test_recordings_of_the_baseline_are_no_news_of_the_agent(hub, act, fail_on, code):
    assert act(fail_on=fail_on).exit_code == code
    [body] = own_comments(hub)
    heading = next(line for line in body.splitlines() if "EvalGate" in line)
    assert "to judge a change of the agent, record it again" in heading


@pytest.mark.parametrize(("tool", "code"), [("delete_db", 1), ("sweep", 0)])
def test_what_a_sub_agent_did_in_a_file_beside_the_session_is_judged(act, workspace, tool, code):
    folder = workspace / "traces" / SESSION / "subagents"
    folder.mkdir(parents=True)
    (workspace / "evals/support.yaml").write_text(OF_SESSIONS)
    (workspace / f"traces/{SESSION}.jsonl").write_text(session())
    (folder / "agent-a1.jsonl").write_text(sub_agent(name=tool))
    assert act().exit_code == code
    results = json.loads((workspace / ".evalgate/results.json").read_text())
    [trial] = results["suites"][0]["scenarios"][0]["trials"]
    assert tool in trial["tool_calls"]
