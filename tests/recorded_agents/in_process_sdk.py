"""Two scenarios in one process, with OpenAI's SDK and the recorder."""

from __future__ import annotations

import openai

from evalgate.recording import scenario

for name in ("refund", "cancel"):
    with scenario(name, trial=1, variant="v"):
        messages = [{"role": "user", "content": f"Please {name}."}]
        openai.OpenAI().chat.completions.create(model="gpt-fake", messages=messages)  # type: ignore[arg-type]
