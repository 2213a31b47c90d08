"""The commands that the runner finds in what a step prints.

`::name key=value::data` at the start of a line, and the older `##[name key=value]data` anywhere in one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NAMES = frozenset(
    [
        "add-mask",
        "add-matcher",
        "add-path",
        "debug",
        "echo",
        "endgroup",
        "error",
        "group",
        "notice",
        "remove-matcher",
        "save-state",
        "set-env",
        "set-output",
        "stop-commands",
        "warning",
    ]
)
ANNOTATIONS = ("error", "warning", "notice")
MOST_ANNOTATIONS = 10
LONGEST_MESSAGE = 4096
COMMAND = re.compile(r"\s*::(?P<name>[^\s:]+)(?: (?P<properties>.*?))?::(?P<data>.*)", re.DOTALL)
OLD_COMMAND = re.compile(r"##\[(?P<name>[^\s\]]+)(?: (?P<properties>[^\]]*))?\](?P<data>.*)", re.DOTALL)
DATA = {"%0D": "\r", "%0A": "\n", "%25": "%"}
PROPERTY = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


def parse_command(line: str) -> dict | None:
    match = COMMAND.match(line)
    return _command(match, ",") if match else None


def parse_old_command(line: str) -> dict | None:
    match = OLD_COMMAND.search(line)
    return _command(match, ";") if match else None


def _command(match: re.Match[str], separator: str) -> dict | None:
    name = match["name"].lower()
    if name not in NAMES:
        return None
    pairs = [each.strip().partition("=") for each in (match["properties"] or "").split(separator)]
    properties = {key.lower(): _unescape(value, PROPERTY) for key, _, value in pairs if key and value}
    return {"command": name, "props": properties, "data": _unescape(match["data"], DATA)}


def _unescape(text: str, table: dict[str, str]) -> str:
    for escaped, plain in table.items():
        text = text.replace(escaped, plain)
    return text


@dataclass
class PrintedStep:
    """What the runner makes of the lines of a step: the log that people see, annotations, and what went wrong."""

    masks: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    commands: list[dict] = field(default_factory=list)
    old_commands: list[dict] = field(default_factory=list)
    annotations: list[dict] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    stopped_until: str = ""

    def read(self, text: str) -> PrintedStep:
        for line in text.split("\n"):
            self._read_line(line)
        return self

    def _read_line(self, line: str) -> None:
        if self.stopped_until:
            if line.strip() == f"::{self.stopped_until}::":
                self.stopped_until = ""
            self.log.append(self.mask(line))
            return
        command, old = parse_command(line), parse_old_command(line)
        if command:
            self.commands.append(command)
        elif old:
            self.old_commands.append(old)
        else:
            self.log.append(self.mask(line))
            return
        self._apply(command or old or {})

    def _apply(self, command: dict) -> None:
        name, data = command["command"], command["data"]
        if name in ANNOTATIONS and [each["type"] for each in self.annotations].count(name) < MOST_ANNOTATIONS:
            message = self.mask(data)[:LONGEST_MESSAGE]
            self.annotations.append({"type": name, "message": message, **command["props"]})
        elif name == "add-mask":
            self.masks += [each for each in data.splitlines() if each.strip()]
        elif name == "stop-commands":
            self.stopped_until = data
        elif name in {"set-env", "add-path"}:
            self.errors.append(f"The `{name}` command is disabled.")

    def mask(self, text: str) -> str:
        for secret in sorted(self.masks, key=len, reverse=True):
            text = text.replace(secret, "***")
        return text
