"""Engines that judge batches of traces.

Entry points: `process_pool.ProcessPool`, `process_pool.InProcessEngine`, `dask_cluster.DaskCluster`.
"""
