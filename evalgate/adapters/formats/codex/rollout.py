"""Rollouts of Codex: settings, items of the Responses API, and events with running token totals."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from evalgate.adapters.formats.codex.command_outputs import SHELLS, parse_shell_output
from evalgate.adapters.formats.codex.executions import (
    EXTENSION,
    ITEMS,
    OTHER_ITEMS,
    PROVIDED,
    STDIN,
    Ran,
    find_turn_item,
    read_execution,
    read_result,
)
from evalgate.adapters.formats.codex.forks import find_inherited, find_origin, get_spawn, subtract_inherited
from evalgate.adapters.formats.codex.known_kinds import EVENTS, INJECTED_PREFIXES, NO_ITEMS
from evalgate.adapters.formats.codex.scripts import SCRIPT, Scripts
from evalgate.adapters.formats.codex.started_agents import (
    SPAWN,
    Agents,
    read_agent_name,
    read_agents,
    read_started,
)
from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest
from evalgate.adapters.formats.core.builder.copied_history import COPIED, keep_texts
from evalgate.adapters.formats.core.builder.evidence_gaps import Unknown, describe_unknown, find_unknown, pick_worse
from evalgate.adapters.formats.core.builder.run import BLANK_LLM_CALL
from evalgate.adapters.formats.core.fields import mapping, text, time
from evalgate.adapters.formats.core.format import Shape
from evalgate.adapters.formats.core.strict_json import encode_text
from evalgate.adapters.formats.core.usage import TokenTable
from evalgate.adapters.formats.messages import responses
from evalgate.adapters.formats.messages.blocks import parse_result
from evalgate.adapters.formats.messages.known_fields import ITEM_FIELDS
from evalgate.models.trace.trace import LlmCall, Usage, unknown_usage

USAGE = TokenTable(
    "codex",
    input_tokens="input_tokens",
    output_tokens="output_tokens",
    total_tokens="total_tokens",
    cache_read_input_tokens="cached_input_tokens",
    reasoning_output_tokens="reasoning_output_tokens",
)


def read_total_usage(value: Any, path: str) -> Usage | None:
    """Usage; raises FieldError."""
    return None if value is None else USAGE.read(value, path)


DYNAMIC = "dynamic_tool_call"
"""The name of a call of the client whose tool is not recorded."""
OUTPUT = "function_call_output"
STARTS = ("task_started", "turn_started")
"""Events with which a turn begins, in versions that write its end too."""
ITEM = (Shape((), ITEM_FIELDS),)
"""What may hold objects in an item of the Responses API."""


class CodexRun(Struct):
    """What is known of a run, in either form of recording."""

    messages: list[RawMessage] = field(default_factory=list)
    id: str | None = None
    version: str | None = None
    provider: str | None = "openai"
    model: str | None = None
    usage: Usage = field(default_factory=unknown_usage)
    llm_calls: list[LlmCall] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    error_cause: str | None = None
    error_status: int | None = None
    unknown: Unknown | None = None
    spawned: set[str] = field(default_factory=set)
    """The threads of sub-agents that it started or spoke with."""
    starts: dict[str, str] = field(default_factory=dict)
    """The ids of the calls that started them, by thread."""
    has_others: bool = False
    """It spoke with sub-agents that it does not name."""
    ran: dict[str, Any] = field(default_factory=dict)
    """The arguments with which tools of servers and of the client ran that the model called, by the call's id."""


class Rollout(CodexRun):
    """The run that the lines describe, collected in order. A line may be a bare item."""

    was_aborted: bool = False
    is_open: bool = False
    """The last turn began, and no line ended it."""
    agent_name: str | None = None
    is_fork: bool = False
    copied: int = 0
    history: list[RawMessage] = field(default_factory=list)
    inherited: dict[str, Any] | None = None
    has_counter: bool = False
    has_origin: bool = False
    answer: str | None = None
    tools: dict[str, str] = field(default_factory=dict)
    requests: dict[str, str] = field(default_factory=dict)
    """The tools that its items ask for, by the ids of calls and of their executions (`requests.find_requests`)."""
    asked: frozenset[str] = frozenset()
    executed: dict[tuple[str, str], ToolRequest] = field(default_factory=dict)
    """The calls of which there are events only, by id and tool."""
    executed_names: dict[str, str] = field(default_factory=dict)
    answered: set[tuple[str, str]] = field(default_factory=set)
    scripts: Scripts = field(default_factory=Scripts)
    last_total: Any = None
    turns: int = 0
    steps: int = 0

    @property
    def may_have_copies(self) -> bool:
        """True for a fork that holds its origin's settings or inherited its counter, but no line known as copied."""
        return self.is_fork and not self.copied and (self.has_origin or any((self.inherited or {}).values()))

    @property
    def incomplete_reason(self) -> str | None:
        """Why the run is incomplete; a rollout without starts of turns need not record their ends."""
        if self.was_aborted:
            return "the last turn was aborted"
        return "the last turn has no end: the run was stopped, or its trace was cut off" if self.is_open else None

    def add(self, line: dict[str, Any]) -> None:
        """Adds one line; raises FieldError."""
        payload = mapping(line.get("payload"), "payload")
        kind = text(line.get("type"), "type")
        when = time(line.get("timestamp"), "timestamp")
        if line.get(COPIED) is True:
            self._add_copied(kind, payload)
            return
        self._end_history(kind)
        if kind == "session_meta":
            self._add_settings(payload)
        elif kind == "turn_context":
            self.model = text(payload.get("model"), "payload.model") or self.model
        elif kind == "event_msg":
            self._add_event(payload)
        elif kind == "response_item":
            self._add_item(payload, when)
        elif kind is not None and payload:
            if kind not in NO_ITEMS:
                self.unknown = pick_worse(self.unknown, describe_unknown("a line", kind, line))
        else:
            self._add_item(line, None)

    def _add_copied(self, kind: str | None, payload: dict[str, Any]) -> None:
        """Adds a line of the thread that this one was forked from: its texts are context, its counter goes on."""
        self.copied += 1
        if kind == "response_item":
            responses.add_item(self.history, payload)
        elif payload.get("type") == "token_count":
            total = mapping(payload.get("info"), "payload.info").get("total_token_usage")
            self.inherited = self.last_total = mapping(total, "payload.info.total_token_usage") or self.inherited

    def _end_history(self, kind: str | None) -> None:
        if self.history and kind != "session_meta":
            self._add_messages(keep_texts(self.history), 0)
            self.history = []

    def _add_settings(self, payload: dict[str, Any]) -> None:
        if self.id is not None:
            self.has_origin = True  # settings of the thread that this one was forked from
            return
        self.is_fork = find_origin(payload) is not None
        self.agent_name = read_agent_name(get_spawn(payload))
        self.id = text(payload.get("id"), "payload.id")
        self.version = text(payload.get("cli_version"), "payload.cli_version")
        self.provider = text(payload.get("model_provider"), "payload.model_provider") or self.provider
        git = mapping(payload.get("git"), "payload.git")
        for key in ("commit_hash", "branch"):
            if isinstance(git.get(key), str):
                self.metadata[f"git_{key}"] = git[key]

    def _add_event(self, payload: dict[str, Any]) -> None:
        kind = payload.get("type")
        self._add_agents(read_agents(payload))
        if kind == "token_count":
            self._add_token_count(mapping(payload.get("info"), "payload.info"))
        elif kind in STARTS or kind == "user_message":
            self.was_aborted, self.error, self.answer = False, None, None
            self.is_open = self.is_open or kind in STARTS
        elif kind in ("task_complete", "turn_complete"):
            self.answer = text(payload.get("last_agent_message"), "payload.last_agent_message")
            self.is_open = False
        elif kind == "turn_aborted":
            self.was_aborted, self.is_open = True, False
        elif kind == "error":
            self.error = text(payload.get("message"), "payload.message") or "the turn failed"
            self.error_cause, self.error_status = _read_cause(payload.get("codex_error_info"))
        elif (ran := read_execution(payload)) is not None:
            self._add_execution(ran)
        elif (item := find_turn_item(payload)) is not None:
            self._note_item(item)
        elif isinstance(kind, str) and kind not in EVENTS:
            self.unknown = pick_worse(self.unknown, describe_unknown("an event", kind, payload))

    def _note_item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind == EXTENSION:
            self.unknown = pick_worse(self.unknown, Unknown("an item of an extension is of an unknown kind", True))
        elif isinstance(kind, str) and kind not in ITEMS and kind not in OTHER_ITEMS:
            self.unknown = pick_worse(self.unknown, describe_unknown("an item", kind, item))

    def _add_agents(self, found: Agents | None) -> None:
        if found is None:
            return
        self.spawned.update(found.threads)
        if found.starter is not None:
            self.starts.update(dict.fromkeys(found.threads, found.starter))

    def _add_execution(self, ran: Ran) -> None:
        """Adds what ran, unless the model's own call of that id is the one that ran."""
        call_id = ran.id or ""
        name = ran.tool or self.executed_names.get(call_id, "")
        asked = self.requests.get(call_id)
        if asked is not None and (name in ("", asked) if ran.is_named else asked != SCRIPT):
            if ran.is_named and ran.arguments is not None:
                self.ran[call_id] = ran.arguments
            return
        key = call_id, name
        call = self.executed.get(key) if call_id and name != STDIN else None
        if call is None or _is_other_call(call, ran.arguments):
            call = self.executed[key] = ToolRequest(ran.id, name or DYNAMIC, ran.arguments)
            self.executed_names[call_id] = name
            self.answered.discard(key)
            self.scripts.ran[call.name] += 1
            self._add_messages([RawMessage("assistant", calls=[call])], len(self.messages))
        call.arguments = ran.arguments or call.arguments
        if ran.has_ended and key not in self.answered:
            self.answered.add(key)
            self._add_messages([RawMessage("tool", answers=[read_result(ran, call.name)])], len(self.messages))

    def _add_token_count(self, info: dict[str, Any]) -> None:
        """The total includes all calls so far; a repeated total is not a new call."""
        total = info.get("total_token_usage")
        if total is None or total == self.last_total:
            return
        self.last_total = total
        self._count(mapping(total, "payload.info.total_token_usage"), info.get("last_token_usage"))
        self.model = text(info.get("model"), "payload.info.model") or self.model
        last = read_total_usage(info.get("last_token_usage"), "payload.info.last_token_usage")
        self.llm_calls.append(
            {
                **BLANK_LLM_CALL,
                "index": len(self.llm_calls),
                "turn": self.turns,
                "step": self.steps,
                "provider": self.provider,
                "model": self.model,
                "usage": last,
            }
        )

    def _count(self, total: dict[str, Any], last: Any) -> None:
        """Sets the tokens of this thread: the counter without what a fork inherited, unknown if that is not shown."""
        if not self.has_counter and self.inherited is None:
            self.inherited = find_inherited(total, last, is_fork=self.is_fork)
        self.has_counter = True
        own = None if self.inherited is None else subtract_inherited(total, self.inherited)
        self.usage = unknown_usage() if own is None else USAGE.read(own, "payload.info.total_token_usage")

    def _add_item(self, item: dict[str, Any], when: str | None) -> None:
        first_new = len(self.messages)
        self._add_listed_calls(item)
        if self._is_input(item):
            self.messages.append(RawMessage("user", encode_text(parse_result(item.get("output"))[0])))
        else:
            responses.add_item(self.messages, item)
        found = pick_worse(responses.describe_unnamed(item, "an item"), find_unknown(item, ITEM))
        self.unknown = pick_worse(self.unknown, found)
        self._add_messages([], first_new)
        if self.messages:
            self._complete_message(self.messages[-1], when)

    def _is_input(self, item: dict[str, Any]) -> bool:
        """True for an output of a client's tool that the model did not call: the client begins a turn with it."""
        if item.get("type") != OUTPUT or item.get("call_id") or not isinstance(item.get("name"), str):
            return False
        self.asked = self.asked or frozenset(self.requests.values())
        return item["name"] not in self.asked

    def _add_listed_calls(self, item: dict[str, Any]) -> None:
        """Adds the calls of a script that its output lists, but those that events record."""
        self.scripts.note(item)
        listed = self.scripts.list_calls(item, self.requests.get(str(item.get("call_id"))))
        if listed:
            self._add_messages([RawMessage("assistant", calls=listed)], len(self.messages))

    def _add_messages(self, messages: list[RawMessage], first_new: int) -> None:
        """Adds messages, and counts turns and steps of all from the first new one on."""
        self.messages += messages
        for message in self.messages[first_new:]:
            if message.role == "user" and (message.content or "").lstrip().startswith(INJECTED_PREFIXES):
                message.role = "system"
            self.turns += message.role == "user"
            self.steps += message.role == "assistant"

    def _complete_message(self, message: RawMessage, when: str | None) -> None:
        message.timestamp = message.timestamp or when
        if message.calls:
            self.tools[message.calls[-1].id or ""] = message.calls[-1].name
        tool = self.tools.get(message.answers[-1].id or "") if message.answers else None
        if tool in SHELLS:
            message.answers[-1] = parse_shell_output(message.answers[-1])
        elif tool == SPAWN:
            self._add_agents(read_started(message.answers[-1]))


def _is_other_call(call: ToolRequest, arguments: Any) -> bool:
    """Whether an event of a call's id has other arguments; those of provided tools may be known at the end only."""
    return bool(call.arguments and arguments) and call.arguments != arguments and call.name not in PROVIDED


def _read_cause(info: Any) -> tuple[str | None, int | None]:
    """The kind of an error, a word or the only key of an object, and the HTTP status in that object."""
    if not isinstance(info, dict) or len(info) != 1:
        return (info if isinstance(info, str) else None), None
    ((kind, details),) = info.items()
    status = details.get("http_status_code") if isinstance(details, dict) else None
    return kind, status if type(status) is int else None
