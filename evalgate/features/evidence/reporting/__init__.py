"""What `calibrate` prints."""
