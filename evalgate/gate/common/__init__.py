"""What the rules of the gate share: scenario index, quarantine, document keys, wording."""
