"""Collects the run of an agent from its log, entry by entry: what was asked, answered, called and returned."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolRequest, ToolResult, read_arguments
from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap
from evalgate.adapters.formats.core.builder.run import (
    MeteredConversation,
    add_failed_call,
    add_warning,
    measure_user_wait,
    set_cost,
    set_times,
)
from evalgate.adapters.formats.core.builder.run_end import mark_failed_run, mark_incomplete, mark_stopped
from evalgate.adapters.formats.core.usage import sum_call_costs

if TYPE_CHECKING:
    from evalgate.models.trace.trace import ModelError, Trace, Usage

ELSEWHERE = "calls of sub-agents ({}) are recorded in other files, which are not part of this trace"
FEWER_CALLS = "the run says that it made {} tool calls, and {} are recorded"


def note_elsewhere(trace: Trace, count: int) -> None:
    """Makes calls incomplete if this many sub-agents were started whose calls the recording does not hold."""
    if count:
        add_warning(trace, "subagent_elsewhere", ELSEWHERE.format(count), "messages")
        add_gap(trace, "calls", ELSEWHERE.format(count))


class AgentSession(MeteredConversation):
    """The run as far as it was read. The text and calls of one answer of the model are one message.

    `id`, `version`, `model` and `provider` are those of the run; `end` is why its end is missing, `stopped_by` what
    stopped it, `error` the failure it ended with, `outage` the failed model call behind that. `elsewhere` counts
    sub-agents whose calls are not here, `stated_calls` is how many the run says that it made.
    """

    def __init__(self) -> None:
        super().__init__()
        self.id: str | None = None
        self.version: str | None = None
        self.model: str | None = None
        self.provider: str | None = None
        self.end: str | None = None
        self.stopped_by: str | None = None
        self.error: str | None = None
        self.outage: ModelError | None = None
        self.elsewhere = 0
        self.stated_calls = 0
        self._answer: RawMessage | None = None
        self._model_calls: list[dict[str, Any]] = []
        self._results: list[RawMessage] = []

    def add_message(self, message: RawMessage) -> None:
        """Adds a message of a user or of the program; it ends the answer before it."""
        self.end_answer()
        self.add_messages([message])
        if message.role == "user":
            self._go_on()

    def open_answer(self, when: str | None = None, model: str | None = None, agent: str | None = None) -> RawMessage:
        """The answer that is being read, or a new one."""
        if self._answer is not None and self._answer.agent != agent:
            self.end_answer()
        if self._answer is None:
            self._go_on()
            self._answer = RawMessage("assistant", timestamp=when, model=model, agent=agent)
        return self._answer

    def _go_on(self) -> None:
        """Forgets an end after which the run went on."""
        self.end = self.stopped_by = self.error = self.outage = None

    def add_text(self, text: str | None, when: str | None = None, **about: str | None) -> None:
        """Adds a text of the model to its answer."""
        answer = self.open_answer(when, **about)
        if text is not None:
            answer.content = text if not answer.content else f"{answer.content}\n{text}"

    def add_reasoning(self, text: str | None, when: str | None = None, **about: str | None) -> None:
        """Adds reasoning to the answer."""
        if text:
            answer = self.open_answer(when, **about)
            answer.reasoning = text if answer.reasoning is None else f"{answer.reasoning}\n{text}"

    def add_call(self, request: ToolRequest, when: str | None = None, **about: str | None) -> None:
        """Adds a call to the answer."""
        self.open_answer(when, **about).calls.append(request)

    def add_call_of_user(self, request: ToolRequest, when: str | None = None) -> None:
        """Adds a call that a person made, which is no input to the agent."""
        self.end_answer()
        message = self.conversation.add_message("user", None, is_input=False)
        message["timestamp"] = when
        self.conversation.add_call(message, request.id, request.name, read_arguments(request.arguments))

    def add_result(self, result: ToolResult, when: str | None = None, agent: str | None = None) -> None:
        """Adds what a tool returned; it ends the answer before it."""
        self.end_answer()
        self.add_messages([RawMessage("tool", answers=[result], timestamp=when, agent=agent)])

    def add_result_later(self, result: ToolResult, when: str | None = None) -> None:
        """Adds what a tool returned, after the answer that is being read."""
        self._results.append(RawMessage("tool", answers=[result], timestamp=when))

    def add_model_call(self, usage: Usage | None, reason: str | None = None, **fields: Any) -> None:
        """Adds the request to the model that gave the answer."""
        self._model_calls.append({"usage": usage, "reason": reason, **fields})

    def end_answer(self) -> None:
        """Ends the answer that is being read: what follows is another one."""
        if self._answer is not None:
            self.add_messages([self._answer])
        self.add_messages(self._results)
        for call in self._model_calls:
            self.add_llm_call(**call)
        self._answer, self._results, self._model_calls = None, [], []

    def build_session(self, framework: str) -> Trace:
        """The trace of the run; raises FieldError if it has no message."""
        self.end_answer()
        trace = self.build_trace()
        trace.trace_id, trace.conversation_id = self.id or "", self.id
        trace.agent = {"name": framework, "framework": framework, **({"version": self.version} if self.version else {})}
        trace.model, trace.provider = trace.model or self.model, trace.provider or self.provider
        if not self.unmetered:
            set_cost(trace, sum_call_costs(self.llm_calls), "cost")
        set_times(trace)
        trace.latency = measure_user_wait(trace.messages)
        self._add_end(trace)
        note_elsewhere(trace, self.elsewhere)
        if self.stated_calls > len(trace.tool_calls):
            add_gap(trace, "calls", FEWER_CALLS.format(self.stated_calls, len(trace.tool_calls)))
        return trace

    def _add_end(self, trace: Trace) -> None:
        if self.error is not None:
            mark_failed_run(trace, None, self.error)
        elif self.stopped_by is not None:
            mark_stopped(trace, self.stopped_by)
        elif self.end is not None:
            mark_incomplete(trace, self.end)
        if self.outage is not None:
            add_failed_call(trace, self.outage)
