"""`python -m evalgate.adapters.compiled_templates`: compiles the report templates to bytecode in advance."""

from __future__ import annotations

from pathlib import Path

from evalgate import reporting
from evalgate.reporting.markdown.render import compile_templates


def main() -> None:
    """Writes the bytecode of every template to where a run looks for it."""
    folder = Path(reporting.__path__[0])
    for relative_path, bytecode in compile_templates().items():
        path = folder / relative_path
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(bytecode)


if __name__ == "__main__":
    main()
