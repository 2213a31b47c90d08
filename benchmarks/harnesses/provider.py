"""A model on the loopback that asks each harness for the calls of a case, also as Gemini answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).parents[2] / "tests")]

from fakes import providers  # noqa: E402  (tests are no package)

MODELS = {"object": "list", "data": [{"id": "fake", "object": "model", "type": "model"}], "models": []}
USAGE = {"promptTokenCount": 30, "candidatesTokenCount": 7, "totalTokenCount": 37}


class ScriptedModel(providers.FakeProviders):
    """The server; a request without tools (for a title, say) takes none of the answers."""

    def __init__(self, answers: list[list[Any]], text: str) -> None:
        super().__init__(text=text, answers=[{"calls": calls} for calls in answers], handler=Handler)

    def choose_answer(self, api: str, body: dict[str, Any], text: str) -> providers.Answer | None:
        """The next of the answers; after the last one the text."""
        asked = super().choose_answer(api, body, text) if body.get("tools") else None
        return asked or providers.Answer(self.text)


class Handler(providers.Handler):
    """Answers one connection."""

    fake: ScriptedModel

    def do_GET(self) -> None:  # noqa: N802  (the name that http.server calls)
        """The list of models."""
        self.send_json(200, MODELS)

    def do_POST(self) -> None:  # noqa: N802  (the same)
        """What the model says, in the form of its API."""
        method = self.path.partition("?")[0].rpartition("/")[2].partition(":")[2]
        if not method:
            super().do_POST()
            return
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        number, _ = self.fake.note(self.path, dict(self.headers), body)
        answer = self.fake.choose_answer("gemini", body, self.fake.text)
        built = build_gemini(str(number), answer or providers.Answer(self.fake.text))
        if method == "streamGenerateContent":
            self.send_events([(None, built)], is_cut=False)
        else:
            self.send_json(200, built)


def build_gemini(number: str, answer: providers.Answer) -> dict[str, Any]:
    """An answer of Gemini's API."""
    calls = enumerate(answer.calls)
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text else []
    parts += [{"functionCall": {"id": f"{number}-{at}", "name": name, "args": given}} for at, (name, given) in calls]
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": USAGE, "modelVersion": "gemini-fake-2026", "responseId": number}
