"""What documents call themselves: apart from their types, which only a schema and type checkers need."""

from __future__ import annotations

RESULTS_SCHEMA = "evalgate.results/1"
BASELINE_SCHEMA = "evalgate.baseline/1"
"""Of the manifest in a `baseline.zip`, which holds such a document."""
SUITES_SCHEMA = "evalgate.suites/1"
"""Of the suites that lie beside it."""
STANDINGS_SCHEMA = "evalgate.standings/1"
"""Of what a comparison reads of those results, which lies there too under the next name."""
STANDINGS_FILE = "standings.json"
