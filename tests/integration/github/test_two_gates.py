"""Two gates of one run that share a baseline's name: none is compared with the other's suite unnoticed."""

from __future__ import annotations

import json
import shutil

import pytest
from fakes.agent import SUITE, next_run, on_main, trace, write_trace

BY_CONFIG = ({"config": "evals/billing.yaml"}, {"config": "evals/parcels.yaml"})
BY_FOLDER = ({"working_directory": "packages/billing"}, {"working_directory": "packages/parcels"})
APPROVAL = """approvals:
  - {{suite: support, scenario: refund, reason: r, who: w, until: 2999-01-01, covers: {covers}}}
"""
REMEDY = "where another gate judges it, give each gate its own ` baseline-artifact `"


@pytest.fixture
def add_suite(workspace):
    """Adds a suite, and beside its folder the traces that it reads."""
    (workspace / "evals/support.yaml").unlink()

    def add(name, path, more=""):
        place = workspace / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SUITE.replace("suite: support", f"suite: {name}") + more)
        if not (place.parents[1] / "traces").exists():
            shutil.copytree(workspace / "traces", place.parents[1] / "traces")

    return add


def heading_of(step):
    return next(line for line in step.summary.splitlines() if line.startswith("## "))


@pytest.mark.parametrize(
    ("gates", "suites", "where"),
    [
        (BY_CONFIG, {"evals/billing.yaml": "billing", "evals/parcels.yaml": "parcels"}, "evals/billing.yaml"),
        (
            BY_FOLDER,
            {"packages/billing/evals/a.yaml": "billing", "packages/parcels/evals/a.yaml": "parcels"},
            "packages/billing/evals/a.yaml",
        ),
        (
            BY_FOLDER,
            {"packages/billing/evals/a.yaml": "support", "packages/parcels/evals/a.yaml": "support"},
            "packages/billing/evals/a.yaml",
        ),
    ],
    ids=["other name", "other folder", "same name"],
)
def test_the_second_gate_is_not_compared_with_the_suite_of_the_first(hub, act, add_suite, gates, suites, where):
    for path, name in suites.items():
        add_suite(name, path)
    on_main(hub)
    pushed = [act("push", **gate) for gate in gates]
    assert ["give each gate its own" in f"{each.annotations}" for each in pushed] == [False, True]
    next_run(hub, "success")
    first, second = (act(**gate) for gate in gates)
    assert heading_of(first).startswith("## \u26aa ")
    assert heading_of(second).startswith("## \U0001f7e1 EvalGate passed, but suite ` ")
    assert f"the baseline judged ` {where} ` (` {suites[where]} `)" in second.summary
    assert (REMEDY in first.summary, REMEDY in second.summary) == (False, True)
    assert "compared as the same suite" not in second.summary
    assert act(on_weakening="fail", **gates[1]).exit_code == 1


def test_an_approval_of_the_own_suite_counts_where_the_other_has_its_name(hub, act, add_suite, workspace):
    for each in ("billing", "parcels"):
        add_suite("support", f"packages/{each}/evals/a.yaml")
    on_main(hub)
    act("push", **BY_FOLDER[0])
    next_run(hub, "success")
    write_trace(workspace / "packages/parcels", trace(content="no"))
    assert act(fail_on="below_threshold", **BY_FOLDER[1]).exit_code == 1
    results = json.loads((workspace / "packages/parcels/.evalgate/results.json").read_text())
    checks = results["suites"][0]["scenarios"][0]["trials"][0]["assertions"]
    failed = [each["digest"] for each in checks if each["outcome"] == "failed"]
    (workspace / "evalgate-approvals.yaml").write_text(APPROVAL.format(covers=failed))
    step = act(fail_on="below_threshold", approvals_from="head", **BY_FOLDER[1])
    assert (step.exit_code, "covered by an approval" in heading_of(step)) == (0, True)


@pytest.mark.parametrize("gates", [BY_CONFIG, BY_FOLDER], ids=["config", "folder"])
def test_by_the_rules_of_the_base_it_is_said_that_the_own_suite_is_not_judged(hub, act, add_suite, gates):
    for each in ("billing", "parcels"):
        add_suite("support", f"packages/{each}/evals/a.yaml" if gates is BY_FOLDER else f"evals/{each}.yaml")
    on_main(hub)
    act("push", **gates[0])
    next_run(hub, "success")
    assert REMEDY in act(policy_from="base", **gates[1]).summary


def test_a_suite_of_the_same_name_in_the_same_folder_is_compared_and_the_other_named(hub, act, add_suite):
    for each in ("billing", "parcels"):
        add_suite("support", f"evals/{each}.yaml")
    on_main(hub)
    act("push", **BY_CONFIG[0])
    next_run(hub, "success")
    assert REMEDY in act(**BY_CONFIG[1]).summary


@pytest.mark.parametrize("moved", ["suite", "folder"])
def test_what_a_pull_request_renames_is_compared_as_before(hub, act, add_suite, workspace, moved):
    add_suite("billing", "packages/billing/evals/a.yaml")
    on_main(hub)
    act("push", **BY_FOLDER[0])
    next_run(hub, "success")
    if moved == "folder":
        (workspace / "packages/billing").rename(workspace / "packages/parcels")
        step = act(**BY_FOLDER[1])
    else:
        (workspace / "packages/billing/evals/a.yaml").unlink()
        add_suite("invoices", "packages/billing/evals/b.yaml")
        step = act(**BY_FOLDER[0])
    judged = {"suite": "\u2705", "folder": "\u26aa"}  # another name is another rule
    assert heading_of(step).startswith(f"## {judged[moved]} ")
    assert ("compared as the same suite" in step.summary) == (moved == "suite")
    assert REMEDY not in step.summary
