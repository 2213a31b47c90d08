"""What recorded runs prove: two runs as arms (`migrate`), and how often the gate is wrong (`calibrate`)."""
