from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import evalgate

PACKAGE = Path(evalgate.__path__[0])


def test_a_package_with_compiled_templates_has_them_where_a_run_looks(tmp_path):
    shutil.copytree(PACKAGE, tmp_path / "evalgate", ignore=shutil.ignore_patterns("__pycache__"))
    places = tmp_path / "evalgate" / "reporting" / "templates"
    command = [sys.executable, "-m", "evalgate.adapters.compiled_templates"]
    subprocess.run(command, cwd=tmp_path, check=True, env={"PYTHONDONTWRITEBYTECODE": "1"})

    (bytecode,) = (places / "__pycache__").glob("summary.md.j2.*")
    look = (
        "from evalgate.reporting.markdown.compiled_templates import open_installed_cache\n"
        f"print(open_installed_cache()._load('templates/__pycache__/{bytecode.name}') is not None)\n"
    )
    done = subprocess.run([sys.executable, "-c", look], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == "True\n"
