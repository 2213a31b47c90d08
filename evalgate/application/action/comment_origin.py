"""Which step of which run a comment shows, in its second line, so that no report of a run hides another unnoticed."""

from __future__ import annotations

import hashlib
import re

from msgspec import Struct

DIGEST_LENGTH = 12
PUBLISHED = "published"
"""In place of a step's names where a workflow posts the reports of another one's runs."""
LINE = re.compile(
    r"<!-- evalgate:origin v1 run=([0-9]{1,18}) attempt=([0-9]{1,6}) step=([0-9a-f]{12}) job=([0-9a-f]{12})"
    r" passed=(yes|no) -->\s*"
)
LAST_RUN_LEAD = "**The previous run of this pull request** "
LAST_RUN = re.compile(rf".*\n\n{re.escape(LAST_RUN_LEAD)}(.+)")
HEADING = re.compile(r"\S+ (?:`.{1,300}?`: )?EvalGate (.{1,400})(?=\n|$)")
"""The heading of a report, that of a matrix leg behind its name, short enough to be repeated."""


class CommentOrigin(Struct, frozen=True):
    """The step that posts a report. `step` is the same when the run is run again, `job` differs then."""

    run: str
    attempt: int
    step: str
    job: str
    passed: bool = True


def make_origin(run: str, attempt: int, step_names: tuple[str, ...], job: str) -> CommentOrigin:
    """The origin of this step's comment; names and ids are hashed, as the comment is public."""
    return CommentOrigin(run, attempt, _digest("\0".join(step_names)), _digest(job))


def make_published_origin(run: int, attempt: int, *, passed: bool) -> CommentOrigin:
    """The origin of a run's report that another workflow posts, as GitHub's event names the run."""
    return CommentOrigin(f"{run}", attempt, _digest(PUBLISHED), _digest(PUBLISHED), passed=passed)


def add_origin(body: str, origin: CommentOrigin) -> str:
    """Adds the origin below the first line, which identifies the comment."""
    first, _, rest = body.partition("\n")
    passed = "yes" if origin.passed else "no"
    line = (
        f"<!-- evalgate:origin v1 run={origin.run} attempt={origin.attempt} step={origin.step} job={origin.job}"
        f" passed={passed} -->"
    )
    return f"{first}\n{line}\n{rest}"


def find_other_origin(body: str, own: CommentOrigin) -> CommentOrigin | None:
    """The origin of a posted comment if another job or step of the same run posted it; else None.

    Two jobs that call the same reusable workflow differ only in their ids, which are new in every attempt. What is
    published for a run is its own report.
    """
    posted = _read_origin(body)
    if posted is None or _digest(PUBLISHED) in (posted.step, own.step):
        return None
    is_other_job = posted.attempt == own.attempt and posted.job != own.job
    return posted if posted.run == own.run and (posted.step != own.step or is_other_job) else None


def add_last_run(body: str, posted_body: str, *, own: CommentOrigin) -> str:
    """The report with a line below its heading on the last run of this step, if that one ended otherwise.

    A report that is written twice keeps the line.
    """
    posted, report = _read_origin(posted_body), posted_body.replace("\r\n", "\n").partition("\n## ")[2]
    if posted is None or posted.step != own.step:
        return body
    is_same_run = (posted.run, posted.attempt) == (own.run, own.attempt)
    found = LAST_RUN.match(report) if is_same_run else HEADING.match(report)  # its start only: below is untrusted text
    if found is None or (posted.passed == own.passed and not is_same_run):
        return body
    before, mark, rest = body.partition("\n## ")
    heading, _, report = rest.partition("\n")
    return f"{before}{mark}{heading}\n\n{LAST_RUN_LEAD}{found[1]}\n{report}" if mark else body


def _read_origin(body: str) -> CommentOrigin | None:
    found = LINE.fullmatch(body.lstrip().partition("\n")[2].partition("\n")[0])
    return found and CommentOrigin(found[1], int(found[2]), found[3], found[4], passed=found[5] == "yes")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:DIGEST_LENGTH]
