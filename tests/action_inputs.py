"""Writes the inputs of action.yml and their table in docs/github.md, from their declarations. `make docs` runs it."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import yaml
from documents import ROOT

from evalgate.bootstrap.features import all_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalgate.settings.setting import Setting

ACTION, PAGE = ROOT / "action.yml", ROOT / "docs/github.md"
WIDTH = 120
TABLE = "| input | default | meaning |\n|---|---|---|\n"


def text_of_default(setting: Setting[Any]) -> str:
    """The default as one writes it in a workflow; empty for one that has no text."""
    default = setting.default
    if isinstance(default, bool):
        return str(default).lower()
    return str(default) if isinstance(default, str | int) else ""


def write_scalar(key: str, text: str) -> str:
    """A line of YAML with this text; folded if it is long."""
    scalar = yaml.safe_dump(text, width=10_000, allow_unicode=True).removesuffix("...\n").strip()
    if len(line := f"    {key}: {scalar}") <= WIDTH:
        return f"{line}\n"
    return f"    {key}: >-\n" + textwrap.indent(textwrap.fill(text, WIDTH - 6, break_on_hyphens=False), " " * 6) + "\n"


def write_inputs(settings: Sequence[Setting[Any]]) -> str:
    """The mapping `inputs` of action.yml."""
    return "inputs:\n" + "".join(
        f"  {setting.name}:\n"
        + write_scalar("description", setting.text.help)
        + write_scalar("default", setting.text.expression or text_of_default(setting))
        for setting in settings
    )


def write_table(settings: Sequence[Setting[Any]]) -> str:
    """The table of docs/github.md."""
    rows = []
    for setting in settings:
        default = text_of_default(setting)
        shown = setting.text.shown or (f"`{default}`" if default else "")
        rows.append(f"| `{setting.name}` | {shown} | {setting.text.row} |\n".replace("|  |", "| |"))
    return TABLE + "".join(rows)


def with_inputs(action: str, settings: Sequence[Setting[Any]]) -> str:
    """action.yml with these inputs in place of its present ones."""
    before, rest = action.split("\ninputs:\n")
    outputs = rest.split("\noutputs:\n")[1]
    return f"{before}\n{write_inputs(settings)}\noutputs:\n{outputs}"


def with_table(page: str, settings: Sequence[Setting[Any]]) -> str:
    """The page with this table in place of its present one."""
    before, rest = page.split(TABLE)
    return before + write_table(settings) + "\n" + rest.split("\n\n", maxsplit=1)[1]


if __name__ == "__main__":
    for path, write in ((ACTION, with_inputs), (PAGE, with_table)):
        path.write_text(write(path.read_text(encoding="utf-8"), all_settings()), encoding="utf-8")
