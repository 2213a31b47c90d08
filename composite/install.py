"""Installs EvalGate from its own checkout into a new virtual environment, and hands its Python to the next step.

The dependencies are those of the image, by hash; the package is copied, never installed by name: that name on the
Python index belongs to another project.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements/image.txt"
INVALID, UNREACHABLE = 2, 4
ON_WINDOWS = (
    "EvalGate does not run on Windows, where it could not keep a pull request from reading other files of the runner:"
    " upload the traces as an artifact, and judge them in a job on Linux or macOS (docs/github.md, Without Docker)"
)


def install(python: Path) -> None:
    """Installs locked wheels and the package for `python`, by the pip of this one. Raises CalledProcessError."""
    options = ["--disable-pip-version-check", "--no-input", "--quiet", "--no-deps", "--only-binary", ":all:"]
    pip = [
        sys.executable,
        "-I",
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        *options,
        "--require-hashes",
        "--requirement",
        str(LOCK),
    ]
    subprocess.run(pip, check=True)
    where = [str(python), "-I", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    target = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip(), "evalgate")
    shutil.copytree(ROOT / "evalgate", target, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([str(python), "-I", "-m", "compileall", "-q", str(target)], check=True)


def fail(message: str, code: int) -> int:
    """Reports an error of the step."""
    print(f"::error title=EvalGate::{message}")
    return code


def main(platform: str = sys.platform) -> int:
    """Installs, and sets the output `python`; returns the exit code."""
    if platform == "win32":
        return fail(ON_WINDOWS, INVALID)
    folder = Path(tempfile.mkdtemp(prefix="evalgate-", dir=os.environ.get("RUNNER_TEMP") or None))
    venv.create(folder, symlinks=True)
    python = folder / "bin/python"
    try:
        install(python)
    except subprocess.CalledProcessError:
        return fail("EvalGate can't be installed: the log shows why", UNREACHABLE)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"python={python}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
