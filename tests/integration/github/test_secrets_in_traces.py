"""A trace that repeats the job's secrets: no file, no line, no comment and no artifact of a run does."""

from __future__ import annotations

import base64
import io
import re
import unicodedata
import urllib.parse
import zipfile

import pytest
from fakes.agent import next_run, on_main, own_comments, trace, write_trace

PASSWORD = 'n0-known/shape "of" @all'


def spelled(secret):
    raw = secret.encode()
    encoded = [base64.b64encode(b"_" * before + raw + b"__").decode() for before in range(3)]
    return [secret, urllib.parse.quote(secret, safe=""), *encoded]


def planted(secrets):
    """A failing answer that shows every secret in every spelling, also where texts are cut."""
    forms = [form for secret in secrets for form in spelled(secret)]
    document = trace(content=" / ".join([*forms, *(f"{'.' * (190 - 3 * at)}{form}" for at, form in enumerate(forms))]))
    document["messages"][0]["content"] = " ".join(forms)
    document["messages"][2]["content"] = f"{'.' * 480}{secrets[0]}"
    document["messages"][1]["tool_calls"][0]["arguments"] = {"id": forms[0], "more": forms}
    return document


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def everything(step, hub, workspace):
    """All output and files of a run, by place."""
    paths = [*(workspace / ".evalgate").iterdir(), *workspace.glob("*.html")]
    files = {path.name: path.read_bytes() for path in paths}
    packed = members(files.pop("baseline.zip")) if "baseline.zip" in files else {}
    texts = {
        "log": "\n".join(line for line in step.log if not line.startswith("::add-mask::")),
        "annotations": repr(step.annotations),
        "summary": step.summary,
        "outputs": repr(step.outputs),
        "comment": "\n".join(own_comments(hub)),
        "sent": repr([request["body"] for request in hub.requests]),
    }
    return {name: text.encode() for name, text in texts.items()} | files | packed


def seen_of(secret):
    """What must not be seen: a secret, and of its base64 what does not hang on the neighbours."""
    raw, quoted, *encoded = spelled(secret)
    return [part.encode() for part in (raw, quoted, *(form[4:-4] for form in encoded))]


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
@pytest.mark.parametrize("event", ["push", "pull_request"])
def test_no_secret_of_the_job_leaves(hub, runner, workspace, event, is_sandboxed):
    if event == "push":
        on_main(hub)
    environ = runner.environment(event, debug="true", sarif_path="out.sarif", html_path="out.html", check_run="true")
    environ["DB_PASSWORD"] = PASSWORD
    secrets = [PASSWORD, environ["INPUT_GITHUB-TOKEN"], environ["ACTIONS_RUNTIME_TOKEN"]]
    write_trace(workspace, planted(secrets))
    step = runner.act_in(environ, is_sandboxed=is_sandboxed)
    assert step.exit_code == 0
    left = everything(step, hub, workspace)
    assert {"results.json", "comment.md", "junit.xml", "results.sarif", "out.html"} <= left.keys()
    assert event == "pull_request" or {"traces.jsonl", "suites.json"} <= left.keys()
    assert b"[redacted: secret]" in left["results.json"]
    found = [(name, part) for name in left for secret in secrets for part in seen_of(secret) if part in left[name]]
    assert found == []


def hidden(secret):
    """Spellings that no one sees, or that a decoder reads: in a text, and in the JSON of a trace."""
    percent = "".join(f"%{byte:02X}" for byte in secret.encode())
    return ["\u200b".join(secret), secret[:3] + "\u2060\u00ad\ufe0f" + secret[3:], percent, percent.lower()]


def uncovered(content):
    """What a reader without regard for invisible characters finds, after decoding."""
    text = re.sub(r"\\u([0-9a-f]{4})", lambda found: chr(int(found[1], 16)), content.decode("utf-8", "replace"))
    text = re.sub("%([0-9a-fA-F]{2})", lambda found: chr(int(found[1], 16)), text.replace("\\/", "/"))
    return "".join(each for each in text if unicodedata.category(each) != "Cf" and each != "\ufe0f")


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
@pytest.mark.parametrize("event", ["push", "pull_request"])
def test_no_hidden_secret_of_the_job_leaves(hub, runner, workspace, event, is_sandboxed):
    if event == "push":
        on_main(hub)
    environ = runner.environment(event, debug="true", sarif_path="out.sarif", html_path="out.html", check_run="true")
    environ["DB_PASSWORD"] = password = "n0-known/shape-of+all"
    secrets = [password, environ["INPUT_GITHUB-TOKEN"]]
    forms = [form for secret in secrets for form in hidden(secret)]
    document = trace(content=" / ".join(forms))
    document["messages"][0]["content"] = "ESCAPED"
    document["messages"][1]["tool_calls"][0]["arguments"] = {"id": forms[0], "more": forms}
    write_trace(workspace, document)
    path = workspace / "traces/refund.json"
    escaped = "".join(f"\\u{ord(each):04x}" for each in "\u200b".join(password)) + " " + password.replace("/", "\\/")
    path.write_text(path.read_text().replace("ESCAPED", escaped))
    step = runner.act_in(environ, is_sandboxed=is_sandboxed)
    assert step.exit_code == 0
    left = everything(step, hub, workspace)
    assert event == "pull_request" or {"traces.jsonl", "suites.json"} <= left.keys()
    assert b"[redacted: secret]" in left["results.json"]
    assert [(name, secret) for name in left for secret in secrets if secret in uncovered(left[name])] == []


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
def test_ordinary_text_stays(hub, runner, workspace, is_sandboxed):
    kept = "6f1e0c0a-5b5e-4b7e-8a3a-0d6d6f0b7a11 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b production 12345678"
    write_trace(workspace, trace(content=kept))
    environ = runner.environment(comment_key="support-agent-2")
    more = {"STAGE_KEY": "production", "PIN_TOKEN": "12345678", "DB_PASSWORD": PASSWORD}
    step = runner.act_in({**environ, **more}, is_sandboxed=is_sandboxed)
    assert step.exit_code == 0
    assert kept in (workspace / ".evalgate/results.json").read_text()
    assert "key=support-agent-2" in own_comments(hub)[0]


PROJECT = "version: 1\nsuites: [evals/*.yaml]\nredact:\n  patterns: [{name: customer, regex: 'C-[0-9]{6}'}]\n"


@pytest.mark.parametrize("is_sandboxed", [False, True], ids=["in one process", "apart"])
@pytest.mark.parametrize("event", ["push", "pull_request"])
def test_nothing_that_a_project_hides_leaves(hub, runner, workspace, event, is_sandboxed):
    if event == "push":
        on_main(hub)
    (workspace / "evalgate.yaml").write_text(PROJECT)
    write_trace(workspace, trace(content="C-123456 was not helped"))
    step = runner.act_in(
        runner.environment(event, debug="true", sarif_path="out.sarif", html_path="out.html", check_run="true"),
        is_sandboxed=is_sandboxed,
    )
    assert step.exit_code == 0
    left = everything(step, hub, workspace)
    assert b"[redacted: customer]" in left["results.json"]
    assert [name for name, content in left.items() if b"C-123456" in content] == []


def test_a_pull_request_that_hides_less_than_main_shows_nothing_more(hub, act, workspace):
    on_main(hub)
    (workspace / "evalgate.yaml").write_text(PROJECT)
    assert act("push").exit_code == 0
    next_run(hub, "success")
    (workspace / "evalgate.yaml").write_text(PROJECT.split("redact:", maxsplit=1)[0])
    write_trace(workspace, trace(content="C-123456 was not helped"))
    step = act(policy_from="base", is_sandboxed=True)
    left = everything(step, hub, workspace)
    assert [name for name, content in left.items() if b"C-123456" in content] == []
