"""Where batches of traces are judged: processes of this machine, or workers of a Dask cluster."""
