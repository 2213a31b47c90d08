from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import DictLoader, Environment

from evalgate import reporting
from evalgate.reporting.markdown.compiled_templates import TemplateCache
from evalgate.reporting.markdown.render import compile_templates

FOLDER = Path(reporting.__path__[0]) / "templates"


def rendered(source: str, stored: dict[str, bytes], kept: dict[str, bytes] | None = None) -> str:
    cache = TemplateCache(stored.get, (kept if kept is not None else {}).__setitem__)
    environment = Environment(loader=DictLoader({"a.j2": source}), bytecode_cache=cache, autoescape=True)
    return environment.get_template("a.j2").render(name="Ann")


def test_every_template_of_evalgate_is_compiled_to_a_separate_file():
    names = {path.name for path in FOLDER.glob("*.j2")}

    assert {place.split("/")[-1].split(".j2.")[0] + ".j2" for place in compile_templates()} == names


def test_bytecode_is_used_instead_of_compiling():
    kept: dict[str, bytes] = {}
    assert rendered("Hello {{ name }}", {}, kept) == "Hello Ann"

    again: dict[str, bytes] = {}
    assert rendered("Hello {{ name }}", kept, again) == "Hello Ann"
    assert list(kept) and not again  # noqa: PT018


def test_bytecode_of_another_source_is_not_used():
    kept: dict[str, bytes] = {}
    rendered("Hello {{ name }}", {}, kept)

    assert rendered("Bye {{ name }}", kept) == "Bye Ann"


@pytest.mark.parametrize("stored", [b"", b"for another Python"])
def test_bytecode_of_another_python_is_not_used(stored):
    kept: dict[str, bytes] = {}
    rendered("Hello {{ name }}", {}, kept)

    assert rendered("Hello {{ name }}", dict.fromkeys(kept, stored)) == "Hello Ann"
