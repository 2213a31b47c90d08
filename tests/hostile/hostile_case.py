"""One hostile or harmless input: how it is laid out in a folder, and which exit codes are allowed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PASSES = frozenset({0})
REFUSED = frozenset({2})
NOT_GREEN = frozenset({1, 2, 3})
ENDS = frozenset({0, 1, 2, 3})
"""Where an input may be taken or not, so long as the run ends well."""

HEAD = "version: 1\nsuite: s\ntraces: [traces/*]\n"
SUITE = HEAD + "scenarios: [{id: '*', assertions: [{contains: ok, required: true}]}]\n"


class Case(NamedTuple):
    """`prepare` adds further files to the folder; `arguments` come after `run suite.yaml`.

    With `keeps` the run also writes a baseline.
    """

    name: str
    ends: frozenset[int]
    suite: str | bytes = SUITE
    traces: Callable[[], Mapping[str, bytes]] | None = None
    arguments: Sequence[str] = ()
    prepare: Callable[[Path], None] | None = None
    keeps: bool = False

    def lay_out(self, folder: Path) -> None:
        """Writes suite and traces."""
        suite = self.suite if isinstance(self.suite, bytes) else self.suite.encode("utf-8", "surrogatepass")
        (folder / "suite.yaml").write_bytes(suite)
        (folder / "traces").mkdir()
        for name, content in (self.traces() if self.traces else {"t.jsonl": GOOD}).items():
            (folder / "traces" / name).write_bytes(content)
        if self.prepare:
            self.prepare(folder)


def trace(**fields: Any) -> bytes:
    """One line of a trace that says ok, with other fields."""
    messages = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "ok"}]
    record = {"schema": "evalgate.trace/1", "scenario_id": "a", "messages": messages, **fields}
    return json.dumps(record).encode() + b"\n"


def answer(content: Any, **more: Any) -> bytes:
    """One line of a trace in which the agent says `content`."""
    return trace(messages=[{"role": "assistant", "content": content, **more}])


def checks(assertion: str) -> str:
    """A suite of one scenario with one assertion, as YAML."""
    return f"{HEAD}scenarios: [{{id: '*', assertions: [{assertion}]}}]\n"


def nest_list(depth: int) -> Any:
    """A list in lists."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


GOOD = trace()
