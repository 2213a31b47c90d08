"""What differs between a baseline's rules and today's is named: files of suites, and settings of the project."""

from evalgate.application.comparison.baseline_rules import BaselineRules, name_changed_files
from evalgate.models.comparison.comparison import BaselineDrift, BaselineInfo
from evalgate.suite.models import Configuration, Suite
from evalgate.suite.suite_file import PolicyEntry


def configure(project, **suites):
    made = [
        Suite(name, f"evals/{name}.yaml", "evals", None, "", "native", None, None, (), PolicyEntry(), {"suite": text})
        for name, text in suites.items()
    ]
    return Configuration(made, PolicyEntry(), (), project, project_path="evalgate.yaml")


def named(before, now):
    info = BaselineInfo("drifted", drift=BaselineDrift("exact", has_changed_suites=True, evaluators=()))
    return name_changed_files(info, BaselineRules(before), now).drift.changed_files


def test_changed_added_and_removed_suites_are_named_and_no_other():
    before, now = configure({}, same="x", other="x", gone="x"), configure({}, same="x", other="y", new="x")
    assert named(before, now) == ["evals/other.yaml", "evals/new.yaml", "evals/gone.yaml"]


def test_changed_settings_are_named_with_the_file_of_the_project():
    before = configure({"version": 1, "policy": {"fail_on": []}, "prices": {}}, a="x")
    assert named(before, configure({"version": 1, "policy": {}, "judges": {}}, a="x")) == [
        "evalgate.yaml: judges, policy, prices"
    ]


def test_rules_that_the_baseline_does_not_have_are_not_named():
    assert named(None, configure({}, a="x")) == ()
