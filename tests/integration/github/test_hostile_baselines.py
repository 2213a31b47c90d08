"""Large and hostile archives, planted as the newest artifact of main: refused by name, and the next is taken."""

from __future__ import annotations

import base64
import io
import json
import os
import zipfile

import pytest
from fakes.agent import make_workspace, on_main
from fakes.runner import FakeRunner

MADE = (2026, 1, 1, 0, 0, 0)
LARGE = 50 * 1024 * 1024
KINDS = ["slip", "abs", "symlink", "dup", "notzip", "empty", "truncated", "encrypted"]
SLOW_TO_MAKE = [pytest.param(kind, marks=pytest.mark.matrix) for kind in ("bomb", "many")]


@pytest.fixture(scope="module")
def made(_running_hub, tmp_path_factory):
    """The bytes of a baseline that a push on main uploads."""
    folder = tmp_path_factory.mktemp("main")
    hub = _running_hub.fresh()
    on_main(hub)
    assert FakeRunner(hub, make_workspace(folder / "workspace"), folder).act("push").exit_code == 0
    [artifact] = hub.state["artifacts"]
    return hub.blob(artifact)


def planted(hub, content, **run):
    return hub.plant(blob_b64=base64.b64encode(content).decode(), run=run)


def with_members(content, *others):
    """The archive with more entries, or with its own replaced."""
    packed = io.BytesIO()
    replaced = {entry.filename for entry, _ in others}
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for name in old.namelist():
            if name not in replaced:
                new.writestr(name, old.read(name))
        for entry, data in others:
            new.writestr(entry, data)
    return packed.getvalue()


def warnings_of(workspace):
    written = json.loads((workspace / ".evalgate/results.json").read_bytes())
    return "\n".join(warning["message"] for warning in written["warnings"])


@pytest.mark.parametrize("kind", [*KINDS, *SLOW_TO_MAKE])
def test_a_hostile_archive_is_refused_by_name_and_the_next_is_taken(hub, act, workspace, made, kind):
    good = planted(hub, made)
    evil = planted(hub, hub.evil_zip(kind))
    before = sorted(path for path in workspace.rglob("*") if ".evalgate" not in path.parts)
    step = act()
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "exact")
    assert f"artifact {evil['id']} of run" in warnings_of(workspace)
    assert f"artifact {good['id']} " not in warnings_of(workspace)
    assert sorted(path for path in workspace.rglob("*") if ".evalgate" not in path.parts) == before


@pytest.mark.parametrize("kind", ["bomb", "symlink", "encrypted", "twice"])
def test_a_baseline_of_which_one_entry_is_hostile_is_refused(hub, act, workspace, made, kind):
    entry, data = zipfile.ZipInfo("results.json", MADE), b"/etc/passwd"
    entry.compress_type = zipfile.ZIP_DEFLATED
    if kind == "bomb":
        data = b" " * (300 * 1024 * 1024)
    if kind == "symlink":
        entry.create_system, entry.external_attr = 3, 0o120777 << 16
    if kind == "twice":
        with pytest.warns(UserWarning, match="Duplicate"):
            content = with_members(made, (entry, b"{}"), (entry, b"{}"))
    else:
        content = bytearray(with_members(made, (entry, data)))
    if kind == "encrypted":
        at = content.rfind(b"PK\x01\x02")
        content[at + 8] |= 1
    evil = planted(hub, bytes(content))
    step = act()
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "refused")
    assert f"artifact {evil['id']} of run" in warnings_of(workspace)
    assert "root:" not in json.dumps(step.outputs) + step.summary


def test_a_baseline_of_50_mb_is_downloaded_checked_and_compared_with(hub, runner, made):
    planted(hub, with_members(made, (zipfile.ZipInfo("traces.jsonl", MADE), os.urandom(LARGE))))
    step = runner.act_as_process()
    assert (step.exit_code, step.outputs["baseline-status"]) == (0, "exact")
    assert step.seconds < 20
    assert step.max_rss_kb < 300 * 1024


def test_a_baseline_over_the_limit_is_refused_before_it_is_downloaded(hub, act, workspace, made):
    huge = planted(hub, made)
    huge["size"] = 65 * 1024 * 1024
    step = act()
    assert step.outputs["baseline-status"] == "refused"
    assert f"artifact {huge['id']} of run" in warnings_of(workspace)
    assert "it is larger than 64 MB" in warnings_of(workspace)
    assert not [request for request in hub.requests if request["listener"] == "blob"]
