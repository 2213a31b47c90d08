"""The configurations of promptfoo. Entry points: `configuration`, `checks`."""
