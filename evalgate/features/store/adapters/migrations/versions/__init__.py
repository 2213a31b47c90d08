"""The migrations, by version number."""
