"""Which step of which run a comment shows, in its second line, so that no report of a run hides another unnoticed."""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

DIGEST_LENGTH = 12
PUBLISHED = "published"
"""In place of a step's names where a workflow posts the reports of another one's runs."""
LINE = re.compile(
    r"<!-- evalgate:origin v1 run=([0-9]{1,18}) attempt=([0-9]{1,6}) step=([0-9a-f]{12}) job=([0-9a-f]{12})"
    r" passed=(yes|no)(?: commit=([0-9a-f]{40,64}) failed=([0-9]{1,6}) runs=([0-9]{1,6}))? -->\s*"
)
LAST_RUN_LEAD = "**The previous run of this pull request** "
LAST_RUN = re.compile(rf".*\n\n{re.escape(LAST_RUN_LEAD)}(.+)")
COMMIT_LEAD = "**This commit** failed in "
OF_COMMIT = re.compile(rf".*\n\n{re.escape(COMMIT_LEAD)}[0-9,]+ of [0-9,]+ runs: (.+)")
HEADING = re.compile(r"\S+ (?:`.{1,300}?`: )?EvalGate (.{1,400})(?=\n|$)")
"""The heading of a report, that of a matrix leg behind its name, short enough to be repeated."""


class RunCount(NamedTuple):
    """How many runs of a commit failed, and of how many; each attempt is one."""

    failed: int = 0
    runs: int = 0

    def add(self, *, passed: bool) -> RunCount:
        """With one more run."""
        return RunCount(self.failed + (not passed), self.runs + 1)

    def describe(self) -> str:
        """One sentence, without its end, if some of the runs failed and some did not: that may be chance."""
        is_mixed = 0 < self.failed < self.runs
        return f"{COMMIT_LEAD}{self.failed:,} of {self.runs:,} runs" if is_mixed else ""


class CommentOrigin(Struct, frozen=True):
    """The step that posts a report. `step` is the same when the run is run again, `job` differs then.

    `before` are the earlier runs of the same commit.
    """

    run: str
    attempt: int
    step: str
    job: str
    passed: bool = True
    commit: str = ""
    before: RunCount = RunCount()


def make_origin(run: str, attempt: int, step_names: tuple[str, ...], job: str) -> CommentOrigin:
    """The origin of this step's comment; names and ids are hashed, as the comment is public."""
    return CommentOrigin(run, attempt, _digest("\0".join(step_names)), _digest(job))


def make_published_origin(run: int, attempt: int, *, passed: bool) -> CommentOrigin:
    """The origin of a run's report that another workflow posts, as GitHub's event names the run."""
    return CommentOrigin(f"{run}", attempt, _digest(PUBLISHED), _digest(PUBLISHED), passed=passed)


def add_origin(body: str, origin: CommentOrigin) -> str:
    """Adds the origin below the first line, which identifies the comment."""
    first, _, rest = body.partition("\n")
    return f"{first}\n{_format(origin)}\n{rest}"


def _format(origin: CommentOrigin) -> str:
    passed, (failed, runs) = "yes" if origin.passed else "no", origin.before
    commit = f" commit={origin.commit} failed={failed} runs={runs}" if origin.commit else ""
    return (
        f"<!-- evalgate:origin v1 run={origin.run} attempt={origin.attempt} step={origin.step} job={origin.job}"
        f" passed={passed}{commit} -->"
    )


def find_other_origin(body: str, own: CommentOrigin) -> CommentOrigin | None:
    """The origin of a posted comment if another job or step of the same run posted it; else None.

    Two jobs that call the same reusable workflow differ only in their ids, which are new in every attempt. A step that
    does not know that of its job, as none of the composite action, posts once in an attempt: so what it finds of the
    attempt is another's. What is published for a run is its own report.
    """
    posted = _read_origin(body)
    if posted is None or _digest(PUBLISHED) in (posted.step, own.step):
        return None
    is_other_job = posted.attempt == own.attempt and (posted.job != own.job or own.job == _digest(""))
    return posted if posted.run == own.run and (posted.step != own.step or is_other_job) else None


def add_last_run(body: str, posted_body: str, *, own: CommentOrigin) -> str:
    """The report with a line below its heading on earlier runs of this step, if some ended otherwise.

    Of the same commit all are counted, else it is the last one. A report that is written twice keeps the line.
    """
    posted, report = _read_origin(posted_body), posted_body.replace("\r\n", "\n").partition("\n## ")[2]
    if posted is None or posted.step != own.step:
        return body
    is_same_run = (posted.run, posted.attempt) == (own.run, own.attempt)
    if own.commit and own.commit == posted.commit:
        counted = replace(own, before=posted.before if is_same_run else posted.before.add(passed=posted.passed))
        body, line = body.replace(_format(own), _format(counted), 1), _describe_commit(counted, posted, report)
    else:
        line = ""
    line = line or _describe_last(own, posted, report, is_same_run=is_same_run)
    before, mark, rest = body.partition("\n## ")
    heading, _, report = rest.partition("\n")
    return f"{before}{mark}{heading}\n\n{line}\n{report}" if mark and line else body


def _describe_commit(own: CommentOrigin, posted: CommentOrigin, report: str) -> str:
    """In how many runs the commit failed, if not in all, and how the last of them did, unless this is the one."""
    line = own.before.add(passed=own.passed).describe()
    found = OF_COMMIT.match(report) if posted.passed else HEADING.match(report)  # its start: below is untrusted text
    return f"{line}: {found[1].removeprefix('failed: ')}" if line and found and own.passed else line


def _describe_last(own: CommentOrigin, posted: CommentOrigin, report: str, *, is_same_run: bool) -> str:
    found = LAST_RUN.match(report) if is_same_run else HEADING.match(report)  # its start only
    is_told = found is not None and (is_same_run or posted.passed != own.passed)
    return f"{LAST_RUN_LEAD}{found[1]}" if found and is_told else ""


def _read_origin(body: str) -> CommentOrigin | None:
    found = LINE.fullmatch(body.lstrip().partition("\n")[2].partition("\n")[0])
    if found is None:
        return None
    run, attempt, step, job, passed, commit, *counts = found.groups()
    before = RunCount(*map(int, counts)) if commit else RunCount()
    return CommentOrigin(run, int(attempt), step, job, passed=passed == "yes", commit=commit or "", before=before)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:DIGEST_LENGTH]
