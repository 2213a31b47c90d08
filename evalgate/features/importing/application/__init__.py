"""What a check of another tool becomes, or why nothing. Entry points: `formats`, `places`, `promptfoo`."""
