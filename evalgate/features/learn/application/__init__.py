"""What `init` learns from traces, and which small changes of traces `mutate` tries."""
