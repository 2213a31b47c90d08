"""`evalgate store export` and `evalgate store import` on a real store (golden.md, Exports)."""

from __future__ import annotations

import csv
import json
from datetime import timedelta

import pytest
from store_builders import NOW, make_evaluation, make_feedback, make_golden, make_issue, make_turn
from store_verbs import Verbs

from evalgate.features.store.cli.store_verbs import FORMATS
from evalgate.models.history.stored_run import RunFacts, StoredRun

ON_SQLITE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)
SECRET = "ghp_" + "a1B2" * 9


def fill(store):
    """Two goldens, three evaluations of two suites on three days, and one item of feedback."""
    store.goldens.create(make_golden())
    store.goldens.create(make_golden("greet", title="=HYPERLINK(1)", intent="learning", conversation_id=None))
    store.evaluations.create(make_evaluation("e1", turns=[make_turn(), make_turn(issues=(make_issue(turn=1),))]))
    store.evaluations.create(make_evaluation("e2", "greet", suite="smalltalk", at=NOW + timedelta(days=1)))
    store.evaluations.create(
        make_evaluation(
            "e3", score=0.8, at=NOW + timedelta(days=2), regression_status="degradation", previous_score=0.88
        )
    )
    store.feedback.create(make_feedback(golden_id="refund"))


def ids(done):
    return list(dict.fromkeys(json.loads(line)["evaluation_id"] for line in done.out.splitlines()))


@ON_SQLITE
def test_exports_are_named_by_the_time(verbs, store):
    fill(store)
    for form in FORMATS:
        name = f"evaluation_2025-12-31T22-40-49.{form}"
        assert verbs("export", form).out == f"3 evaluations written to .evalgate/{name}\n"
        assert (verbs.folder / ".evalgate" / name).stat().st_size
    assert (verbs.folder / ".evalgate" / ".gitignore").read_text() == "*\n"
    assert verbs("export", "csv", "-o", "out/").out.endswith("to out/evaluation_2025-12-31T22-40-49.csv\n")
    assert verbs("export", "csv", "-o", "mine.csv").out.endswith("to mine.csv\n")


def test_json_lines_come_oldest_first_with_user_feedback(verbs, store):
    fill(store)
    lines = [json.loads(line) for line in verbs("export", "jsonl", "-o", "-").out.splitlines()]
    assert [(line["evaluation_id"], line["turn"]) for line in lines] == [
        ("e1", 1),
        ("e1", 2),
        ("e2", 1),
        ("e3", 1),
    ]
    assert [len(line["feedback"]) for line in lines] == [1, 1, 0, 1]
    assert lines[0]["golden_title"] == "A refund in time"


def test_evaluations_are_filtered_by_time_and_suite(verbs, store):
    fill(store)

    def chosen(*words):
        return ids(verbs("export", "jsonl", "-o", "-", *words))

    assert chosen("--suite", "smalltalk") == ["e2"]
    assert chosen("--since", "2026-01-01") == ["e2", "e3"]
    assert chosen("--until", "2025-12-31") == ["e1"]
    assert chosen("--since", "2026-01-01T23:40:49+01:00", "--until", "2026-01-02T22:40:49Z") == ["e2"]
    assert chosen("--until", "2026-01-02", "--suite", "support") == ["e1", "e3"]
    assert chosen("--suite", "support", "--since", "2026-06-01") == []


@pytest.mark.parametrize("form", FORMATS)
def test_an_unknown_suite_is_an_error_that_lists_the_known_ones(verbs, store, form):
    fill(store)
    done = verbs("export", form, "-o", "-", "--suite", "nope", code=2)
    assert done.err == "error: the store has no evaluations of a suite `nope` (known: smalltalk, support)\n"
    assert done.out == ""


@ON_SQLITE
def test_of_many_suites_an_error_lists_twenty(verbs, store):
    store.goldens.create(make_golden())
    for number in range(25):
        store.evaluations.create(make_evaluation(f"e{number}", suite=f"s{number:02}"))
    err = verbs("export", "csv", "--suite", "nope", code=2).err
    assert "s00, s01" in err
    assert "s19 and 5 more)" in err
    assert not (verbs.folder / ".evalgate").exists()


@ON_SQLITE
def test_a_suite_of_a_store_without_evaluations_is_an_error_too(verbs, store):
    err = verbs("export", "csv", "--suite", "nope", code=2).err
    assert err == ("error: the store has no evaluations of a suite `nope` (`evalgate run --store-url` stores some)\n")


def feedback_in(verbs):
    """The comments on each exported evaluation."""
    lines = [json.loads(line) for line in verbs("export", "jsonl", "-o", "-").out.splitlines()]
    return {line["evaluation_id"]: [one["comment"] for one in line["feedback"]] for line in lines}


def test_feedback_on_the_judged_conversation_reaches_its_evaluation_and_no_other(verbs, store):
    store.goldens.create(make_golden())
    store.evaluations.create(make_evaluation("e1", conversation_id="talk-17", trace_id="run-1"))
    store.evaluations.create(make_evaluation("e2", conversation_id="talk-18", trace_id="run-2"))
    for about in ("talk-18", "run-1", "talk-17", "talk-99", "talk-refund"):
        verbs("feedback", "add", about, "--rating", "5", "--comment", f"on {about}")
    assert feedback_in(verbs) == {
        "e1": ["on run-1", "on talk-17", "on talk-refund"],
        "e2": ["on talk-18", "on talk-refund"],
    }


def test_feedback_is_exported_in_the_order_it_was_given_also_after_an_import(verbs, store, tmp_path):
    store.goldens.create(make_golden())
    store.evaluations.create(make_evaluation("e1", conversation_id="talk-17"))
    for number in range(12):
        about = ("talk-17", "talk-refund", "t1", "else")[number % 4]
        golden = ("--golden", "refund") if about == "else" else ()
        verbs("feedback", "add", about, "--rating", "5", "--comment", str(number), *golden)
    given = {"e1": list(map(str, range(12)))}
    assert feedback_in(verbs) == given
    assert [one["comment"] for one in verbs("feedback", "list", "--json").json] == given["e1"]
    verbs("export", "jsonl", "-o", "x.jsonl")
    verbs("goldens", "export", "-o", "goldens.jsonl")
    elsewhere = Verbs(verbs.folder, str(tmp_path / "elsewhere.db"))
    elsewhere("goldens", "import", "goldens.jsonl")
    elsewhere("import", "x.jsonl")
    assert feedback_in(elsewhere) == given


@ON_SQLITE
@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--since", "yesterday"], "--since 'yesterday' is not a date or time"),
        (["--until", "2026-13-01"], "--until '2026-13-01' is not a date or time"),
        (
            ["--since", "2026-01-02", "--until", "2026-01-01"],
            "--since 2026-01-02 is not before --until 2026-01-01",
        ),
        (["-o", "gone/x.jsonl"], "can't write gone/x.jsonl"),
    ],
)
def test_invalid_arguments_are_one_clear_line(verbs, words, reason):
    done = verbs("export", "jsonl", *words, code=2)
    assert reason in done.err
    assert done.err.count("\n") == 1


@ON_SQLITE
def test_the_last_possible_day_is_accepted(verbs):
    assert verbs("export", "csv", "-o", "-", "--since", "0001-01-01", "--until", "9999-12-31").code == 0


@ON_SQLITE
def test_csv_is_harmless_in_a_spreadsheet(verbs, store):
    fill(store)
    verbs("export", "csv", "-o", "x.csv")
    with (verbs.folder / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    assert [row["golden_title"] for row in rows] == ["A refund in time", "'=HYPERLINK(1)", "A refund in time"]
    assert [row["score"] for row in rows] == ["0.880", "0.880", "0.800"]


def test_a_summary_covers_the_evaluations_and_the_goldens(verbs, store):
    fill(store)
    summary = verbs("export", "json", "-o", "-", "--since", "2025-01-01").json
    assert summary["schema"] == "evalgate.metrics/1"
    assert (summary["totals"]["evaluations"], summary["regressions"]) == (3, 1)
    assert summary["period"]["since"] == "2025-01-01T00:00:00Z"
    assert summary["dataset"]["goldens"] == 2
    assert summary["feedback"]["count"] == 1


def test_json_lines_restore_a_store(verbs, store, tmp_path):
    fill(store)
    exported = verbs("export", "jsonl", "-o", "-").out
    verbs("export", "jsonl", "-o", "x.jsonl")
    verbs("goldens", "export", "-o", "goldens.jsonl")
    assert verbs("import", "x.jsonl").out == (
        "imported: 0 evaluations and 0 feedback records; 3 evaluations already stored\n"
    )
    elsewhere = Verbs(verbs.folder, str(tmp_path / "elsewhere.db"))
    elsewhere("goldens", "import", "goldens.jsonl")
    assert elsewhere("import", "x.jsonl").out == (
        "imported: 3 evaluations and 1 feedback record; 0 evaluations already stored\n"
    )
    assert elsewhere("export", "jsonl", "-o", "-").out == exported


def test_rows_restore_what_they_hold(verbs, store, tmp_path):
    fill(store)
    exported = verbs("export", "csv", "-o", "-").out
    verbs("export", "csv", "-o", "x.csv")
    verbs("goldens", "export", "-o", "goldens.jsonl")
    elsewhere = Verbs(verbs.folder, str(tmp_path / "elsewhere.db"))
    elsewhere("goldens", "import", "goldens.jsonl")
    elsewhere("import", "x.csv")
    assert elsewhere("export", "csv", "-o", "-").out == exported


def test_an_evaluation_of_a_golden_that_is_not_stored_stays_out(verbs, store):
    fill(store)
    verbs("export", "jsonl", "-o", "x.jsonl")
    store.goldens.delete("refund")
    store.goldens.delete("greet")
    store.goldens.create(make_golden("greet"))
    done = verbs("import", "x.jsonl", code=2)
    assert done.out.startswith("imported: 1 evaluation and 0 feedback records; ")
    assert done.err.splitlines()[-1] == (
        "error: 2 evaluations were left out: the store has no golden `refund` (`evalgate store goldens export` there"
        " and `evalgate store goldens import` here, then import again)"
    )
    assert [each.id for each in store.evaluations.list()] == ["e2"]


def test_an_evaluation_keeps_its_run_only_where_that_is_stored(verbs, store, tmp_path):
    store.goldens.create(make_golden())
    store.runs.record(StoredRun(RunFacts("r1", ("support",), "pass", 0, NOW, NOW, 0)), [make_evaluation(run_id="r1")])
    verbs("export", "jsonl", "-o", "x.jsonl")
    verbs("goldens", "export", "-o", "goldens.jsonl")
    elsewhere = Verbs(verbs.folder, str(tmp_path / "elsewhere.db"))
    elsewhere("goldens", "import", "goldens.jsonl")
    elsewhere("import", "x.jsonl")
    assert json.loads(elsewhere("export", "jsonl", "-o", "-").out)["run_id"] is None
    evaluation = store.evaluations.list()[0]
    assert evaluation.run_id == "r1"


@ON_SQLITE
def test_secrets_in_an_export_of_others_are_not_stored(verbs, store):
    fill(store)
    [line, *_] = verbs("export", "jsonl", "-o", "-", "--suite", "smalltalk").out.splitlines()
    entry = json.loads(line)
    entry |= {"evaluation_id": "new", "user_message": SECRET, "tool_results": [{"password": "hunter2!"}]}
    (verbs.folder / "x.jsonl").write_text(json.dumps(entry))
    verbs("import", "x.jsonl")
    stored = repr(store.evaluations.get("new"))
    assert SECRET not in stored
    assert "hunter2!" not in stored


@ON_SQLITE
def test_what_the_store_refuses_is_reported_and_the_rest_is_imported(verbs, store):
    fill(store)
    [line, *_] = verbs("export", "jsonl", "-o", "-", "--suite", "smalltalk").out.splitlines()
    comment = {"id": "f9", "conversation_id": "c", "rating": 1, "feedback": "negative", "user_id": "ada"}
    entry = {
        **json.loads(line),
        "evaluation_id": "new",
        "feedback": [comment, {**comment, "id": "f8", "user_id": None}],
    }
    (verbs.folder / "x.jsonl").write_text(json.dumps(entry))
    done = verbs("import", "x.jsonl", code=2)
    assert done.out.startswith("imported: 1 evaluation and 1 feedback record; ")
    assert "a user id must be a UUID, not `ada`" in done.err


@ON_SQLITE
@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (
            "x.txt",
            "",
            "x.txt: the name of an export must end in .jsonl or .csv (for goldens use `evalgate store goldens import`)",
        ),
        ("x.csv", "a,b\n", "x.csv:1: not a CSV file of evaluations: no column"),
        ("x.csv", "\xff", "x.csv: an export must be UTF-8 text"),
        ("x.csv", 'a,"b', "x.csv:1: invalid CSV (RFC 4180)"),
        ("x.jsonl", "{}\n", "x.jsonl:1: "),
    ],
)
def test_a_file_that_is_not_an_export_is_reported(verbs, store, name, text, reason):
    (verbs.folder / name).write_text(text, encoding="latin-1")
    assert reason in verbs("import", name, code=2).err
    assert store.evaluations.list() == []


@ON_SQLITE
def test_of_many_errors_the_first_twenty_are_reported(verbs):
    (verbs.folder / "x.jsonl").write_text("{\n" * 30)
    lines = verbs("import", "x.jsonl", code=2).err.splitlines()
    assert lines[-1] == "error: and 10 more"
    assert len([line for line in lines if line.startswith("error: x.jsonl:")]) == 20


@ON_SQLITE
def test_hostile_text_in_every_field_is_escaped_in_every_export(verbs, store):
    hostile = "\x1b[31m::error::x\r\n##[error]\u202e\u2028\x85 =1+1"
    golden = make_golden(f"g{hostile}", title=hostile, intent=hostile, primary_stance=hostile, conversation_id=hostile)
    store.goldens.create(golden)
    turn = make_turn(
        user_message=hostile,
        actual_response=hostile,
        golden_response=hostile,
        tools_invoked=(hostile,),
        tool_results=({hostile: hostile},),
        evidence=(hostile,),
        issues=(make_issue(hostile, evidence=hostile),),
    )
    evaluation = make_evaluation(f"::error::{hostile}", golden.id, suite=hostile, evaluated_by=hostile, turns=[turn])
    store.evaluations.create(evaluation)
    store.feedback.create(make_feedback(conversation_id=hostile, comment=hostile))
    for form in FORMATS:
        out = verbs("export", form, "-o", "-").out
        assert not {"\x1b", "\r", "\u202e", "\x85"} & set(out)
        assert not [line for line in out.splitlines() if line.lstrip().startswith(("::", "##["))]
    for form in ("jsonl", "csv"):
        verbs("export", form, "-o", f"x.{form}")
        assert verbs("import", f"x.{form}").out.endswith("1 evaluation already stored\n")
