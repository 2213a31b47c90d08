"""The evaluation specifications of Vally. Entry points: `specification`, `graders`."""
