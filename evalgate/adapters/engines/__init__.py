"""Engines that judge batches of traces.

Entry points: `in_process.InProcessEngine`, `process_pool.ProcessPool`, `dask_cluster.DaskCluster`.
"""
