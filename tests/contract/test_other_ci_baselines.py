"""The baseline steps of the pages for other CI systems, played twice: main keeps a baseline, the next run is compared.

Scripts run in the shell of the system; steps that the system has itself (caches, artifacts) are done as it documents
them. `evalgate` is replaced by a program that notes its baseline, leaves its files, and ends with a given code.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from other_ci import example

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

OLD, TOKEN, BUILD = "of main", "api-token", "01908131-7d9f-495e-a17b-80ed31276810"
GATE = """\
#!/bin/sh
[ "$1" = evalgate ] && shift
folder=.evalgate baseline=missing code=$EXIT
while [ $# -gt 0 ]; do
  case $1 in
    --baseline) baseline=$2; shift ;;
    --output-dir) folder=$2; shift ;;
    --report-only) [ "$code" = 2 ] || code=0 ;;
  esac
  shift
done
if [ "$baseline" = none ]; then echo none > "$SEEN"; else cat "$baseline" > "$SEEN"; fi
[ "$code" = 2 ] && exit 2
mkdir -p "$folder" && echo report > "$folder/comment.md" && printf %s "$LEFT" > "$folder/baseline.zip"
exit "$code"
"""
DOCKER = """#!/bin/sh
shift 9; exec evalgate "$@"
"""
AGENT = """\
#!/bin/sh
case "$1 $2" in
  "annotate --context") cat > "$ANNOTATION"; shift 4; echo "$*" >> "$ANNOTATION" ;;
  "artifact download") [ "$3 $4 $5 $6" = ".evalgate/baseline.zip . --build $BUILD" ] && [ -f "$KEPT/baseline.zip" ] || exit 1
    mkdir -p .evalgate && cp "$KEPT/baseline.zip" .evalgate/ ;;
  *) exit 2 ;;
esac
"""


@dataclass
class Service:
    """What a CI system keeps between runs: `kept` has main's files. And an API that gives them to those with the token."""

    folder: Path
    caches: dict[str, str] = field(default_factory=dict)
    url: str = ""
    status: int = 200

    @property
    def kept(self) -> Path:
        return self.folder / "kept"

    def run(self, shell: Iterable[str], script: str, place: Path, code: int, token: str = TOKEN) -> int:
        environ = {
            "PATH": f"{self.folder / 'tools'}{os.pathsep}{os.environ['PATH']}",
            "EXIT": str(code),
            "SEEN": str(self.folder / "seen"),
            "LEFT": OLD,
            "KEPT": str(self.kept),
            "BUILD": BUILD,
            "ANNOTATION": str(self.folder / "annotation"),
            "BUILDKITE_ORGANIZATION_SLUG": "acme",
            "BUILDKITE_PIPELINE_SLUG": "agent",
            "BITBUCKET_REPO_FULL_NAME": "acme/agent",
            "EVALGATE_BUILDKITE_TOKEN": token,
            "EVALGATE_BITBUCKET_TOKEN": token,
        }
        script = re.sub(r"https://api\.[a-z]+\.(com|org)", self.url, script)
        return subprocess.run([*shell, script], cwd=place, env=environ, capture_output=True, check=False).returncode

    def keep(self, file: Path) -> None:
        if file.exists():
            self.kept.mkdir(exist_ok=True)
            shutil.copy(file, self.kept / "baseline.zip")

    def answer(self, method: str, path: str, token: str, body: bytes) -> tuple[int, bytes]:
        """Buildkite's list of builds and Bitbucket's downloads, as their pages describe them."""
        if self.status != 200 or token != f"Bearer {TOKEN}":
            return (self.status if self.status != 200 else 401), b"{}"
        if path.startswith("/v2/organizations/acme/pipelines/agent/builds?branch=main&state[]=passed&state[]=failed"):
            return 200, json.dumps([{"id": BUILD, "branch": "main"}] if self.kept.exists() else []).encode()
        file = self.kept / "baseline.zip"
        if (method, path) == ("POST", "/2.0/repositories/acme/agent/downloads") and b'name="files"' in body:
            self.kept.mkdir(exist_ok=True)
            file.write_bytes(body.split(b"\r\n\r\n", 1)[1].rpartition(b"\r\n--")[0])
            return 201, b""
        if (method, path) == ("GET", "/2.0/repositories/acme/agent/downloads/evalgate-main.zip") and file.exists():
            return 200, file.read_bytes()
        return 404, b"{}"


def jenkins(service: Service, place: Path, branch: str, code: int) -> int:
    steps = re.search(r"steps \{(.*?)\n      \}", example("Jenkins"), re.DOTALL)[1].strip().splitlines()
    for step in map(str.strip, steps):
        if step.startswith("copyArtifacts "):
            wanted = dict(re.findall(r"(\w+): '?([^',]+)'?", step))
            assert wanted == {
                "projectName": "agent/main",
                "selector": "lastCompleted()",
                "filter": ".evalgate/baseline.zip",
                "target": ".evalgate-main",
                "flatten": "true",
                "optional": "true",
            }
            if service.kept.exists():
                shutil.copytree(service.kept, place / wanted["target"])
        elif ended := service.run(["sh", "-xe", "-c"], re.fullmatch(r"sh '(.+)'", step)[1], place, code):
            break
    if branch == "main":
        service.keep(place / ".evalgate/baseline.zip")
    return ended


def circleci(service: Service, place: Path, branch: str, code: int) -> int:
    ended = 0
    for step in yaml.safe_load(example("CircleCI"))["jobs"]["evalgate"]["steps"][1:]:
        [(name, given)] = step.items()
        if name == "restore_cache":
            found = [service.caches[key] for key in service.caches if key.startswith(given["keys"][0])]
            if found:
                (place / ".evalgate").mkdir()
                (place / ".evalgate/baseline.zip").write_text(found[-1])
        elif name == "run":
            ended = service.run(["bash", "-eo", "pipefail", "-c"], given, place, code)
        elif name == "save_cache":
            assert (given["when"], given["paths"]) == ("always", [".evalgate/baseline.zip"])
            key = given["key"].replace("{{ .Branch }}", branch).replace("{{ .Revision }}", "1f2e")
            if (left := place / ".evalgate/baseline.zip").exists():
                service.caches.setdefault(key, left.read_text())
    return ended


def azure(service: Service, place: Path, branch: str, code: int) -> int:
    download, gate, *_, publish = yaml.safe_load(example("Azure Pipelines"))["steps"]
    wanted = download["inputs"]
    assert (wanted["branchName"], wanted["artifactName"]) == ("refs/heads/main", publish["artifact"])
    assert download["continueOnError"] is wanted["allowFailedBuilds"] is True
    if service.kept.exists():
        shutil.copytree(service.kept, place / wanted["targetPath"].removeprefix("$(System.DefaultWorkingDirectory)/"))
    ended = service.run(["bash", "--noprofile", "--norc", "-c"], gate["script"], place, code)
    if branch == "main":
        service.keep(place / publish["publish"] / "baseline.zip")
    return ended


def bitbucket(service: Service, place: Path, branch: str, code: int, token: str = TOKEN) -> int:
    pipelines = yaml.safe_load(example("Bitbucket Pipelines"))["pipelines"]
    steps = pipelines["branches"]["main"] if branch == "main" else pipelines["pull-requests"]["**"]
    kept: dict[str, bytes] = {}
    for number, step in enumerate(each["step"] for each in steps):
        folder = place / str(number)  # a clone of its own, with the artifacts of the steps before
        for name, content in kept.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(content)
        folder.mkdir(exist_ok=True)
        if ended := service.run(["bash", "-e", "-c"], "\n".join(step["script"]), folder, code, token):
            return ended
        for pattern in step.get("artifacts", ()):
            kept |= {
                str(each.relative_to(folder)): each.read_bytes()
                for each in folder.glob(pattern.replace("**", "**/*"))
                if each.is_file()
            }
    return 0


def buildkite(service: Service, place: Path, branch: str, code: int, token: str = TOKEN) -> int:
    [step] = yaml.safe_load(example("Buildkite"))["steps"]
    ended = service.run(["bash", "-e", "-c"], step["command"].replace("$$", "$"), place, code, token)
    if branch == "main":
        service.keep(place / ".evalgate/baseline.zip")
    return ended


SYSTEMS: dict[str, Callable[..., int]] = {
    each.__name__: each for each in (jenkins, circleci, azure, bitbucket, buildkite)
}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    for name, text in {"evalgate": GATE, "docker": DOCKER, "buildkite-agent": AGENT}.items():
        (tmp_path / "tools").mkdir(exist_ok=True)
        (tmp_path / "tools" / name).write_text(text)
        (tmp_path / "tools" / name).chmod(0o755)
    service = Service(tmp_path)

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, content = service.answer(self.command, self.path, self.headers.get("Authorization", ""), body)
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    service.url = f"http://127.0.0.1:{server.server_port}"
    yield service
    server.shutdown()
    server.server_close()


def play(system: str, service: Service, branch: str, code: int, **given: Any) -> tuple[int, str]:
    """The exit code of a run in a new workspace, and the content of the baseline that it was compared with."""
    if system in {"bitbucket", "buildkite"} and not (shutil.which("curl") and shutil.which("jq")):
        pytest.skip("the page's script needs curl and jq, which this machine lacks")
    place, seen = service.folder / f"workspace-{branch}-{code}", service.folder / "seen"
    place.mkdir()
    seen.unlink(missing_ok=True)
    ended = SYSTEMS[system](service, place, branch, code, **given)
    return ended, seen.read_text().strip() if seen.exists() else ""


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_first_run_is_compared_with_nothing_and_the_next_with_what_main_left_though_it_failed(system, service):
    assert play(system, service, "feature", 0) == (0, "none")
    assert play(system, service, "main", 1)[0] == (0 if system == "bitbucket" else 1)
    for code in range(5):
        assert play(system, service, "next", code) == (code, OLD)
    if system == "buildkite":
        assert (service.folder / "annotation").read_text().split("\n") == ["report", "error", ""]


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_branch_leaves_no_baseline_for_others(system, service):
    assert play(system, service, "main-2", 0) == (0, "none")
    assert play(system, service, "next", 0) == (0, "none")


@pytest.mark.parametrize("system", ["bitbucket", "buildkite"])
def test_a_service_that_refuses_or_is_down_is_exit_code_4(system, service):
    assert play(system, service, "next", 0, token="revoked") == (4, "")
    service.status = 503
    assert play(system, service, "other", 0) == (4, "")
