"""What a person gives the coding agent that works on the judged agent: a failure in short, and a skill."""
