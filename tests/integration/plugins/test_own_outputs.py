"""An output of an installed package is left by a run in a shell that names it, and its mistakes change no verdict."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

MODULE = """
from evalgate.ports.outputs import Delivered, DeliveryNote, Rendered, RunOutput, ServiceLinks


class Badge(RunOutput):
    name = "badge.txt"
    is_kept = True

    def prepare(self, settings, environ):
        self._path = settings.find_path("badge") or environ.get("BADGE_COPY", "")
        return {"label": environ.get("BADGE_LABEL", "evals")}

    def render(self, source, options):
        return Rendered(f"{options['label']}: {source.results['verdict']}\\n".encode())

    def is_allowed(self, content, results, subject, options):
        return content.endswith(results["verdict"].encode() + b"\\n")

    def deliver(self, content, results):
        return Delivered(copies={self._path: content} if self._path else {})


class Conversations(Badge):
    name = "conversations.txt"
    is_late, needs_traces = True, True

    def render(self, source, options):
        return Rendered(b"".join(line + b"\\n" for line in source.traces.lines()))

    def deliver(self, content, results):
        return Delivered(files={"sent.json": b"{}"}, notes=[DeliveryNote("log", f"sent {len(content)} bytes")])


class Silent(Badge):
    name = "silent.txt"

    def prepare(self, settings, environ):
        return None


class Broken(Badge):
    name = "broken.txt"

    def render(self, source, options):
        raise KeyError("x")


class Wordy(Badge):
    name = "wordy.txt"

    def render(self, source, options):
        return Rendered("text, not bytes")


class Unsendable(Badge):
    name = "unsendable.txt"
    is_late = True

    def deliver(self, content, results):
        raise OSError("no")


class Unready(Badge):
    name = "unready.txt"

    def prepare(self, settings, environ):
        raise RuntimeError("no key")


NOT_ONE = str
"""
TRACE = {
    "schema": "evalgate.trace/1",
    "scenario_id": "s1",
    "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "hello there"}],
}
SUITE = """
version: 1
suite: greeting
traces: [trace.json]
scenarios:
  - id: s1
    assertions: [{contains: hello}]
"""
OFFERED = {
    "badge.txt": "Badge",
    "conversations.txt": "Conversations",
    "silent.txt": "Silent",
    "broken.txt": "Broken",
    "wordy.txt": "Wordy",
    "unsendable.txt": "Unsendable",
    "unready.txt": "Unready",
    "not-one": "NOT_ONE",
    "gone": "Gone",
    "results.json": "Badge",
    "report.html": "Badge",
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "trace.json").write_text(json.dumps(TRACE))
    (tmp_path / "suite.yaml").write_text(SUITE)
    return tmp_path


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """A package as pip lays it down: one module, and the entry points that name its outputs."""
    site = tmp_path_factory.mktemp("site")
    (site / "acme_outputs.py").write_text(MODULE)
    info = site / "acme_outputs-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-outputs\nVersion: 1\n")
    lines = [f"{name} = acme_outputs:{value}" for name, value in OFFERED.items()]
    (info / "entry_points.txt").write_text("\n".join(["[evalgate.outputs]", *lines]))
    return site


@pytest.fixture
def run(folder, site):
    def run_evalgate(*words, config="suite.yaml", **environ):
        return subprocess.run(
            [sys.executable, "-P", "-m", "evalgate", "run", config, *words],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(site), **environ},
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    return run_evalgate


def test_two_files_of_a_package_add_an_output_with_its_own_options(run, folder):
    done = run("--also", "badge.txt", BADGE_LABEL="agent", BADGE_COPY="copy.txt")

    assert done.returncode == 0
    assert (folder / ".evalgate/badge.txt").read_text() == "agent: pass\n"
    assert (folder / "copy.txt").read_text() == "agent: pass\n"
    assert "badge.txt" in done.stderr


def test_one_that_delivers_late_gets_the_traces_and_leaves_files_and_notes(run, folder):
    done = run("--also", "conversations.txt", "--no-baseline-zip")

    size = (folder / ".evalgate/conversations.txt").stat().st_size
    assert "hello there" in (folder / ".evalgate/conversations.txt").read_text()
    assert (folder / ".evalgate/sent.json").read_text() == "{}"
    assert done.stderr.endswith(f"sent {size} bytes\n")


def test_an_output_that_is_not_asked_for_or_has_nothing_to_do_leaves_nothing(run, folder):
    assert run().returncode == 0
    assert run("--also", "silent.txt").returncode == 0
    assert not [path for path in (folder / ".evalgate").iterdir() if path.suffix == ".txt"]


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("broken.txt", "(acme_outputs:Broken) was not made (KeyError)"),
        ("wordy.txt", "(acme_outputs:Wordy) was not made (its content is str, not bytes)"),
        ("unsendable.txt", "(acme_outputs:Unsendable) was not delivered (OSError)"),
    ],
)
def test_an_error_of_an_output_is_a_warning_and_changes_no_verdict(run, folder, name, warning):
    done = run("--also", name)

    assert done.returncode == 0
    assert f"warning: installed output {name} {warning}\n" in done.stderr
    assert json.loads((folder / ".evalgate/results.json").read_bytes())["verdict"] == "pass"


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("unready.txt", "installed output unready.txt (acme_outputs:Unready) can't be prepared (RuntimeError)"),
        ("not-one", "installed output not-one (acme_outputs:NOT_ONE) is not an output"),
        ("gone", "installed output gone (acme_outputs:Gone) can't be imported (AttributeError)"),
        ("badge", "--also: there is no output 'badge' (installed: badge.txt, broken.txt,"),
        ("results.json", "--also: there is no output 'results.json'"),
        ("report.html", "--also: there is no output 'report.html'"),
    ],
)
def test_an_output_that_can_not_be_used_ends_the_run_before_it_begins(run, folder, name, error):
    done = run("--also", name)

    assert done.returncode == 2
    assert error in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / ".evalgate").exists()


def test_no_suite_and_no_project_can_name_one(run, folder):
    (folder / "suite.yaml").write_text(f"{SUITE}also: [badge.txt]\n")
    assert run().returncode == 2
    (folder / "suite.yaml").write_text(SUITE)
    (folder / "evalgate.yaml").write_text("version: 1\nsuites: [suite.yaml]\nalso: [badge.txt]\n")
    assert run(config="evalgate.yaml").returncode == 2
