"""Schema and file names of documents, apart from the document types, which a run need not load."""

from __future__ import annotations

RESULTS_SCHEMA = "evalgate.results/1"
BASELINE_SCHEMA = "evalgate.baseline/2"
BASELINE_SCHEMA_1 = "evalgate.baseline/1"
"""In which every trace was a whole native document."""
"""The manifest in a `baseline.zip`, which contains a results document."""
SUITES_SCHEMA = "evalgate.suites/1"
"""The suites in a `baseline.zip`."""
STANDINGS_SCHEMA = "evalgate.standings/1"
"""The part of the results that a comparison reads, in a `baseline.zip` under the next name."""
STANDINGS_FILE = "standings.json"
