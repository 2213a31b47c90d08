from __future__ import annotations

import pytest

from evalgate.adapters.formats.open import detect
from evalgate.errors import SettingError, TraceError, UnknownFormatError

MESSAGE = {"role": "user", "content": "hi"}
NATIVE = {"schema": "evalgate.trace/1", "messages": []}
TAU = {"task_id": 1, "traj": [MESSAGE]}
TAU2 = {"info": {}, "simulations": [], "tasks": []}


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([NATIVE], "native"),
        ([[NATIVE]], "native"),
        ([{"schema": "evalgate.trace/9"}], "native"),
        ([TAU2], "tau2"),
        ([[TAU]], "tau-bench"),
        ([TAU], "tau-bench"),
        ([[MESSAGE]], "openai-chat"),
        ([{"messages": [MESSAGE]}], "openai-chat"),
        ([{"choices": [{"message": MESSAGE}]}], "openai-chat"),
        ([{"messages": [MESSAGE]}, NATIVE], "native"),
        ([5, "x", [], {}, NATIVE], "native"),
    ],
)
def test_content_identifies_the_format(values, name):
    assert detect.detect_format(values).name == name


@pytest.mark.parametrize("role", [{}, [], 1, None])
def test_a_message_whose_role_is_not_text__is_not_claimed(role):
    with pytest.raises(TraceError):
        detect.detect_format([{"messages": [{"role": role, "content": "x"}]}])


@pytest.mark.parametrize(
    ("values", "nearest"),
    [
        ([], []),
        ([5], []),
        ([[]], []),
        ([{}], []),
        ([None], []),
        ([{"messages": "x"}], []),
        ([{"role": "user"}], []),
        ([{"type": "my.start", "data": {"content": "x"}, "timestamp": "t", "parentId": None}], ["copilot"]),
        ([{"startTime": "t", "endTime": "t", "llmSpans": []}], []),
        ([{"role": "user", "content": "hi"}], ["openai-chat"]),
        ([{"trace_id": "1", "span_id": "2"}], ["span-list"]),
        ([{"call_type": "x", "startTime": 1, "endTime": 2}], ["litellm"]),
    ],
)
def test_a_file_that_no_format_claims_is_refused_with_what_the_formats_need_that_it_nearly_has(values, nearest):
    with pytest.raises(UnknownFormatError) as caught:
        detect.detect_format(values)
    message = str(caught.value)
    assert "use `format: custom`" in message
    assert [known.name for known in detect.FORMATS if f"{known.name} needs {known.needs}" in message] == nearest
    assert caught.value.nearest == nearest


def test_the_keys_that_were_found_are_named_without_control_characters():
    with pytest.raises(TraceError, match=r"an object with `widgets`, `a\?b`"):
        detect.detect_format([{"widgets": [], "a\nb": 1}])


def test_a_format_can_be_named():
    assert detect.find_format("auto") is None
    assert [detect.find_format(known.name) for known in detect.FORMATS] == list(detect.FORMATS)


def test_an_unknown_format_is_refused_with_a_suggestion():
    with pytest.raises(SettingError, match="did you mean openai-chat"):
        detect.find_format("openai_chat")
    with pytest.raises(SettingError, match=r"known: native, .*openai-chat"):
        detect.find_format("xyzzy")
