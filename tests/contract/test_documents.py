from __future__ import annotations

import ast
import json
import re
import tomllib
from contextlib import redirect_stdout
from io import StringIO
from typing import TYPE_CHECKING, Any, get_args

import pytest
import yaml
from documents import DOCUMENTS, FENCE, ROOT, Block, anchor, blocks, cells, is_steps, read_lock
from in_process_command import evalgate

from evalgate.adapters.suites.approvals_file import read_approvals
from evalgate.cli import VERBS
from evalgate.errors import EvalGateError, InvalidInput, Unreachable
from evalgate.evaluators.core.operators import OPERATORS
from evalgate.evaluators.core.registry import BUILT_IN_TYPES
from evalgate.evaluators.core.shorthands import COMMON
from evalgate.models.approvals.approval import ApprovalFile
from evalgate.models.comparison.comparison import BaselineStatus, ChangeKind
from evalgate.models.comparison.decision import NEEDS_BASELINE, FailOn
from evalgate.models.github import BASELINE_EVENTS
from evalgate.models.run.run import Verdict
from evalgate.settings.inputs import MAX_RETENTION_DAYS
from evalgate.settings.limits import LIMITS, Limits, parse_limits
from evalgate.suite.approvals_file import ApprovalEntry
from evalgate.suite.policy import FreshnessPolicy, Policy, RegressionPolicy, ValidityPolicy
from evalgate.suite.suite_file import Defaults, ProjectFile, ScenarioEntry, SuiteFile, VariantEntry
from evalgate.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
PACKAGE_OF_SOMEONE_ELSE = re.compile(
    r"(?:pip[3x]? install|uv tool install|uv add|uvx|pipx run) (?:-\S+ )*['\"]?evalgate(?![-\w])"
)


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def suites_of(block: Block) -> list[tuple[str, str]]:
    """The files that a YAML block of a document shows, as (name, text)."""
    content = yaml.safe_load(block.text)
    if is_steps(content):
        return []
    if isinstance(content, list):
        suite = {
            "suite": "s",
            "scenarios": [{"id": "s", "assertions": content}],
            "policy": {"fail_on": ["hard_fail", "below_threshold"]},
        }
        return [("suite.yaml", yaml.safe_dump(suite))]
    if "suites" in content:
        scenario = {"id": "s", "assertions": [{"type": "tool_called", "tool": "t"}]}
        suite = {"version": 1, "suite": "s", "scenarios": [scenario]}
        found = content["suites"][0].replace("**", "a").replace("*", "s")
        return [("evalgate.yaml", block.text), (found, yaml.safe_dump(suite))]
    return [("suite.yaml", block.text)] if content.keys() & {"suite", "scenarios"} else []


KINDS = {
    "suites",
    "suite",
    "scenarios",
    "goldens",
    "approvals",
    "jobs",
    "repos",
    "pre-commit",
    "custom",
    "prompts",
    "stimuli",
}
"""A key that each YAML block has of which a test of this folder validates the content; the others are lists.

`prompts` and `stimuli` are of other tools: the commands of their page import them.
"""


@pytest.mark.parametrize("block", blocks("yaml"), ids=lambda block: f"{block.document}-{block.text[:30]!r}")
def test_every_yaml_block_is_of_a_kind_that_is_validated(block: Block) -> None:
    content = yaml.safe_load(block.text)
    assert isinstance(content, list) or content.keys() & KINDS


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: f"{block.document}-{block.text[:30]!r}")
def test_python_in_documents_compiles(block: Block) -> None:
    compile(block.text, block.document, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def inline_assertions(document: Path) -> list[Any]:
    """The assertions that a page shows in code spans, without those of which it shows a part only."""
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    found = [
        yaml.safe_load(word)
        for word in re.findall(r"`(\{(?:type|path|regex|not): [^`]*\})`", text)
        if "..." not in word
    ]
    return [each for each in found if each.keys() & {"type", "regex", "not"} or len(each) > 1]


def test_assertions_in_code_spans_are_valid(tmp_path: Path) -> None:
    assertions = [each for document in DOCUMENTS for each in inline_assertions(document)]
    assert len(assertions) > 15
    [(_, text)] = suites_of(Block("", "yaml", yaml.safe_dump(assertions)))
    (tmp_path / "suite.yaml").write_text(text, encoding="utf-8")
    done = evalgate("validate", str(tmp_path / "suite.yaml"))
    assert done.exit_code == 0, done.err


def test_the_chooser_names_existing_types() -> None:
    section = read("docs/evaluators.md").split("## Which one do I take?")[1].split("\n## ")[0]
    rows = [row for row in section.splitlines() if row.startswith("| ")]
    names = {word for row in rows for word in re.findall(r"`(\w+)`", row)}
    assert names
    assert names <= set(BUILT_IN_TYPES)
    assert all("`{" in row for row in rows[1:])


NOTHING_FAILS = "no assertion here can fail the check"
WITHOUT_POLICY = ("scenarios:\n  - id: three-reminders", "suite: billing\n", "suite: parcels\n")
"""Suites whose project has the policy."""
YAML_BLOCKS = [block for block in blocks("yaml") if suites_of(block)]


APPROVALS = [block for block in blocks("yaml") if "approvals" in yaml.safe_load(block.text)]


def test_there_are_approvals_in_documents() -> None:
    assert APPROVALS


@pytest.mark.parametrize("block", APPROVALS, ids=lambda block: block.document)
def test_approvals_in_documents_are_valid(block: Block) -> None:
    assert read_approvals(ApprovalFile("evalgate-approvals.yaml", block.text.encode()))


@pytest.mark.parametrize("block", YAML_BLOCKS, ids=lambda block: f"{block.document}-{block.text[:30]!r}")
def test_suites_in_documents_are_valid(block: Block, tmp_path: Path) -> None:
    files = suites_of(block)
    for name, text in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = evalgate("validate", str(tmp_path / files[0][0]))
    assert done.exit_code == 0, done.err
    assert NOTHING_FAILS not in done.err or block.text.startswith(WITHOUT_POLICY)


GOLDENS = [block for block in blocks("yaml") if "goldens" in yaml.safe_load(block.text) and block not in YAML_BLOCKS]
ADDED = [
    "goldens add --id refund --user Hello --response Hello --intent task_execution --tag money",
    "goldens add --id late-parcel --user Hello --response Hello --intent other",
    "goldens add --id farewell --user Bye --response Bye --intent other",
    "goldens suite add release --golden farewell",
]


@pytest.mark.parametrize("block", GOLDENS, ids=lambda block: f"{block.document}-{block.text[:30]!r}")
def test_goldens_in_documents_are_valid(block: Block, tmp_path: Path) -> None:
    store = ("--store-url", str(tmp_path / "goldens.db"))
    for command in ADDED:
        assert evalgate(*command.split(), *store).exit_code == 0
    (tmp_path / "suite.yaml").write_text(block.text, encoding="utf-8")
    (tmp_path / "goldens").mkdir()
    (tmp_path / "goldens/one.yaml").write_text("id: greet\nuser_messages: [Hi]\ngolden_responses: [Hello]\n")
    done = evalgate("validate", str(tmp_path / "suite.yaml"), *store)
    assert done.exit_code == 0, done.err


def called_in(trace: str) -> list[str]:
    """The tools of a native trace, in order."""
    messages = json.loads(trace)["messages"]
    return [call["name"] for message in messages for call in message.get("tool_calls", [])]


TRACES = [block for block in blocks("json") if block.document != "docs/migrate-from.md"]
"""The JSON of that page is files of other tools, which its commands import."""


@pytest.mark.parametrize("block", TRACES, ids=lambda block: block.document)
def test_traces_in_documents_can_be_queried(block: Block, tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(block.text, encoding="utf-8")
    done = evalgate("query", "[tool_calls[].name, metadata.cost_usd]", str(trace))
    assert (done.exit_code, json.loads(done.out)) == (0, [called_in(block.text), 0.012]), done.err


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_have_a_target(document: Path) -> None:
    for link in LINK.findall(document.read_text(encoding="utf-8")):
        if link.startswith("https://"):
            continue
        path, _, place = link.partition("#")
        target = (document.parent / path).resolve() if path else document
        assert target.exists(), link
        if place:
            headings = HEADING.findall(target.read_text(encoding="utf-8"))
            assert place in {anchor(heading) for heading in headings}, link


def test_the_bare_command_is_help_and_an_error() -> None:
    bare = evalgate()
    assert (bare.exit_code, bare.out) == (2, "")
    assert "`evalgate help --all` lists all verbs" in bare.err


def test_readme_shows_the_example_workflow() -> None:
    workflow = read("examples/workflows/evalgate.yml")
    assert workflow in [block.text for block in blocks("yaml") if block.document == "README.md"]


def test_the_example_with_githubs_own_upload_hands_the_hidden_baseline_on() -> None:
    steps = yaml.safe_load(read("examples/workflows/official-upload.yml"))["jobs"]["gate"]["steps"]
    gate, upload = steps[-2]["with"], steps[-1]["with"]
    assert gate["upload-baseline"] is False
    assert (upload["name"], upload["include-hidden-files"]) == ("evalgate-baseline", True)


def test_only_events_of_a_baseline_upload_one_in_a_step_of_its_own() -> None:
    texts = [path.read_text(encoding="utf-8") for path in sorted((ROOT / "examples/workflows").glob("*.yml"))]
    texts += [block.text for block in blocks("yaml")]
    uploads = re.findall(r"^ *- uses: actions/upload-artifact@.*\n(?:(?! *- ).*\n)*", "\n".join(texts), re.MULTILINE)
    baselines = [step for step in uploads if re.search(r"name: evalgate-baseline$", step, re.MULTILINE)]
    assert len(baselines) >= 2  # of official-upload.yml and of docs/enterprise.md
    for step in baselines:
        assert f"contains(fromJSON('{json.dumps(BASELINE_EVENTS)}'), github.event_name) && " in step


def test_the_example_that_refreshes_the_baseline_starts_before_it_expires_and_by_hand_without_inputs() -> None:
    workflow = yaml.safe_load(read("examples/workflows/refresh.yml"))
    events, [gate] = workflow[True], workflow["jobs"].values()  # YAML reads `on` as true
    assert (events.keys(), events["workflow_dispatch"]) == ({*BASELINE_EVENTS, "pull_request"}, None)
    assert events["schedule"] == [{"cron": "17 4 * * 1"}]  # each week
    assert 14 < gate["steps"][-1]["with"]["retention-days"] <= MAX_RETENTION_DAYS


def flags_of(verb: str) -> set[str]:
    """The flags that a verb's help shows."""
    shown = StringIO()
    with redirect_stdout(shown):  # argparse prints to the stream of the process
        assert evalgate(*verb.split(), "--help").exit_code == 0
    usage = shown.getvalue().split("options:")[1].split("examples:")[0]
    return set(re.findall(r"(?:^  |, )(-{1,2}[a-z-]+)", usage, re.MULTILINE)) - {"-h", "--help"}


def test_every_verb_and_every_flag_is_documented() -> None:
    verbs = {words.split()[0] for words in cells("docs/commands.md", "Commands", column=1)}
    assert verbs == set(VERBS)
    assert flags_of("run") == {words.split()[0] for words in cells("docs/commands.md", "run", column=1)}
    assert flags_of("explain") == {words.split()[0] for words in cells("docs/commands.md", "explain", column=1)}
    others = re.findall(r"^\| `([a-z -]+)` \| (`-.+?) \|", read("docs/commands.md"), re.MULTILINE)
    documented = {(verb, flag.split()[0]) for verb, flags in others for flag in re.findall(r"`(.+?)`", flags)}
    shown = [
        *(
            "merge",
            "validate",
            "compare",
            "migrate",
            "calibrate",
            "confirm",
            "backtest",
            "fingerprint",
            "approve",
            "approvals",
        ),
        *(
            "baseline save",
            "baseline create",
            "baseline show",
            "traces",
            "show",
            "view",
            "fetch-baseline",
            "comment",
            "track",
            "query",
            "convert",
            "evaluators",
            "schema",
            "init",
            "mutate",
            "import-suite",
            "help",
        ),
        *(f"goldens {action}" for action in ("add", "update", "list", "show", "delete", "import", "export")),
        *(f"goldens suite {step}" for step in ("add", "update", "list", "show", "delete")),
        *("feedback add", "feedback list", "export", "import", "history", "history prune"),
    ]
    differing = sorted(documented ^ {(verb, flag) for verb in shown for flag in flags_of(verb)})
    assert not differing, f"docs/commands.md (rows of the other verbs) and the help of the verbs differ in {differing}"


def test_documents_use_a_verb_by_its_name_and_not_by_an_old_one() -> None:
    old = "|".join(name for name, verb in VERBS.items() if verb.is_old_name)
    shown = re.compile(rf"^evalgate (?:{old})(?![\w-]).*", re.MULTILINE)
    assert [
        line for language in ("sh", "bash", "yaml") for block in blocks(language) for line in shown.findall(block.text)
    ] == []


def test_the_table_of_limits_names_each_and_its_default() -> None:
    section = read("docs/traces.md").split("\n## Limits\n")[1]
    documented = dict(re.findall(r"^\| `(\w+)` \| (\w+)", section, re.MULTILINE))
    assert set(documented) == set(LIMITS)
    defaults = parse_limits([f"{name}={value}" for name, value in documented.items() if value != "none"])
    assert defaults == Limits()
    assert documented["traces"] == documented["cpu"] == documented["memory"] == "none"


def test_version_is_the_same_everywhere() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    newest = HEADING.findall(read("CHANGELOG.md"))[1]
    assert project["version"] == __version__
    assert newest == "Unreleased" or newest.startswith(__version__)


def test_the_distribution_has_a_command_of_its_own_name() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    assert project["scripts"][project["name"]] == project["scripts"]["evalgate"]


def test_exit_code_table_names_the_codes_in_order_of_precedence() -> None:
    rows = re.findall(r"^\| (\d+) \| (.+?) \|", read("docs/exit-codes.md"), re.MULTILINE)
    assert [int(code) for code, _ in rows] == [EvalGateError.exit_code, InvalidInput.exit_code, 1, 3, 4, 0]
    assert Unreachable.exit_code == 4
    meanings = dict(rows)
    assert {word for word in NEEDS_BASELINE if f"`{word}`" in meanings["4"]} == NEEDS_BASELINE
    summary = read("README.md").split("Exit codes: ")[1].split("\n\n")[0]
    assert sorted(map(int, re.findall(r"(?:^|· ?|\n)(\d+) ", summary))) == [0, 1, 2, 3, 4, 70]


def test_every_evaluator_has_its_section() -> None:
    titles = {word for heading in HEADING.findall(read("docs/evaluators.md")) for word in heading.split(", ")}
    assert set(BUILT_IN_TYPES) <= titles


def test_the_index_of_evaluators_is_what_the_command_prints() -> None:
    index = read("docs/evaluators.md").split("## Index")[1].split("\n## ")[0]
    documented = re.findall(r"^\| \[`(\w+)`\]\(#[^)]+\) \| (.+) \|$", index, re.MULTILINE)
    printed = [tuple(line.split(maxsplit=1)) for line in evalgate("evaluators").out.splitlines()]
    assert documented == printed
    assert [name for name, _ in documented] == list(BUILT_IN_TYPES)


def test_evaluator_tables_name_every_common_key_and_operator() -> None:
    assert set(cells("docs/evaluators.md", "Keys of every assertion", column=1)) == {"type", *COMMON}
    text = read("docs/evaluators.md").split("| operator |")[1].split("\n\n")[0]
    assert {row.split("|")[1].strip() for row in text.splitlines()[2:]} == {
        "`eq`, `ne`", "`gt`, `gte`, `lt`, `lte`", "`contains`", "`regex`", "`exists`",
        "`in`, `not_in`", "`length`", "`matches_schema`",
    }  # fmt: skip
    assert {word for word in OPERATORS if f"`{word}`" in text} == set(OPERATORS)


def test_suite_tables_name_every_key() -> None:
    suite = {key.split(".")[0] for key in cells("docs/suites.md", "Suite", column=1)}
    assert suite == set(SuiteFile.model_fields)
    assert set(cells("docs/suites.md", "Scenario", column=1)) == set(ScenarioEntry.model_fields)
    assert set(cells("docs/suites.md", "Project file", column=1)) == set(ProjectFile.model_fields)
    variants = read("docs/suites.md").split("| key of a variant |")[1].split("\n\n")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", variants, re.MULTILINE)) == set(VariantEntry.model_fields)
    policy = cells("docs/suites.md", "Policy", column=1)
    assert {key.split(".")[0] for key in policy if not key.startswith(".")} == set(Policy.model_fields)
    nested = {key.rpartition(".")[2] for key in policy if "." in key}
    assert nested == {*RegressionPolicy.model_fields, *ValidityPolicy.model_fields}
    assert set(cells("docs/suites.md", "Freshness", column=1)) == set(FreshnessPolicy.model_fields)
    assert set(cells("docs/approvals.md", "Approvals", column=1)) == set(ApprovalEntry.model_fields)
    assert {word for word in Defaults.model_fields if f"`{word}`" in read("docs/suites.md")} == set(
        Defaults.model_fields
    )


def test_tables_name_every_word_of_fail_on_verdict_change_and_baseline_status() -> None:
    suites, baseline = read("docs/suites.md"), read("docs/baseline.md")
    fail_on = suites.split("| condition in `fail_on`")[1].split("\n\n")[0]
    assert re.findall(r"^\| `(\w+)` \|", fail_on, re.MULTILINE) == list(get_args(FailOn))
    verdicts = cells("docs/suites.md", "Verdicts", column=1, code=False)
    assert sorted(verdicts) == sorted(get_args(Verdict))
    assert {word for word in get_args(ChangeKind) if f"`{word}`" in baseline} == set(get_args(ChangeKind))
    assert sorted(cells("docs/baseline.md", "Which one is used", column=1)) == sorted(get_args(BaselineStatus))


def test_locks_hold_every_dependency() -> None:
    project = tomllib.loads(read("pyproject.toml"))
    wanted = project["project"]["dependencies"]
    for lock, names in (
        ("requirements/image.txt", wanted),
        ("requirements/dev.txt", [*wanted, *project["dependency-groups"]["dev"]]),
    ):
        locked = {name.lower().replace("_", "-") for name in re.findall(r"^([\w.-]+)==", read_lock(lock), re.MULTILINE)}
        missing = {re.split(r"[^\w.-]", name)[0].lower().replace("_", "-") for name in names} - locked
        assert not missing, f"{lock} lacks {missing}: make lock"


def test_every_dependency_is_explained() -> None:
    project = tomllib.loads(read("pyproject.toml"))["project"]
    names = [re.split(r"[^\w.-]", name)[0] for name in project["dependencies"]]
    assert [name for name in names if f"**{name}**" not in read("docs/decisions.md")] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_installs_the_package_of_someone_else(document: Path) -> None:
    assert not PACKAGE_OF_SOMEONE_ELSE.search(document.read_text(encoding="utf-8"))


@pytest.mark.parametrize("words", ["pip {}", "pipx {}", "pip {} -U", "pip3 {} --upgrade", "uv tool {}"])
def test_the_pattern_for_the_package_of_someone_else_matches_it(words: str) -> None:
    assert PACKAGE_OF_SOMEONE_ELSE.search(f"{words.format('install')} 'evalgate[x]'")
    assert not PACKAGE_OF_SOMEONE_ELSE.search(f"{words.format('install')} evalgate-action")
