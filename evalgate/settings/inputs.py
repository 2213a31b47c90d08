"""The settings of the kernel: each becomes an input of the Action, and some a flag of `evalgate run`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

from evalgate.models.comparison.decision import FailOn
from evalgate.models.comparison.weakening import OnWeakening
from evalgate.settings.limits import IN_ACTION, Limits, read_action_limits
from evalgate.settings.matrix import MatrixLeg, parse_matrix
from evalgate.settings.readers import (
    Count,
    Matching,
    OneOf,
    OneOrMoreOf,
    read_branch,
    read_file_path,
    read_flag,
    read_inside_path,
    read_lines,
    read_text,
    read_token,
)
from evalgate.settings.setting import Flag, Setting, SettingGroup, Text

if TYPE_CHECKING:
    from evalgate.application.action.post_comment import CommentMode

KEY = re.compile(r"[A-Za-z0-9._/-]{1,100}")
ARTIFACT_NAME = re.compile(r'[^"<>|*?:\r\n\\/\x00-\x1f]{1,200}')
WORKFLOW = re.compile(r"(?:\.github/workflows/)?[A-Za-z0-9._-]{1,200}\.ya?ml")
MAX_RETENTION_DAYS = 90
LARGEST_COMMENT = 65_536
"""Characters that GitHub takes in a comment; some are left to what it counts in another way."""


class Inputs(SettingGroup):
    """The inputs from the workflow file; an empty text means not given."""

    config: Setting[tuple[str, ...]] = Setting(
        (),
        read_lines,
        Text(
            "Suite or project files, one per line. Default evalgate.yaml, else evals/**/*.yaml",
            "suite or project files, one per line",
            shown="`evalgate.yaml`, else `evals/**/*.yaml`",
        ),
    )
    traces: Setting[tuple[str, ...]] = Setting(
        (),
        read_lines,
        Text(
            "Globs of trace files, one per line; they replace `traces` of every suite",
            "globs of trace files, one per line; replaces `traces` of every suite",
            shown="`traces` of the suites",
        ),
        flag=Flag("read these traces, not those that suites name (repeatable)", metavar="GLOB"),
    )
    format = Setting(
        "",
        read_text,
        Text(
            "Format of the traces. Default detected from their content",
            "the trace format: one of [more than forty](traces.md#what-each-format-records), or a custom one",
            shown="detected from the content",
        ),
        flag=Flag("trace format (default: detect it)", metavar="NAME"),
    )
    working_directory = Setting(
        ".",
        read_inside_path,
        Text("Folder in the workspace that paths are relative to", "the folder that paths are relative to"),
    )
    github_token = Setting(
        "",
        read_token,
        Text(
            "Token that reads the baseline (actions read) and writes the comment (pull-requests write)",
            "used to read the baseline and to write the comment",
            shown="the job's token",
            expression="${{ github.token }}",
        ),
    )
    mode = Setting(
        "auto",
        OneOf("auto", "gate", "report-only", "evaluate", "publish", "approve"),
        Text(
            "auto or gate to fail on what fail-on names, report-only to fail only where it could not run, evaluate to "
            "leave the comment to "
            "another workflow, publish to post the report of such a run, approve to process an approval in a comment "
            "(auto does so on issue_comment)",
            "`gate`; `report-only` fails the job only where the gate could not run (exit codes 2 and 70); "
            "`evaluate` and `publish` are the [two-step mode for "
            "forks](#forks); `approve` reads [an approval from a comment](approvals.md#in-a-comment). `auto` is "
            "`approve` on `issue_comment` and `gate` otherwise",
        ),
    )
    fail_on: Setting[tuple[str, ...]] = Setting(
        (),
        OneOrMoreOf(*get_args(FailOn), hint="; to never fail the check use `mode: report-only`"),
        Text(
            "What fails the check, separated by commas; overrides every policy: "
            f"{', '.join(get_args(FailOn))}. Default from the policies, else hard_fail",
            "what fails the check, separated by commas ([values](suites.md#policy)); overrides every policy",
            shown="`fail_on` of the suites' policy, else `hard_fail`",
        ),
        flag=Flag("what fails the gate; overrides every policy (default hard_fail)", metavar="A,B"),
    )
    on_weakening: Setting[OnWeakening | None] = Setting(
        None,
        OneOf(*get_args(OnWeakening)),
        Text(
            "What to do if the suites or the policy require less than the baseline's - ignore, warn, or fail; "
            "overrides every policy. Default from the policies, else warn (docs/baseline.md)",
            "what to do when a change [weakens the gate](baseline.md#a-weaker-gate): `ignore`, `warn` or `fail`; "
            "overrides every policy",
            shown="`warn`",
        ),
        flag=Flag("what to do if suites or policy require less than the baseline's; overrides every policy"),
    )
    baseline = Setting(
        "auto",
        read_text,
        Text(
            "auto to find the baseline of the base branch, none for no comparison, or the path of a baseline.zip or "
            "results.json",
            "`auto`, `none`, or the path of a `baseline.zip` or `results.json`",
        ),
        flag=Flag("baseline.zip, its folder, or results.json, or none", metavar="PATH", default="none"),
    )
    baseline_artifact = Setting(
        "",
        Matching(ARTIFACT_NAME, 'a name without any of " : < > | * ? \\ /'),
        Text(
            "The name of the artifact that holds the baseline. Default evalgate-baseline, with the matrix leg if the "
            "job has a matrix",
            "the artifact's name",
            shown="`evalgate-baseline`, and the matrix leg",
        ),
    )
    baseline_branch = Setting(
        "",
        read_branch,
        Text(
            "The branch to compare with. Default the pull request's base branch, else the default branch",
            "the branch whose baseline is used",
            shown="the pull request's base branch",
        ),
    )
    baseline_workflow = Setting(
        "",
        Matching(WORKFLOW, "a workflow's file name, such as evalgate.yml"),
        Text(
            "The workflow file whose runs upload the baseline. Default this workflow; required where comments are "
            "processed",
            "the workflow whose runs upload the baseline",
            shown="this workflow's file",
        ),
    )
    upload_baseline = Setting(
        "auto",
        OneOf("auto", "true", "false"),
        Text(
            "auto to upload this run's baseline on a push, schedule or workflow_dispatch of the baseline's branch, "
            "true also on those of other branches, false to upload it in a separate step",
            "`auto` uploads on a push, `schedule` or `workflow_dispatch` of the baseline branch, `true` also [on "
            "other branches](baseline.md#on-github); `false` leaves it to [your own upload "
            "step](#if-the-upload-fails)",
        ),
    )
    upload_report = Setting(
        "auto",
        OneOf("auto", "true", "false"),
        Text(
            "auto to upload the report for a publishing workflow where no comment can be written, true to upload it "
            "on every pull request, false to upload it in a separate step",
            "`auto` uploads the report for a [publishing workflow](#forks) where no comment can be written, `true` on "
            "every pull request; `false` leaves it to [your own upload step](#if-the-upload-fails)",
        ),
    )
    retention_days: Setting[int | None] = Setting(
        None,
        Count(1, MAX_RETENTION_DAYS),
        Text(
            "Days that GitHub keeps the baseline, 1 to 90. Default the repository's setting",
            "[how long GitHub keeps](baseline.md#retention-storage-and-access) the baseline: 1 to 90 days",
            shown="the repository's setting",
        ),
    )
    report_retention_days: Setting[int | None] = Setting(
        None,
        Count(1, MAX_RETENTION_DAYS),
        Text(
            "Days that GitHub keeps the report for a publishing workflow, 1 to 90. Default the repository's setting",
            "the same for the report",
            shown="the repository's setting",
        ),
    )
    comment: Setting[CommentMode] = Setting(
        "auto",
        OneOf("auto", "combined", "always", "on-change", "on-failure", "off"),
        Text(
            "auto and always post and update one comment, on-change and on-failure create it only then, off posts "
            "none; combined posts one for all legs of a matrix, as auto does without a comment-key; always "
            "additionally tries on pull requests from forks",
            "`auto` (one comment), `combined` (one for [all legs of a matrix](#several-gates), as `auto` without a "
            "`comment-key`), `on-change`, `on-failure`, `off`; `always` also tries on pull requests from forks, whose "
            "tokens are usually read-only",
        ),
    )
    comment_key = Setting(
        "",
        Matching(KEY, "made of letters, digits and . _ / -"),
        Text(
            "Distinguishes the comments of several gates. Default workflow file, job and matrix leg",
            "identifies the comment when several gates run on one pull request",
            shown="workflow file, job, matrix leg",
        ),
    )
    template = Setting(
        "",
        read_file_path,
        Text(
            "A Jinja template that replaces parts of the comment (docs/templates.md). On a pull request, the base "
            "commit's file is used",
            "a file with [custom text](templates.md) for parts of the comment",
        ),
        flag=Flag("a template for parts of comment.md", metavar="FILE"),
    )
    policy_from = Setting(
        "head",
        OneOf("head", "base"),
        Text(
            "Which suites and policy decide on a pull request - head for its own, or base for those of the baseline "
            "(docs/security.md, Main's rules)",
            "whose suites and policy are used on a pull request: `head` its own, `base` [those of the base branch's "
            "baseline](security.md#mains-rules)",
        ),
    )
    approvals_from = Setting(
        "base",
        OneOf("base", "head", "comments", "none"),
        Text(
            "Which approvals count on a pull request - base for the base commit's evalgate-approvals.yaml, head for "
            "its own, comments for the base commit's and those in comments, none for none on any event "
            "(docs/approvals.md)",
            "whose [approvals](approvals.md) count on a pull request: `base` those of the base commit, `head` its "
            "own, `comments` also those given [in comments](approvals.md#in-a-comment); `none` on any event",
        ),
    )
    allow_self_approval = Setting(
        False,
        read_flag,
        Text(
            "true to let contributors approve their own changes in a comment; the report mentions it",
            "`true` lets people approve changes they contributed to, in a comment; the report says so",
        ),
    )
    annotations = Setting(
        True, read_flag, Text("true to annotate failures on the checks page", "show failures as annotations")
    )
    check_run = Setting(
        False,
        read_flag,
        Text(
            "true for a separate check run with the report and each failure at its line (needs checks write)",
            "`true` creates [a separate check](#a-separate-check-run) with the report and the failures at their lines",
        ),
    )
    job_summary = Setting(
        True, read_flag, Text("true to add the report to the job's summary", "write the report to the job summary")
    )
    junit_path = Setting(
        "",
        read_file_path,
        Text(
            "Additional path for junit.xml, relative to working-directory, inside the workspace",
            "write a copy of `junit.xml` here",
        ),
    )
    sarif_path = Setting(
        "",
        read_file_path,
        Text(
            "Path for results.sarif for code scanning, relative to working-directory, inside the workspace",
            "write `results.sarif` here, for code scanning",
        ),
    )
    max_comment_chars = Setting(
        60_000,
        Count(1_000, LARGEST_COMMENT, most=65_000),
        Text(
            "Maximum length of the comment",
            "maximum length of the comment; `65536`, GitHub's limit: the most that fits",
        ),
    )
    limits: Setting[Limits] = Setting(
        IN_ACTION,
        read_action_limits,
        Text(
            "Limits to change, one name=value per line, such as record=50MB or messages=5000 (docs/traces.md, Limits)",
            "[limits](traces.md#limits) on what is read, one `name=value` per line: `record=50MB`",
        ),
    )
    matrix: Setting[MatrixLeg | None] = Setting(
        None,
        parse_matrix,
        Text(
            "The job's matrix values, which distinguish the comment, check run and artifacts of each leg; leave it out",
            "distinguishes comment, check run and artifacts of [each matrix leg](#several-gates); leave it out",
            shown="the job's matrix values",
            expression="${{ toJSON(matrix) }}",
        ),
    )
    legs: Setting[int | None] = Setting(
        None,
        Count(0, 100_000),
        Text(
            "How many legs the job's matrix has, which is compared with main's; leave it out",
            "tells whether [legs that main has](#several-gates) are gone; leave it out",
            shown="the number of legs of the job's matrix",
            expression="${{ strategy.job-total }}",
        ),
    )
    debug = Setting(False, read_flag, Text("true to log the requests to GitHub", "log more detail"))
