"""What the rules of the gate share: scenario index, quarantine, baseline keys, wording."""
