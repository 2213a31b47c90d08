import pytest

from evalgate.application.judge.report import build_rerun_command
from evalgate.application.messages.request import JudgeRequest
from evalgate.models.comparison.comparison import BaselineInfo


@pytest.mark.parametrize(
    ("request_", "baseline", "command"),
    [
        (JudgeRequest(), None, "evalgate run"),
        (JudgeRequest(configs=["evals/my suite.yaml"]), None, "evalgate run 'evals/my suite.yaml'"),
        (
            JudgeRequest(configs=["s.yaml"], traces=["a/*.json", "b"], form="native", fail_on=["broken", "hard_fail"]),
            BaselineInfo("given", path="main.zip"),
            "evalgate run s.yaml --traces 'a/*.json' --traces b --format native --baseline main.zip --fail-on broken,hard_fail",
        ),
        (
            JudgeRequest(report_only=True),
            BaselineInfo("drifted", path="/tmp/x/1.zip"),
            "evalgate run --baseline baseline.zip --report-only",
        ),
        (JudgeRequest(), BaselineInfo("none"), "evalgate run"),
        (JudgeRequest(configs=["$(rm -rf x)"]), None, "evalgate run '$(rm -rf x)'"),
    ],
)
def test_command__has_every_option_that_affected_the_run(request_, baseline, command):
    assert build_rerun_command(request_, baseline) == command
