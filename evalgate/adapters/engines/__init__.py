"""Engines that judge batches of traces: `InProcessEngine`, `ProcessPool`, `DaskCluster`."""
