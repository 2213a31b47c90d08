"""`evalgate store goldens` on a real store: golden.md, Store and Regression suite, as a person uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from store_builders import make_evaluation, make_golden
from store_verbs import Verbs

from evalgate.models.goldens import RegressionSuite

SECRET = "ghp_" + "a1B2" * 9
HOSTILE = "\x1b[31mred\x1b]0;title\x07 ::error::x \u202egnp.exe ##[error]y \u200b"
GREET = ["goldens", "add", "--id", "greet", "--user", "Hello", "--response", "Hello! How can I help?"]


def test_a_golden_given_by_flags_is_listed_and_shown(verbs, store):
    done = verbs(
        *GREET,
        *("--title", "A greeting", "--intent", "relationship_building", "--stance", "friendly"),
        *("--second-stance", "supportive", "--tag", "smalltalk", "--tag", "first", "--creator", "ada"),
        *("--memory", "none", "--tool", "not_applicable", "--refusal", "not_applicable"),
        *("--description", "every talk begins so", "--conversation-id", "talk-1"),
    )
    assert done.out == "added: greet\n"
    golden = store.goldens.get("greet")
    assert (golden.user_messages, golden.golden_responses) == (("Hello",), ("Hello! How can I help?",))
    assert (golden.secondary_stances, golden.tags, golden.version) == (
        ("supportive",),
        ("smalltalk", "first"),
        1,
    )
    head, row = verbs("goldens", "list").out.splitlines()
    assert head.split() == ["ID", "TITLE", "INTENT", "STANCE", "TURNS", "TAGS", "CREATOR", "VERSION"]
    assert row.split("  ")[0] == "greet"
    assert "A greeting" in row
    shown = verbs("goldens", "show", "greet").out
    for word in (
        "A greeting",
        "friendly, supportive",
        "every talk begins so",
        "Hello! How can I help?",
        "ada",
    ):
        assert word in shown


def test_a_golden_that_is_stored_already_is_not_added_again(verbs):
    verbs(*GREET)
    done = verbs(*GREET, code=2)
    assert done.err == (
        "error: golden `greet` is stored already (`goldens update` changes it, `goldens import` imports newer versions)\n"
    )


ON_SQLITE = pytest.mark.parametrize("store_url", ["sqlite"], indirect=True)


MISTAKES = [
    (
        ["add"],
        "no golden given (give --id with --user and --response, or --from-trace, or --file)",
    ),
    (["add", "--id", ""], "`id` must have"),
    (["add", "--id", "x", "--file", "x.yaml"], "--file can't be combined with --id or flags such as --title"),
    (["add", "--from-trace", "gone.json"], "no trace file at 'gone.json'"),
    (["add", "--id", "x", "--user", "a" * 100_001], "at most 100000 characters"),
    (["add", "--id", "x*"], "a golden is one conversation: its `id` must not contain `*`"),
    (["add", "--id", "x", "--user", "u", "--tool", "look@2"], "`look@2` refers to turn 2, but the golden has only 1"),
    (["add", "--id", " "], "the id ' ' contains invisible characters"),
    (["add", "--id", "a\u202eb"], "`id` must have no invisible characters"),
    (["add", "--id", "a\nb"], "`id` must have no invisible characters"),
    (["update", "greet", "--tool", "look@9"], "`look@9` refers to turn 9, but the golden has only 1"),
    (["update", "greet"], "no field to change was given (see evalgate store goldens update --help)"),
    (["list", "--limit", "0"], "--limit takes a number from 1 to 10,000, not 0"),
    (["list", "--offset", "-1"], "--offset must be at least 0, not -1"),
    (["show", "gret"], "the store has no golden `gret` (did you mean `greet`?)"),
    (["update", "gret", "--title", "x"], "(did you mean `greet`?)"),
    (["delete", "gret"], "(did you mean `greet`?)"),
    (["suite", "add", "x"], "a regression suite must select goldens (use --golden, --tag or --intent)"),
    (["suite", "add", "x", "--golden", "gret"], "(did you mean `greet`?)"),
    (["suite", "add", "x", "--tag", "t", "--passing-score", "1.5"], "a number from 0 to 1, not 1.5"),
    (["suite", "add", "x", "--tag", "t", "--passing-score", "nan"], "a number from 0 to 1, not nan"),
    (
        ["suite", "add", "x", "--tag", "t", "--critical-issues", "-1"],
        "--critical-issues must be a whole number of at least 0, not -1",
    ),
    (["suite", "add", "", "--tag", "t"], "1 to 200 characters"),
    (["suite", "add", "a\u200bb", "--tag", "t"], "the name 'a\\u200bb' contains invisible characters"),
    (["suite", "add", "x", "--tag", "t" * 201], "at most 200 characters"),
    (
        ["suite", "show", "nightli"],
        "the store has no regression suite `nightli` (did you mean `nightly`?)",
    ),
    (["suite", "update", "nightli", "--tag", "x"], "(did you mean `nightly`?)"),
    (["suite", "update", "nightly"], "no change was given"),
    (["suite", "delete", "nightli"], "(did you mean `nightly`?)"),
]


@ON_SQLITE
def test_invalid_arguments_are_one_clear_line(verbs):
    verbs(*GREET)
    verbs("goldens", "suite", "add", "nightly", "--golden", "greet")
    for words, reason in MISTAKES:
        done = verbs("goldens", *words, code=2)
        assert reason in done.err, words
        assert (done.err.count("\n"), done.out) == (1, ""), words


@ON_SQLITE
def test_a_likely_typo_is_warned_of_and_stored(verbs, store):
    done = verbs(*GREET, "--intent", "lerning", "--stance", "of my own")
    warning = "golden `greet`: `lerning` is not a known intent (did you mean `learning`?)"
    assert f"warning: {warning}\n" in done.err
    assert "of my own" not in done.err
    assert warning in verbs("goldens", "update", "greet", "--title", "x").err
    verbs("goldens", "export", "-o", "g.jsonl")
    assert warning in verbs("goldens", "import", "g.jsonl").err
    assert store.goldens.get("greet").intent == "lerning"


def test_an_empty_store_says_so(verbs):
    assert verbs("goldens", "list").err == "no goldens\n"
    assert verbs("goldens", "list", "--json").json == []
    done = verbs("goldens", "show", "x", code=2)
    assert (
        done.err == "error: the store has no golden `x` (it has no goldens; `evalgate store goldens add` stores one)\n"
    )


def test_a_list_is_filtered_and_paged(verbs, store):
    for number in range(7):
        odd = number % 2
        golden = make_golden(
            f"g{number}",
            intent="learning" if odd else "creative",
            primary_stance="formal" if odd else "friendly",
            tags=("odd",) if odd else ("even",),
            creator="ada" if number < 4 else "bob",
        )
        store.goldens.create(golden)

    def ids(*words):
        return [golden["id"] for golden in verbs("goldens", "list", "--json", *words).json]

    assert ids() == [f"g{number}" for number in range(7)]
    assert ids("--intent", "learning") == ids("--stance", "formal") == ids("--tag", "odd") == ["g1", "g3", "g5"]
    assert ids("--creator", "ada", "--tag", "odd") == ["g1", "g3"]
    assert ids("--limit", "3") == ["g0", "g1", "g2"]
    assert ids("--limit", "3", "--offset", "3") == ["g3", "g4", "g5"]
    done = verbs("goldens", "list", "--limit", "3", "--offset", "3")
    assert done.err == "there may be more goldens: --offset 6\n"
    assert verbs("goldens", "list", "--offset", "7").err == "no more goldens\n"


def test_an_update_raises_the_version_and_changes_only_what_was_given(verbs, store):
    store.goldens.create(make_golden("refund", tags=("money", "vip")))
    done = verbs("goldens", "update", "refund", "--title", "Money back", "--tag", "money")
    assert done.out == "updated: refund, version 2\n"
    now = store.goldens.get("refund")
    assert (now.title, now.tags, now.version, now.intent) == ("Money back", ("money",), 2, "task_execution")
    assert now.user_messages == ("I want my money back.",)


def test_a_deletion_takes_the_evaluations_with_it_and_says_so(verbs, store):
    for id_ in ("refund", "other"):
        store.goldens.create(make_golden(id_))
    for number in range(3):
        store.evaluations.create(make_evaluation(f"e{number}"))
    store.evaluations.create(make_evaluation("kept", "other"))
    store.suites.create(RegressionSuite("nightly", golden_ids=("refund", "other")))
    done = verbs("goldens", "delete", "refund")
    assert done.out == "deleted: refund with 3 evaluations; 1 regression suite named it\n"
    assert [each.id for each in store.evaluations.list()] == ["kept"]
    assert store.suites.get("nightly").golden_ids == ("other",)
    assert verbs("goldens", "delete", "other").out.startswith("deleted: other with 1 evaluation")


def test_nothing_is_deleted_where_one_of_several_is_missing(verbs, store):
    store.goldens.create(make_golden("refund"))
    verbs("goldens", "delete", "refund", "unknown", code=2)
    assert store.goldens.ids() == ["refund"]


def test_a_golden_shows_how_its_last_traces_scored(verbs, store):
    store.goldens.create(make_golden())
    store.evaluations.create(make_evaluation("a", score=0.7, regression_status="degradation"))
    shown = verbs("goldens", "show", "refund").out
    assert "last evaluations" in shown
    assert "degradation" in shown
    assert "0.70" in shown


def test_what_reads_like_a_secret_is_not_stored(verbs, store):
    verbs(
        *("goldens", "add", "--id", "g", "--title", f"t {SECRET}", "--description", f"d {SECRET}"),
        *("--user", f"my token is {SECRET}", "--response", f"thanks for {SECRET}", "--tag", SECRET),
    )
    verbs("goldens", "update", "g", "--memory", f"the token {SECRET}")
    assert SECRET not in repr(store.goldens.get("g"))
    verbs("goldens", "suite", "add", "s", "--golden", "g", "--description", SECRET, "--label", SECRET)
    assert SECRET not in repr(store.suites.get("s"))


def test_hostile_text_reaches_no_terminal_unescaped(verbs):
    flags = ("--title", "--description", "--user", "--response", "--tag", "--creator", "--intent", "--stance")
    refused = verbs("goldens", "add", "--id", f"g{HOSTILE}", "--user", "x", code=2)
    assert "`id` must have no invisible characters" in refused.err
    assert refused.err.strip().isprintable()
    verbs("goldens", "add", "--id", "g", *(word for flag in flags for word in (flag, HOSTILE)))
    verbs("goldens", "suite", "add", "s", "--golden", "g", "--description", HOSTILE, "--label", HOSTILE)
    for words in (["list"], ["show", "g"], ["suite", "list"], ["suite", "show", "s"], ["export"]):
        out = verbs("goldens", *words).out
        assert not {"\x1b", "\x07", "\u202e", "\u200b"} & set(out)
        assert not [line for line in out.splitlines() if line.lstrip().startswith(("::", "##["))]
    assert verbs("goldens", "show", "g", "--json").out.isprintable() is False  # line feeds, and nothing else:
    assert verbs("goldens", "show", "g", "--json").out.replace("\n", "").isprintable()


def test_nul_and_invalid_utf8_are_not_stored(verbs):
    verbs("goldens", "add", "--id", "g", "--user", "a\x00b\ud800c")
    [message] = verbs("goldens", "show", "g", "--json").json["user_messages"]
    assert message == "ab?c"


def test_a_suite_names_goldens_by_id_tag_and_intent(verbs, store):
    for id_, tag, intent in (
        ("a", "money", "learning"),
        ("b", "vip", "learning"),
        ("c", "x", "creative"),
        ("d", "x", "other"),
    ):
        store.goldens.create(make_golden(id_, tags=(tag,), intent=intent))
    done = verbs(
        *("goldens", "suite", "add", "nightly", "--golden", "a", "--tag", "vip", "--intent", "creative"),
        *("--passing-score", "0.9", "--critical-issues", "2", "--without", "tone", "--without", "memory"),
        *("--description", "each night", "--creator", "ada", "--label", "slow"),
    )
    assert done.out == "added: nightly, 3 goldens now\n"
    stored = store.suites.get("nightly")
    assert (stored.passing_score, stored.critical_issue_threshold) == (0.9, 2)
    assert (stored.evaluate_tone, stored.evaluate_memory, stored.evaluate_tools) == (False, False, True)
    shown = verbs("goldens", "suite", "show", "nightly", "--json").json
    assert (shown["goldens_now"], shown["tags"], shown["creator"]) == (["a", "b", "c"], ["slow"], "ada")
    page = verbs("goldens", "suite", "show", "nightly").out
    assert "a; tag vip; intent creative" in page
    assert "memory, tone" in page
    assert [suite["name"] for suite in verbs("goldens", "suite", "list", "--json").json] == ["nightly"]
    assert "nightly" in verbs("goldens", "suite", "list").out
    assert verbs("goldens", "suite", "update", "nightly", "--golden", "d").out == "updated: nightly, 3 goldens now\n"
    assert store.suites.get("nightly").passing_score == 0.9
    assert verbs("goldens", "suite", "delete", "nightly").out == "deleted: nightly; its goldens are still stored\n"
    assert store.suites.list() == []
    assert len(store.goldens.ids()) == 4


@pytest.mark.parametrize("url", ["mysql://ada:s3cret@host/db", "postgres://ada:s3cret@host/db"])
def test_the_message_on_how_to_name_a_store_survives_redaction(verbs, url):
    ended = verbs("goldens", "list", "--store-url", url, code=2)

    assert "write a path, sqlite:///PATH or postgresql://USER@HOST/DATABASE" in ended.err
    assert "s3cret" not in ended.err
    assert "ada" not in ended.err


def test_an_export_says_how_many_goldens_it_wrote(verbs, store):
    store.goldens.create(make_golden("refund"))
    assert verbs("goldens", "export", "-o", "one.jsonl").err == "1 golden written to one.jsonl\n"


def test_an_export_reads_back_to_the_same_goldens(verbs, store):
    for id_ in ("refund", "greet"):
        store.goldens.create(make_golden(id_, description=HOSTILE, user_messages=("a\nb", "\u2028c")))
    before = store.goldens.list()
    assert verbs("goldens", "export", "-o", "goldens.jsonl").err == "2 goldens written to goldens.jsonl\n"
    written = (verbs.folder / "goldens.jsonl").read_text()
    assert verbs("goldens", "export").out == written
    assert verbs("goldens", "import", "goldens.jsonl").out == "goldens: 0 new, 0 updated, 2 unchanged\n"
    for id_ in ("refund", "greet"):
        store.goldens.delete(id_)
    assert verbs("goldens", "import", "goldens.jsonl").out == "goldens: 2 new, 0 updated, 0 unchanged\n"
    times = {"version": 1, "created_at": None, "updated_at": None}
    assert [{**json.loads(line), **times} for line in verbs("goldens", "export").out.splitlines()] == [
        {**json.loads(line), **times} for line in written.splitlines()
    ]
    assert len(before) == 2


def test_an_export_may_be_a_part(verbs, store):
    store.goldens.create(make_golden("a", tags=("x",)))
    store.goldens.create(make_golden("b", tags=("y",)))
    assert [json.loads(line)["id"] for line in verbs("goldens", "export", "--tag", "y").out.splitlines()] == ["b"]


def test_by_default_the_store_is_in_the_evalgate_folder(tmp_path):
    here = Verbs(tmp_path, "")
    here(*GREET)
    assert (tmp_path / ".evalgate" / "evalgate.db").is_file()
    assert (tmp_path / ".evalgate" / ".gitignore").read_text() == "*\n"
    assert here("goldens", "list", "--json").json[0]["id"] == "greet"


def test_a_list_makes_no_store(tmp_path):
    done = Verbs(tmp_path, "")("goldens", "list", code=2)
    assert "there is no store at .evalgate/evalgate.db" in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_project_names_a_store_the_environment_goes_before_it_and_a_flag_before_both(tmp_path):
    (tmp_path / "evalgate.yaml").write_text("version: 1\nsuites: ['evals/*.yaml']\nstore: of-project.db\n")
    here = Verbs(tmp_path, "")
    here(*GREET)
    here(*GREET, EVALGATE_STORE_URL="of-environment.db")
    here(*GREET, "--store-url", "of-flag.db", EVALGATE_STORE_URL="of-environment.db")
    assert sorted(path.name for path in tmp_path.glob("*.db")) == [
        "of-environment.db",
        "of-flag.db",
        "of-project.db",
    ]


@pytest.mark.parametrize("named", ["postgresql://u:p@h/d", "sqlite:///x.db", "''", "[x]"])
def test_a_project_file_names_no_url(tmp_path, named):
    (tmp_path / "evalgate.yaml").write_text(f"version: 1\nsuites: ['evals/*.yaml']\nstore: {named}\n")
    done = Verbs(tmp_path, "")("goldens", "list", code=2)
    assert done.err == (
        "error: evalgate.yaml:3:1: `store` must be the path of a file (set a URL with --store-url or EVALGATE_STORE_URL)\n"
    )


def test_a_password_is_never_printed(tmp_path):
    for url in (
        "postgresql://ci:hunter2@127.0.0.1:1/evalgate",
        "mysql://ci:hunter2@h/d",
        "postgres://ci:hunter2@h/d",
    ):
        out = Verbs(tmp_path, url)("goldens", "list", code=4 if "127" in url else 2)
        assert "hunter2" not in out.out + out.err
        assert out.err.count("\n") == 1


BLOCKED = """\
import sys
class Blocked:
    def find_spec(self, name, *_):
        if name.partition(".")[0] in ("sqlalchemy", "alembic", "psycopg"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
from evalgate.__main__ import main
main()
"""


@pytest.mark.parametrize("url", ["x.db", "postgresql://u@h/d"])
def test_without_the_extra_one_line_says_what_to_install(tmp_path, url):
    command = [sys.executable, "-c", BLOCKED, "goldens", "list", "--store-url", url]
    done = subprocess.run(
        command, cwd=tmp_path, env={"PATH": os.environ["PATH"]}, capture_output=True, text=True, check=False
    )
    extra = "postgres" if ":" in url else "store"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (f"error: a store needs an extra that is not installed (install evalgate-action[{extra}])\n")


def test_every_action_has_its_help(tmp_path):
    here = Verbs(tmp_path, "")
    actions = ["add", "list", "show", "update", "delete", "import", "export", "suite"]
    steps = [["suite", step] for step in ("add", "update", "list", "show", "delete")]
    for words in [*([action] for action in actions), *steps]:
        assert here("goldens", *words, "--help").code == 0
