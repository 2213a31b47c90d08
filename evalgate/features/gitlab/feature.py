"""What jobs on GitLab add: two verbs."""

from evalgate.bootstrap.feature import Feature, Verb

MODULE = f"{__package__}.cli.gitlab"
GITLAB = Feature(
    "gitlab",
    "compare with the target branch, and write the report to the merge request, in a job on GitLab",
    verbs={
        "fetch-baseline": Verb("get the baseline of the target branch in a job on GitLab", MODULE, "track"),
        "comment": Verb("write the report of a run to the merge request on GitLab", MODULE, "fetch-baseline"),
    },
    provides={"baseline_fetch_command": f"{MODULE}:build_fetch_command"},
)
