"""A changed system prompt is shown by the lines that differ, as far as both runs keep its text."""

import io
import json
import zipfile

import pytest
from command import NOW, evalgate

from evalgate.cli import main
from evalgate.cli.shell import Shell

BASE = "base.zip"
PROMPT = "You help.\nToday is 2026-01-01.\nRefund at most 100 USD.\nBe brief."
OTHER = "You help.\nToday is 2026-02-03.\nRefund at most 500 USD.\nAsk for a reason.\nBe brief."
LINES = ["@@ -1 +1 @@", " You help.", " Today is 2026-02-03.", "-Refund at most 100 USD.", "+Refund at most 500 USD."]
LINES += ["+Ask for a reason.", " Be brief."]


def call(tmp_path, *arguments):
    """What another verb prints."""
    out = io.StringIO()
    main([*arguments], Shell(out, io.StringIO(), {"SOURCE_DATE_EPOCH": NOW}, str(tmp_path)))
    return out.getvalue()


def recorded(tmp_path, prompt_of, answers=None):
    scenarios = [{"id": id_, "assertions": [{"contains": "ok"}]} for id_ in "abc"]
    suite = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "scenarios": scenarios}
    (tmp_path / "s.yaml").write_text(json.dumps(suite))
    (tmp_path / "traces").mkdir(exist_ok=True)
    for id_ in "abc":
        spoken = [("system", prompt_of(id_)), ("user", "hi"), ("assistant", (answers or {}).get(id_, "ok"))]
        messages = [{"role": role, "content": text} for role, text in spoken]
        trace = {"schema": "evalgate.trace/1", "scenario_id": id_, "messages": messages}
        (tmp_path / "traces" / f"{id_}.json").write_text(json.dumps(trace))


def compared(tmp_path, before, now, *arguments, answers=None):
    """The run with the prompt `now`, compared with one with the prompt `before`."""
    recorded(tmp_path, lambda _: before)
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / BASE)
    recorded(tmp_path, now if callable(now) else lambda _: now, answers)
    return evalgate(tmp_path, ["s.yaml", "--baseline", BASE, *arguments])


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("answers", [{}, {"b": "no"}], ids=["all pass", "one broke"])
def test_the_lines_that_differ_are_in_every_report(tmp_path, jobs, answers):
    ran = compared(tmp_path, PROMPT, OTHER, "--jobs", jobs, answers=answers)
    [found] = ran.results["prompt_changes"]
    assert (found["removed"], found["added"], found["lines"], found["left"]) == (1, 2, LINES, 0)
    changes = [each["change"]["prompts"] for each in ran.results["suites"][0]["scenarios"]]
    assert changes == [[found["before"], found["now"]]] * 3
    assert "System prompt: -1 +2 lines\n  - Refund at most 100 USD.\n  + Refund at most 500 USD.\n" in ran.stdout
    for name in ("comment.md", "summary.md"):
        assert "<details><summary>System prompt: \u22121 +2 lines</summary>\n\n```diff\n@@ -1 +1\n" in ran.text(name)
        assert "- Refund at most 100 USD.\n+ Refund at most 500 USD.\n+ Ask for a reason.\n" in ran.text(name)
    explained = call(tmp_path, "explain", "b", "--baseline", BASE)
    assert "System prompt: -1 +2 lines\n  @@ -1 +1\n    You help.\n" in explained
    call(tmp_path, "view", "-o", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert '<span class="come">+ Refund at most 500 USD.\n</span>' in page


def test_compare_shows_the_same_and_the_same_run_gives_the_same_bytes(tmp_path):
    ran = compared(tmp_path, PROMPT, OTHER)
    content = (tmp_path / ".evalgate/results.json").read_bytes()
    evalgate(tmp_path, ["s.yaml", "--baseline", BASE])
    assert (tmp_path / ".evalgate/results.json").read_bytes() == content
    found = json.loads(call(tmp_path, "compare", BASE, ".evalgate/results.json", "--json"))
    assert found["prompt_changes"] == ran.results["prompt_changes"]


def test_each_prompt_is_shown_once_with_the_number_of_its_scenarios(tmp_path):
    ran = compared(tmp_path, PROMPT, lambda id_: PROMPT + (" Always." if id_ == "a" else " Never."))
    assert len(ran.results["prompt_changes"]) == 2
    for title in ("System prompt of 1 scenario: \u22121 +1 lines", "System prompt of 2 scenarios: \u22121 +1 lines"):
        assert f"<summary>{title}</summary>" in ran.text("comment.md")
    assert "not shown" not in ran.text("comment.md") + ran.stdout
    ran = compared(tmp_path, PROMPT, lambda id_: f"{PROMPT} Always {id_ * 3}.")
    assert len(ran.results["prompt_changes"]) == 3
    assert "  1 more changed system prompt not shown\n" in ran.stdout
    assert "not shown" not in ran.text("comment.md")


@pytest.mark.parametrize("now", [PROMPT, PROMPT.replace("2026-01-01", "2026-05-06")], ids=["same", "another day"])
def test_what_is_the_same_prompt_is_not_shown(tmp_path, now):
    ran = compared(tmp_path, PROMPT, now)
    assert "prompt_changes" not in ran.results
    assert "ystem prompt" not in ran.text("comment.md") + ran.stdout


def test_a_prompt_of_each_run_is_not_shown(tmp_path):
    recorded(tmp_path, lambda id_: f"You help customer {id_}1.")
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    (tmp_path / ".evalgate/baseline.zip").rename(tmp_path / BASE)
    recorded(tmp_path, lambda id_: f"You help customer {id_}2.")
    assert "prompt_changes" not in evalgate(tmp_path, ["s.yaml", "--baseline", BASE]).results


def test_where_a_side_keeps_no_text_only_the_change_is_named(tmp_path):
    compared(tmp_path, PROMPT, OTHER)
    with zipfile.ZipFile(tmp_path / BASE) as archive:
        (tmp_path / "base.json").write_bytes(archive.read("results.json"))
    recorded(tmp_path, lambda _: OTHER, {"a": "no"})
    ran = evalgate(tmp_path, ["s.yaml", "--baseline", "base.json"])
    assert "prompt_changes" not in ran.results
    assert "a changed system prompt" in ran.stdout


@pytest.mark.parametrize("arguments", [["--no-baseline-zip"], ["--scenario", "b"]], ids=" ".join)
def test_the_files_are_read_again_where_the_run_keeps_no_traces(tmp_path, arguments):
    ran = compared(tmp_path, PROMPT, OTHER, *arguments)
    assert ran.results["prompt_changes"][0]["lines"] == LINES


def test_the_runs_own_baseline_stays_and_is_compared_with(tmp_path):
    recorded(tmp_path, lambda _: PROMPT)
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    content = (tmp_path / ".evalgate/baseline.zip").read_bytes()
    recorded(tmp_path, lambda _: OTHER)
    ran = evalgate(tmp_path, ["s.yaml", "--baseline", ".evalgate/baseline.zip"])
    assert ran.results["prompt_changes"][0]["lines"] == LINES
    assert (tmp_path / ".evalgate/baseline.zip").read_bytes() == content


def test_hostile_prompts_are_escaped_bounded_and_redacted(tmp_path):
    secret = "ghp_" + "a1B2" * 9
    hostile = f"````\n</details>\n<img src=x>\n@everyone [x](http://y)\n\x1b[31m\u202e\x00\n::error::x\nkey {secret}\n"
    ran = compared(tmp_path, PROMPT, hostile + "x" * 5_000 + "\n" + "rule\n" * 100_000)
    comment = ran.text("comment.md")
    fence = comment.partition("System prompt")[2].partition("\n\n")[2].partition("diff\n")[0]
    assert comment.count(f"\n{fence}\n") == 1
    assert "@everyone" not in comment
    assert "more changed lines not shown*" in comment
    assert not {"\x1b", "\u202e", "\x00"} & {*comment, *ran.stdout}
    assert "\n::error" not in ran.stdout
    assert secret not in comment + ran.stdout + ran.text("results.json")
    [found] = ran.results["prompt_changes"]
    assert len(found["lines"]) <= 60
    assert len(json.dumps(found)) < 25_000


def test_a_baseline_whose_traces_are_damaged_is_compared_without_them(tmp_path):
    recorded(tmp_path, lambda _: PROMPT)
    assert evalgate(tmp_path, ["s.yaml"]).code == 0
    with zipfile.ZipFile(tmp_path / ".evalgate/baseline.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / BASE, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    content = (tmp_path / BASE).read_bytes()
    (tmp_path / BASE).write_bytes(content.replace(b"You help.", b"You halp."))
    recorded(tmp_path, lambda _: OTHER, {"a": "no"})
    ran = evalgate(tmp_path, ["s.yaml", "--baseline", BASE])
    assert ran.code == 0
    assert "changed system prompts are not shown" in ran.stdout
    assert "a changed system prompt" in ran.stdout
