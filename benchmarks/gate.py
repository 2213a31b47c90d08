"""An installed gate as the benchmarks run it: the least CPU of a few runs, net of the start where that is asked for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import measure

HERE = Path(__file__).resolve().parent
EXITS = (0, 1)
WITHOUT_ZIP = ("--no-baseline-zip",)


class Gate:
    """A Python that has EvalGate, and a folder to work in."""

    def __init__(self, python: Path, folder: Path, rounds: int = 5) -> None:
        self.python, self.folder, self._rounds = python, folder, rounds
        self._start: float | None = None

    def cpu(self, *arguments: str | Path, rounds: int | None = None) -> float:
        """The least CPU seconds of `evalgate` with these arguments."""
        command = [self.python, "-m", "evalgate", *arguments]
        found = [measure.once(command, EXITS, folder=self.folder).cpu for _ in range(rounds or self._rounds)]
        return min(found)

    def run(self, suite: Path, source: Path, *flags: str | Path, rounds: int | None = None) -> float:
        """CPU seconds of a run of a suite on traces: a file, or all files of a folder."""
        return self.cpu(*self.run_arguments(suite, source, *flags), rounds=rounds)

    def run_arguments(self, suite: Path, source: Path, *flags: str | Path) -> list[str | Path]:
        """What `run` is called with."""
        output = () if "--output-dir" in flags else ("--output-dir", self.folder / "output")
        traces = source / "*" if source.is_dir() else source
        return ["run", suite, "--traces", traces, *output, *flags]

    def start(self) -> float:
        """CPU seconds of a run of one trace: what every run takes."""
        if self._start is None:
            file = self.write_lines("start.jsonl", [conversation("case-0000000")])
            self._start = self.run(HERE / "suite.yaml", file, rounds=4 * self._rounds)
        return self._start

    def net(self, suite: Path, source: Path, *flags: str | Path) -> float:
        """CPU seconds of a run beyond its start."""
        return max(self.run(suite, source, *flags) - self.start(), 0.001)

    def write_lines(self, name: str, documents: list[Any]) -> Path:
        """A file with a JSON document a line."""
        file = self.folder / name
        file.write_text("".join(json.dumps(each) + "\n" for each in documents), encoding="utf-8")
        return file

    def write_suite(self, name: str, scenarios: list[Any], **rest: Any) -> Path:
        """A suite file; JSON is YAML."""
        file = self.folder / f"{name}.yaml"
        document = {"version": 1, "suite": name, "scenarios": scenarios, **rest}
        file.write_text(json.dumps(document), encoding="utf-8")
        return file


def conversation(scenario: str, calls: int = 2, *, in_one_turn: int = 1, text: str = "It is done.") -> dict[str, Any]:
    """A small native trace with so many calls of `look`, then one of `act`."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Please do it."}]
    names = ["look"] * (calls - 1) + ["act"]
    for first in range(0, calls, in_one_turn):
        turn = [
            {"id": f"call_{place}", "name": names[place], "arguments": {"place": place, "order": f"A-{place % 7}"}}
            for place in range(first, min(first + in_one_turn, calls))
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": turn})
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": f"found {call['id']}"} for call in turn]
    messages.append({"role": "assistant", "content": text})
    return {"schema": "evalgate.trace/1", "scenario_id": scenario, "messages": messages, "cost_usd": 0.01}
