"""Installs EvalGate from its own checkout for the steps of a job, in a new virtual environment.

    install.py key gate|record    names the cache of the packages: the outputs `key` and `wheels`, its folder
    install.py gate|record        installs; the output `python` is the interpreter that can run EvalGate

Packages are the locked wheels, each by its hash, also if a cache had them: what is kept between jobs is never installed
unchecked. EvalGate itself is linked, never installed by name: that name on the Python index belongs to another project.
"""

import hashlib
import os
import platform
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INVALID, UNREACHABLE = 2, 4
PIP = ("-I", "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet")
LOCKED = ("--no-deps", "--only-binary", ":all:", "--require-hashes", "--requirement")
MIRROR = "pip takes a mirror of PyPI from PIP_INDEX_URL (docs/enterprise.md, Without access to the internet)"
JUDGED_NOTHING = "nothing was judged, which `mode: report-only` lets pass"
OTHER_HASH = "DO NOT MATCH THE HASHES"
ON_WINDOWS = {
    "gate": (
        "EvalGate does not run on Windows, where it could not keep a pull request from reading other files of the"
        " runner: upload the traces as an artifact, and judge them in a job on Linux or macOS (docs/github.md, Without"
        " Docker)"
    ),
    "record": "this action does not run on Windows: use the command there (docs/recording.md, In a job)",
}


class NotInstalledError(Exception):
    """Why the packages can't be installed, in one line."""


def choose_lock(what: str, environ: Mapping[str, str]) -> Path:
    """The lock of what is needed: the packages of a store only if the job names one, prices only for a cap."""
    has_store = environ.get("HAS_STORE") == "true" or bool(environ.get("EVALGATE_STORE_URL"))
    has_cap = "--max-usd" in environ.get("OPTIONS", "")
    names = {"gate": "image" if has_store else "gate", "record": "record-prices" if has_cap else "record"}
    return ROOT / f"requirements/{names[what]}.txt"


def read_lock(lock: Path) -> bytes:
    """The bytes of a lock and of those that it includes."""
    own = lock.read_bytes()
    included = [line[3:].decode() for line in own.splitlines() if line.startswith(b"-r ")]
    return own + b"".join(read_lock(lock.parent / name) for name in included)


def name_cache(lock: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """The key of the cache: another lock, Python, system or architecture has other wheels; and its folder."""
    digest = hashlib.sha256(read_lock(lock)).hexdigest()[:32]
    machine = f"{environ.get('RUNNER_OS', sys.platform)}-{environ.get('RUNNER_ARCH', platform.machine())}"
    folder = Path(environ.get("RUNNER_TEMP") or tempfile.gettempdir(), f"evalgate-wheels-{lock.stem}")
    return {"key": f"evalgate-{lock.stem}-{digest}-{platform.python_version()}-{machine}", "wheels": str(folder)}


def pip(*words: str | Path) -> None:
    """Runs pip; raises NotInstalledError with the reason, and shows what pip says."""
    done = subprocess.run(
        [sys.executable, *PIP, *words], stderr=subprocess.PIPE, text=True, errors="replace", check=False
    )
    sys.stderr.write(done.stderr)
    if OTHER_HASH in done.stderr:
        raise NotInstalledError("a package has another hash than the one that EvalGate names, so nothing was installed")
    if done.returncode:
        raise NotInstalledError(f"the log shows why; {MIRROR}")


def install(lock: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Downloads the wheels unless the cache had them, and installs these; raises NotInstalledError."""
    names = name_cache(lock, environ)
    folder = Path(tempfile.mkdtemp(prefix="evalgate-", dir=environ.get("RUNNER_TEMP") or None))
    venv.create(folder, symlinks=True)
    packages = sysconfig.get_path("purelib", "venv", {"base": str(folder), "installed_base": str(folder)})
    is_cached = environ.get("CACHED") == "true"
    try:
        if not is_cached:
            pip("download", "--dest", names["wheels"], *LOCKED, lock)
        # Without byte code: Python writes it for the modules that a run imports, which are few.
        pip(
            "install",
            "--no-compile",
            "--target",
            packages,
            "--no-index",
            "--find-links",
            names["wheels"],
            *LOCKED,
            lock,
        )
    except NotInstalledError as error:
        remedy = f"; delete the cache {names['key']} of this repository" if is_cached else ""
        raise NotInstalledError(f"EvalGate can't be installed: {error}{remedy}") from None
    Path(packages, "evalgate").symlink_to(ROOT / "evalgate", target_is_directory=True)
    return {"python": str(folder / "bin/python")}


def fail(message: str, code: int) -> int:
    """Reports an error of the step."""
    print(f"::error title=EvalGate::{message}")
    return code


def main(words: list[str], environ: Mapping[str, str], system: str = sys.platform) -> int:
    """Does what the words say, and sets its outputs; returns the exit code."""
    what = words[-1]
    step: Callable[[Path, Mapping[str, str]], dict[str, str]] = name_cache if words[0] == "key" else install
    if system == "win32":
        return fail(ON_WINDOWS[what], INVALID)
    try:
        outputs = step(choose_lock(what, environ), environ)
    except NotInstalledError as error:
        if environ.get("MODE") == "report-only":
            print(f"::warning title=EvalGate::{error}; {JUDGED_NOTHING}")
            return 0
        return fail(str(error), UNREACHABLE)
    with Path(environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as file:
        file.writelines(f"{name}={text}\n" for name, text in outputs.items())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
