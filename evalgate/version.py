"""The version, in one place: pyproject.toml, the image and every document must agree with it."""

__version__ = "1.0.0"
