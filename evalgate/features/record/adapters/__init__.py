"""The servers on this machine, and the readers of what they receive."""
