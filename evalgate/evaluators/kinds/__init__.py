"""One class per evaluator type, a module for each family of them.

Entry points: `texts`, `similarity`, `outputs`, `convergence`, `jmespath`, `whole_run`, `calls`.
"""
