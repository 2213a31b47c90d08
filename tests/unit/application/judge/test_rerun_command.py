import pytest
from request_builder import make_request

from evalgate.application.judge.report import build_fetch_command, build_rerun_command
from evalgate.models.comparison.comparison import BaselineInfo
from evalgate.models.github import Pages

PAGES = Pages("https://github.com", "acme/agent", "mallory/agent", "a" * 40)
ON_ENTERPRISE = Pages("https://github.acme.example", "acme/agent", "acme/agent", "a" * 40)
DOWNLOADED = BaselineInfo("ancestor", path="/tmp/x/1.zip", run_id=8211, artifact="evalgate-baseline my job")


@pytest.mark.parametrize(
    ("request_", "baseline", "command"),
    [
        (make_request(), None, "evalgate run"),
        (make_request(configs=["evals/my suite.yaml"]), None, "evalgate run 'evals/my suite.yaml'"),
        (
            make_request(configs=["s.yaml"], traces=["a/*.json", "b"], form="native", fail_on=["broken", "hard_fail"]),
            BaselineInfo("given", path="main.zip"),
            "evalgate run s.yaml --traces 'a/*.json' --traces b --format native --baseline main.zip --fail-on broken,hard_fail",
        ),
        (
            make_request(report_only=True),
            BaselineInfo("drifted", path="/tmp/x/1.zip", run_id=8211),
            "evalgate run --baseline .evalgate/baseline-8211 --report-only",
        ),
        (make_request(), BaselineInfo("none"), "evalgate run"),
        (
            make_request(on_weakening="fail", by_rules_of_base=True, of_baseline=True),
            None,
            "evalgate run --on-weakening fail --policy-from base --approvals-from base",
        ),
        (make_request(configs=["$(rm -rf x)"]), None, "evalgate run '$(rm -rf x)'"),
    ],
)
def test_command__has_every_option_that_affected_the_run(request_, baseline, command):
    assert build_rerun_command(request_, baseline) == command


@pytest.mark.parametrize(
    ("request_", "baseline", "command"),
    [
        (
            make_request(pages=PAGES),
            DOWNLOADED,
            "gh run download 8211 -R acme/agent -n 'evalgate-baseline my job' -D .evalgate/baseline-8211",
        ),
        (
            make_request(pages=ON_ENTERPRISE, folder="my agents"),
            BaselineInfo("latest", path="/tmp/x/1.zip", run_id=8211, artifact="b"),
            "gh run download 8211 -R github.acme.example/acme/agent -n b -D 'my agents/.evalgate/baseline-8211'",
        ),
        (make_request(pages=PAGES), BaselineInfo("given", path="main.zip"), None),
        (make_request(pages=PAGES), BaselineInfo("none"), None),
        (make_request(pages=PAGES), None, None),
        (make_request(), DOWNLOADED, None),
    ],
)
def test_fetch_command__a_downloaded_baseline__is_put_where_the_rerun_expects_it(request_, baseline, command):
    assert build_fetch_command(request_, baseline) == command
