"""Which step of which run a comment shows, in its second line, so that no report of a run hides another unnoticed."""

from __future__ import annotations

import hashlib
import re

from msgspec import Struct

DIGEST_LENGTH = 12
LINE = re.compile(
    r"<!-- evalgate:origin v1 run=([0-9]{1,18}) attempt=([0-9]{1,6}) step=([0-9a-f]{12}) job=([0-9a-f]{12})"
    r" passed=(yes|no) -->\s*"
)


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

    Two jobs that call the same reusable workflow differ only in their ids, which are new in every attempt.
    """
    found = LINE.fullmatch(body.lstrip().partition("\n")[2].partition("\n")[0])
    if found is None:
        return None
    posted = CommentOrigin(found[1], int(found[2]), found[3], found[4], passed=found[5] == "yes")
    is_other_job = posted.attempt == own.attempt and posted.job != own.job
    return posted if posted.run == own.run and (posted.step != own.step or is_other_job) else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:DIGEST_LENGTH]
