"""Finds calls that a model wrote into its text, in a notation that a program around it may read and execute."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from evalgate.adapters.formats.core.builder.evidence_gaps import add_gap, shorten
from evalgate.measures.text.similar_names import unwrap_name

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from evalgate.models.trace.trace import Message, Trace

_NOTATIONS = r"""(?mx)
    ^\ {0,3}<(?:\w{1,20}:)?tool_call> (?: \s*\{ [^{}]{0,500}? "name" \s* : \s* "(?P<hermes>[^"\n]{1,512})" )?
    | ^\ {0,3}<function= (?P<function> [^>\s]{1,512})
    | ^\ {0,3}<(?:\w{1,20}:)?invoke\ name= ["']? (?P<invoke> [^"'>\n]{1,512})
    | ^\ {0,3}\*{0,2} Action\ ?\d{0,3}\ ?: \*{0,2} [ \t]* \n? [ \t]* (?P<react> [^\n]{1,512}?) [*\s]{1,40}
      Action\ ?\d{0,3}\ ?Input\ ?\d{0,3}\ ?:
    | ^\ {0,3}(?: <\|start\|> )? (?: assistant )? \s? (?: <\|channel\|> )? (?: analysis | commentary | final )? \s?
      to=functions\. (?P<harmony> [\w.:/-]{1,512})
    | ^\ {0,3}(?: \[TOOL_CALLS\] | <\|tool_call\|> | <\|python_tag\|> ) \s*
      (?: \[? \s* \{ [^{}]{0,500}? "name" \s* : \s* "(?P<listed>[^"\n]{1,512})" | (?P<tagged> [\w:/-]{1,512}) )?
    | ^\ {0,3}(?: <\|tool_calls_section_begin\|> \s* )? <\|tool_call_begin\|> \s* (?P<begun> [\w.:/-]{1,512})
    | ^\ {0,3}(?: <\uff5ctool\u2581calls\u2581begin\uff5c> \s* )? <\uff5ctool\u2581call\u2581begin\uff5c> \s*
      (?: function <\uff5ctool\u2581sep\uff5c> )? (?P<parted> [\w.:/-]{1,512})
    | ^\ {0,3}```tool_code \s* (?: print\( )? (?P<code> [\w.]{1,512}) (?= \( )
    | ^\ {0,3}\u273fFUNCTION\u273f: \s* (?P<flowered> [^\n]{1,512})
    | ^\ {0,3}<execute_(?: ipython | bash | browse )>
    | <end_code>
    | \A(?= \s* Thought: ) [^\0]{0,5000}? ^<code>$
    | \A\s* \[ (?P<listing> [A-Za-z_][\w.]{0,511}) \( [^\n]{0,5000} \) \] \s*\Z
    | ^\ {0,3}<use_mcp_tool> [^\0]{0,500}? <tool_name> \s* (?P<served> [^<\n]{1,512})
    | \A\s* (?: \[ \s* )? \{ \s* (?: "type" \s* : \s* "function" \s* , \s* )?
      "name" \s* : \s* "(?P<object>[^"\n]{1,512})" \s* , \s* "(?: parameters | arguments )" \s* : \s* \{
"""
_FENCED = r"(?ms)^ {0,3}(```+|~~~+)(?!tool_code\b)[^\n]*\n.*?(?:^ {0,3}\1|\Z)"
_ACTIONS = r"""(?x) "action" \s* : \s* "(?P<name> (?! Final\ Answer") [^"\n]{1,512} )" \s* , \s* "action_input" \s* :"""
"""LangChain's agents write an action as JSON, mostly in a fence."""
_compile = cache(re.compile)


def note_written_calls(trace: Trace) -> None:
    """Makes the evidence of calls incomplete if a text holds a call that is not recorded and that something followed.

    A call of the same name that was executed before the next answer of the model is that of the text.
    """
    messages, tools = trace.messages, {*trace.called, *(each.get("name") for each in trace.tool_definitions)}
    last = max((at for at, each in enumerate(messages) if each["role"] in ("user", "tool")), default=0)
    step = 0
    for message in messages[:last]:
        if message["role"] != "assistant":
            continue
        step += 1
        left = Counter(list_written_calls(message, tools))
        if left:
            left -= Counter(unwrap_name(call["name"]) for call in trace.tool_calls if call["step"] == step)
        if left:
            named = ", ".join(f"`{shorten(name)}`" for name in left if name) or "a tool"
            add_gap(
                trace, "calls", f"a message of the agent holds a call of {named} as text, and no such call is recorded"
            )
            return


def list_written_calls(message: Message, tools: Collection[Any]) -> Iterator[str]:
    """The tools of the calls in the text of an answer without recorded calls; empty where the tool is not known.

    A JSON object with the name of none of the agent's `tools` is an answer, if any of them is known.
    """
    text = message["content"]
    if message["tool_calls"] or not text:
        return
    shown = _compile(_FENCED).sub("", text) if "```" in text or "~~~" in text else text
    for found in _compile(_NOTATIONS).finditer(shown):
        name = unwrap_name(next(filter(None, found.groups()), "").strip())
        if not (found["object"] and tools) or name in tools:
            yield name
    if '"action_input"' in text:
        yield from (unwrap_name(found["name"]) for found in _compile(_ACTIONS).finditer(text))
