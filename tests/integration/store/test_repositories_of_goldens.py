"""Goldens, regression suites and feedback of several repositories in one store."""

from __future__ import annotations

import json

import pytest
import yaml
from sqlalchemy import MetaData, Table
from store_builders import NOW, make_evaluation, make_exported, make_feedback, make_golden, migrate

from evalgate.errors import SettingError
from evalgate.features.store.adapters.database import Database
from evalgate.features.store.adapters.store_url import parse_store_url
from evalgate.features.store.bootstrap.store import open_store
from evalgate.features.store.reporting.dataset.evaluation_jsonl import encode_evaluations
from evalgate.models.goldens import RegressionSuite

ONE, TWO = {"EVALGATE_REPOSITORY": "acme/one"}, {"EVALGATE_REPOSITORY": "acme/two"}
TAKEN = "the golden `refund` in the store belongs to the repository acme/one (choose another id, or use another store)"


def write_golden(verbs, id_="refund", answer="Done."):
    golden = {"id": id_, "tags": ["money"], "intent": "pay", "user_messages": ["Hello"], "golden_responses": [answer]}
    (verbs.folder / f"{id_}.yaml").write_text(yaml.safe_dump(golden))
    return f"{id_}.yaml"


@pytest.fixture
def shared(verbs):
    """A store with a golden of acme/one, and one of acme/two."""
    verbs("store", "goldens", "import", write_golden(verbs), **ONE)
    verbs("store", "goldens", "import", write_golden(verbs, "other"), **TWO)
    return verbs


def ids(verbs, repository):
    return [each["id"] for each in verbs("store", "goldens", "list", "--json", **repository).json]


def test_an_import_does_not_touch_a_golden_of_another_repository(shared):
    files = [write_golden(shared, "refund", "No."), write_golden(shared, "new")]

    assert TAKEN in shared("store", "goldens", "import", *files, code=2, **TWO).err
    assert TAKEN in shared("store", "goldens", "add", "--file", files[0], code=2, **TWO).err

    assert ids(shared, TWO) == ["other"]
    assert shared("store", "goldens", "show", "refund", "--json", **ONE).json["golden_responses"] == ["Done."]
    assert "0 new, 1 updated" in shared("store", "goldens", "import", files[0], **ONE).out


@pytest.mark.parametrize("words", [["show"], ["update", "--title", "x"], ["delete", "other"]], ids=lambda each: each[0])
def test_a_golden_of_another_repository_is_not_shown_changed_or_deleted(shared, words):
    assert TAKEN in shared("store", "goldens", words[0], "refund", *words[1:], code=2, **TWO).err
    assert (ids(shared, ONE), ids(shared, TWO)) == (["refund"], ["other"])


def test_lists_and_exports_are_of_one_repository(shared):
    for repository, id_ in ((ONE, "refund"), (TWO, "other")):
        assert ids(shared, repository) == [id_]
        assert [each["id"] for each in map(json.loads, export(shared, repository))] == [id_]
    assert "golden `othr`" in shared("store", "goldens", "show", "othr", code=2, **ONE).err
    assert "other" not in shared("store", "goldens", "show", "othr", code=2, **ONE).err.replace("another", "")


def export(verbs, repository):
    return verbs("store", "goldens", "export", **repository).out.splitlines()


@pytest.mark.parametrize("words", ["goldens list", "goldens suite list", "feedback list", "export csv -o -"])
def test_a_shell_names_the_repository_where_the_store_has_several(shared, words):
    err = shared("store", *words.split(), code=2).err

    assert "has several repositories (set EVALGATE_REPOSITORY to the one that is meant" in err
    shared("store", "history", "prune", "--keep", "90d")


def test_a_regression_suite_is_of_one_repository(shared):
    shared("store", "goldens", "suite", "add", "nightly", "--tag", "money", **ONE)
    taken = "the regression suite `nightly` in the store belongs to the repository acme/one"

    for words in (["add", "--tag", "money"], ["update", "--tag", "x"], ["show"], ["delete"]):
        done = shared("store", "goldens", "suite", words[0], "nightly", *words[1:], code=2, **TWO)
        assert f"{taken} (choose another name, or use another store)" in done.err
    assert TAKEN in shared("store", "goldens", "suite", "add", "mine", "--golden", "refund", code=2, **TWO).err
    assert shared("store", "goldens", "suite", "list", "--json", **TWO).json == []
    assert shared("store", "goldens", "suite", "show", "nightly", "--json", **ONE).json["goldens_now"] == ["refund"]


def test_feedback_is_of_one_repository(shared):
    shared("store", "feedback", "add", "talk", "--rating", "1", "--golden", "refund", **ONE)

    assert TAKEN in shared("store", "feedback", "add", "t", "--rating", "5", "--golden", "refund", code=2, **TWO).err
    assert shared("store", "feedback", "list", "--json", **TWO).json == []
    assert len(shared("store", "feedback", "list", "--json", **ONE).json) == 1


@pytest.mark.parametrize("chosen", [{"tags": ["money"]}, {"intents": ["pay"]}, {"suite": "both"}])
def test_a_suite_judges_the_goldens_of_its_repository(shared, chosen):
    shared("store", "goldens", "suite", "add", "both", "--tag", "money", **ONE)
    found, _ = judge(shared, chosen, ONE)

    assert [each["id"] for each in found["suites"][0]["scenarios"]] == ["refund"]


def judge(verbs, chosen, repository, code=0):
    (verbs.folder / "traces").mkdir(exist_ok=True)
    for id_ in ("refund", "mine"):
        said = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Done."}]
        trace = {"schema": "evalgate.trace/1", "scenario_id": id_, "messages": said}
        (verbs.folder / f"traces/{id_}.json").write_text(json.dumps(trace))
    document = {"version": 1, "suite": "s", "traces": ["traces/*.json"], "goldens": [chosen]}
    if "user_messages" not in chosen:
        document["goldens"] = [{"store": chosen}]
    (verbs.folder / "suite.yaml").write_text(yaml.safe_dump(document))
    ran = verbs("run", "suite.yaml", "--store-url", verbs.environ["EVALGATE_STORE_URL"], code=code, **repository)
    return ran if code else (json.loads((verbs.folder / ".evalgate/results.json").read_text()), ran.err)


def test_goldens_of_another_repository_are_unknown_to_a_suite(shared):
    assert "the store has no golden `refund`" in str(judge(shared, {"ids": ["refund"]}, TWO, code=2))


def test_a_run_adds_goldens_of_its_repository_and_judges_none_against_another(shared, store_url):
    inline = {"id": "refund", "user_messages": ["Hello"], "golden_responses": ["Done."]}
    _, err = judge(shared, inline, TWO)
    assert f"warning: the evaluations of 1 golden are not stored: {TAKEN}" in err
    with open_store(store_url, "/") as store:
        assert [each.repository for each in store.runs.list()] == ["acme/two"]
        assert not store.evaluations.list()

    _, err = judge(shared, {**inline, "id": "mine"}, TWO)
    assert "warning" not in err
    assert ids(shared, TWO) == ["mine", "other"]
    assert ids(shared, ONE) == ["refund"]


def test_a_first_run_stores_its_goldens_with_its_repository(verbs):
    judge(verbs, {"id": "refund", "user_messages": ["Hello"], "golden_responses": ["Done."]}, ONE)

    assert TAKEN in verbs("store", "goldens", "import", write_golden(verbs), code=2, **TWO).err


def test_evaluations_are_exported_with_the_golden_of_their_repository(shared, store_url):
    found = [make_exported(make_evaluation("e1", "refund"), make_feedback("f1", "talk-refund", golden_id="refund"))]
    (shared.folder / "found.jsonl").write_bytes(b"".join(encode_evaluations(found)))
    assert "left out: " in shared("store", "import", "found.jsonl", code=2, **TWO).err
    shared("store", "import", "found.jsonl", **ONE)

    assert len(shared("store", "export", "jsonl", "-o", "-", **ONE).out.splitlines()) == 1
    assert shared("store", "export", "jsonl", "-o", "-", **TWO).out == ""
    assert shared("store", "export", "jsonl", "--suite", "support", "-o", "-", code=2, **TWO).err
    with open_store(store_url, "/") as store:
        store.select_repository("acme/two")
        with pytest.raises(SettingError, match="the feedback `f1` in the store belongs to the repository acme/one"):
            store.feedback.create(make_feedback("f1"))


def test_what_names_no_repository_is_of_all_of_them(shared, store_url):
    with open_store(store_url, "/") as store:
        store.goldens.create(make_golden("common"))
        store.suites.create(RegressionSuite("weekly", golden_ids=("common",)))

    for repository, own in ((ONE, "refund"), (TWO, "other")):
        assert ids(shared, repository) == sorted(["common", own])
        shared("store", "goldens", "update", "common", "--title", own, **repository)
        assert shared("store", "goldens", "suite", "show", "weekly", "--json", **repository).json["goldens_now"]


def test_a_store_of_one_repository_is_used_whole(verbs):
    verbs("store", "goldens", "import", write_golden(verbs), **ONE)
    verbs("store", "goldens", "import", write_golden(verbs, "unnamed"))

    for repository in (ONE, {}):
        assert ids(verbs, repository) == ["refund", "unnamed"]
        verbs("store", "goldens", "update", "refund", "--title", str(repository), **repository)
    verbs("store", "goldens", "delete", "refund", "unnamed")


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_goldens_of_before_name_no_repository(request, tmp_path, kind):
    url = str(tmp_path / "s.db") if kind == "sqlite" else request.getfixturevalue("empty_postgres_url")
    database = Database(parse_store_url(url, "/"))
    lists = ("secondary_stances", "required_memory_recall", "required_tool_usage", "required_refusal")
    row = {each: [] for each in (*lists, "user_messages", "golden_responses", "tags")}
    row |= {"id": "refund", "title": "", "description": "", "intent": "pay", "primary_stance": "", "version": 3}
    row |= {"created_at": NOW, "updated_at": NOW}
    feedback = {"id": "f1", "conversation_id": "c", "rating": 5, "feedback": "positive", "comment": "", "issues": []}
    suite = {"description": "", "golden_tags": [], "golden_intents": [], "tags": []}
    words = ("identity", "memory", "tools", "tone", "refusal", "accuracy", "completeness")
    suite |= {"name": "nightly", "passing_score": 0.9, "critical_issue_threshold": 0}
    suite |= {f"evaluate_{each}": True for each in words} | {"created_at": NOW, "updated_at": NOW}
    rows = {"goldens": row, "feedback": feedback | {"created_at": NOW}, "regression_suites": suite}
    with database.writing() as connection:
        migrate(connection, "0007")
        for name, values in rows.items():
            table = Table(f"evalgate_{name}", MetaData(), autoload_with=connection)
            assert "repository" not in table.c
            connection.execute(table.insert(), values)
    database.close()

    for repository in ("acme/one", None, "acme/two"):
        with open_store(url, "/") as opened:
            opened.select_repository(repository)
            assert not opened.is_shared
            found = opened.goldens.get("refund")
            assert opened.goldens.update(found).version == found.version + 1
            assert [each.name for each in opened.suites.list()] == ["nightly"]
            assert [each.id for each in opened.feedback.list()] == ["f1"]
