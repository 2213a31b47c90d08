"""A client of the YAML language server, as an editor is one: it opens files, asks what may follow, reads the marks."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from documents import ROOT

VARIABLE = "EVALGATE_LANGUAGE_SERVER"
INSTALLED = ROOT / ".venv" / "editor" / "node_modules" / "yaml-language-server" / "bin" / "yaml-language-server"
OFFLINE = """
const net = require("net");
net.Socket.prototype.connect = function () {
  const [target] = [arguments[0]].flat();
  require("fs").appendFileSync(process.env.CONNECTIONS, `${target.host}:${target.port}\\n`);
  process.nextTick(() => this.destroy(new Error("offline")));
  return this;
};
"""
"""Every connection is noted and refused."""


class Mark(NamedTuple):
    """What the editor underlines: line and column, counted from 1, and why."""

    line: int
    column: int
    message: str


def find_server() -> list[str]:
    """The command of the server; skips the test if it is not installed."""
    path = Path(os.environ.get(VARIABLE) or INSTALLED)
    node = shutil.which("node")
    if node is None or not path.is_file():
        pytest.skip(f"no YAML language server: `make language-server` installs it (needs npm), or set {VARIABLE}")
    return [node, str(path), "--stdio"]


class LanguageServer:
    """A running server of one folder, without a network."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.connections = folder / "connections"
        (folder / "offline.cjs").write_text(OFFLINE, encoding="utf-8")
        node, *command = find_server()
        self._process = subprocess.Popen(
            [node, "--require", str(folder / "offline.cjs"), *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), "CONNECTIONS": str(self.connections)},
        )
        self._last_id = 0
        self._marks: dict[str, list[Mark]] = {}
        workspace = {"uri": folder.as_uri(), "name": "project"}
        self._request(
            "initialize",
            {
                "processId": os.getpid(),
                "rootUri": folder.as_uri(),
                "workspaceFolders": [workspace],
                "capabilities": {"textDocument": {"completion": {"completionItem": {"snippetSupport": True}}}},
            },
        )
        self._send({"method": "initialized", "params": {}})

    def close(self) -> None:
        """Ends the server."""
        self._process.kill()
        self._process.communicate()

    def open(self, name: str, text: str) -> list[Mark]:
        """Opens a file with this text, and returns what is marked in it."""
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_text(text, encoding="utf-8")
        uri = (self._folder / name).as_uri()
        self._marks.pop(uri, None)
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self._send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
        while uri not in self._marks:
            self._handle(self._read())
        return self._marks[uri]

    def complete(self, name: str, text: str) -> dict[str, str]:
        """What may follow at the end of the text: the words shown, and what each inserts."""
        self.open(name, text)
        lines = text.split("\n")
        found = self._request("textDocument/completion", self._place(name, len(lines) - 1, len(lines[-1])))
        return {item["label"]: item["insertText"] for item in found["items"]}

    def hover(self, name: str, line: int, column: int) -> str:
        """What is shown for the word at a place, counted from 1."""
        return str(self._request("textDocument/hover", self._place(name, line - 1, column - 1))["contents"]["value"])

    def _place(self, name: str, line: int, column: int) -> dict[str, Any]:
        uri = (self._folder / name).as_uri()
        return {"textDocument": {"uri": uri}, "position": {"line": line, "character": column}}

    def _request(self, method: str, params: Any) -> Any:
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        while True:
            message = self._read()
            if message.get("id") == self._last_id and "method" not in message:
                return message["result"]
            self._handle(message)

    def _handle(self, message: dict[str, Any]) -> None:
        """Keeps marks, and answers what the server asks of an editor without settings."""
        if message.get("method") == "textDocument/publishDiagnostics":
            found = message["params"]
            starts = [(each["range"]["start"], each["message"]) for each in found["diagnostics"]]
            self._marks[found["uri"]] = [Mark(start["line"] + 1, start["character"] + 1, why) for start, why in starts]
        elif "id" in message and "method" in message:
            items = message["params"].get("items") if message["method"] == "workspace/configuration" else None
            self._send({"id": message["id"], "result": None if items is None else [{} for _ in items]})

    def _send(self, message: dict[str, Any]) -> None:
        content = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self._process.stdin is not None
        self._process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(content) + content)
        self._process.stdin.flush()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        length = 0
        while line := self._process.stdout.readline().strip():
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        message: dict[str, Any] = json.loads(self._process.stdout.read(length))
        return message
