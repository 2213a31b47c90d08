"""Small recordings of runs whose last model call failed, as the recorders of each format write them.

Each is the text of one file. In `OUTAGES` the model provider did not answer, in `NO_OUTAGES` something else was wrong,
or the agent went on.
"""

from __future__ import annotations

import json
from typing import Any

from span_containers import CHAT, LAST, MS, ROOT, T0, TRACE, envelope, otlp_span, pairs, rows

USER = {"role": "user", "content": "Where is order 42?"}
ASKED = {"role": "assistant", "tool_calls": [{"id": "c1", "name": "lookup_order", "arguments": {"id": 42}}]}
FOUND = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
ANSWER = {"role": "assistant", "content": "It has shipped."}
WHEN = "2026-11-20T22:41:0{}.000Z"


def lines(*documents: Any) -> str:
    return "".join(json.dumps(each) + "\n" for each in documents)


# --- native -----------------------------------------------------------------------------------------------------


def native(*messages: Any, error: Any) -> str:
    calls = [{"model": "m", "error": error}]
    return json.dumps({"schema": "evalgate.trace/1", "messages": messages, "llm_calls": calls})


# --- spans ------------------------------------------------------------------------------------------------------


def failed_spans(message: str = "", *, at: str = LAST, event: Any = None, **attributes: Any) -> list[Any]:
    """The spans of a run that looks an order up, whose span `at` failed; without those after it."""
    found = []
    for row in rows():
        span_id, parent, name, start, end, recorded = row
        if span_id != at:
            found.append(otlp_span(row))
            continue
        kept = {key: value for key, value in recorded.items() if "output" not in key and "response" not in key}
        events = (
            [] if event is None else [{"timeUnixNano": str(T0 + end * MS), "name": "exception", "attributes": event}]
        )
        failed = (span_id, parent, name, start, end, {**kept, **attributes})
        found.append(otlp_span(failed, events=events, status={"code": 2, "message": message}))
    return [one for one in found if at != CHAT or one["spanId"] in {ROOT, CHAT}]


def otlp(*spans: Any) -> str:
    return json.dumps(envelope(*spans))


def exception(kind: str, message: str) -> list[Any]:
    return pairs({"exception.type": kind, "exception.message": message})


def single_span() -> str:
    """A trace of nothing but a failed request to a model, without content."""
    recorded = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "error.type": "503"}
    return otlp(otlp_span((CHAT, None, "chat m-1", 0, 60, recorded), status={"code": 2}))


def openinference() -> str:
    given = {"llm.input_messages.0.message.role": "user", "llm.input_messages.0.message.content": "Where is it?"}
    recorded = {"openinference.span.kind": "LLM", "llm.model_name": "m-1", **given}
    span = otlp_span((CHAT, None, "ChatCompletion", 0, 60, recorded), status={"code": 2})
    span["events"] = [{"name": "exception", "attributes": exception("InternalServerError", "Error code: 500 - oops")}]
    return otlp(span)


def jaeger() -> str:
    tags = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "error": True,
        "otel.status_code": "ERROR",
        "otel.status_description": "overloaded_error: Overloaded",
    }
    listed = [
        {"key": key, "type": "bool" if value is True else "string", "value": value} for key, value in tags.items()
    ]
    span = {"traceID": TRACE, "spanID": CHAT, "operationName": "chat m-1", "startTime": T0 // 1000, "duration": 60_000}
    span |= {"tags": listed, "logs": [], "references": [], "processID": "p1"}
    return json.dumps({"data": [{"traceID": TRACE, "spans": [span], "processes": {"p1": {"serviceName": "desk"}}}]})


def span_list(kind: str, message: str) -> str:
    """What Python's ConsoleSpanExporter prints."""
    span = {"name": "chat m-1", "parent_id": None, "start_time": "2026-11-20T22:41:01Z", "kind": "SpanKind.CLIENT"}
    span |= {"end_time": "2026-11-20T22:41:02Z", "context": {"trace_id": f"0x{TRACE}", "span_id": f"0x{CHAT}"}}
    span |= {"attributes": {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m-1", "error.type": kind}}
    return json.dumps([{**span, "status": {"status_code": "ERROR", "description": message}, "events": []}])


def langfuse(message: str, level: str = "ERROR") -> str:
    row = {"traceId": "t1", "type": "GENERATION", "model": "m-1", "metadata": "{}"}
    asked = {"role": "assistant", "content": "", "tool_calls": [{"id": "c1", "type": "function", "function": {
        "name": "lookup_order", "arguments": "{}"}}]}  # fmt: skip
    found = {"role": "tool", "tool_call_id": "c1", "content": "shipped"}
    first = {**row, "id": "g1", "startTime": WHEN.format(1), "endTime": WHEN.format(2), "input": json.dumps([USER])}
    first |= {"output": json.dumps(asked), "level": "DEFAULT", "usageDetails": {"input": 10, "output": 2, "total": 12}}
    last = {**row, "id": "g2", "startTime": WHEN.format(3), "endTime": WHEN.format(4), "output": None}
    last |= {"input": json.dumps([USER, asked, found]), "level": level, "statusMessage": message}
    return json.dumps({"trace": {"id": "t1", "timestamp": WHEN.format(0)}, "observations": [last, first]})


def langsmith(error: str, kind: str = "llm") -> str:
    ids = [f"00000000-0000-0000-0000-00000000000{n}" for n in (1, 2)]
    root = {"id": ids[0], "trace_id": ids[0], "run_type": "chain", "name": "Helper", "error": error, "outputs": None}
    root |= {"inputs": {"messages": [USER]}, "start_time": "2026-11-20T22:41:00", "end_time": "2026-11-20T22:41:09"}
    run = {"id": ids[1], "trace_id": ids[0], "parent_run_id": ids[0], "run_type": kind, "name": "call", "outputs": None}
    run |= {"inputs": {"messages": [USER]}, "error": error}
    run |= {"start_time": "2026-11-20T22:41:01", "end_time": "2026-11-20T22:41:08"}
    return json.dumps([root, run])


def openai_agents(cause: str, kind: str = "response") -> str:
    error = {"message": "Error getting response", "data": {"error": cause}}
    span = {"object": "trace.span", "trace_id": "trace_1", "started_at": WHEN.format(1), "ended_at": WHEN.format(2)}
    agent = {**span, "id": "a", "parent_id": None, "span_data": {"type": "agent", "name": "Clerk"}, "error": None}
    name = {"name": "lookup_order", "input": "{}", "output": None} if kind == "function" else {}
    failed = {**span, "id": "r", "parent_id": "a", "span_data": {"type": kind, **name}, "error": error}
    return lines({"object": "trace", "id": "trace_1", "workflow_name": "Support"}, agent, failed)


# --- logs of calls, sessions of coding agents --------------------------------------------------------------------


def litellm(kind: str, code: str, message: str) -> str:
    call = {"call_type": "acompletion", "model": "m-1", "trace_id": "run-8", "response_cost": 0.0, "stream": False}
    call |= {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0, "model_parameters": {}, "metadata": {}}
    call |= {"startTime": 1_790_000_060, "endTime": 1_790_000_061, "id": "c-1", "hidden_params": {}}
    error = {"error_code": code, "error_class": kind, "llm_provider": "openai"}
    failed = {**call, "messages": [USER], "response": {}, "status": "failure", "error_str": message}
    return json.dumps([{**failed, "error_information": error}])


def claude_line(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    message = {"role": kind, "id": f"m-{kind}", "model": "opus", "content": content}
    return {"type": kind, "session_id": "s1", "parent_tool_use_id": None, "message": message, **fields}


def claude_stream(shown: str, error: str | None = None, *, with_line: bool = True) -> str:
    call = claude_line("assistant", [{"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}])
    call["message"]["usage"] = {"input_tokens": 10, "output_tokens": 1}
    result = claude_line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "x"}])
    failed = claude_line("assistant", [{"type": "text", "text": shown}], isApiErrorMessage=True)
    failed["message"] |= {"model": "<synthetic>", "id": "m-failed"}
    if error is not None:
        failed["error"] = error
    end = {
        "type": "result",
        "subtype": "success",
        "is_error": True,
        "session_id": "s1",
        "result": shown,
        "num_turns": 2,
    }
    init = {"type": "system", "subtype": "init", "session_id": "s1", "model": "opus"}
    return lines(init, call, result, *([failed] if with_line else []), {**end, "total_cost_usd": 0.01})


def claude_session(shown: str) -> str:
    """A session file: nothing but a question and the error."""
    line = {"sessionId": "s1", "timestamp": WHEN.format(1)}
    failed = {"role": "assistant", "model": "<synthetic>", "content": [{"type": "text", "text": shown}]}
    asked = {**line, "type": "user", "uuid": "u1", "message": USER}
    return lines(asked, {**line, "type": "assistant", "uuid": "u2", "isApiErrorMessage": True, "message": failed})


def codex_exec(message: str, *, with_command: bool = True) -> str:
    item = {"id": "i1", "type": "command_execution", "command": "ls", "aggregated_output": "x", "exit_code": 0}
    ran = {"type": "item.completed", "item": {**item, "status": "completed"}}
    start = [{"type": "thread.started", "thread_id": "th1"}, {"type": "turn.started"}]
    end = [{"type": "error", "message": message}, {"type": "turn.failed", "error": {"message": message}}]
    return lines(*start, *([ran] if with_command else []), *end)


def codex_rollout(message: str, info: Any) -> str:
    def line(kind: str, **payload: Any) -> dict[str, Any]:
        return {"timestamp": WHEN.format(1), "type": kind, "payload": payload}

    asked = line("response_item", type="message", role="user", content=[{"type": "input_text", "text": "hi"}])
    error = line("event_msg", type="error", message=message, codex_error_info=info)
    return lines(line("session_meta", id="r1", cli_version="0.60.0"), asked, error)


def managed(kind: str, *after: Any) -> str:
    asked = {"id": "sevt_1", "type": "user.message", "content": [{"type": "text", "text": "hi"}]}
    start = {"id": "sevt_2", "type": "span.model_request_start"}
    error = {"id": "sevt_3", "type": "session.error", "error": {"type": kind, "message": "it did not answer"}}
    head = {"id": "sesn_1", "type": "session", "agent": {"name": "Clerk", "model": {"id": "claude-sonnet-5"}}}
    found = [
        {**each, "processed_at": f"2026-07-06T16:26:0{n}Z"} for n, each in enumerate((asked, start, error, *after))
    ]
    return lines(head, *found)


# --- frameworks, benchmarks, evaluation tools ----------------------------------------------------------------------


def adk(code: str, message: str, **fields: Any) -> str:
    asked = {"author": "user", "invocation_id": "i", "content": {"role": "user", "parts": [{"text": "hi"}]}}
    failed = {"author": "clerk", "invocation_id": "i", "error_code": code, "error_message": message, **fields}
    return json.dumps({"id": "s", "app_name": "desk", "events": [asked, failed]})


def adk_eval(code: str, message: str) -> str:
    session = json.loads(adk(code, message))
    case = {"eval_id": "greet", "eval_set_id": "e", "session_details": session, "final_eval_status": 2}
    return json.dumps({"eval_set_result_id": "r", "eval_set_id": "e", "eval_case_results": [case]})


def inspect(error: str, *after: Any) -> str:
    event = {"event": "model", "model": "acme/large", "input": [], "tools": [], "output": {"choices": []}}
    sample = {"id": "there", "epoch": 1, "messages": [{"role": "user", "content": "hi"}], "input": "hi"}
    sample |= {"events": [{**event, "error": error}, *after], "error": {"message": error, "traceback": ""}}
    return json.dumps(
        {"version": 2, "status": "error", "eval": {"task": "t", "model": "acme/large"}, "samples": [sample]}
    )


def promptfoo(message: str, provider: str = "openai:chat:gpt-4o-mini") -> str:
    result = {
        "id": "r-0",
        "testIdx": 0,
        "promptIdx": 0,
        "success": False,
        "score": 0,
        "failureReason": 2,
        "error": message,
    }
    result |= {"prompt": {"raw": "hi", "label": "chat"}, "provider": {"id": provider}, "vars": {}, "namedScores": {}}
    result |= {"testCase": {"description": "greet"}, "response": {"error": message}, "latencyMs": 10, "metadata": {}}
    return json.dumps({"evalId": "e", "results": {"version": 3, "results": [result], "stats": {}}, "config": {}})


def openai_response(code: str, message: str) -> str:
    response = {"id": "resp_1", "object": "response", "status": "failed", "model": "gpt-5", "output": []}
    return json.dumps({**response, "input": "hi", "error": {"code": code, "message": message}})


def openhands(error: str) -> str:
    history = [{"action": "message", "content": "Fix it."}, {"action": "run", "command": "ls", "thought": "Look."}]
    history.append({"observation": "run", "content": "x", "command_id": -1, "command": "ls", "exit_code": 0})
    return json.dumps(
        {"instance_id": "i-1", "instruction": "Fix it.", "history": history, "metrics": {}, "error": error}
    )


def mini_swe_agent(status: str) -> str:
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Fix it."}]
    info = {"exit_status": status, "submission": "", "model_stats": {"instance_cost": 0.01, "api_calls": 1}}
    return json.dumps({"info": info, "messages": messages, "trajectory_format": "mini-swe-agent-1"})


def tau_bench(error: str) -> str:
    return json.dumps([{"task_id": 3, "trial": 0, "reward": 0.0, "info": {"error": error}, "traj": []}])


def crewai(error: str, *after: Any) -> str:
    started = {"type": "llm_call_started", "call_id": "l1", "messages": [{"role": "user", "content": "Remove Ada."}]}
    events = [started, {"type": "llm_call_failed", "call_id": "l1", "error": error}, *after]
    whole = [{"type": "crew_kickoff_started"}, *events, {"type": "crew_kickoff_failed", "error": error}]
    shared = {"agent_role": "admin", "model": "openai/gpt-4o"}
    return lines(*({"timestamp": f"2026-03-01T10:00:0{n}Z", **shared, **each} for n, each in enumerate(whole)))


def deepeval(error: str) -> str:
    span = {"uuid": "l1", "name": "chat", "type": "llm", "model": "m-1", "status": "ERRORED", "error": error}
    span |= {"startTime": WHEN.format(1), "endTime": WHEN.format(2)}
    trace = {"uuid": "t1", "llmSpans": [span], "status": "ERRORED", "error": error}
    case = {
        "name": "remove",
        "input": "Remove Ada.",
        "actualOutput": None,
        "toolsCalled": [],
        "metricsData": [],
        "trace": trace,
    }
    return json.dumps({"testCases": [case]})


OVERLOADED = 'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}'
TRIED = {"type": "llm_call_completed", "call_id": "l2", "response": "Ada is removed.", "messages": []}

# --- sessions of coding agents ----------------------------------------------------------------------------------


def gemini_cli(message: str, *after: Any) -> str:
    head = {"sessionId": "s", "projectHash": "h", "startTime": WHEN.format(0), "lastUpdated": WHEN.format(0)}
    asked = {"id": "m1", "timestamp": WHEN.format(1), "type": "user", "content": USER["content"]}
    failed = {"id": "m2", "timestamp": WHEN.format(2), "type": "error", "content": message}
    return lines(head, asked, failed, *after)


def copilot(kind: str, status: int, *after: Any) -> str:
    events = [
        ("session.start", {"sessionId": "s"}),
        ("user.message", {"content": USER["content"]}),
        ("session.error", {"errorType": kind, "message": "it failed", "statusCode": status}),
        *after,
    ]
    return lines(
        *(
            {"type": name, "data": data, "id": name, "timestamp": WHEN.format(1), "parentId": None}
            for name, data in events
        )
    )


def opencode(name: str, *, status: int, **more: Any) -> str:
    error = {"name": name, "data": {"message": "it failed", "statusCode": status}}
    answer = {"info": {"role": "assistant", "error": error}, "parts": [], **more}
    asked = {"info": {"role": "user"}, "parts": [{"type": "text", "text": USER["content"]}]}
    return json.dumps({"info": {"id": "s"}, "messages": [asked, answer]})


def pi(reason: str, error: str) -> str:
    head = {"type": "session", "id": "s", "cwd": "/w", "timestamp": WHEN.format(0)}
    failed = {"role": "assistant", "content": [], "stopReason": reason, "errorMessage": error}
    messages = [{"type": "message", "id": each["role"], "message": each} for each in (USER, failed)]
    return lines(head, *messages)


def openhands_v1(code: str) -> str:
    event = {"id": "e", "timestamp": WHEN.format(1), "source": "user", "kind": "MessageEvent", "llm_message": USER}
    failed = {"id": "f", "timestamp": WHEN.format(2), "source": "environment", "kind": "ConversationErrorEvent"}
    return lines(event, {**failed, "code": code, "detail": "it failed"})


def ag_ui(code: str) -> str:
    messages = [{"id": "u", **USER}]
    started = {"type": "RUN_STARTED", "threadId": "t", "runId": "r", "input": {"messages": messages}}
    return lines(started, {"type": "RUN_ERROR", "message": "it failed", "code": code})


OUTAGES = {
    "native 429": native(USER, ASKED, FOUND, error={"type": "RateLimitError", "status_code": 429}),
    "native 408": native(USER, error={"status_code": 408}),
    "native quota": native(USER, error={"type": "insufficient_quota", "message": "You exceeded your current quota"}),
    "native nothing else": native(error="Connection error."),
    "native second turn": native(USER, ANSWER, USER, error={"status_code": 503}),
    "otlp 429": otlp(*failed_spans("Too Many Requests", **{"error.type": "429"})),
    "otlp 502": otlp(*failed_spans("Bad Gateway", **{"http.response.status_code": 502})),
    "otlp timeout": otlp(*failed_spans(event=exception("openai.APITimeoutError", "Request timed out."))),
    "otlp reset": otlp(*failed_spans(event=exception("httpx.ReadError", "[Errno 104] Connection reset by peer"))),
    "otlp first call": otlp(*failed_spans("503 UNAVAILABLE. {'error': {'code': 503}}", at=CHAT)),
    "otlp nothing else": single_span(),
    "openinference 500": openinference(),
    "jaeger overloaded": jaeger(),
    "span-list timeout": span_list("TimeoutError", "The read operation timed out"),
    "langfuse 529": langfuse("Error code: 529 - {'type': 'error', 'error': {'type': 'overloaded_error'}}"),
    "langfuse reset": langfuse("Connection error."),
    "langsmith 500": langsmith(
        "InternalServerError(\"Error code: 500 - {'error': 'oops'}\")Traceback (most recent call)"
    ),
    "langsmith throttled": langsmith("ThrottlingException('An error occurred: Too many tokens, please wait')Traceback"),
    "openai-agents 429": openai_agents("Error code: 429 - {'error': {'code': 'rate_limit_exceeded'}}"),
    "openai-agents timeout": openai_agents("Request timed out.", "generation"),
    "litellm 503": litellm("ServiceUnavailableError", "503", "litellm.ServiceUnavailableError: no worker"),
    "litellm timeout": litellm("Timeout", "408", "litellm.Timeout: APITimeoutError - Request timed out."),
    "claude-code 529": claude_stream(OVERLOADED, "server_error"),
    "claude-code limit": claude_stream("API Error: Rate limit reached", "rate_limit"),
    "claude-code result only": claude_stream(OVERLOADED, with_line=False),
    "claude-code credit": claude_session("Credit balance is too low"),
    "claude-code timeout": claude_session("API Error: Request timed out."),
    "codex reset": codex_exec("stream disconnected before completion: error sending request for url"),
    "codex 429": codex_exec("exceeded retry limit, last status: 429 Too Many Requests", with_command=False),
    "codex rollout": codex_rollout("it failed", {"response_stream_connection_failed": {"http_status_code": 503}}),
    "gemini-cli 429": gemini_cli("[API Error: You exceeded your current quota (Status: RESOURCE_EXHAUSTED)]"),
    "copilot 429": copilot("rate_limit", 429),
    "opencode 529": opencode("APIError", status=529),
    "pi 429": pi("error", "429 Too Many Requests"),
    "openhands-v1 429": openhands_v1("LLMRateLimitError"),
    "ag-ui 429": ag_ui("RateLimitError"),
    "codex quota": codex_rollout("You've hit your usage limit. Try again later.", "usage_limit_exceeded"),
    "managed overloaded": managed("model_overloaded_error"),
    "managed limit": managed("model_rate_limited_error"),
    "adk quota": adk("RESOURCE_EXHAUSTED", "You exceeded your current quota"),
    "adk 503": adk("503", "The model is overloaded."),
    "adk-eval 429": adk_eval("429", "Resource exhausted."),
    "inspect 429": inspect("RateLimitError(\"Error code: 429 - {'error': 'slow down'}\")"),
    "inspect timeout": inspect("APITimeoutError('Request timed out.')"),
    "promptfoo 429": promptfoo("API error: 429 Too Many Requests\n{}"),
    "promptfoo reset": promptfoo("API call error: Error: Request failed after 4 retries: fetch failed ECONNRESET"),
    "openai-responses 500": openai_response("server_error", "The server had an error"),
    "openai-responses 429": openai_response("rate_limit_exceeded", "Slow down"),
    "openhands 500": openhands("litellm.InternalServerError: AnthropicException - Overloaded"),
    "mini-swe-agent 429": mini_swe_agent("RateLimitError"),
    "tau-bench 503": tau_bench("litellm.ServiceUnavailableError: OpenAIException - upstream"),
    "crewai timeout": crewai("litellm.Timeout: Request timed out."),
    "deepeval 429": deepeval("Error code: 429 - slow down"),
}
"""Recordings that show nothing but an outage, by format and kind."""

BAD_REQUEST = "Error code: 400 - {'error': {'code': 'context_length_exceeded', 'message': 'too long'}}"
FAILED_TOOL = otlp_span(rows()[2], status={"code": 2, "message": "HTTP 500 from the shop"})
RETRIED = {**otlp_span(rows()[3]), "spanId": "b7ad6b7169203531", "startTimeUnixNano": str(T0 + 895 * MS)}

NO_OUTAGES = {
    "native context too long": native(USER, error={"type": "BadRequestError", "message": BAD_REQUEST}),
    "native answered anyway": native(USER, ASKED, FOUND, ANSWER, error={"status_code": 429}),
    "native flag alone": json.dumps(
        {"schema": "evalgate.trace/1", "messages": [USER], "metadata": {"evalgate.infra": True}}
    ),
    "native error of the run": json.dumps(
        {"schema": "evalgate.trace/1", "messages": [USER], "status": "error", "error": {"type": "RateLimitError"}}
    ),
    "native error of a tool": json.dumps(
        {
            "schema": "evalgate.trace/1",
            "messages": [USER, ASKED, {**FOUND, "content": "HTTP 500", "is_error": True}],
            "llm_calls": [{"model": "m"}],
        }
    ),
    "native loop": json.dumps(
        {
            "schema": "evalgate.trace/1",
            "messages": [USER, *[message for _ in range(20) for message in (ASKED, FOUND)]],
            "finish_reason": "max_turns",
        }
    ),
    "otlp 400": otlp(*failed_spans(BAD_REQUEST, **{"error.type": "BadRequestError"})),
    "otlp error of a tool": otlp(*(otlp_span(row) for row in rows()[:2]), FAILED_TOOL),
    "otlp retried": otlp(*failed_spans("Too Many Requests", **{"error.type": "429"}), RETRIED),
    "otlp flag alone": otlp(*(otlp_span(row) for row in rows(**{"evalgate.infra": True})[:3])),
    "langfuse warning": langfuse("Error code: 429 - slow down", "WARNING"),
    "langsmith error of a tool": langsmith("ConnectionError('the shop timed out')Traceback", "tool"),
    "openai-agents error of a tool": openai_agents("Error code: 500 from the shop", "function"),
    "litellm 401": litellm("AuthenticationError", "401", "litellm.AuthenticationError: bad key"),
    "claude-code prompt too long": claude_session("Prompt is too long"),
    "claude-code login": claude_stream("Invalid API key \u00b7 Please run /login", "authentication_failed"),
    "gemini-cli survived": gemini_cli(
        "[API Error: 503 UNAVAILABLE]",
        {"id": "m3", "timestamp": WHEN.format(3), "type": "gemini", "content": ANSWER["content"]},
    ),
    "copilot 400": copilot("query", 400),
    "copilot survived": copilot(
        "query", 503, ("assistant.message", {"content": ANSWER["content"], "toolRequests": []})
    ),
    "opencode length": opencode("MessageOutputLengthError", status=503),
    "pi aborted": pi("aborted", "429 Too Many Requests"),
    "openhands-v1 limit": openhands_v1("MaxIterationsReached"),
    "ag-ui tool": ag_ui("ToolError"),
    "codex context": codex_rollout("Your input exceeds the context window", "context_window_exceeded"),
    "managed mcp": managed("mcp_connection_failed_error"),
    "managed went on": managed(
        "model_overloaded_error",
        {"id": "sevt_8", "type": "agent.tool_use", "name": "bash", "input": {}},
        {"id": "sevt_9", "type": "agent.tool_result", "tool_use_id": "sevt_8", "content": "x"},
    ),
    "adk safety": adk("SAFETY", "blocked"),
    "inspect 400": inspect('BadRequestError("Error code: 400 - invalid")'),
    "promptfoo agent": promptfoo("HTTP call failed with status 500", "https://desk.example/agent"),
    "openai-responses invalid": openai_response("invalid_prompt", "The prompt is not allowed"),
    "openhands runtime": openhands("AgentRuntimeTimeoutError: the container timed out"),
    "mini-swe-agent limit": mini_swe_agent("LimitsExceeded"),
    "tau-bench tool": tau_bench("KeyError: 'reservation'"),
    "crewai went on": crewai("Error code: 429 - slow down", TRIED),
    "deepeval 400": deepeval(BAD_REQUEST),
}
"""Recordings that are judged as any run: the agent or the request was wrong, a tool failed, or the agent went on."""
