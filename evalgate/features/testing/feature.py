"""The pytest plugin; pytest finds it by the entry point of the distribution."""

from evalgate.bootstrap.feature import Feature

TESTING = Feature("testing", "suites as items of pytest, and a fixture that records and checks agents")
