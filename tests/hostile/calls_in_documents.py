"""Files of frameworks, platforms and command-line agents that record a call of `delete_user`, written by hand."""

from __future__ import annotations

import json
from typing import Any

from hostile.calls_in_messages import (
    ANSWER,
    ARGUMENTS,
    AS_TEXT,
    ASSISTANT,
    NAMED,
    OPENAI_CALL,
    REQUEST,
    TOOL,
    TOOL_USE,
)

START, END = "2026-01-05T10:00:00Z", "2026-01-05T10:00:02Z"
LANGCHAIN_CALL = {"name": TOOL, "args": ARGUMENTS, "id": "c1", "type": "tool_call"}
HUMAN = {"type": "human", "content": "Please clean up the account."}
AI = {"type": "ai", "content": "", "tool_calls": [LANGCHAIN_CALL]}
CONVERSE = [
    {"role": "user", "content": [{"text": "Please clean up the account."}]},
    {"role": "assistant", "content": [{"toolUse": TOOL_USE}]},
]
GEMINI = [
    {"role": "user", "parts": [{"text": "Please clean up the account."}]},
    {"role": "model", "parts": [{"functionCall": {"name": TOOL, "args": ARGUMENTS}}]},
]
COMPLETION = {
    "id": "r1",
    "object": "chat.completion",
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": ASSISTANT}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13},
}
ROOT = {"trace_id": "1" * 32, "span_id": "a" * 16, "parent_id": None}
MODEL_SPAN = {
    **ROOT,
    "name": "chat m",
    "start_time": START,
    "end_time": END,
}
MODEL = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "m"}
SAID = {"role": "assistant", "parts": [{"type": "text", "content": "Done."}], "finish_reason": "stop"}


def trace_model(**attributes: Any) -> dict[str, Any]:
    """A span of a model call with these attributes and a recorded answer."""
    answered = {"gen_ai.output.messages": json.dumps([SAID])}
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    return {**MODEL_SPAN, "attributes": {**MODEL, **answered, **named}}


def say(*parts: dict[str, Any]) -> str:
    """Output messages with these parts."""
    return json.dumps([{**SAID, "parts": [*SAID["parts"], *parts]}])


DOCUMENTS: dict[str, Any] = {
    "Bedrock request": {"modelId": "m", "messages": CONVERSE, "toolConfig": {"tools": []}},
    "Bedrock response": {
        "output": {"message": CONVERSE[1]},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13},
        "metrics": {"latencyMs": 800},
    },
    "Bedrock messages": CONVERSE,
    "Bedrock agent trace": {
        "sessionId": "s",
        "trace": {
            "orchestrationTrace": {
                "invocationInput": {"actionGroupInvocationInput": {"function": TOOL, "parameters": [ARGUMENTS]}}
            }
        },
    },
    "Strands session message": {"message": CONVERSE[1], "message_id": 1, "created_at": START},
    "Strands agent": {"agent_id": "a", "messages": CONVERSE, "state": {}},
    "Gemini contents": {"contents": GEMINI},
    "Gemini contents and response": {
        "contents": GEMINI[:1],
        "response": {"candidates": [{"content": GEMINI[1], "finishReason": "STOP"}]},
    },
    "Gemini generateContent": {
        "candidates": [{"content": GEMINI[1], "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 4, "totalTokenCount": 13},
        "modelVersion": "g",
    },
    "LangGraph state": {"values": {"messages": [HUMAN, AI]}, "next": [], "config": {"configurable": {}}},
    "LangGraph checkpoint": {"v": 1, "ts": START, "id": "x", "channel_values": {"messages": [HUMAN, AI]}},
    "LangGraph updates": {"agent": {"messages": [AI]}},
    "LangChain dumped": {
        "messages": [
            {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "AIMessage"], "kwargs": AI}
        ]
    },
    "LangChain additional_kwargs": [
        HUMAN,
        {"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [OPENAI_CALL]}},
    ],
    "LangChain invalid_tool_calls": [
        HUMAN,
        {"type": "ai", "content": "", "invalid_tool_calls": [{"name": TOOL, "args": "{user", "id": "c1"}]},
    ],
    "LangChain agent executor": {
        "input": "Please clean up the account.",
        "output": "Done.",
        "intermediate_steps": [[{"tool": TOOL, "tool_input": ARGUMENTS, "log": ""}, "deleted"]],
    },
    "Phoenix page": {
        "data": [
            {
                "id": "S1",
                "name": TOOL,
                "span_kind": "TOOL",
                "context": {"trace_id": "1" * 32, "span_id": "a" * 16},
                "parent_id": None,
                "start_time": START,
                "end_time": END,
                "status_code": "OK",
                "attributes": {"tool.name": TOOL, "input.value": AS_TEXT, "openinference.span.kind": "TOOL"},
                "events": [],
            }
        ],
        "next_cursor": None,
    },
    "Phoenix dataframe line": {
        "context.span_id": "a" * 16,
        "context.trace_id": "1" * 32,
        "name": TOOL,
        "span_kind": "TOOL",
        "parent_id": None,
        "start_time": 1767607200000,
        "end_time": 1767607202000,
        "status_code": "OK",
        "attributes.tool.name": TOOL,
        "attributes.input.value": AS_TEXT,
        "attributes.openinference.span.kind": "TOOL",
    },
    "span: a part of unknown type": trace_model(
        gen_ai__output__messages=say({"type": "tool_request", "name": TOOL, "arguments": ARGUMENTS})
    ),
    "span: a part of Bedrock": trace_model(gen_ai__output__messages=say({"toolUse": TOOL_USE})),
    "span: calls beside the parts": trace_model(
        gen_ai__output__messages=json.dumps([{**SAID, "tool_calls": [OPENAI_CALL]}])
    ),
    "span: an unknown attribute with calls": trace_model(my_agent__tool_calls=json.dumps([OPENAI_CALL])),
    "span: an unknown attribute with messages": trace_model(my_agent__turns=json.dumps([REQUEST, ASSISTANT])),
    "span: an unknown attribute with the name": trace_model(my_agent__tool__name=TOOL),
    "span: an attribute per field": trace_model(my__output__0__tool_calls__0__function_name=TOOL),
    "span: a call as Python prints it": trace_model(
        my_agent__steps=json.dumps([{"note": f"ToolCall(id='c1', name='{TOOL}', arguments='')"}])
    ),
    "span: an event": {
        **trace_model(),
        "events": [{"name": "tool", "timestamp": START, "attributes": {"tool.name": TOOL, "tool.input": AS_TEXT}}],
    },
    "LangSmith span": {
        **ROOT,
        "name": TOOL,
        "start_time": START,
        "end_time": END,
        "attributes": {"langsmith.span.kind": "tool", "gen_ai.prompt": AS_TEXT, "gen_ai.completion": "deleted"},
    },
    "LangSmith model span": {
        **ROOT,
        "name": "ChatOpenAI",
        "start_time": START,
        "end_time": END,
        "attributes": {
            "langsmith.span.kind": "llm",
            "gen_ai.prompt": json.dumps({"messages": [REQUEST]}),
            "gen_ai.completion": json.dumps(COMPLETION),
        },
    },
    "AutoGen messages": [
        {"source": "user", "content": "Please clean up the account.", "type": "TextMessage"},
        {
            "source": "assistant",
            "content": [{"id": "c1", "arguments": AS_TEXT, "name": TOOL}],
            "type": "ToolCallRequestEvent",
        },
    ],
    "AutoGen state": {
        "type": "AssistantAgentState",
        "llm_context": {
            "messages": [
                {"content": "x", "source": "user", "type": "UserMessage"},
                {"content": [{"id": "c", "arguments": AS_TEXT, "name": TOOL}], "type": "AssistantMessage"},
            ]
        },
    },
    "AutoGen 0.2 chat": {"chat_history": [REQUEST, ASSISTANT], "summary": "", "cost": {}},
    "Agent Framework messages": {
        "messages": [
            {"role": "user", "contents": [{"type": "text", "text": "Please clean up."}]},
            {
                "role": "assistant",
                "contents": [{"type": "function_call", "call_id": "c1", "name": TOOL, "arguments": AS_TEXT}],
            },
        ]
    },
    "Semantic Kernel history": {
        "messages": [
            {"role": {"label": "assistant"}, "items": [{"$type": "FunctionCallContent", "function_name": TOOL}]}
        ]
    },
    "CrewAI output": {"raw": "Done.", "tasks_output": [{"description": "x", "messages": [REQUEST, ASSISTANT]}]},
    "CrewAI event": {"type": "tool_usage_finished", "tool_name": TOOL, "tool_args": ARGUMENTS, "agent_role": "x"},
    "LiteLLM log": {
        "id": "x",
        "call_type": "acompletion",
        "model": "m",
        "messages": [REQUEST],
        "response": COMPLETION,
        "response_cost": 0.001,
        "startTime": 1767607200.0,
        "endTime": 1767607202.0,
    },
    "DSPy history": {
        "prompt": None,
        "messages": [REQUEST],
        "kwargs": {},
        "response": COMPLETION,
        "outputs": [{"text": "", "tool_calls": [OPENAI_CALL]}],
        "usage": {},
        "cost": 0.1,
        "timestamp": START,
        "uuid": "x",
        "model": "m",
    },
    "DSPy ReAct": {"trajectory": {"thought_0": "x", "tool_name_0": TOOL, "tool_args_0": ARGUMENTS}, "answer": "x"},
    "cached response": {
        "content": "",
        "tool_calls": [{"name": TOOL, "args": ARGUMENTS, "id": "c1"}],
        "usage_metadata": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
    },
    "promptfoo output": {
        "evalId": "x",
        "results": {
            "version": 3,
            "results": [
                {
                    "prompt": {"raw": "Please clean up."},
                    "vars": {},
                    "response": {"output": json.dumps([OPENAI_CALL]), "raw": json.dumps(COMPLETION)},
                    "success": True,
                    "score": 1,
                }
            ],
            "stats": {},
        },
    },
    "deepeval test run": {
        "testCases": [
            {
                "name": "a",
                "input": "Please clean up.",
                "actualOutput": "Done.",
                "toolsCalled": [{"name": TOOL, "inputParameters": ARGUMENTS}],
                "metricsData": [],
                "success": True,
            }
        ]
    },
    "ragas sample": {
        "user_input": [
            {"type": "human", "content": "Please clean up."},
            {"type": "ai", "content": "", "tool_calls": [{"name": TOOL, "args": ARGUMENTS}]},
        ],
        "reference_tool_calls": [],
    },
    "MLflow trace": {
        "info": {"trace_id": "tr-1", "state": "OK", "request_time": START, "trace_metadata": {}},
        "data": {
            "spans": [
                {
                    "trace_id": "AAAAAAAAAAAAAAAAAAAAAQ==",
                    "span_id": "AAAAAAAAAAE=",
                    "parent_span_id": None,
                    "name": TOOL,
                    "start_time_unix_nano": 1767607200000000000,
                    "end_time_unix_nano": 1767607202000000000,
                    "attributes": {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": AS_TEXT},
                    "status": {"code": "STATUS_CODE_OK"},
                }
            ]
        },
    },
    "ShareGPT": {
        "conversations": [
            {"from": "human", "value": "Please clean up."},
            {"from": "function_call", "value": json.dumps(NAMED)},
        ]
    },
    "Assistants run steps": {
        "object": "list",
        "data": [
            {
                "id": "step_1",
                "object": "thread.run.step",
                "type": "tool_calls",
                "step_details": {"type": "tool_calls", "tool_calls": [OPENAI_CALL]},
            }
        ],
    },
    "Letta messages": [
        {"message_type": "user_message", "content": "x"},
        {"message_type": "tool_call_message", "tool_call": {"name": TOOL, "arguments": AS_TEXT, "tool_call_id": "c"}},
    ],
    "smolagents memory": {
        "steps": [
            {"step_number": 1, "tool_calls": [OPENAI_CALL], "model_output": "x", "observations": "deleted"},
        ]
    },
    "LlamaIndex chat": {
        "messages": [
            {"role": "user", "blocks": [{"block_type": "text", "text": "x"}]},
            {"role": "assistant", "blocks": [], "additional_kwargs": {"tool_calls": [OPENAI_CALL]}},
        ]
    },
    "Haystack messages": [
        {"role": "user", "meta": {}, "name": None, "content": [{"text": "x"}]},
        {"role": "assistant", "content": [{"tool_call": {"tool_name": TOOL, "arguments": ARGUMENTS, "id": None}}]},
    ],
    "Mastra result": {
        "text": "Done.",
        "steps": [{"toolCalls": [{"toolCallId": "c1", "toolName": TOOL, "args": ARGUMENTS}], "text": ""}],
    },
    "Vercel generateText": {
        "text": "Done.",
        "toolCalls": [{"type": "tool-call", "toolCallId": "c1", "toolName": TOOL, "input": ARGUMENTS}],
        "steps": [],
    },
    "Anthropic batch result": {
        "custom_id": "a",
        "result": {
            "type": "succeeded",
            "message": {
                "role": "assistant",
                "type": "message",
                "content": [{"type": "tool_use", "id": "t", "name": TOOL, "input": ARGUMENTS}],
            },
        },
    },
    "OpenAI batch result": {"id": "b", "custom_id": "a", "response": {"status_code": 200, "body": COMPLETION}},
    "OpenAI fine-tuning line": {"messages": [REQUEST, ASSISTANT], "tools": [], "parallel_tool_calls": False},
    "OpenAI request and response": {"request": {"messages": [REQUEST]}, "response": COMPLETION},
    "Cohere response": {
        "id": "x",
        "finish_reason": "TOOL_CALL",
        "message": {"role": "assistant", "tool_plan": "x", "tool_calls": [OPENAI_CALL]},
    },
    "Ollama response": {
        "model": "m",
        "message": {"role": "assistant", "content": "", "tool_calls": [{"function": NAMED}]},
        "done": True,
    },
    "HAR of a proxy": {
        "log": {"entries": [{"request": {}, "response": {"content": {"text": json.dumps(COMPLETION)}}}]}
    },
    "Helicone row": {"request_body": {"messages": [REQUEST]}, "response_body": COMPLETION, "request_id": "x"},
    "Braintrust span": {
        "id": "x",
        "span_id": "x",
        "root_span_id": "x",
        "span_attributes": {"type": "tool", "name": TOOL},
        "input": ARGUMENTS,
        "output": "deleted",
    },
    "Weave call": {"id": "x", "op_name": f"weave:///e/p/op/{TOOL}:v1", "trace_id": "x", "inputs": ARGUMENTS},
    "BFCL result": {"id": "simple_0", "result": [{TOOL: AS_TEXT}]},
    "list of calls": [NAMED],
}
"""Documents of one JSON value."""

STREAMS: dict[str, list[Any]] = {
    "Cursor": [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m", "cwd": "/w"},
        {"type": "user", "message": {"role": "user", "content": [{"type": "text", "text": "x"}]}, "session_id": "s"},
        {
            "type": "tool_call",
            "subtype": "started",
            "call_id": "c1",
            "tool_call": {"mcpToolCall": {"args": {"name": TOOL, "toolName": TOOL, "args": ARGUMENTS}}},
            "session_id": "s",
        },
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"},
    ],
    "Cursor with a key per tool": [
        {"type": "system", "subtype": "init", "session_id": "s", "model": "m"},
        {
            "type": "tool_call",
            "subtype": "started",
            "call_id": "c1",
            "tool_call": {"delete_userToolCall": {"args": ARGUMENTS}},
            "session_id": "s",
        },
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"},
    ],
    "Claude Code with an unknown line": [
        {"type": "user", "message": {"role": "user", "content": "x"}, "session_id": "s"},
        {"type": "tool_request", "name": TOOL, "input": ARGUMENTS, "session_id": "s"},
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"},
    ],
    "Claude Code with an unknown block": [
        {"type": "user", "message": {"role": "user", "content": "x"}, "session_id": "s"},
        {
            "type": "assistant",
            "message": {"role": "assistant", "content": [{"type": "toolCall", "name": TOOL, "arguments": ARGUMENTS}]},
            "session_id": "s",
        },
        {"type": "result", "subtype": "success", "is_error": False, "result": "Done.", "session_id": "s"},
    ],
    "Codex with an unknown item": [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "item.completed", "item": {"id": "i", "type": "dynamic_tool", "tool": TOOL, "arguments": ARGUMENTS}},
        {"type": "item.completed", "item": {"id": "j", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 4}},
    ],
    "Codex with an unknown event": [
        {"type": "thread.started", "thread_id": "t"},
        {"type": "tool.called", "tool": TOOL, "arguments": ARGUMENTS},
        {"type": "item.completed", "item": {"id": "j", "type": "agent_message", "text": "Done."}},
        {"type": "turn.completed", "usage": {"input_tokens": 9, "output_tokens": 4}},
    ],
    "Gemini CLI": [
        {"type": "init", "session_id": "s", "model": "g"},
        {"type": "message", "role": "user", "content": "x"},
        {"type": "tool_use", "tool_name": TOOL, "tool_id": "t", "parameters": ARGUMENTS},
        {"type": "result", "status": "success"},
    ],
    "opencode": [
        {"type": "step_start", "sessionID": "s", "part": {"type": "step-start"}},
        {
            "type": "tool_use",
            "sessionID": "s",
            "part": {"type": "tool", "tool": TOOL, "callID": "c", "state": {"status": "done", "input": ARGUMENTS}},
        },
    ],
    "Goose session": [
        {"description": "x", "working_dir": "/w"},
        {"role": "user", "created": 1, "content": [{"type": "text", "text": "x"}]},
        {
            "role": "assistant",
            "created": 2,
            "content": [{"type": "toolRequest", "id": "r", "toolCall": {"status": "success", "value": NAMED}}],
        },
    ],
    "Copilot CLI": [
        {"type": "session.start", "data": {"sessionId": "s"}},
        {"type": "user.message", "data": {"content": "x"}},
        {"type": "tool.execution_start", "data": {"toolCallId": "c", "toolName": TOOL, "arguments": ARGUMENTS}},
    ],
    "OpenAI chunks": [
        {
            "id": "r",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [{"index": 0, **OPENAI_CALL}]}}],
        },
        {"id": "r", "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
    ],
    "Anthropic events": [
        {"type": "message_start", "message": {"role": "assistant", "content": []}},
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "t", "name": TOOL, "input": {}},
        },
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": AS_TEXT}},
        {"type": "message_stop"},
    ],
    "Responses events": [
        {"type": "response.created", "response": {"id": "r", "object": "response", "output": []}},
        {
            "type": "response.output_item.done",
            "item": {"type": "function_call", "call_id": "c", "name": TOOL, "arguments": AS_TEXT},
        },
    ],
    "AG-UI events": [
        {"type": "RUN_STARTED", "threadId": "t", "runId": "r"},
        {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": TOOL},
        {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": AS_TEXT},
    ],
    "Vercel UI chunks": [
        {"type": "start", "messageId": "m"},
        {"type": "tool-input-available", "toolCallId": "c", "toolName": TOOL, "input": ARGUMENTS},
    ],
    "LangGraph updates by line": [{"agent": {"messages": [AI]}}, {"tools": {"messages": []}}],
    "messages by line": [REQUEST, {"role": "assistant", "content": [{"toolUse": TOOL_USE}]}, ANSWER],
    "messages by line with toolCalls": [REQUEST, {"role": "assistant", "content": "", "toolCalls": [NAMED]}, ANSWER],
    "Strands session": [
        {"message": CONVERSE[0], "message_id": 0, "created_at": START},
        {"message": CONVERSE[1], "message_id": 1, "created_at": END},
    ],
}
"""Files of JSON lines."""
