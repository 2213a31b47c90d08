"""Schema and file names of documents, apart from the document types, which a run need not load."""

from __future__ import annotations

from typing import Final

RESULTS_SCHEMA: Final = "evalgate.results/1"
BASELINE_SCHEMA = "evalgate.baseline/2"
"""The manifest in a `baseline.zip`, which contains a results document."""
BASELINE_SCHEMA_1 = "evalgate.baseline/1"
"""The version in which every trace was a whole native document, and a `standings.json` repeated the results."""
EXCHANGE_SCHEMA = "evalgate.exchange/1"
"""A cassette, whose lines are recorded exchanges with a model."""
SUITES_SCHEMA = "evalgate.suites/1"
"""The suites in a `baseline.zip`."""
PROJECT = "evalgate.yaml"
"""The project file of a folder."""
OUTPUT_FOLDER = ".evalgate"
"""The folder that a run writes to by default."""
RESULTS_PATH = f"{OUTPUT_FOLDER}/results.json"
"""The results of the last run in a folder."""
TRACE_PLACES = ("traces", "jobs", "*.jsonl")
"""Where traces of a folder usually are."""
WRITTEN_BY_A_NEWER = "it was written by a newer EvalGate: update this one"


def is_newer(schema: object, known: str) -> bool:
    """Whether a document's schema is a later version of the known one."""
    name, _, version = known.rpartition("/")
    given_name, _, given = schema.rpartition("/") if isinstance(schema, str) else ("", "", "")
    return given_name == name and given.isdecimal() and int(given[:9]) > int(version)
