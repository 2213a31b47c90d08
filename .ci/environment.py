"""Makes the environment of the demo or of the tests: python3 .ci/environment.py demo|test.

It prints what it installs and why, the progress, and one line with the remedy if that fails. pip's whole output is in
`install.log` in the environment's folder. Needs only the standard library; an older Python can read it, and is refused.
"""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ROOT = Path(__file__).resolve().parents[1]
OLDEST = (3, 11)
# A plain path entry: other kinds of editable installs slow down every start by an import hook.
EDITABLE = ("--config-settings", "editable_mode=compat", "--editable", ".")


class Environment(NamedTuple):
    """A virtual environment: its folder, what is in it, how long that usually takes, pip's arguments, call by call."""

    folder: str
    content: str
    duration: str
    installs: tuple[tuple[str, ...], ...]


ENVIRONMENTS = {
    "demo": Environment(
        ".demo/venv", "EvalGate and the packages it needs", "half a minute, two on a slow machine", (EDITABLE,)
    ),
    "test": Environment(
        ".venv",
        "EvalGate, the packages it needs and those that test it",
        "one minute, four on a slow machine",
        (("--require-hashes", "--requirement", "requirements/dev.txt"), ("--no-deps", *EDITABLE)),
    ),
}
PHASES = (
    (re.compile(r"(?:WARNING: )?Retrying \("), "no answer from the package index, trying again"),
    (re.compile(r"Obtaining file:"), "preparing EvalGate"),
    (re.compile(r"\s*(?:Collecting|Processing) (?:\S*/)?([\w.]+(?:-[a-z][\w.]*)*)"), "looking up {}"),
    (re.compile(r"\s*Downloading (?:\S*/)?([A-Za-z_.]+)\S*( \([\d.]+ [kMG]B\))?"), "downloading {}{}"),
    (re.compile(r"Installing collected packages: (.+)"), "unpacking the packages"),
)
"""What pip prints, and what is shown for it."""
REMEDIES = (
    (r"SSL module is not available", "this Python was built without SSL, so pip can't download; use another one"),
    (
        r"CERTIFICATE_VERIFY_FAILED|SSLError",
        "the certificate of the package index is not trusted; name your authority with PIP_CERT=/path/to/ca.pem",
    ),
    (r"No space left on device", "the disk is full; make room and try again"),
    (
        r"NewConnectionError|NameResolutionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|ProtocolError",
        "the package index can't be reached; check the network, or set HTTPS_PROXY or PIP_INDEX_URL (a mirror)",
    ),
)
"""Signs of a failure in pip's output, and what to do."""


class Failure(Exception):
    """The environment can't be made; the text is one line that names the remedy."""


def refusal(version: Sequence[int], executable: str, *, has_pip: bool) -> str | None:
    """Why this Python can't make an environment, with the remedy; None if it can."""
    shown = ".".join(map(str, version))
    if tuple(version) < OLDEST:
        return f"Python 3.11 or newer is needed, {executable} is {shown}; run a newer one"
    if not has_pip:
        package = f"python{version[0]}.{version[1]}-venv"
        return (
            f"{executable} can't make virtual environments, its module ensurepip is missing; "
            f"on Debian and Ubuntu: apt-get install {package}"
        )
    return None


def phase_of(line: str) -> str | None:
    """What pip does when it prints this line; None if it is of no interest."""
    for pattern, text in PHASES:
        found = pattern.match(line)
        if found:
            return text.format(*(each or "" for each in found.groups()))
    return None


def remedy_of(output: str) -> str:
    """Why pip failed, in one line: a known cause with its remedy, else pip's last error."""
    for sign, text in REMEDIES:
        if re.search(sign, output):
            return text
    errors = re.findall(r"^\s*error: (.+)$", output, re.MULTILINE | re.IGNORECASE)
    return errors[-1] if errors else "it gave no reason"


class Progress:
    """One line that is rewritten on a terminal; elsewhere a line every quarter of a minute."""

    def __init__(self, stream: TextIO) -> None:
        self.stream, self.is_terminal = stream, stream.isatty()
        self.began = self.shown = monotonic()
        self.phase = "making the environment"

    def show(self) -> None:
        """Shows the phase, if it is time."""
        now = monotonic()
        if now - self.shown < (0.2 if self.is_terminal else 15):
            return
        self.shown = now
        start, end = ("\r", "\x1b[K") if self.is_terminal else ("", "\n")
        self.stream.write(f"{start}  {now - self.began:.0f} s: {self.phase}{end}")
        self.stream.flush()

    def clear(self) -> None:
        """Removes the line from a terminal."""
        if self.is_terminal:
            self.stream.write("\r\x1b[K")


def run(command: Sequence[str], log: Path, progress: Progress) -> None:
    """Runs pip, or what makes an environment, in the project; keeps its output; raises Failure if it fails."""
    output: list[str] = []

    def follow(lines: Iterable[str]) -> None:
        for line in lines:
            output.append(line)
            progress.phase = phase_of(line) or progress.phase

    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        reader = Thread(target=follow, args=(process.stdout,))
        reader.start()
        try:
            while reader.is_alive():
                reader.join(timeout=0.2)
                progress.show()
        except KeyboardInterrupt:  # its output is closed below, which the reader must not meet
            process.terminate()
            reader.join()
            raise
    progress.clear()
    if log.parent.is_dir():
        with log.open("a", encoding="utf-8") as stream:
            stream.writelines(output)
    if process.returncode:
        where = f"; all it printed is in {log}" if log.is_file() else ""
        raise Failure(f"{remedy_of(''.join(output))}{where}")


def is_of_this_python(folder: Path) -> bool:
    """Whether an environment in this folder, also a half-made one, is of the Python that runs this."""
    settings = folder / "pyvenv.cfg"
    if not (folder / "bin/python").exists() or not settings.is_file():
        return False
    made_by = re.search(r"^executable = (.+)$", settings.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    return made_by is not None and Path(made_by[1]).resolve() == Path(sys.executable).resolve()


def make(environment: Environment, stream: TextIO) -> None:
    """Makes an environment in the project and installs into it."""
    folder = ROOT / environment.folder
    log, progress = folder / "install.log", Progress(stream)
    log.unlink(missing_ok=True)
    print(
        f"Installing {environment.content} into {environment.folder}, once; it takes {environment.duration}.",
        file=stream,
        flush=True,
    )
    python = folder / "bin/python"
    clear = [] if is_of_this_python(folder) else ["--clear"]
    run([sys.executable, "-m", "venv", *clear, str(folder)], log, progress)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off"]
    for arguments in environment.installs:
        run([*pip, *arguments], log, progress)
    print(f"Installed in {monotonic() - progress.began:.0f} s.", file=stream, flush=True)


def main(arguments: Sequence[str]) -> int:
    """Makes the environment that is named; an exit code."""
    if len(arguments) != 1 or arguments[0] not in ENVIRONMENTS:
        sys.stderr.write(f"usage: python3 .ci/environment.py {'|'.join(ENVIRONMENTS)}\n")
        return 2
    refused = refusal(sys.version_info[:3], sys.executable, has_pip=find_spec("ensurepip") is not None)
    try:
        if refused:
            raise Failure(refused)
        make(ENVIRONMENTS[arguments[0]], sys.stdout)
    except (Failure, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
