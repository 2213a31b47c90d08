"""What `calibrate` and `confirm` print."""
