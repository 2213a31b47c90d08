from __future__ import annotations

import json

import pytest

from evalgate.adapters.formats.open import detect
from evalgate.adapters.formats.toolbench import reader as toolbench
from evalgate.errors import TraceError


def make_message(role, content, **fields):
    return {"role": role, "content": content, **fields}


def asked(name, **arguments):
    return make_message("assistant", None, function_call={"name": name, "arguments": json.dumps(arguments)})


def answered(name, error="", response="ok"):
    return make_message("function", json.dumps({"error": error, "response": response}), name=name)


def document(**fields):
    chain = [
        make_message("system", "You are AutoGPT."),
        make_message("user", "Find the agency."),
        asked("list_all"),
        answered("list_all"),
        asked("get_one", id="x"),
        answered("get_one", error="Message error", response=""),
        asked("Finish", return_type="give_answer", final_answer="Agency X, Tel. 5"),
    ]
    answer = {
        "valid_data": True,
        "query_count": 3,
        "total_tokens": 2916,
        "final_answer": "{}",
        "finish_type": "give_answer",
        "function": [{"name": "get_one", "description": "d", "parameters": {}, "optional": []}],
        "query": "Find the agency.",
        "train_messages": [chain[:3], chain],
    }
    return {"win": True, "tree": {"size": 7}, "forward_args": {}, "answer_generation": {**answer, **fields}}


def test_a_search_that_found_no_answer_is_refused_as_such():
    failed = document(valid_data=False, final_answer="")
    del failed["answer_generation"]["train_messages"]
    assert detect.detect_format([failed]).name == "toolbench"
    with pytest.raises(TraceError, match="no chain led to an answer"):
        toolbench.build(failed)


def test_content_identifies_the_format():
    assert detect.detect_format([document()]).name == "toolbench"
