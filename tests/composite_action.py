"""Writes the inputs and outputs of composite/action.yml: those of action.yml. `make docs` runs it."""

from __future__ import annotations

import re

import yaml
from documents import ROOT

ACTION, COMPOSITE = ROOT / "action.yml", ROOT / "composite/action.yml"
HEAD = """\
# Inputs and outputs are copied from ../action.yml by `make docs`.
name: EvalGate without Docker
description: {description}, for runners without Docker
author: {author}

"""


def compose(action: str, composite: str) -> str:
    """The composite action: its own steps, with the inputs and outputs of the other action."""
    declared = yaml.safe_load(action)
    inputs, outputs = re.search(r"^(inputs:\n.*?)^(outputs:\n.*?)^runs:", action, re.DOTALL | re.MULTILINE).groups()
    valued = re.sub(
        r"^  ([a-z-]+):\n((?:    .*\n)+)",
        r"  \1:\n\2    value: ${{ steps.gate.outputs.\1 }}\n",
        outputs,
        flags=re.MULTILINE,
    )
    steps = re.search(r"^(?:# [^\n]*\n)*runs:\n.*", composite, re.DOTALL | re.MULTILINE)[0]
    return HEAD.format(**declared) + inputs + valued + steps


if __name__ == "__main__":
    COMPOSITE.write_text(
        compose(ACTION.read_text(encoding="utf-8"), COMPOSITE.read_text(encoding="utf-8")), encoding="utf-8"
    )
