"""What recorded runs prove: two runs as arms (`migrate`), how often the gate is wrong, and what got worse by chance."""
