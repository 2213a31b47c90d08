"""How formats are recognised by their content; cheap, so that no reader is loaded to be asked."""
