"""Joins the lines of a Claude Code session into the messages of each agent."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from evalgate.adapters.formats.claude_code.sub_agent_files import META_LINE, WORKFLOW
from evalgate.adapters.formats.claude_code.unrecorded import TASKS, find_hooked, is_agents, read_uses
from evalgate.adapters.formats.core.builder.copied_history import COPIED
from evalgate.adapters.formats.core.builder.run import build_model_error
from evalgate.adapters.formats.core.fields import amount, mapping, required_text, text, time
from evalgate.adapters.formats.core.strict_json import encode_json
from evalgate.adapters.formats.messages import roles

if TYPE_CHECKING:
    from evalgate.adapters.formats.core.builder.conversation import RawMessage, ToolResult
    from evalgate.models.trace.trace import ModelError

SHELL = "Bash"
SYNTHETIC = "<synthetic>"
HIDDEN_FLAGS = ("isMeta", "isCompactSummary", "isSynthetic", "isVisibleInTranscriptOnly")
IN_BACKGROUND = "Command running in background"
INTERRUPTED = frozenset({"[Request interrupted by user]", "[Request interrupted by user for tool use]"})
EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,6})\b")


class MessageDraft(Struct):
    """One message. Claude Code writes one line per block and repeats the usage on every line."""

    role: str
    owner: str | None
    id: str | None = None
    model: str | None = None
    text: str | None = None
    blocks: list[Any] = field(default_factory=list)
    usages: list[dict[str, Any]] = field(default_factory=list)
    cost_usd: float | None = None
    reason: str | None = None
    timestamp: str | None = None
    tool_use_result: Any = None
    is_copied: bool = False
    block_keys: set[str] = field(default_factory=set)

    def add_block(self, block: Any) -> None:
        """Adds a block; in a snapshot of the same message it replaces what it goes on with."""
        key = encode_json(block)
        if self.id is not None and key in self.block_keys:
            return
        self.block_keys.add(key)
        place = None if self.id is None else self._find_replaced(block)
        if place is None:
            self.blocks.append(block)
        else:
            self.blocks[place] = block

    def _find_replaced(self, block: Any) -> int | None:
        """The place of the call with the same id, or of the last text if this one goes on with it."""
        if not isinstance(block, dict) or block.get("type") not in ("tool_use", "text"):
            return None
        kind = block["type"]
        places = [at for at, each in enumerate(self.blocks) if isinstance(each, dict) and each.get("type") == kind]
        if kind == "tool_use":
            return next((at for at in places if block.get("id") and self.blocks[at].get("id") == block["id"]), None)
        last = self.blocks[places[-1]].get("text") if places else None
        words = block.get("text")
        is_longer = isinstance(last, str) and isinstance(words, str) and bool(last) and words.startswith(last)
        return places[-1] if is_longer else None

    def to_messages(self, tools: dict[str, str]) -> list[RawMessage]:
        """The raw messages of this draft; `tools` maps call ids to tool names."""
        content: Any = self.blocks or self.text
        plain = {"role": self.role, "content": content, "model": self.model, "stop_reason": self.reason}
        found = roles.read_message(plain)
        for message in found:
            message.timestamp = self.timestamp
            message.answers = [self._with_exit_code(answer, tools) for answer in message.answers]
        return found

    def _with_exit_code(self, answer: ToolResult, tools: dict[str, str]) -> ToolResult:
        if tools.get(answer.id or "") != SHELL or not isinstance(answer.content, str | None):
            return answer
        return answer._replace(exit_code=_read_exit_code(answer, self.tool_use_result))


class AgentStart(Struct):
    """A sub-agent as the result of the call that started it, or a file of its own, describes it.

    `calls` is how many tools it called; without `has_total` that is not recorded, as of one in the background.
    """

    call_id: str | None = None
    name: str | None = None
    calls: int = 0
    has_total: bool = True
    workflow: str | None = None


class ClaudeSession(Struct):
    """One session, collected line by line."""

    drafts: list[MessageDraft] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    init: dict[str, Any] = field(default_factory=dict)
    hooks: list[dict[str, Any]] = field(default_factory=list)
    name: str | None = None
    failure: ModelError | None = None
    is_stream: bool = False
    is_interrupted: bool = False
    """Whether a person stopped the main agent, which has not gone on since."""
    is_after_result: bool = False
    """Whether the main agent began or went on with a turn after the last result line."""
    messages_by_uuid: dict[str, Any] = field(default_factory=dict)
    by_id: dict[tuple[str | None, str], MessageDraft] = field(default_factory=dict)
    side_chain_roots: dict[str, str] = field(default_factory=dict)
    starts: dict[str, AgentStart] = field(default_factory=dict)
    """What is known of each sub-agent besides its own lines, by its id."""
    idle_starts: set[str] = field(default_factory=set)
    """Calls whose result says that the sub-agent which they started called no tool."""
    reported: dict[str, str] = field(default_factory=dict)
    """Calls that lines report on while they run, by their ids, with what they are."""

    def add(self, line: dict[str, Any]) -> None:
        """Adds one line; raises FieldError. Ignores lines that only Claude Code itself needs, and results of agents.

        A resumed session may repeat a line: same uuid and same message. A different message is a new line.
        """
        kind = line.get("type")
        self.is_stream = self.is_stream or ("session_id" in line and "sessionId" not in line)
        if kind == "result" and "agentId" not in line:
            self.results.append(line)
            self.is_interrupted = self.is_after_result = False
        elif kind == "system":
            self._add_system(line)
        elif kind == "tool_progress":
            self._note_reported(line, "tool_name")
        elif kind in ("progress", "attachment"):
            self._note_reported({} if line.get(COPIED) is True else find_hooked(line), "name")
        elif kind == "summary":
            self.name = text(line.get("summary"), "summary")
        elif kind == META_LINE:
            self._describe_agent(line)
        elif isinstance(line.get("message"), dict) and self._is_new(line):
            self._add_message(line, mapping(line["message"], "message"))

    @property
    def tools(self) -> dict[str, str]:
        """The tool name of each call, by call id."""
        blocks = (block for draft in self.drafts for block in draft.blocks if isinstance(block, dict))
        return {
            block["id"]: block["name"]
            for block in blocks
            if isinstance(block.get("id"), str) and isinstance(block.get("name"), str)
        }

    def _is_new(self, line: dict[str, Any]) -> bool:
        uuid = line.get("uuid")
        if not isinstance(uuid, str):
            return True
        is_new: bool = self.messages_by_uuid.get(uuid) != line["message"]
        self.messages_by_uuid.setdefault(uuid, line["message"])
        return is_new

    def _add_system(self, line: dict[str, Any]) -> None:
        subtype = line.get("subtype")
        if subtype == "init":
            self.init = self.init or line
            self.is_after_result = bool(self.results)
        elif subtype == "hook_response":
            keys = ("hook_name", "hook_event", "outcome", "exit_code")
            self.hooks.append({key: line[key] for key in keys if isinstance(line.get(key), str | int)})
        elif subtype in TASKS:
            self._note_task(line, self._note_reported(line, "description"))

    def _note_reported(self, line: dict[str, Any], key: str) -> str | None:
        """Notes the call that a line reports on, by the name that the line has for it; returns its id."""
        call_id = text(line.get("tool_use_id"), "tool_use_id") or None
        if call_id is not None:
            self.reported.setdefault(call_id, text(line.get(key), key) or call_id)
        return call_id

    def _note_task(self, line: dict[str, Any], call_id: str | None) -> None:
        """Notes the sub-agent that a task is, and how many tools it called."""
        task, uses = text(line.get("task_id"), "task_id"), read_uses(line)
        if not task or (task not in self.starts and not is_agents(line)):
            return
        start = self.starts.setdefault(task, AgentStart(has_total=False))
        start.call_id = start.call_id or call_id
        start.calls, start.has_total = max(start.calls, uses or 0), start.has_total or uses is not None

    def _add_message(self, line: dict[str, Any], message: dict[str, Any]) -> None:
        owner = self._find_owner(line)
        role = text(message.get("role"), "message.role") or required_text(line.get("type"), "type")
        if role != "assistant" and any(line.get(flag) is True for flag in HIDDEN_FLAGS):
            return
        if role == "assistant" and message.get("model") == SYNTHETIC and not _has_tool_use(message):
            self._add_error(line, message)
            return
        if role == "assistant":
            self.failure = None
        if owner is None and line.get(COPIED) is not True:
            self._note_turn(role, message)
        self._fill_draft(self._find_or_add_draft(role, owner, message), line, message)

    def _note_turn(self, role: str, message: dict[str, Any]) -> None:
        """Notes that the main agent went on, or that a person stopped it."""
        if role == "assistant":
            self.is_interrupted, self.is_after_result = False, bool(self.results)
        elif not INTERRUPTED.isdisjoint(_list_texts(message.get("content"))):
            self.is_interrupted = True

    def _describe_agent(self, line: dict[str, Any]) -> None:
        start = self.starts.setdefault(required_text(line.get("agentId"), "agentId"), AgentStart())
        start.name = text(line.get("agentType"), "agentType") or start.name
        start.call_id = text(line.get("toolUseId"), "toolUseId") or start.call_id
        start.workflow = line.get(WORKFLOW) or start.workflow

    def _note_start(self, details: Any, message: dict[str, Any]) -> None:
        """Notes the sub-agent that a result names: it is that of the call which started it."""
        content = message.get("content")
        blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
        call_id = next((each for block in blocks if isinstance(each := block.get("tool_use_id"), str)), None)
        if not isinstance(details, dict) or call_id is None:
            return
        agent, total = details.get("agentId"), details.get("totalToolUseCount")
        if total == 0:
            self.idle_starts.add(call_id)
        if not isinstance(agent, str) or not agent:
            return
        start = self.starts.setdefault(agent, AgentStart())
        start.call_id = start.call_id or call_id
        start.calls = max(start.calls, total if type(total) is int else 0)
        start.has_total = type(total) is int

    def count_elsewhere(self) -> int:
        """How many sub-agents called more tools than their lines here hold."""
        called = Counter(draft.owner for draft in self.drafts for block in draft.blocks if _is_tool_use(block))
        return sum(
            self._is_elsewhere((name_side_chain(agent), start.call_id), start, called)
            for agent, start in self.starts.items()
        )

    def _is_elsewhere(self, owners: tuple[str | None, ...], start: AgentStart, called: Counter[str | None]) -> bool:
        """Whether calls of a sub-agent are missing; without their number, one that called none has to have answered."""
        here = sum(called[owner] for owner in owners)
        if start.has_total or here or start.call_id in self.idle_starts:
            return start.calls > here
        last = next((draft for draft in reversed(self.drafts) if draft.owner in owners), None)
        return last is None or last.role != "assistant"

    def _find_or_add_draft(self, role: str, owner: str | None, message: dict[str, Any]) -> MessageDraft:
        message_id = text(message.get("id"), "message.id")
        draft = self.by_id.get((owner, message_id)) if message_id is not None else None
        if draft is None:
            draft = MessageDraft(role, owner, message_id, text(message.get("model"), "message.model"))
            self.drafts.append(draft)
            if message_id is not None:
                self.by_id[owner, message_id] = draft
        return draft

    def _fill_draft(self, draft: MessageDraft, line: dict[str, Any], message: dict[str, Any]) -> None:
        content = message.get("content")
        if isinstance(content, list):
            for block in content:
                draft.add_block(block)
        else:
            draft.text = text(content, "message.content")
        if message.get("usage") is not None:
            draft.usages.append(mapping(message["usage"], "message.usage"))
        cost = amount(line.get("costUSD"), "costUSD")
        draft.cost_usd = cost if cost is not None else draft.cost_usd
        draft.reason = text(message.get("stop_reason"), "message.stop_reason") or draft.reason
        draft.timestamp = draft.timestamp or time(line.get("timestamp"), "timestamp")
        draft.is_copied = draft.is_copied or line.get(COPIED) is True
        draft.tool_use_result = line.get("tool_use_result", line.get("toolUseResult"))
        if not draft.is_copied:
            self._note_start(draft.tool_use_result, message)

    def _add_error(self, line: dict[str, Any], message: dict[str, Any]) -> None:
        """Records the error that Claude Code reports when the model did not answer."""
        kind = line.get("error")
        if line.get("isApiErrorMessage") is True or isinstance(kind, str):
            messages = roles.read_message({"role": "assistant", "content": message.get("content")})
            shown = messages[0].content or "the model did not answer"
            self.failure = build_model_error(kind if isinstance(kind, str) else None, shown)

    def _find_owner(self, line: dict[str, Any]) -> str | None:
        """The id of the call that started the line's sub-agent, else a name for its side chain."""
        parent = text(line.get("parent_tool_use_id"), "parent_tool_use_id")
        if parent is not None or line.get("isSidechain") is not True:
            return parent
        agent, uuid, parent_uuid = (text(line.get(key), key) for key in ("agentId", "uuid", "parentUuid"))
        root = agent or self.side_chain_roots.get(parent_uuid or "") or uuid or ""
        self.side_chain_roots[uuid or ""] = root
        return name_side_chain(root)


def name_side_chain(agent: str) -> str:
    """The owner of the lines of a sub-agent that name no call."""
    return f"side chain {agent}"


def _list_texts(content: Any) -> list[str]:
    blocks = content if isinstance(content, list) else [{"text": content}]
    return [shown for block in blocks if isinstance(block, dict) and isinstance(shown := block.get("text"), str)]


def _has_tool_use(message: dict[str, Any]) -> bool:
    """True if the message uses a tool, whatever model it names as its author."""
    content = message.get("content")
    blocks = content if isinstance(content, list) else []
    return any(map(_is_tool_use, blocks))


def _is_tool_use(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "tool_use"


def _read_exit_code(answer: ToolResult, tool_use_result: Any) -> int | None:
    """A failed command's output begins with its code; one still running in the background has none."""
    content = answer.content or ""
    if answer.is_error:
        found = EXIT_CODE.match(content)
        return int(found[1]) if found else None
    details = tool_use_result if isinstance(tool_use_result, dict) else {}
    is_open = details.get("interrupted") is True or details.get("backgroundTaskId") is not None
    return None if is_open or content.startswith(IN_BACKGROUND) else 0
